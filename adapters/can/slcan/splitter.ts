/** Finds lines and refusals in what an adapter sends. */

/** An extended CAN FD frame of 64 bytes with eight digits of time stamp has 146 characters. */
const longestLine = 160;

const BEL = 7;
const LF = 10;
const CR = 13;

interface LineSink {
  /** A line without its end; valid during the call. */
  line(text: Uint8Array): void;
  /** A refusal; what stood before it is dropped. */
  bell(): void;
  /** A line that is too long was passed over. */
  overlong(): void;
}

/** Lines end with CR; an LF behind it is passed over, alone it ends a line, too. */
export class LineSplitter {
  readonly #sink: LineSink;
  readonly #held = new Uint8Array(longestLine);
  #length = 0;
  #overlong = false;
  #afterReturn = false;

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  push(bytes: Uint8Array): void {
    for (const code of bytes) {
      const lineFeed = code === LF && this.#afterReturn;
      this.#afterReturn = code === CR;
      if (lineFeed) continue;
      if (code === CR || code === LF) this.#end();
      else if (code === BEL) this.#bell();
      else if (this.#length < longestLine) this.#held[this.#length++] = code;
      else this.#overlong = true;
    }
  }

  #end(): void {
    const text = this.#held.subarray(0, this.#length);
    this.#length = 0;
    if (this.#overlong) {
      this.#overlong = false;
      this.#sink.overlong();
      return;
    }
    this.#sink.line(text);
  }

  #bell(): void {
    this.#length = 0;
    this.#overlong = false;
    this.#sink.bell();
  }
}
