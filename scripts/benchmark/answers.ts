/** The program side of contest.ts: answers requests until standard input ends. */
import { createInterface } from 'node:readline';

export interface Work {
  /** Awaited before each round. This time does not count. */
  ready?(): Promise<void>;
  /** Does the work once and returns the result as a string. Equal results return equal strings. */
  check(): Promise<string> | string;
  /** Does the work once. */
  round(): Promise<void> | void;
}

export async function answer(work: Work): Promise<void> {
  for await (const request of createInterface({ input: process.stdin })) {
    if (request === 'check') {
      console.log(await work.check());
      continue;
    }
    if (request === 'cost') {
      const before = process.cpuUsage();
      await work.round();
      const { user, system } = process.cpuUsage(before);
      console.log(String((user + system) * 1000));
      continue;
    }
    await work.ready?.();
    const from = process.hrtime.bigint();
    await work.round();
    console.log(String(process.hrtime.bigint() - from));
  }
}

/**
 * Checksum of decoded values that depends on each bit and on the position of each value, but not on the order in which
 * the values are delivered: two 32-bit sums, as in reference/round.h.
 */
export class Digest {
  count = 0;
  #low = 0;
  #high = 0;
  readonly #double = new Float64Array(1);
  readonly #words = new Uint32Array(this.#double.buffer);

  /** @param place number of the frame @param part number of the value within the frame */
  add(place: number, part: number, value: number): void {
    // Zeros of both signs count as equal, and so do all NaNs.
    this.#double[0] = value === 0 ? 0 : Number.isNaN(value) ? Number.NaN : value;
    const key = Math.imul(place + 1, 0x9e37_79b1) ^ Math.imul(part + 1, 0x85eb_ca6b);
    this.#low = (this.#low + Math.imul((this.#words[0] as number) ^ key, 0xc2b2_ae35)) >>> 0;
    this.#high = (this.#high + Math.imul((this.#words[1] as number) ^ key, 0x27d4_eb2f)) >>> 0;
    this.count++;
  }

  toString(): string {
    return `${this.count} ${this.#low} ${this.#high}`;
  }
}
