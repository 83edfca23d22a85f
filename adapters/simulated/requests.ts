import type { MessageCodec, OutgoingFrame } from '../../agent/ports.ts';

/** Consecutive valid frames that make a request. */
const FRAMES = 3;
/** Longest pause within a request, ms; frames are due every 50. */
const PAUSE = 200;
/** Value of a request signal without a request. */
const NONE = 0;

/** A request message to a control unit. */
interface RequestMessage {
  readonly message: string;
  /** Signal of the request; 0 asks for nothing. */
  readonly signal: string;
  /** Highest request that there is. */
  readonly highest: number;
}

/**
 * Requests as a control unit guards them: one counts after three frames in a row whose counters advance by one and
 * whose exclusive or over all bytes is zero; anything else starts the count anew.
 */
export class RequestReceiver {
  /** Requests that were understood. */
  accepted = 0;
  /** Frames that were ignored: wrong checksum, length or value, counter repeated or jumped. */
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

  /** A frame from the bus, `at` ms of monotonic time. Other messages leave it as it is. */
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

/** The checksum is a whole byte, so exclusive or over all bytes, itself included, must leave nothing. */
export function sound(data: Uint8Array): boolean {
  return data.reduce((sum, byte) => sum ^ byte, 0) === 0;
}
