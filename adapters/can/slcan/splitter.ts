/** Finds lines and refusals in the bytes from an adapter. */

/** Longest line in characters: an extended CAN FD frame of 64 bytes with eight digits of time stamp has 146. */
const longestLine = 160;

const BEL = 7;
const LF = 10;
const CR = 13;

interface LineSink {
  /** Receives a line without its end; valid during the call. */
  line(text: Uint8Array): void;
  /** Reports a refusal. The unfinished line before it is dropped. */
  bell(): void;
  /** Reports that a line was skipped because it was too long. */
  overlong(): void;
}

/** Splits at CR. An LF after a CR is skipped; an LF alone also ends a line. */
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
