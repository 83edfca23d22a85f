/** Copy of the registry in memory, up to date with the database. A hub needs it for each connection and request. */
import type { KnownOwner, Owner, Registry } from './registry.ts';

/** One state of the registry. */
export interface RegistryState {
  readonly version: number;
  /** If false, every car may send, and there is no access control. */
  readonly inUse: boolean;
  readonly fleets: readonly KnownOwner[];
  /** Returns true if a token with this id was issued and not withdrawn. */
  isIssued(token: string): boolean;
  /** Returns true if the car is registered and was not removed. */
  isActive(vin: string): boolean;
  /** Returns the cars that belong to a fleet or user, including removed ones. */
  carsOf(owner: Owner): ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

export class RegistryStates {
  readonly #registry: Registry;
  readonly #staysInUse: boolean;
  #state: RegistryState | undefined;
  #reading: Promise<RegistryState> | undefined;
  /** The read queued after {@link #reading}: a read in progress may miss a change that the caller has just made. */
  #next: Promise<RegistryState> | undefined;

  /** @param staysInUse if true (other machines can reach the hub), all access is refused once the registry has ended */
  constructor(registry: Registry, staysInUse = false) {
    this.#registry = registry;
    this.#staysInUse = staysInUse;
  }

  /** Returns the present state. Reads only the version if the registry has not changed. Rejects with `store.failed`. */
  current(): Promise<RegistryState> {
    if (this.#reading === undefined) return this.#begin();
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    return this.#next;
  }

  #begin(): Promise<RegistryState> {
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<RegistryState> {
    const version = await this.#registry.version();
    if (this.#state?.version === version) return this.#state;
    const [inUse, fleets, cars, tokens] = await Promise.all([
      this.#registry.inUse(),
      this.#registry.owners('fleet'),
      this.#registry.cars(),
      this.#registry.issuedTokens(),
    ]);
    const owned = new Map<string, Set<string>>();
    const active = new Set<string>();
    for (const { vin, removed, fleets: inFleets, users } of cars) {
      if (removed === undefined) active.add(vin);
      for (const key of [...inFleets.map((id) => `fleet ${id}`), ...users.map((id) => `user ${id}`)]) {
        const known = owned.get(key);
        if (known === undefined) owned.set(key, new Set([vin]));
        else known.add(vin);
      }
    }
    this.#state = {
      version,
      inUse: inUse || this.#staysInUse,
      fleets,
      isIssued: (token) => tokens.has(token),
      isActive: (vin) => active.has(vin),
      carsOf: ({ kind, id }) => owned.get(`${kind} ${id}`) ?? NONE,
    };
    return this.#state;
  }
}
