import type { FrameChoice } from '../../protocol/profile.ts';
import { ERROR, REMOTE } from '../ports.ts';

/** Checks whether a frame is selected; allocates nothing. */
export class FrameSelection {
  readonly #buses: ReadonlySet<string> | undefined;
  /** 1 for each selected bus, by its number. */
  readonly #chosen = new Uint8Array(256);
  /** Ascending; undefined selects all. */
  readonly #identifiers: Uint32Array | undefined;

  constructor({ buses, identifiers }: FrameChoice) {
    this.#buses = buses === undefined ? undefined : new Set(buses);
    this.#identifiers = identifiers === undefined ? undefined : Uint32Array.from(identifiers).sort();
  }

  /** Assigns the number 0..255 to the bus of this name. */
  number(bus: number, name: string): void {
    this.#chosen[bus] = this.#buses?.has(name) === false ? 0 : 1;
  }

  /** Returns true if the frame is selected. @param id identifier as in FrameBatch.id; error frames have none */
  has(bus: number, id: number): boolean {
    if (this.#chosen[bus] !== 1) return false;
    const sorted = this.#identifiers;
    if (sorted === undefined) return true;
    if ((id & ERROR) !== 0) return false;
    const wanted = (id & ~REMOTE) >>> 0;
    let low = 0;
    let high = sorted.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = sorted[middle] as number;
      if (found === wanted) return true;
      if (found < wanted) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }
}
