import type { Control } from './control.ts';

interface Unfinished {
  readonly payload: Uint8Array;
  /** Bytes in every consecutive frame except the last: as many as the length of the first frame allows (§9.6.4.2). */
  readonly full: number;
  came: number;
  /** Expected sequence number of the next frame. */
  next: number;
}

/** Effect of one frame. */
type AssemblyStep =
  | { readonly kind: 'whole'; readonly payload: Uint8Array }
  | { readonly kind: 'begun' }
  | { readonly kind: 'continued' }
  /** A consecutive frame without a first frame: it belongs to no message in reception (§9.8.3). */
  | { readonly kind: 'stray' }
  | { readonly kind: 'failed'; readonly why: string }
  /** The announced message is longer than the limit. */
  | { readonly kind: 'too long'; readonly bytes: number };

/** Reassembles the messages of one sender (ISO 15765-2:2016 §9.6, §9.8). It neither sends nor waits. */
export class Assembly {
  readonly #longest: number;
  #unfinished: Unfinished | undefined;

  /** @param longest longest message in bytes */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The message in reception, for comparison; undefined if there is none. */
  get current(): object | undefined {
    return this.#unfinished;
  }

  /** Number of bytes received so far of the message in reception. */
  get came(): number {
    return this.#unfinished?.came ?? 0;
  }

  /**
   * Processes a single, first or consecutive frame with its control information. `replaced` is the fault of an
   * unfinished message that a new one replaces (§9.8.3).
   */
  frame(
    control: Exclude<Control, { kind: 'flow' }>,
    data: Uint8Array,
  ): { readonly step: AssemblyStep; readonly replaced?: string } {
    if (control.kind === 'consecutive') return { step: this.#consecutive(control.index, data.subarray(1)) };
    const replaced = this.abandon(
      `a new message began after ${this.came} of ${this.#unfinished?.payload.length} bytes`,
    );
    const step = this.#begin(control, data);
    return replaced === undefined ? { step } : { step, replaced };
  }

  /** Discards the message in reception. Returns its fault; undefined if there is none. */
  abandon(what: string): string | undefined {
    if (this.#unfinished === undefined) return undefined;
    const { came, payload } = this.#unfinished;
    this.#unfinished = undefined;
    return `the answer is incomplete: ${what} (${came} of ${payload.length} bytes came)`;
  }

  #begin(control: Extract<Control, { kind: 'single' | 'first' }>, data: Uint8Array): AssemblyStep {
    const { kind, begin, length } = control;
    const part = data.subarray(begin, begin + length);
    if (kind === 'single') return { kind: 'whole', payload: part.slice() };
    if (length > this.#longest) return { kind: 'too long', bytes: length };
    const payload = new Uint8Array(length);
    payload.set(part);
    this.#unfinished = { payload, full: data.length - 1, came: part.length, next: 1 };
    return { kind: 'begun' };
  }

  #consecutive(index: number, part: Uint8Array): AssemblyStep {
    const message = this.#unfinished;
    if (message === undefined) return { kind: 'stray' };
    const { payload } = message;
    if (index !== message.next) return this.#failed(`frame ${message.next} is missing or out of order: ${index} came`);
    const wanted = Math.min(payload.length - message.came, message.full);
    if (part.length < wanted || part.length > message.full) {
      return this.#failed(`frame ${index} carries ${part.length} bytes where ${wanted} are due`);
    }
    payload.set(part.subarray(0, wanted), message.came);
    message.came += wanted;
    message.next = (index + 1) & 15;
    if (message.came < payload.length) return { kind: 'continued' };
    this.#unfinished = undefined;
    return { kind: 'whole', payload };
  }

  #failed(what: string): AssemblyStep {
    return { kind: 'failed', why: this.abandon(what) as string };
  }
}
