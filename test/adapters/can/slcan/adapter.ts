/** Emulated serial CAN adapters at the far end of a line. */

export type Firmware = 'lawicel' | 'canable' | 'mute' | 'echoing';

export class Adapter {
  readonly firmware: Firmware;
  /** State of the channel: closed, opened to listen, or opened to take part. */
  mode: 'closed' | 'listening' | 'joined' = 'closed';
  rates: string[] = [];
  stamps = false;
  /** Frames that were sent on the bus, as slcan lines. */
  readonly sent: string[] = [];
  /** Answer to `F`. */
  flags = '00';
  /** Commands that the adapter refuses. */
  readonly refuses = new Set<string>();
  /** If true, the adapter stops answering. */
  dead = false;
  #silent = false;
  #line = '';
  readonly #say: (text: string) => void;

  constructor(firmware: Firmware, say: (text: string) => void) {
    this.firmware = firmware;
    this.#say = say;
  }

  hear(text: string): void {
    for (const character of text) {
      if (character !== '\r') {
        this.#line += character;
        continue;
      }
      const line = this.#line;
      this.#line = '';
      if (this.dead) continue;
      if (this.firmware === 'echoing') this.#say(`${line}\r\n`);
      this.#command(line);
    }
  }

  /** Receives a frame from the bus. */
  receive(line: string): void {
    if (this.mode !== 'closed' && !this.dead) this.#say(`${line}\r`);
  }

  #command(line: string): void {
    if (this.firmware === 'canable') this.#canable(line);
    else this.#answer(this.#lawicel(line));
  }

  #answer(answer: string | undefined): void {
    if (this.firmware === 'mute') return;
    const end = this.firmware === 'echoing' ? '\r\n' : '\r';
    this.#say(answer === undefined ? '\x07' : `${answer}${end}`);
  }

  /** @returns the answer before the CR; undefined for a refusal */
  #lawicel(line: string): string | undefined {
    const letter = line[0] ?? '';
    if (this.refuses.has(letter)) return undefined;
    const closed = this.mode === 'closed';
    if (letter === 'V') return 'V1013';
    if (letter === 'F') return closed ? undefined : `F${this.flags}`;
    if (letter === 'C') {
      this.mode = 'closed';
      return closed ? undefined : '';
    }
    if (letter === 'S' || letter === 's' || letter === 'Z') {
      if (!closed) return undefined;
      if (letter === 'Z') this.stamps = line === 'Z1';
      else this.rates = [line];
      return '';
    }
    if (letter === 'O' || letter === 'L') {
      if (!closed) return undefined;
      this.mode = letter === 'O' ? 'joined' : 'listening';
      return '';
    }
    if (/^[tr]/i.test(letter) && this.mode === 'joined') {
      this.sent.push(line);
      return letter === letter.toUpperCase() ? 'Z' : 'z';
    }
    return undefined;
  }

  /** Answers only `V`. */
  #canable(line: string): void {
    const letter = line[0] ?? '';
    if (letter === 'V') this.#say('b158aa7 github.com/normaldotcom/canable2.git\r');
    else if (letter === 'C') this.mode = 'closed';
    else if (letter === 'S' || letter === 'Y') this.rates.push(line);
    else if (letter === 'M') this.#silent = line === 'M1';
    else if (letter === 'O') this.mode = this.#silent ? 'listening' : 'joined';
    else if (/^[trdb]/i.test(letter) && this.mode === 'joined') this.sent.push(line);
  }
}
