/** The kernel's side of SocketCAN, as the source and sender need it. Tests may implement it differently. */
import type { FrameBatch } from '../../../agent/ports.ts';
import type { ErrorCounts } from './error-frames.ts';
import type { IdentifierFilter } from './filters.ts';

export interface BusSocketOptions {
  readonly interface: string;
  /** Identifiers of the frames to receive. If omitted, every frame. */
  readonly filters?: readonly IdentifierFilter[];
  /** Requested size in bytes of the kernel's receive queue, with the kernel's overhead. */
  readonly receiveBuffer: number;
  /** True to also deliver frames sent by this socket. If false, only {@link BusSocket.echoes} lists them. */
  readonly own: boolean;
  readonly errors: ErrorCounts;
}

/** A raw CAN socket, bound to an interface. */
export interface BusSocket {
  /** True if FD frames can be sent and received. */
  readonly flexible: boolean;
  /** Result of the last {@link receive}. */
  readonly batch: FrameBatch;
  /** Maximum number of messages per {@link receive}. */
  readonly slots: number;
  /** Number of frames dropped since the socket was opened because they were not read in time, modulo 2^32. */
  readonly dropped: number;
  /** Number of frames since the socket was opened that were dropped before they reached any socket. */
  readonly interfaceDropped: number;
  /** Number of frames that the interface received in all, whether this socket wants them or not. */
  readonly interfaceFrames?: number | undefined;
  /** Number of messages that are not frames. */
  readonly malformed: number;
  /** True if the controller sends a frame once, and drops it if no node acknowledges it. */
  readonly oneShot: boolean;
  /**
   * Identifiers of the frames that this socket has sent on the bus, as the last {@link receive} reported, if filters
   * accept them. A driver without echo (no ECHO among the flags of ip-link(8)) reports every frame that it was given.
   */
  readonly echoes: readonly number[];
  /** Sets the filters: only these frames pass, and all error frames. Returns 0 or a negative errno. */
  filter(filters: readonly IdentifierFilter[]): number;
  /** Reads the received messages. Returns their number or a negative errno. Never waits. */
  receive(now: number): number;
  /** Writes one frame in the kernel's format. Returns its size or a negative errno. Never waits. */
  write(bytes: Uint8Array, length: number): number;
  /** Calls `ready` once, when a message or an error can be read. */
  wait(ready: () => void): void;
  /** Returns the reason why the socket is no longer the interface of this name (gone, down, renamed), or undefined. */
  fault(): string | undefined;
  close(): void;
}

export interface CanKernel {
  /** @throws VigieError `input.unreadable` if the interface does not exist, is not up or is not a CAN interface */
  open(options: BusSocketOptions): BusSocket;
  /** Calls `changed` when interfaces appear, vanish or change. Returns a stop function; undefined if unsupported. */
  watchLinks(changed: () => void): (() => void) | undefined;
}
