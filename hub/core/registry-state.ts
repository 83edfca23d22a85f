/** The registry in memory, as it is in the database now: a hub asks it for every connection and every request. */
import type { KnownOwner, Owner, Registry } from './registry.ts';

/** One state of the registry. */
export interface RegistryState {
  readonly version: number;
  /** False: every car may send, and there is no access control. */
  readonly inUse: boolean;
  readonly fleets: readonly KnownOwner[];
  /** Whether there is a token with this id that was not withdrawn. */
  isIssued(token: string): boolean;
  /** Whether the car is registered and was not removed. */
  isActive(vin: string): boolean;
  /** Cars that belong to a fleet or user, removed ones included. */
  carsOf(owner: Owner): ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

export class RegistryStates {
  readonly #registry: Registry;
  readonly #staysInUse: boolean;
  #state: RegistryState | undefined;
  #reading: Promise<RegistryState> | undefined;
  /** Begins when {@link #reading} ends: a read that has begun may not see a change that its caller knows of. */
  #next: Promise<RegistryState> | undefined;

  /** @param staysInUse other machines reach the hub: it refuses everybody after the registry has ended */
  constructor(registry: Registry, staysInUse = false) {
    this.#registry = registry;
    this.#staysInUse = staysInUse;
  }

  /** Reads all of it when it has changed, else its number only. Rejects with `store.failed`. */
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
