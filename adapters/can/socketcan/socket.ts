/** One raw CAN socket (Documentation/networking/can.rst, clause 4.1). */
import { constants } from 'node:os';
import { VigieError } from '../../../protocol/errors.ts';
import type { BusSocket, BusSocketOptions } from './bus-socket.ts';
import {
  AF_CAN,
  CAN_ERR_MASK,
  CAN_RAW_ERR_FILTER,
  CAN_RAW_FD_FRAMES,
  CAN_RAW_FILTER,
  CAN_RAW_RECV_OWN_MSGS,
  CANFD_MTU,
  SK_MEMINFO_DROPS,
  SK_MEMINFO_VARS,
  SO_MEMINFO,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SO_RXQ_OVFL,
  SO_TIMESTAMPNS_NEW,
  SO_TIMESTAMPNS_OLD,
  SOL_CAN_RAW,
  SOL_SOCKET,
} from './constants.ts';
import { isOneShot } from './control-mode.ts';
import type { IdentifierFilter } from './filters.ts';
import { droppedBy, type Interface, lookUp, receivedBy } from './interface.ts';
import { errorName, type Libc, type Readiness } from './libc.ts';
import { ReceiveRing } from './ring.ts';

/** Size in bytes of a `struct sockaddr_can` since Linux 5.4. Earlier kernels accept the longer address too. */
const SOCKADDR_CAN_SIZE = 24;

/** Largest receive buffer in bytes: the kernel stores twice this number in an int. */
const LARGEST_BUFFER = 2 ** 30 - 1;

/**
 * Binds a raw CAN socket to an interface. Closes the socket if that fails.
 * @throws VigieError `input.unreadable`
 */
export function openBusSocket(libc: Libc, descriptor: number, options: BusSocketOptions): BusSocket {
  try {
    const found = present(lookUp(libc, descriptor, options.interface), options.interface);
    setOptions(libc, descriptor, found, options);
    const address = new Uint8Array(SOCKADDR_CAN_SIZE);
    const view = new DataView(address.buffer);
    view.setUint16(0, AF_CAN, true);
    view.setInt32(4, found.index, true);
    demand(libc.bind(descriptor, address), options.interface, 'bind');
    return new RawSocket(libc, descriptor, found, options);
  } catch (error) {
    libc.close(descriptor);
    throw error;
  }
}

function present(found: Interface | number, name: string): Interface {
  const fault = faultOf(found);
  if (typeof found !== 'number' && fault === undefined) return found;
  throw new VigieError('input.unreadable', fault ?? 'the interface cannot be used', { where: name });
}

function faultOf(found: Interface | number): string | undefined {
  if (found === -constants.errno.ENODEV) return 'there is no such interface';
  if (typeof found === 'number') return `the interface cannot be looked up (${errorName(found)})`;
  if (!found.isCan) return 'it is not a CAN interface';
  return found.isUp ? undefined : 'the interface is down';
}

function setOptions(libc: Libc, descriptor: number, found: Interface, options: BusSocketOptions): void {
  const { interface: name, filters, receiveBuffer } = options;
  const set = (level: number, option: number, value: number): number =>
    libc.setOption(descriptor, level, option, bytesOf(value));
  // Set the filters before binding: frames arrive from then on.
  if (filters !== undefined) {
    demand(libc.setOption(descriptor, SOL_CAN_RAW, CAN_RAW_FILTER, filterBytes(filters)), name, 'CAN_RAW_FILTER');
  }
  demand(set(SOL_CAN_RAW, CAN_RAW_ERR_FILTER, CAN_ERR_MASK), name, 'CAN_RAW_ERR_FILTER');
  // The echo of a frame proves that it was sent (clauses 4.1.4 and 4.1.7).
  demand(set(SOL_CAN_RAW, CAN_RAW_RECV_OWN_MSGS, 1), name, 'CAN_RAW_RECV_OWN_MSGS');
  if (found.mtu >= CANFD_MTU) demand(set(SOL_CAN_RAW, CAN_RAW_FD_FRAMES, 1), name, 'CAN_RAW_FD_FRAMES');
  if (set(SOL_SOCKET, SO_TIMESTAMPNS_NEW, 1) < 0) {
    demand(set(SOL_SOCKET, SO_TIMESTAMPNS_OLD, 1), name, 'SO_TIMESTAMPNS');
  }
  demand(set(SOL_SOCKET, SO_RXQ_OVFL, 1), name, 'SO_RXQ_OVFL');
  const buffer = Math.min(receiveBuffer, LARGEST_BUFFER);
  // More than net.core.rmem_max needs CAP_NET_ADMIN. Without it, the kernel grants that maximum.
  if (set(SOL_SOCKET, SO_RCVBUFFORCE, buffer) < 0) demand(set(SOL_SOCKET, SO_RCVBUF, buffer), name, 'SO_RCVBUF');
}

