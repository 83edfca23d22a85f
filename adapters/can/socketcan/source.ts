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
import { VigieError } from '../../../protocol/errors.ts';
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
  /** Only these pass the kernel (see `filtersFor`); absent: all. Error frames always pass. */
  readonly identifiers?: Iterable<number | IdentifierFilter>;
  /** Also deliver what {@link SocketCan.send} sent, flagged SENT and when it was on the bus. Default: no. */
  readonly own?: boolean;
  /** Bytes of the kernel's queue, default 4 MiB: more than half a second of a bus at 16,000 frames/s. */
  readonly receiveBuffer?: number;
  readonly log?: Log;
  /** Whether the unit sleeps; default: never. */
  readonly rest?: Rest;
  /** Default: the kernel of this machine. */
  readonly kernel?: () => Promise<CanKernel>;
}

/** Between two reads while the bus talks, ms: the processor wakes once for all frames of so long. Each has its own time. */
const TURN = 40;
/** The same while a request on the bus waits for its answer, ms. */
const QUICK_TURN = 5;
/** The same while a frame is on its way out: the next waits for it. ms */
const ECHO_TURN = 1;
/** After the last frame that was sent, an answer is awaited for this long, ms. */
const CONVERSATION = 1_000;
/** Reads in one turn before others get theirs. */
const READS = 16;
/** Largest number of reads of a failed socket, which has only its queue left: more than fits it. */
const LAST_READS = 1024;
/** Waits before the interface is looked for again, ms. */
const WAITS = { first: 100, longest: 5000 };
/** The longest while the unit sleeps, if the kernel reports changes, ms. */
const SLEEPING_WAIT = 600_000;
/** After word of a change the interface is looked for this much later: changes come in bursts. ms */
const SETTLING = 50;

const RESTARTING = 'it comes back by itself after `ip link set … type can restart-ms 100`';

const { EAGAIN, EINTR } = constants.errno;

