import { VigieError } from '../../../protocol/errors.ts';
import { type Control, flowFrame } from './control.ts';
import { type IsotpWire, sendInTime } from './settings.ts';

interface ReceptionEvents {
  /** Called with a whole message. The receiver may keep the bytes. */
  received(payload: Uint8Array): void;
  /**
   * Called if a message began but remained incomplete: `input.malformed`; `input.unreadable` if our flow control could
   * not be sent. `replaced`: the sender itself started again, so a whole message may still follow.
   */
  failed(error: VigieError, replaced: boolean): void;
}

interface Unfinished {
  readonly payload: Uint8Array;
  /** Bytes in every consecutive frame except the last: as many as the length of the first frame allows (§9.6.4.2). */
  readonly full: number;
  came: number;
  /** Expected sequence number of the next frame. */
  next: number;
  /** Number of frames until the sender waits for our flow control. */
  left: number;
}

/** Reassembles the messages of one sender, and sends it flow control (ISO 15765-2:2016 §9.6, §9.8). */
export class Reception {
  readonly #wire: IsotpWire;
  readonly #events: ReceptionEvents;
  #unfinished: Unfinished | undefined;
  #cancel: (() => void) | undefined;

  constructor(wire: IsotpWire, events: ReceptionEvents) {
    this.#wire = wire;
    this.#events = events;
  }

  /** True if a message has begun and is incomplete. */
  get active(): boolean {
    return this.#unfinished !== undefined;
  }

  /** Processes a single, first or consecutive frame with its control information. */
  frame(control: Exclude<Control, { kind: 'flow' }>, data: Uint8Array): void {
    if (control.kind === 'consecutive') {
      this.#consecutive(control.index, data.subarray(1));
      return;
    }
    // A new message replaces an unfinished one (§9.8.3).
    const cut = this.#unfinished;
    if (cut !== undefined)
      this.#fail(`a new message began after ${cut.came} of ${cut.payload.length} bytes`, cut, true);
    const part = data.subarray(control.begin, control.begin + control.length);
    if (control.kind === 'single') this.#events.received(part.slice());
    else this.#first(control.length, part, data.length - 1);
  }

  /** Discards an unfinished message. */
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
    // Without a first frame it belongs to no message in reception (§9.8.3).
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
