/** Everything that happens in a world: a hash of all lines, and the lines themselves for people. */
import { createHash } from 'node:crypto';

export interface TraceLine {
  /** World time, ms. */
  readonly at: number;
  readonly who: string;
  readonly what: string;
  /** Whether the line is for people too, not only for the hash. */
  readonly told: boolean;
}

/** Maximum number of lines kept. */
const KEPT = 20_000;

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #lines: TraceLine[] = [];
  #count = 0;

  /** Records an event that people want to read. */
  tell(at: number, who: string, what: string): void {
    this.#add({ at, who, what, told: true });
  }

  /** Records data that must be the same in each run of the seed. */
  note(at: number, who: string, what: string, bytes?: Uint8Array): void {
    this.#add({ at, who, what, told: false });
    if (bytes !== undefined) this.#hash.update(bytes);
  }

  get count(): number {
    return this.#count;
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** The last `count` lines for people. */
  story(count: number): string[] {
    return this.#lines.slice(-count).map(({ at, who, what }) => `${clockOf(at)}  ${who}: ${what}`);
  }

  #add(line: TraceLine): void {
    this.#count++;
    this.#hash.update(`${line.at} ${line.who} ${line.what}\n`);
    if (!line.told) return;
    this.#lines.push(line);
    if (this.#lines.length > KEPT) this.#lines.splice(0, KEPT / 2);
  }
}

/** Hours, minutes and seconds since the world began. */
export function clockOf(at: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const seconds = at / 1000;
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}.${String(Math.floor(at % 1000)).padStart(3, '0')}`;
}
