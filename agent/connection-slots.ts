/** Limits a server's connections, above all those of clients that are not known yet. */
import { networkOf } from '../protocol/ip-networks.ts';

export interface ConnectionLimits {
  /** Maximum number of concurrent connections. */
  readonly all: number;
  /** Maximum number of waiting connections: their client is not known yet, or has no request. */
  readonly waiting: number;
  /** Maximum number of waiting connections per address (IPv6: per /64 network). Does not apply to this machine. */
  readonly waitingPerAddress: number;
  /** Number of waiting connections that an address keeps when another limit is exceeded. */
  readonly keptPerAddress: number;
}

interface Slot {
  readonly network: string;
  waits: boolean;
}

/** Clients on this machine, such as a proxy that serves many clients. */
const LOCAL = 'local';

/**
 * Counts connections, and selects the one to close if there are too many: the oldest of the address with the most
 * waiting ones, so that an address that opens many loses its own. Only waiting connections are selected.
 */
export class ConnectionSlots<C> {
  readonly #limits: ConnectionLimits;
  readonly #open = new Map<C, Slot>();
  /** Waiting connections by network, oldest first. */
  readonly #waiting = new Map<string, Set<C>>();
  #waitingCount = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Adds a waiting connection. Returns the connection that must be closed now, possibly this one; it is removed. */
  add(connection: C, address: string | undefined): C | undefined {
    const network = slotNetworkOf(address);
    this.#open.set(connection, { network, waits: false });
    this.wait(connection);
    const { all, waiting, waitingPerAddress } = this.#limits;
    const own = this.#waiting.get(network) ?? new Set();
    if (network !== LOCAL && own.size > waitingPerAddress) return this.#remove(first(own));
    if (this.#waitingCount <= waiting && this.#open.size <= all) return undefined;
    return this.#remove(this.#least() ?? connection);
  }

  /** Call when the client is known or has a request: the connection stays open. */
  admit(connection: C): void {
    const slot = this.#open.get(connection);
    if (slot === undefined || !slot.waits) return;
    slot.waits = false;
    this.#waitingCount--;
    const others = this.#waiting.get(slot.network);
    others?.delete(connection);
    if (others?.size === 0) this.#waiting.delete(slot.network);
  }

  /** Call when the connection waits again: it may be closed in favour of another. */
  wait(connection: C): void {
    const slot = this.#open.get(connection);
    if (slot === undefined || slot.waits) return;
    slot.waits = true;
    this.#waitingCount++;
    const others = this.#waiting.get(slot.network) ?? new Set();
    this.#waiting.set(slot.network, others.add(connection));
  }

  delete(connection: C): void {
    this.admit(connection);
    this.#open.delete(connection);
  }

  #remove(connection: C | undefined): C | undefined {
    if (connection !== undefined) this.delete(connection);
    return connection;
  }

  /** Returns undefined if every address has at most the number that it keeps. */
  #least(): C | undefined {
    let fullest = new Set<C>();
    for (const one of this.#waiting.values()) if (one.size > fullest.size) fullest = one;
    return fullest.size > this.#limits.keptPerAddress ? first(fullest) : undefined;
  }
}

function first<C>(set: ReadonlySet<C>): C | undefined {
  for (const one of set) return one;
  return undefined;
}

/** Returns the client network of a socket's address (IPv4 may be written as IPv6); {@link LOCAL} for this machine. */
export function slotNetworkOf(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return plain === '' || plain === '::1' || /^127\./.test(plain) ? LOCAL : networkOf(plain);
}
