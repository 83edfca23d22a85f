/** Detects that a written frame has been sent: the kernel echoes it when its driver reports the transmission. */
import type { Clock, Log } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { BusSocket } from './bus-socket.ts';

/**
 * A frame has to have left after so long, ms: 100 for this machine, which may be held up or reads in turns, and 150 for
 * the bus. Those are 117 of the longest classic frames (160 bits with all stuff bits: Davis et al., Controller Area
 * Network schedulability analysis, 2007, eq. 2) at 125 kbit/s, more than others have to send in one go.
 */
export const LEAVING = 250;

/**
 * The same for a controller that tries once, ms: no sooner or later than the bus is free for the first time, which takes
 * a frame's time.
 */
export const TRYING = 100;

interface EchoOptions {
  /** Name of the interface. */
  readonly where: string;
  readonly clock: Clock;
  readonly log?: Log | undefined;
  /** Reads what the socket holds, and so calls {@link EchoWatch.echoed} or {@link EchoWatch.discarded}. */
  readonly look: () => void;
  /** A frame was written: its echo is to be read soon. */
  readonly written: () => void;
}

/** A frame that was written and has not come back. */
interface Outstanding {
  readonly id: number;
  /** Monotonic ms. */
  readonly since: number;
  /** Ends the wait of its sender; undefined: the wait is over, the frame is overdue. */
  settle: ((outcome: boolean | VigieError) => void) | undefined;
}

/**
 * On a bus that sleeps no node acknowledges: the controller repeats a frame for ever, and the kernel queues all frames
 * behind it. This class has at most one frame on its way, so only that one can come out when the bus wakes.
 */
export class EchoWatch {
  /** Frames that had not left in time. */
  overdue = 0;
  /** Frames that were given up and left all the same. */
  late = 0;
  readonly #options: EchoOptions;
  #frame: Outstanding | undefined;

  constructor(options: EchoOptions) {
    this.#options = options;
  }

  /** Whether the echo of a frame is missing: it may come any time, or is `overdue`. */
  get state(): 'none' | 'waited' | 'overdue' {
    if (this.#frame === undefined) return 'none';
    return this.#frame.settle === undefined ? 'overdue' : 'waited';
  }

  /** @throws VigieError `command.actuation` while a frame is overdue */
  check(): void {
    if (this.#frame === undefined) return;
    // Its echo may have come already.
    this.#options.look();
    if (this.#frame !== undefined) throw this.#refusal(this.#frame);
  }

  /**
   * Resolves when the frame that was just written has left, and with false when the controller has tried it once and keeps
   * it no more; to be called only where {@link check} did not throw.
   * @param losses what {@link lossesOf} gave before it was written
   * @throws VigieError `command.actuation` when it has not left in time, or this is unknown
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

  /** An own frame came back: it has left. */
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

  /** Interface and controller have no written frame left, or it has become unknown whether they have. */
  discarded(reason: string): void {
    const frame = this.#frame;
    this.#frame = undefined;
    frame?.settle?.(this.#error(`frame ${nameOf(frame.id)} had not left: ${reason}`));
  }

  /** For a frame that the controller has given up however often it was tried. */
  unheard(id: number): VigieError {
    return this.#error(`frame ${nameOf(id)} has not left and was given up (one-shot): ${UNHEARD}`);
  }

  #expire(frame: Outstanding, socket: BusSocket, losses: number): void {
    // The process may have been held up for longer than the frame was.
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

/** Frames that the kernel could not deliver so far; an echo may be among them. */
export function lossesOf({ dropped, interfaceDropped }: Pick<BusSocket, 'dropped' | 'interfaceDropped'>): number {
  return dropped + interfaceDropped;
}

function nameOf(id: number): string {
  return `0x${(id & 0x1fff_ffff).toString(16)}`;
}
