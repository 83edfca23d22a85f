import type { MessageCodec, OutgoingFrame } from '../../agent/ports.ts';

/** Number of consecutive valid frames that form a request. */
const FRAMES = 3;
/** Longest time in ms between frames of a request; frames are due every 50. */
const PAUSE = 200;
/** Value of a request signal that means no request. */
const NONE = 0;

/** A request message to a control unit. */
interface RequestMessage {
  readonly message: string;
  /** Signal of the request; 0 means no request. */
  readonly signal: string;
  /** Largest valid request. */
  readonly highest: number;
}

/**
 * Validates requests like a control unit: a request counts after three consecutive frames whose counters advance by one
 * and whose exclusive or over all bytes is zero; any other frame restarts the count.
 */
export class RequestReceiver {
  /** Number of accepted requests. */
  accepted = 0;
  /** Number of ignored frames: wrong checksum, length or value, counter repeated or skipped. */
  rejected = 0;
  readonly #codec: MessageCodec;
  readonly #asked: RequestMessage;
  readonly #id: number;
  readonly #length: number;
  readonly #understood: (request: number) => void;
  #request = NONE;
  #streak = 0;
  #counter = -1;
  #heardAt = Number.NEGATIVE_INFINITY;

  constructor(codec: MessageCodec, asked: RequestMessage, understood: (request: number) => void) {
    const empty = codec.encode(asked.message, {});
    this.#codec = codec;
    this.#asked = asked;
    this.#id = empty.id;
    this.#length = empty.data.length;
    this.#understood = understood;
  }

  /** Processes a frame from the bus at monotonic time `at` in ms. Ignores other messages. */
  receive(frame: OutgoingFrame, at: number): void {
    if (frame.id !== this.#id) return;
    const signals = this.#valid(frame);
    if (signals === undefined) {
      this.rejected++;
      this.#streak = 0;
      return;
    }
    const { request, counter } = signals;
    const follows = at - this.#heardAt <= PAUSE && this.#streak > 0;
    const advances = counter === (this.#counter + 1) % 16;
    this.#heardAt = at;
    this.#counter = counter;
    if (follows && !advances) this.rejected++;
    this.#streak = follows && advances && request === this.#request ? this.#streak + 1 : 1;
    this.#request = request;
    if (this.#streak !== FRAMES || request === NONE) return;
    this.accepted++;
    this.#understood(request);
  }

  #valid(frame: OutgoingFrame): { request: number; counter: number } | undefined {
    if (frame.data.length !== this.#length || !sound(frame.data)) return undefined;
    const signals = this.#codec.decode(frame)?.signals;
    const request = signals?.[this.#asked.signal];
    const counter = signals?.['Counter'];
    if (request === undefined || counter === undefined || request > this.#asked.highest) return undefined;
    return { request, counter };
  }
}

/** Returns true for a valid checksum: a whole byte, so the exclusive or of all bytes, including it, is zero. */
export function sound(data: Uint8Array): boolean {
  return data.reduce((sum, byte) => sum ^ byte, 0) === 0;
}
