/** A CAN interface of this machine as a bus of the car. */

import { constants } from 'node:os';
import { Backoff } from '../../../agent/backoff.ts';
import type {
  Clock,
  FrameBatch,
  FrameSender,
  FrameSource,
  Log,
  OutgoingFrame,
  SourceHealth,
} from '../../../agent/ports.ts';
import type { Rest } from '../../../agent/power/rest.ts';
import { defined } from '../../../protocol/defined.ts';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import type { BusSocket, CanKernel } from './bus-socket.ts';
import { EchoWatch } from './echo.ts';
import { ErrorCounts } from './error-frames.ts';
import type { IdentifierFilter } from './filters.ts';
import { isInterfaceName } from './interface.ts';
import { loadCanKernel } from './kernel.ts';
import { errorName } from './libc.ts';
import { FrameReception } from './reception.ts';
import { Transmitter } from './transmission.ts';

export interface SocketCanOptions {
  /** Name of the network interface, e.g. `can0`. */
  readonly interface: string;
  /** Name of the bus in the profile. */
  readonly bus: string;
  readonly clock: Clock;
  /** Filters for the kernel (see `filtersFor`); if omitted, all frames pass. Error frames always pass. */
  readonly identifiers?: Iterable<number | IdentifierFilter>;
  /** Also deliver the frames sent by {@link SocketCan.send}, flagged SENT, with their time on the bus. Default: no. */
  readonly own?: boolean;
  /** Size in bytes of the kernel's receive queue. Default: 4 MiB, over half a second of a bus at 16,000 frames/s. */
  readonly receiveBuffer?: number;
  readonly log?: Log;
  /** Reports whether the unit sleeps. Default: it never sleeps. */
  readonly rest?: Rest;
  /** Loads the kernel interface. Default: the kernel of this machine. */
  readonly kernel?: () => Promise<CanKernel>;
}

/** Read interval in ms on an active bus: one wakeup of the processor per interval. Each frame keeps its own time. */
const TURN = 40;
/** Read interval in ms while a request on the bus awaits its answer. */
const QUICK_TURN = 5;
/** Read interval in ms while a sent frame awaits its echo: the next frame waits for that echo. */
const ECHO_TURN = 1;
/** Time in ms for which an answer is awaited after the last sent frame. */
const CONVERSATION = 1_000;
/** Maximum number of reads per turn, so that other work is not delayed. */
const READS = 16;
/** Maximum number of reads of a failed socket, of which only the queue remains: more than the queue can hold. */
const LAST_READS = 1024;
/** Delays in ms between attempts to find the interface. */
const WAITS = { first: 100, longest: 5000 };
/** Longest delay in ms while the unit sleeps, if the kernel reports changes. */
const SLEEPING_WAIT = 600_000;
/** Delay in ms from a reported change to the search for the interface: changes arrive in bursts. */
const SETTLING = 50;

const RESTARTING = 'it comes back by itself after `ip link set … type can restart-ms 100`';

const { EAGAIN, EINTR } = constants.errno;

/**
 * Reads one interface in batches and sends on it. Only listens until {@link send} is called. Configure bit rates, and a
 * controller that does not even acknowledge (`listen-only on`), outside Vigie, with ip-link(8).
 *
 * If the interface goes down, disappears or is renamed, the source searches for it by name when the kernel reports a
 * change, or after a delay. Error frames are counted by class and delivered with the ERROR bit, so that recordings
 * contain them. Frames from other programs on this machine are received like any other frames.
 */
export class SocketCan implements FrameSource, FrameSender {
  readonly buses: readonly string[];
  readonly #interface: string;
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #reception: FrameReception;
  readonly #own: boolean;
  readonly #receiveBuffer: number;
  readonly #load: () => Promise<CanKernel>;
  readonly #errors = new ErrorCounts();
  readonly #echoes: EchoWatch;
  readonly #transmitter: Transmitter;
  #kernel: CanKernel | undefined;
  #socket: BusSocket | undefined;
  #receive: (batch: FrameBatch) => void = () => undefined;
  #running = false;
  #reason: string | undefined = 'not started';
  /** Monotonic time at which the timer is due. */
  #due = 0;
  /** Monotonic time of the last request to send a frame. */
  #asked = Number.NEGATIVE_INFINITY;
  /** Counts the failed attempts to open since the last success. */
  readonly #backoff = new Backoff(WAITS);
  #frames = 0;
  #dropped = 0;
  #interfaceDropped = 0;
  #malformed = 0;
  #opened = 0;
  /** Number of controller restarts seen. */
  #restarts = 0;
  #cancel: () => void = () => undefined;
  #unwatch: (() => void) | undefined;
  readonly #rest: Rest | undefined;
  #unsubscribe: (() => void) | undefined;

