import {
  BIT_RATE_SWITCH,
  type Clock,
  ERROR,
  EXTENDED,
  FD,
  type FrameBatch,
  type FrameSender,
  REMOTE,
  SENT,
} from '../../../agent/ports.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { DiagnosticAnswer, DiagnosticRequest, DiagnosticRequester } from '../requester.ts';
import { CLASSIC, padded, singleFrame } from './control.ts';
import { Exchange } from './exchange.ts';
import { type IsotpRoute, routeOf } from './route.ts';
import { defaultSettings, type IsoTpSettings } from './settings.ts';

export interface IsoTpOptions {
  readonly clock: Clock;
  readonly sender: FrameSender;
  /** Name of the bus for the sender. */
  readonly bus: string;
  /** Index of that bus in the batches passed to {@link IsoTp.receive}. */
  readonly index: number;
  readonly settings?: Partial<IsoTpSettings>;
  /**
   * Time in ms without a frame of other senders after which the bus counts as asleep; default 3000. `Infinity`: never,
   * for a bus behind a gateway that transmits only answers.
   */
  readonly asleepAfter?: number;
}

export interface IsoTpRequest extends DiagnosticRequest {
  /** Sends the request even if the bus sleeps, and so wakes it. */
  readonly wake?: boolean;
}

/** Maximum number of waiting requests. */
const LONGEST_QUEUE = 64;

const ASLEEP_AFTER = 3000;

