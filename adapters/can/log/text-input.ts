/** Reads the lines of a file in UTF-8 or UTF-16. */
import { BegunInput, type ByteInput, fill } from './input.ts';
import { longestLine } from './text.ts';
import { Utf16Input, utf16Order } from './utf16.ts';

/** Number of bytes per read. */
const CHUNK = 64 * 1024;
/** Number of bytes needed to detect UTF-16. */
const PROOF = 64;

export interface TextLine {
  /** Text of the line without its line end. */
  readonly text: string;
  /** False for the last line of a file without a line end: it may be incomplete. */
  readonly whole: boolean;
  /** True if the line is longer than the limit: `text` is then its start. */
  readonly tooLong: boolean;
}

export class TextInput {
  readonly #input: ByteInput;

  private constructor(input: ByteInput) {
    this.#input = input;
  }

  /** Starts reading, and detects UTF-16 or UTF-8. Throws `input.unreadable`. */
  static async open(input: ByteInput): Promise<TextInput> {
    const head = new Uint8Array(CHUNK);
    const begun = head.subarray(0, await fill(input, head, 0, PROOF));
    const order = utf16Order(begun);
    return new TextInput(order === undefined ? new BegunInput(input, begun) : new Utf16Input(input, order, begun));
  }

  /** Size in bytes of the file on disk. */
  get size(): number {
    return this.#input.size;
  }

  get position(): number {
    return this.#input.position;
  }

  /** Reason why the packed data end early, or undefined. */
  get broken(): string | undefined {
    return this.#input.broken;
  }

  /** Yields the lines in order, ended by LF, CRLF or CR. Can be iterated once. Throws `input.unreadable`. */
  async *lines(): AsyncGenerator<TextLine> {
    // Drops a BOM. Bytes that are not UTF-8, such as Latin-1, become U+FFFD.
    const decoder = new TextDecoder('utf-8');
    const chunk = new Uint8Array(CHUNK);
    let text = '';
    let passing = false;
    for (let last = false; !last; ) {
      const count = await this.#input.read(chunk);
      last = count === 0;
      text += decoder.decode(chunk.subarray(0, count), { stream: !last });
      let from = 0;
      for (;;) {
        const end = endOf(text, from, last);
        if (end < 0) break;
        const line = text.slice(from, end);
        from = end + (text[end] === '\r' && text[end + 1] === '\n' ? 2 : 1);
        if (!passing) yield { text: line.slice(0, longestLine), whole: true, tooLong: line.length > longestLine };
        passing = false;
      }
      text = text.slice(from);
      if (text.length > longestLine) {
        if (!passing) yield { text: text.slice(0, longestLine), whole: true, tooLong: true };
        passing = true;
        text = '';
      }
    }
    if (text !== '' && !passing) yield { text, whole: false, tooLong: false };
  }
}

const LINE_END = /\r|\n/g;

/**
 * Returns the end of the next line; negative if the line has not ended. A CR as the last character may be half of a
 * CRLF.
 */
function endOf(text: string, from: number, last: boolean): number {
  LINE_END.lastIndex = from;
  const end = LINE_END.exec(text)?.index ?? -1;
  return end === text.length - 1 && text[end] === '\r' && !last ? -1 : end;
}
