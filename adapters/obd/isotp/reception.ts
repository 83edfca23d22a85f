import { VigieError } from '../../../protocol/errors.ts';
import { type Control, flowFrame } from './control.ts';
import { type IsotpWire, sendInTime } from './settings.ts';

interface ReceptionEvents {
  /** A whole message. The bytes are the receiver's to keep. */
  received(payload: Uint8Array): void;
  /**
   * A message that began and did not come whole: `input.malformed`; `input.unreadable` when our flow control could not
   * go out. `replaced`: the sender itself began anew, a whole message may still come.
   */
  failed(error: VigieError, replaced: boolean): void;
}

interface Unfinished {
  readonly payload: Uint8Array;
  /** Bytes that every consecutive frame but the last carries: as long as the first frame was (§9.6.4.2). */
  readonly full: number;
  came: number;
  /** Sequence number that the next frame must carry. */
  next: number;
  /** Frames until the sender waits for our flow control. */
  left: number;
}

/** Puts together the messages of one sender, and sends it flow control (ISO 15765-2:2016 §9.6, §9.8). */
export class Reception {
  readonly #wire: IsotpWire;
  readonly #events: ReceptionEvents;
  #unfinished: Unfinished | undefined;
  #cancel: (() => void) | undefined;

  constructor(wire: IsotpWire, events: ReceptionEvents) {
    this.#wire = wire;
    this.#events = events;
  }

  /** A message has begun and is not complete. */
  get active(): boolean {
    return this.#unfinished !== undefined;
  }

  /** A single, first or consecutive frame with its control information. */
  frame(control: Exclude<Control, { kind: 'flow' }>, data: Uint8Array): void {
    if (control.kind === 'consecutive') {
      this.#consecutive(control.index, data.subarray(1));
      return;
    }
    // A new message takes the place of one that is unfinished (§9.8.3).
    const cut = this.#unfinished;
    if (cut !== undefined)
      this.#fail(`a new message began after ${cut.came} of ${cut.payload.length} bytes`, cut, true);
    const part = data.subarray(control.begin, control.begin + control.length);
    if (control.kind === 'single') this.#events.received(part.slice());
    else this.#first(control.length, part, data.length - 1);
  }

  /** Forgets what is unfinished. */
  close(): void {
    this.#unfinished = undefined;
    this.#disarm();
  }

  #first(length: number, part: Uint8Array, full: number): void {
    const { longest } = this.#wire.settings;
    if (length > longest) {
      this.#flow('overflow');
      this.#events.failed(
        new VigieError('input.malformed', `an answer of ${length} bytes; at most ${longest} are taken`),
        false,
      );
      return;
    }
    const payload = new Uint8Array(length);
    payload.set(part);
    const message: Unfinished = { payload, full, came: part.length, next: 1, left: this.#block() };
    this.#unfinished = message;
    this.#flow('continue');
    this.#arm(message);
  }

  #consecutive(index: number, part: Uint8Array): void {
    const message = this.#unfinished;
    // Without a first frame it belongs to nothing we take (§9.8.3).
    if (message === undefined) return;
    const { payload } = message;
    if (index !== message.next) {
      this.#fail(`frame ${message.next} is missing or out of order: ${index} came`);
      return;
    }
    const wanted = Math.min(payload.length - message.came, message.full);
    if (part.length < wanted || part.length > message.full) {
      this.#fail(`frame ${index} carries ${part.length} bytes where ${wanted} are due`);
      return;
    }
    payload.set(part.subarray(0, wanted), message.came);
    message.came += wanted;
    message.next = (index + 1) & 15;
    if (message.came === payload.length) {
      this.close();
      this.#events.received(payload);
      return;
    }
    message.left--;
    if (message.left === 0) {
      message.left = this.#block();
      this.#flow('continue');
    }
    this.#arm(message);
  }

  #block(): number {
    const { blockSize } = this.#wire.settings;
    return blockSize === 0 ? Number.POSITIVE_INFINITY : blockSize;
  }

  #flow(status: 'continue' | 'overflow'): void {
    const { blockSize, separation } = this.#wire.settings;
    const message = this.#unfinished;
    sendInTime(this.#wire, flowFrame(status, blockSize, separation)).catch((error: unknown) => {
      if (message === undefined || this.#unfinished !== message) return;
      this.close();
      this.#events.failed(
        error instanceof VigieError ? error : new VigieError('input.unreadable', String(error), { cause: error }),
        false,
      );
    });
  }

  #arm(message: Unfinished): void {
    const { clock, settings } = this.#wire;
    this.#disarm();
    this.#cancel = clock.after(settings.consecutive, () => {
      this.#cancel = undefined;
      this.#fail(`the next frame did not come within ${settings.consecutive} ms`, message);
    });
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #fail(what: string, message = this.#unfinished, replaced = false): void {
    if (message === undefined || message !== this.#unfinished) return;
    this.close();
    const { came, payload } = message;
    this.#events.failed(
      new VigieError('input.malformed', `the answer is incomplete: ${what} (${came} of ${payload.length} bytes came)`),
      replaced,
    );
  }
}