interface Waiting {
  readonly request: IsoTpRequest;
  readonly resolve: (answers: readonly DiagnosticAnswer[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends requests to control units over the frames of a bus (ISO 15765-2:2016 and ISO 15765-4). Sends only requests and
 * the flow control of their answers, and nothing while the bus sleeps.
 */
export class IsoTp implements DiagnosticRequester {
  /** Counts since the start. */
  readonly counts = { requests: 0, answers: 0, strays: 0, incomplete: 0 };
  readonly #options: IsoTpOptions;
  readonly #settings: IsoTpSettings;
  readonly #queue: Waiting[] = [];
  #exchange: Exchange | undefined;
  #lastRoute: IsotpRoute | undefined;
  /** Monotonic time in ms of the last frame from an addressed unit. */
  #lastAnswer = Number.NEGATIVE_INFINITY;
  /** True after an incomplete answer: its sender may continue sending it. */
  #broken = false;
  #hold: (() => void) | undefined;
  #heard = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** @throws VigieError `configuration.wrong` for an invalid length of a CAN frame */
  constructor(options: IsoTpOptions) {
    this.#options = options;
    this.#settings = { ...defaultSettings, ...options.settings };
    const { frameLength } = this.#settings;
    if (
      frameLength < CLASSIC ||
      padded(new Uint8Array(frameLength), undefined, undefined).length !== frameLength ||
      frameLength > 64
    ) {
      throw new VigieError('configuration.wrong', `CAN frames of ${frameLength} bytes do not exist; write 8 or 64`);
    }
  }

  /** Processes the frames of this bus and ignores those of other buses. Keeps no reference to the batch. */
  receive(batch: FrameBatch): void {
    const { count, id, bus, flags, offset, length, data } = batch;
    for (let i = 0; i < count; i++) {
      if (bus[i] !== this.#options.index) continue;
      const identifier = id[i] as number;
      if ((identifier & ERROR) !== 0 || ((flags[i] as number) & SENT) !== 0) continue;
      const begin = offset[i] as number;
      const answer =
        (identifier & REMOTE) === 0 && this.#answer(identifier, data, begin, begin + (length[i] as number));
      if (!answer) this.#heard = this.#options.clock.monotonic();
    }
  }

  /**
   * Returns true if a frame is an answer to us, including late answers. Answers do not show that the bus is awake: our
   * own requests would keep it awake.
   */
  #answer(identifier: number, data: Uint8Array, begin: number, end: number): boolean {
    const route = this.#lastRoute;
    const id = identifier & 0x1fff_ffff;
    const extended = (identifier & EXTENDED) !== 0;
    // Frames of other senders cause no allocation.
    if (route?.extended !== extended || route.responder(id, begin < end ? data[begin] : undefined) === undefined) {
      return false;
    }
    this.#lastAnswer = this.#options.clock.monotonic();
    this.#exchange?.frame(id, extended, data.subarray(begin, end));
    return true;
  }

  /** True if the bus counts as asleep: see {@link IsoTpOptions.asleepAfter}. */
  get asleep(): boolean {
    const { clock, asleepAfter = ASLEEP_AFTER } = this.#options;
    return asleepAfter !== Number.POSITIVE_INFINITY && clock.monotonic() - this.#heard > asleepAfter;
  }

  /**
   * @throws VigieError as `DiagnosticRequester` does, and `message.unbounded` for a request that is empty, too long for
   * the settings or, if sent to all control units, longer than a frame; or if too many requests wait
   */
  async request(request: IsoTpRequest): Promise<readonly DiagnosticAnswer[]> {
    this.#check(request);
    return await new Promise((resolve, reject) => {
      const last = request.urgent === true ? this.#queue.findIndex((waiting) => waiting.request.urgent !== true) : -1;
      this.#queue.splice(last < 0 ? this.#queue.length : last, 0, { request, resolve, reject });
      this.#next();
    });
  }

  /** Ends running and waiting requests; every request rejects with `input.unreadable`. */
  close(): void {
    this.#closed = true;
    const error = new VigieError(
      'input.unreadable',
      `no requests go to bus ${this.#options.bus} any more: it is closed`,
    );
    this.#exchange?.abort(error);
    this.#hold?.();
    this.#hold = undefined;
    for (const { reject } of this.#queue.splice(0)) reject(error);
  }

  #check({ payload, address }: IsoTpRequest): void {
    const { frameLength, longest } = this.#settings;
    const taken = address.target === undefined ? 0 : 1;
    const alone = singleFrame(payload, frameLength - taken, taken) !== undefined;
    if (payload.length === 0 || payload.length > longest) {
      throw new VigieError('message.unbounded', `a request of ${payload.length} bytes; 1 to ${longest} can be sent`);
    }
    if (!alone && routeOf(address).functional) {
      throw new VigieError('message.unbounded', 'a request to all control units must fit into one frame');
    }
    if (this.#queue.length >= LONGEST_QUEUE) {
      throw new VigieError('message.unbounded', `${LONGEST_QUEUE} requests wait already for bus ${this.#options.bus}`);
    }
  }

  #next(): void {
    if (this.#exchange !== undefined || this.#holds()) return;
    const waiting = this.#queue.shift();
    if (waiting === undefined) return;
    const { request, resolve, reject } = waiting;
    try {
      this.#mayBegin(request);
    } catch (refusal) {
      reject(refusal);
      this.#next();
      return;
    }
    this.counts.requests++;
    const exchange = this.#open(request);
    this.#exchange = exchange;
    exchange.answers.then(resolve, reject).finally(() => {
      this.counts.strays += exchange.strays;
      this.counts.incomplete += exchange.faults.length;
      this.#exchange = undefined;
      this.#broken = exchange.faults.length > 0;
      this.#next();
    });
    exchange.answers.then(
      (answers) => {
        this.counts.answers += answers.length;
      },
      () => undefined,
    );
  }

  /**
   * Returns true if the next request must wait: after an incomplete answer, its sender must first be silent for N_Cr,
   * because consecutive frames contain their sequence number but not their message, and must not be mistaken for those
   * of the next answer.
   */
  #holds(): boolean {
    if (this.#hold !== undefined) return true;
    const { clock } = this.#options;
    const left = this.#lastAnswer + this.#settings.consecutive - clock.monotonic();
    if (!this.#broken || this.#closed || left <= 0) {
      this.#broken = false;
      return false;
    }
    this.#hold = clock.after(left, () => {
      this.#hold = undefined;
      this.#next();
    });
    return true;
  }

  /** @throws VigieError `input.unreadable` if nothing may be sent, and the errors of the request's `allowed` */
  #mayBegin({ wake, allowed }: IsoTpRequest): void {
    const { bus } = this.#options;
    if (this.#closed) throw new VigieError('input.unreadable', `bus ${bus} is closed`);
    if (this.asleep && wake !== true) {
      throw new VigieError('input.unreadable', `bus ${bus} sleeps: no frame was heard, so nothing is asked`);
    }
    allowed?.();
  }

  #open({ address, payload, timeout, pending, longestPending }: IsoTpRequest): Exchange {
    const { clock, sender, bus } = this.#options;
    const settings = {
      ...this.#settings,
      ...defined({ pending, longestPending }),
    };
    const route = routeOf(address);
    this.#lastRoute = route;
    return new Exchange({
      wire: { clock, settings, address: route.target === undefined ? 0 : 1 },
      route,
      payload,
      timeout: timeout ?? settings.answer,
      send: (id, target, data) =>
        sender.send({
          bus,
          id: route.extended ? (id | EXTENDED) >>> 0 : id,
          flags: settings.frameLength > CLASSIC ? FD | (settings.bitRateSwitch ? BIT_RATE_SWITCH : 0) : 0,
          data: padded(data, target, settings.padding),
        }),
    });
  }
}