  /** @throws VigieError `configuration.wrong` for an invalid interface name */
  constructor(options: SocketCanOptions) {
    const { interface: name, bus, clock, identifiers } = options;
    if (!isInterfaceName(name)) {
      throw new VigieError('configuration.wrong', `"${name}" cannot be the name of a network interface, e.g. can0`);
    }
    this.buses = [bus];
    this.#interface = name;
    this.#clock = clock;
    this.#log = options.log;
    this.#rest = options.rest;
    this.#reception = new FrameReception(identifiers);
    this.#own = options.own ?? false;
    this.#receiveBuffer = options.receiveBuffer ?? 4 * 1024 * 1024;
    this.#load = options.kernel ?? loadCanKernel;
    this.#echoes = new EchoWatch({
      where: name,
      clock,
      log: options.log,
      look: () => this.#look(),
      written: () => this.#readWithin(ECHO_TURN),
    });
    this.#transmitter = new Transmitter(name, clock, this.#echoes, (id) => this.#usable(id));
  }

  /**
   * Resolves when the interface is being read, or when the wait for it has started.
   * @throws VigieError `input.unreadable` if this machine does not support SocketCAN
   */
  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    this.#receive = receive;
    this.#reason = undefined;
    try {
      this.#kernel = await this.#load();
    } catch (error) {
      this.#running = false;
      this.#reason = reasonOf(error);
      throw error;
    }
    if (!this.#running) return;
    this.#unwatch = this.#kernel.watchLinks(() => this.#linksChanged());
    this.#unsubscribe = this.#rest?.subscribe((asleep) => asleep || this.#linksChanged());
    this.#open();
  }

  /** Stops delivering frames, and rejects the frames that wait to be sent. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#cancel();
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#unsubscribe?.();
    this.#close('stopped');
    this.#reason = 'stopped';
  }

  /**
   * Also lets frames with these identifiers pass. Replaces the identifiers of the previous call.
   * @throws VigieError `input.malformed` for an invalid identifier, `input.unreadable` if the kernel refuses
   */
  listen(identifiers: readonly (number | IdentifierFilter)[]): void {
    this.#reception.listen(identifiers, this.#socket, this.#interface);
  }

  /**
   * Resolves when the frame has been sent: a node on the bus has acknowledged it. An unacknowledged frame stays in the
   * controller and may be sent late. No other frame is sent until then, or until the interface goes down.
   * @throws VigieError `command.actuation` if the frame could not be sent on the bus
   */
  send(frame: OutgoingFrame): Promise<void> {
    const [bus] = this.buses;
    if (frame.bus !== '' && frame.bus !== bus) {
      const message = `${this.#interface} is the bus ${bus}, not ${frame.bus}`;
      return Promise.reject(new VigieError('command.actuation', message));
    }
    this.#asked = this.#clock.monotonic();
    this.#readWithin(QUICK_TURN);
    return this.#transmitter.send(frame);
  }

  /**
   * Returns the counts: `frames` (with error frames), `dropped` (wanted frames lost to a full queue, exact),
   * `interfaceDropped` (lost before the queue, wanted or not), `interfaceFrames` (all that the interface received since
   * the kernel made it, wanted or not), `malformed`, `restarts` (interface reopened), `sent`,
   * `refused` and `retries` (sending), `overdue` (refused but still in the controller), `late` (sent after they were
   * given up), `errors` (error frames) and the error classes.
   */
  health(): SourceHealth {
    const { sent, refused, retries } = this.#transmitter;
    const counts = {
      frames: this.#frames,
      dropped: this.#dropped + (this.#socket?.dropped ?? 0),
      interfaceDropped: this.#interfaceDropped + (this.#socket?.interfaceDropped ?? 0),
      ...defined({ interfaceFrames: this.#socket?.interfaceFrames }),
      malformed: this.#malformed + (this.#socket?.malformed ?? 0),
      restarts: Math.max(0, this.#opened - 1),
      sent,
      refused,
      retries,
      overdue: this.#echoes.overdue,
      late: this.#echoes.late,
      ...this.#errors.counts(),
    };
    if (this.#socket === undefined) {
      return this.#reason === undefined
        ? { state: 'opening', counts }
        : { state: 'waiting', reason: this.#reason, counts };
    }
    if (!this.#errors.isOff) return { state: 'running', counts };
    const reason = `${this.#interface}: bus-off, the controller left the bus after too many errors; ${RESTARTING}`;
    return { state: 'waiting', reason, counts };
  }

  /** Returns the socket, after its filters accept the echo of a frame with this identifier. */
  #usable(id: number): BusSocket {
    // Read a pending controller restart now: later it would look like a restart after this frame.
    if (this.#errors.isOff) this.#look();
    const socket = this.#socket;
    if (socket === undefined) {
      const reason = this.#reason ?? `${this.#interface} is being opened`;
      throw new VigieError('command.actuation', `nothing can be sent: ${reason}`);
    }
    this.#reception.admit(socket, id, this.#interface);
    return socket;
  }

  #open(): void {
    const name = this.#interface;
    const { filters } = this.#reception;
    try {
      this.#socket = this.#kernel?.open({
        interface: name,
        ...defined({ filters }),
        receiveBuffer: this.#receiveBuffer,
        own: this.#own,
        errors: this.#errors,
      });
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      this.#retry(error.message);
      return;
    }
    this.#reception.reset();
    this.#opened++;
    this.#reason = undefined;
    this.#errors.isOff = false;
    this.#log?.info('can.open', { interface: name, restarts: this.#opened - 1 });
    this.#wait();
  }

  /** Closes the socket, and opens a new one after a delay. */
  #retry(reason: string): void {
    this.#close(reason);
    if (reason !== this.#reason) this.#log?.warn('can.waiting', { interface: this.#interface, reason });
    this.#reason = reason;
    const longest = this.#rest?.asleep === true && this.#unwatch !== undefined ? SLEEPING_WAIT : undefined;
    this.#later(this.#backoff.next(longest), () => this.#open());
  }

  /** Closes the socket. A raw CAN socket fails only if its interface is down or gone, which discards its queue. */
  #close(reason: string): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#echoes.discarded(reason);
    if (socket === undefined) return;
    this.#dropped += socket.dropped;
    this.#interfaceDropped += socket.interfaceDropped;
    this.#malformed += socket.malformed;
    socket.close();
  }

  #linksChanged(): void {
    if (!this.#running) return;
    if (this.#socket === undefined) {
      // Do not postpone the attempt on each change: continuous changes would postpone it forever.
      if (this.#due > this.#clock.monotonic() + SETTLING) this.#later(SETTLING, () => this.#open());
      return;
    }
    const socket = this.#socket;
    const fault = socket.fault();
    if (fault === undefined) return;
    this.#fetch(socket, fault);
    // The receiver may have stopped this source.
    if (this.#socket === socket) this.#retry(`${this.#interface}: ${fault}`);
  }

  /** Sets the only timer, which reading and opening share. */
  #later(delay: number, due: () => void): void {
    this.#cancel();
    this.#due = this.#clock.monotonic() + delay;
    this.#cancel = this.#clock.after(delay, due);
  }

  /** Waits until the kernel reports new frames. */
  #wait(): void {
    this.#socket?.wait(() => this.#read());
  }

  #read(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    const outcome = this.#fetch(socket);
    // Meanwhile the receiver may have stopped this source, or a change may have been reported.
    if (this.#socket !== socket) return;
    if (!this.#converses && this.#echoes.state === 'none') this.#reception.narrow(socket);
    if (outcome === 'nothing') this.#wait();
    else if (outcome === 'more') this.#later(0, () => this.#read());
    else if (outcome === 'some') this.#later(this.#turn, () => this.#read());
    else this.#retry(`${this.#interface}: ${outcome.fault}`);
  }

  /** Shortens the current read interval. */
  #readWithin(turn: number): void {
    // While the socket is open, a pending timer is the next read.
    const isLong = this.#socket !== undefined && this.#due > this.#clock.monotonic() + turn;
    if (isLong) this.#later(turn, () => this.#read());
  }

  get #turn(): number {
    if (this.#echoes.state === 'waited') return ECHO_TURN;
    return this.#converses ? QUICK_TURN : TURN;
  }

  get #converses(): boolean {
    return this.#clock.monotonic() - this.#asked < CONVERSATION;
  }

  /** Immediately reads all received frames. */
  #look(): void {
    const socket = this.#socket;
    for (let reads = 0; socket !== undefined && this.#socket === socket && reads < LAST_READS; reads += READS) {
      const outcome = this.#fetch(socket);
      if (outcome === 'more') continue;
      if (typeof outcome === 'object') this.#retry(`${this.#interface}: ${outcome.fault}`);
      return;
    }
  }

  /** Processes the echoes and controller restarts of the last read. */
  #takeEchoes(socket: BusSocket): void {
    for (const id of socket.echoes) this.#echoes.echoed(id);
    if (this.#errors.controllerRestarts === this.#restarts) return;
    this.#restarts = this.#errors.controllerRestarts;
    // A restarted controller discards its unsent frames (drivers/net/can/dev, can_restart).
    this.#echoes.discarded('the controller was restarted after a bus-off');
  }

  /** Delivers the frames in the socket: at most one turn's share, or all of them if the socket has failed. */
  #fetch(socket: BusSocket, known?: string): 'nothing' | 'some' | 'more' | { readonly fault: string } {
    let fault = known;
    let errors = 0;
    let any = false;
    for (let reads = 0; reads < (fault === undefined ? READS : LAST_READS); reads++) {
      const count = socket.receive(this.#clock.now());
      this.#takeEchoes(socket);
      if (count === -EINTR) continue;
      if (count < 0 && count !== -EAGAIN) {
        fault ??= socket.fault() ?? `reading fails with ${errorName(count)}`;
        // The socket clears an error when it is read, then returns earlier frames. A repeated error is permanent.
        errors++;
        if (errors > 1) break;
        continue;
      }
      if (count > 0) {
        any = true;
        this.#backoff.reset();
        const { batch } = socket;
        this.#frames += batch.count;
        if (batch.count > 0) this.#receive(batch);
        if (this.#socket !== socket) return 'nothing';
      }
      if (count < socket.slots) {
        if (fault !== undefined) break;
        return any ? 'some' : 'nothing';
      }
    }
    return fault === undefined ? 'more' : { fault };
  }
}
