/** Which connections a server keeps while it does not know their clients yet. */
import { networkOf } from '../protocol/ip-networks.ts';

export interface ConnectionLimits {
  /** Connections at a time. */
  readonly all: number;
  /** Those of them that wait: their client is not known yet, or has no request. */
  readonly waiting: number;
  /** Those of them from one address; IPv6: from one network of 64 bits. Clients on this machine have no such limit. */
  readonly waitingPerAddress: number;
  /** Waiting connections that an address keeps while all are taken and another one comes. */
  readonly keptPerAddress: number;
}

interface Slot {
  readonly network: string;
  waits: boolean;
}

/** Clients on this machine, such as a proxy, which stands for many. */
const LOCAL = 'local';

/**
 * Counts connections, and chooses the one to close when there are too many: the oldest of the address with the most that
 * wait, so that an address which opens many loses its own. One that does not wait is never chosen.
 */
export class ConnectionSlots<C> {
  readonly #limits: ConnectionLimits;
  readonly #open = new Map<C, Slot>();
  /** By network, oldest first. */
  readonly #waiting = new Map<string, Set<C>>();
  #waitingCount = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Adds a connection, which waits. Returns the connection that must be closed now, maybe this one; it is removed. */
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

  /** Its client is known, or asks for something: it stays. */
  admit(connection: C): void {
    const slot = this.#open.get(connection);
    if (slot === undefined || !slot.waits) return;
    slot.waits = false;
    this.#waitingCount--;
    const others = this.#waiting.get(slot.network);
    others?.delete(connection);
    if (others?.size === 0) this.#waiting.delete(slot.network);
  }

  /** It may be closed for another one again. */
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

  /** Undefined: every address has no more than it keeps. */
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

/** The client network of a socket's address, in which IPv4 may be written as IPv6; {@link LOCAL} for this machine. */
export function slotNetworkOf(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return plain === '' || plain === '::1' || /^127\./.test(plain) ? LOCAL : networkOf(plain);
}