/**
 * Reads one interface in batches and sends on it. Listens only until {@link send} is called; bit rates, and a controller
 * that does not even acknowledge (`listen-only on`), are set up outside, with ip-link(8).
 *
 * An interface that goes down, away or gets another name is looked for again by its name, at the kernel's word or after
 * a wait. Error frames are counted by class and delivered as well, with the ERROR bit, so that a recording has them.
 * Frames that other programs of this machine send are received like any other.
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
  /** Monotonic time at which a frame was last to be sent. */
  #asked = Number.NEGATIVE_INFINITY;
  /** Attempts to open that failed since the last that did not. */
  readonly #backoff = new Backoff(WAITS);
  #frames = 0;
  #dropped = 0;
  #interfaceDropped = 0;
  #malformed = 0;
  #opened = 0;
  /** Restarts of the controller that were seen. */
  #restarts = 0;
  #cancel: () => void = () => undefined;
  #unwatch: (() => void) | undefined;
  readonly #rest: Rest | undefined;
  #unsubscribe: (() => void) | undefined;

  /** @throws VigieError `configuration.wrong` for what cannot be an interface's name */
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
   * Resolves when the interface is read, or waited for.
   * @throws VigieError `input.unreadable` when this machine has no SocketCAN at all
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
      this.#reason = error instanceof Error ? error.message : String(error);
      throw error;
    }
    if (!this.#running) return;
    this.#unwatch = this.#kernel.watchLinks(() => this.#linksChanged());
    this.#unsubscribe = this.#rest?.subscribe((asleep) => asleep || this.#linksChanged());
    this.#open();
  }

  /** Nothing is delivered any more. What waits to be sent is refused. */
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
   * Lets frames with these identifiers pass as well, in place of those that were given before.
   * @throws VigieError `input.malformed` for an identifier that there cannot be, `input.unreadable` when the kernel refuses
   */
  listen(identifiers: readonly (number | IdentifierFilter)[]): void {
    this.#reception.listen(identifiers, this.#socket, this.#interface);
  }

  /**
   * Resolves when the frame has left: a node on the bus has acknowledged it. A frame without acknowledgement stays with
   * the controller, and may leave late; until it has left, or the interface was down, no other frame is sent.
   * @throws VigieError `command.actuation` when the frame could not be put on the bus
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
   * Counts: `frames` (error frames included), `dropped` (wanted frames for which the queue was full, exact),
   * `interfaceDropped` (before that, wanted or not), `malformed`, `restarts` (the interface was opened again), `sent`,
   * `refused` and `retries` (sending), `overdue` (refused, and still with the controller), `late` (given up, and has left
   * all the same), `errors` (error frames) and their classes.
   */
  health(): SourceHealth {
    const { sent, refused, retries } = this.#transmitter;
    const counts = {
      frames: this.#frames,
      dropped: this.#dropped + (this.#socket?.dropped ?? 0),
      interfaceDropped: this.#interfaceDropped + (this.#socket?.interfaceDropped ?? 0),
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

  /** The socket, with filters that let a frame with this identifier come back. */
  #usable(id: number): BusSocket {
    // A restart of the controller that was not read yet must not be taken for one after the frame.
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

  /** Closes the socket, and opens it again after a wait. */
  #retry(reason: string): void {
    this.#close(reason);
    if (reason !== this.#reason) this.#log?.warn('can.waiting', { interface: this.#interface, reason });
    this.#reason = reason;
    const longest = this.#rest?.asleep === true && this.#unwatch !== undefined ? SLEEPING_WAIT : undefined;
    this.#later(this.#backoff.next(longest), () => this.#open());
  }

  /** A raw CAN socket has no other error than that its interface is down or gone, which discards what it held. */
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
      // Changes without end must not put it off without end.
      if (this.#due > this.#clock.monotonic() + SETTLING) this.#later(SETTLING, () => this.#open());
      return;
    }
    const socket = this.#socket;
    const fault = socket.fault();
    if (fault === undefined) return;
    this.#fetch(socket, fault);
    // The receiver may have stopped it.
    if (this.#socket === socket) this.#retry(`${this.#interface}: ${fault}`);
  }

  /** The one timer there is: reading and opening take turns. */
  #later(delay: number, due: () => void): void {
    this.#cancel();
    this.#due = this.#clock.monotonic() + delay;
    this.#cancel = this.#clock.after(delay, due);
  }

  /** Silence: the kernel notifies of new frames. */
  #wait(): void {
    this.#socket?.wait(() => this.#read());
  }

  #read(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    const outcome = this.#fetch(socket);
    // The receiver may have stopped or the word of a change may have come meanwhile.
    if (this.#socket !== socket) return;
    if (!this.#converses && this.#echoes.state === 'none') this.#reception.narrow(socket);
    if (outcome === 'nothing') this.#wait();
    else if (outcome === 'more') this.#later(0, () => this.#read());
    else if (outcome === 'some') this.#later(this.#turn, () => this.#read());
    else this.#retry(`${this.#interface}: ${outcome.fault}`);
  }

  /** Shortens the turn that has begun. */
  #readWithin(turn: number): void {
    // While it is open, a timer that is due later than now is the next read.
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

  /** Reads now, out of turn, all that has come. */
  #look(): void {
    const socket = this.#socket;
    for (let reads = 0; socket !== undefined && this.#socket === socket && reads < LAST_READS; reads += READS) {
      const outcome = this.#fetch(socket);
      if (outcome === 'more') continue;
      if (typeof outcome === 'object') this.#retry(`${this.#interface}: ${outcome.fault}`);
      return;
    }
  }

  /** Takes from the last read which sent frames have left, and whether the controller restarted. */
  #takeEchoes(socket: BusSocket): void {
    for (const id of socket.echoes) this.#echoes.echoed(id);
    if (this.#errors.controllerRestarts === this.#restarts) return;
    this.#restarts = this.#errors.controllerRestarts;
    // It forgets what it had to send (drivers/net/can/dev, can_restart).
    this.#echoes.discarded('the controller was restarted after a bus-off');
  }

  /** Delivers what the socket holds; at most a turn's share, or all of it where the socket has a fault. */
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
        // The socket forgets an error that was fetched, and gives what came before it. One that comes again is to stay.
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