function demand(result: number, name: string, what: string): void {
  if (result < 0) throw new VigieError('input.unreadable', `${what} fails with ${errorName(result)}`, { where: name });
}

function bytesOf(value: number): Uint8Array {
  return new Uint8Array(Int32Array.of(value).buffer);
}

function filterBytes(filters: readonly IdentifierFilter[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(filters.flatMap(({ id, mask }) => [id, mask])).buffer);
}

class RawSocket implements BusSocket {
  readonly flexible: boolean;
  readonly oneShot: boolean;
  readonly #libc: Libc;
  readonly #descriptor: number;
  readonly #name: string;
  readonly #index: number;
  readonly #ring: ReceiveRing;
  readonly #readiness: Readiness;
  readonly #droppedBefore: number;
  #interfaceDropped = 0;
  readonly #memoryInformation = new Uint32Array(SK_MEMINFO_VARS);

  constructor(libc: Libc, descriptor: number, found: Interface, options: BusSocketOptions) {
    this.#libc = libc;
    this.#descriptor = descriptor;
    this.#name = options.interface;
    this.#index = found.index;
    this.#droppedBefore = droppedBy(this.#name) ?? 0;
    this.flexible = found.mtu >= CANFD_MTU;
    this.oneShot = isOneShot(libc, found.index);
    this.#ring = new ReceiveRing(libc, options.errors, options.own);
    this.#readiness = libc.readiness(descriptor);
  }

  get batch(): ReceiveRing['batch'] {
    return this.#ring.batch;
  }

  get slots(): number {
    return this.#ring.slots;
  }

  get malformed(): number {
    return this.#ring.malformed;
  }

  get echoes(): readonly number[] {
    return this.#ring.echoes;
  }

  /** Number of dropped frames. SO_MEMINFO (Linux 4.12) counts all; SO_RXQ_OVFL only those before the last read. */
  get dropped(): number {
    const words = this.#memoryInformation;
    const result = this.#libc.getOption(this.#descriptor, SOL_SOCKET, SO_MEMINFO, new Uint8Array(words.buffer));
    return result < 0 ? this.#ring.dropped : (words[SK_MEMINFO_DROPS] as number);
  }

  get interfaceDropped(): number {
    const found = lookUp(this.#libc, this.#descriptor, this.#name);
    // Find the interface by name: an interface that disappears takes its count with it.
    if (typeof found !== 'number' && found.index === this.#index) {
      const dropped = droppedBy(this.#name);
      if (dropped !== undefined) this.#interfaceDropped = dropped - this.#droppedBefore;
    }
    return this.#interfaceDropped;
  }

  get interfaceFrames(): number | undefined {
    return receivedBy(this.#name);
  }

  receive(now: number): number {
    return this.#ring.receive(this.#descriptor, now);
  }

  filter(filters: readonly IdentifierFilter[]): number {
    // The kernel applies the new filters before it drops the old ones, and delivers no frame twice (net/can/raw.c).
    return this.#libc.setOption(this.#descriptor, SOL_CAN_RAW, CAN_RAW_FILTER, filterBytes(filters));
  }

  write(bytes: Uint8Array, length: number): number {
    return this.#libc.write(this.#descriptor, bytes, length);
  }

  wait(ready: () => void): void {
    this.#readiness.wait(ready);
  }

  fault(): string | undefined {
    const found = lookUp(this.#libc, this.#descriptor, this.#name);
    if (typeof found !== 'number' && found.index !== this.#index) return 'another interface has its name now';
    return faultOf(found);
  }

  close(): void {
    this.#readiness.close();
    this.#libc.close(this.#descriptor);
  }
}
