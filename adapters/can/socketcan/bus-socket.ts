/** The kernel's side of SocketCAN as the source and sender needs it: a test may put another wire behind it. */
import type { FrameBatch } from '../../../agent/ports.ts';
import type { ErrorCounts } from './error-frames.ts';
import type { IdentifierFilter } from './filters.ts';

export interface BusSocketOptions {
  readonly interface: string;
  /** Absent: every frame. */
  readonly filters?: readonly IdentifierFilter[];
  /** Requested bytes of the kernel's queue, with its own bookkeeping. */
  readonly receiveBuffer: number;
  /** Deliver what was sent here as well; without, only {@link BusSocket.echoes} names it. */
  readonly own: boolean;
  readonly errors: ErrorCounts;
}

/** A raw CAN socket, bound to an interface. */
export interface BusSocket {
  /** True when FD frames pass. */
  readonly flexible: boolean;
  /** Result of the last {@link receive}. */
  readonly batch: FrameBatch;
  /** Most messages of one {@link receive}. */
  readonly slots: number;
  /** Frames dropped since it was opened, because they were not fetched in time; counts modulo 2^32. */
  readonly dropped: number;
  /** Frames since it was opened that the interface or the way from it dropped before any socket had a chance. */
  readonly interfaceDropped: number;
  /** Messages that were no frames. */
  readonly malformed: number;
  /** The controller sends a frame once, and drops it if no node acknowledges it. */
  readonly oneShot: boolean;
  /**
   * Identifiers of the frames that were written here and have left, as the last {@link receive} reported; those that the
   * filters let pass. A driver without echo (no ECHO among the flags of ip-link(8)) tells it of all that it was given.
   */
  readonly echoes: readonly number[];
  /** From now on only these frames pass; error frames always pass. Returns 0 or a negative errno. */
  filter(filters: readonly IdentifierFilter[]): number;
  /** Fetches the received messages. Returns their number or a negative errno. Never waits. */
  receive(now: number): number;
  /** Writes one frame in the form of the kernel. Returns its size or a negative errno. Never waits. */
  write(bytes: Uint8Array, length: number): number;
  /** Calls `ready` once, when there is something to receive or an error to fetch. */
  wait(ready: () => void): void;
  /** Why it does not stand for the interface of its name any more: gone, down, renamed. */
  fault(): string | undefined;
  close(): void;
}

export interface CanKernel {
  /** @throws VigieError `input.unreadable` when the interface is not there, not up or no CAN interface */
  open(options: BusSocketOptions): BusSocket;
  /** Calls `changed` when interfaces appear, vanish or change. The result ends that. Undefined: not supported. */
  watchLinks(changed: () => void): (() => void) | undefined;
}
