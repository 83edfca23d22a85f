/** Detects that a written frame has been sent: the kernel echoes it when its driver reports the transmission. */
import type { Clock, Log } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { BusSocket } from './bus-socket.ts';

/**
 * Time in ms within which a frame must be sent: 100 for this machine, which may be delayed or reads at intervals, and
 * 150 for the bus: 117 of the longest classic frames (160 bits with all stuff bits: Davis et al., Controller
 * Area Network schedulability analysis, 2007, eq. 2) at 125 kbit/s, more than other nodes must send in one burst.
 */
export const LEAVING = 250;

/**
 * The same time in ms for a controller that tries once: it tries as soon as the bus is first free, which takes one
 * frame's time.
 */
export const TRYING = 100;

interface EchoOptions {
  /** Name of the interface. */
  readonly where: string;
  readonly clock: Clock;
  readonly log?: Log | undefined;
  /** Reads the messages in the socket, which calls {@link EchoWatch.echoed} or {@link EchoWatch.discarded}. */
  readonly look: () => void;
  /** Called after a frame was written: its echo must be read soon. */
  readonly written: () => void;
}

/** A frame that was written and not yet echoed. */
interface Outstanding {
  readonly id: number;
  /** Monotonic time in ms at which the frame was written. */
  readonly since: number;
  /** Ends the sender's wait. Undefined if the wait has ended and the frame is overdue. */
  settle: ((outcome: boolean | VigieError) => void) | undefined;
}

/**
 * Tracks the echo of sent frames. On a sleeping bus no node acknowledges: the controller repeats a frame forever, and
 * the kernel queues later frames after it. At most one frame is pending, so only that one is sent when the bus wakes.
 */
export class EchoWatch {
  /** Number of frames that were not sent in time. */
  overdue = 0;
  /** Number of frames that were given up but sent nevertheless. */
  late = 0;
  readonly #options: EchoOptions;
  #frame: Outstanding | undefined;

  constructor(options: EchoOptions) {
    this.#options = options;
  }

  /** State of the pending echo: `none` pending, `waited` for, or `overdue`. */
  get state(): 'none' | 'waited' | 'overdue' {
    if (this.#frame === undefined) return 'none';
    return this.#frame.settle === undefined ? 'overdue' : 'waited';
  }

  /** @throws VigieError `command.actuation` while a frame is overdue */
  check(): void {
    if (this.#frame === undefined) return;
    // The echo may have been received already.
    this.#options.look();
    if (this.#frame !== undefined) throw this.#refusal(this.#frame);
  }

  /**
   * Resolves with true when the frame that was just written has been sent, or with false if the controller tried it
   * once and dropped it. Call only if {@link check} did not throw.
   * @param losses result of {@link lossesOf} before the frame was written
   * @throws VigieError `command.actuation` if the frame was not sent in time, or this is unknown
   */
  left(id: number, socket: BusSocket, losses: number): Promise<boolean> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const frame: Outstanding = { id, since: clock.monotonic(), settle: undefined };
      const cancel = clock.after(socket.oneShot ? TRYING : LEAVING, () => this.#expire(frame, socket, losses));
      frame.settle = (outcome) => {
        frame.settle = undefined;
        cancel();
        if (typeof outcome === 'boolean') resolve(outcome);
        else reject(outcome);
      };
      this.#frame = frame;
      this.#options.written();
    });
  }

  /** Handles the echo of a frame of this socket: it has been sent. */
  echoed(id: number): void {
    const frame = this.#frame;
    if (frame?.id !== id) {
      this.#cameLate(id);
      return;
    }
    this.#frame = undefined;
    if (frame.settle === undefined) this.#cameLate(id, { after: Math.round(this.#age(frame)) });
    else frame.settle(true);
  }

  /** Call if the interface and controller have discarded the written frame, or if it is unknown whether they have. */
  discarded(reason: string): void {
    const frame = this.#frame;
    this.#frame = undefined;
    frame?.settle?.(this.#error(`frame ${nameOf(frame.id)} had not left: ${reason}`));
  }

  /** Returns the error for a frame that the controller gave up at every attempt. */
  unheard(id: number): VigieError {
    return this.#error(`frame ${nameOf(id)} has not left and was given up (one-shot): ${UNHEARD}`);
  }

  #expire(frame: Outstanding, socket: BusSocket, losses: number): void {
    // The process may have been delayed for longer than the frame was.
    this.#options.look();
    if (this.#frame !== frame) return;
    const name = nameOf(frame.id);
    if (lossesOf(socket) !== losses) {
      // The echo may be among the dropped frames, and a full queue proves that the bus is active.
      this.#frame = undefined;
      const message = `the agent does not know whether frame ${name} has left: the kernel dropped received frames meanwhile`;
      frame.settle?.(this.#error(message));
    } else if (socket.oneShot) {
      this.#frame = undefined;
      frame.settle?.(false);
    } else {
      this.overdue++;
      const { where, log } = this.#options;
      log?.warn('can.overdue', { interface: where, frame: name, reason: UNHEARD });
      frame.settle?.(this.#refusal(frame));
    }
  }

  #cameLate(id: number, fields: { readonly after?: number } = {}): void {
    this.late++;
    const { where, log } = this.#options;
    log?.warn('can.late', { interface: where, frame: nameOf(id), ...fields });
  }

  #refusal(frame: Outstanding): VigieError {
    const { where } = this.#options;
    return this.#error(
      `frame ${nameOf(frame.id)} has not left for ${Math.round(this.#age(frame))} ms: ${UNHEARD}. Nothing else is sent ` +
        `before it has left or \`ip link set ${where} down\` and \`up\` have discarded it`,
    );
  }

  #age(frame: Outstanding): number {
    return this.#options.clock.monotonic() - frame.since;
  }

  #error(message: string): VigieError {
    return new VigieError('command.actuation', message, { where: this.#options.where });
  }
}

const UNHEARD = 'the bus sleeps, or no control unit acknowledges (check wiring and bit rate)';

/** Returns the number of frames that the kernel could not deliver so far. One of them may be an echo. */
export function lossesOf({ dropped, interfaceDropped }: Pick<BusSocket, 'dropped' | 'interfaceDropped'>): number {
  return dropped + interfaceDropped;
}

function nameOf(id: number): string {
  return `0x${(id & 0x1fff_ffff).toString(16)}`;
}
