/** Number of consecutive frames stored from the start: a counter of 8 bits restarts within them. */
const BEGINNING = 320;
/** Number of consecutive frames stored later, each time the number of frames has quadrupled. */
const LATER = 64;
/** Number of frames stored from any place, among those that differ from the previous one. */
const ANYWHERE = 256;

const NONE = new Uint8Array(0);

/** Consecutive payloads, with room for 8 bytes each until a longer one arrives. */
class Payloads {
  count = 0;
  #stride = 8;
  #bytes: Uint8Array = NONE;
  #lengths: Uint8Array = NONE;

  put(place: number, data: Uint8Array, from: number, length: number): void {
    if (length > this.#stride) this.#widen();
    if (place >= this.#lengths.length) this.#enlarge(place);
    const to = place * this.#stride;
    for (let k = 0; k < length; k++) this.#bytes[to + k] = data[from + k]!;
    this.#lengths[place] = length;
    if (place >= this.count) this.count = place + 1;
  }

  /** Returns the payload at a place if it has this length. */
  get(place: number, length: number): Uint8Array | undefined {
    if (this.#lengths[place] !== length) return undefined;
    return this.#bytes.subarray(place * this.#stride, place * this.#stride + length);
  }

  #enlarge(place: number): void {
    const room = Math.max(4, place * 2);
    const bytes = new Uint8Array(room * this.#stride);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    const lengths = new Uint8Array(room);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
  }

  #widen(): void {
    const before = this.#bytes;
    this.#bytes = new Uint8Array(this.#lengths.length * 64);
    for (let place = 0; place < this.count; place++) {
      this.#bytes.set(before.subarray(place * 8, place * 8 + this.#lengths[place]!), place * 64);
    }
    this.#stride = 64;
  }
}

/**
 * A bounded sample of the payloads of one identifier, in which counters and checksums are searched: runs of consecutive
 * frames from the beginning and from later, and single frames from any place.
 */
export class PayloadSample {
  readonly #consecutive = new Payloads();
  /** Places in {@link #consecutive} at which a run begins. */
  readonly #begins: number[] = [];
  readonly #anywhere = new Payloads();
  /** Frame number at which the current run began. */
  #begin = 0;
  #offered = 0;
  #random = 1;

  /**
   * Offers the next frame.
   * @param number of the frame among those of its identifier, from 0
   * @param differs true if the frame differs from the previous one
   */
  offer(number: number, data: Uint8Array, from: number, length: number, differs: boolean): void {
    if (number === 0 || (number >= 4 * BEGINNING && number === this.#begin * 4) || number === 4 * BEGINNING) {
      this.#begin = number;
      this.#begins.push(this.#consecutive.count);
    }
    if (number - this.#begin < (this.#begin === 0 ? BEGINNING : LATER)) {
      this.#consecutive.put(this.#consecutive.count, data, from, length);
    } else if (differs) {
      const place = this.#offered < ANYWHERE ? this.#offered : this.#draw();
      this.#offered++;
      if (place < ANYWHERE) this.#anywhere.put(place, data, from, length);
    }
  }

  /** Returns the runs of consecutive frames of this payload length. */
  runs(length: number): Uint8Array[][] {
    const runs: Uint8Array[][] = [];
    const begins = new Set(this.#begins);
    let run: Uint8Array[] = [];
    for (let place = 0; place < this.#consecutive.count; place++) {
      const payload = this.#consecutive.get(place, length);
      if (payload === undefined || begins.has(place)) {
        if (run.length > 1) runs.push(run);
        run = [];
      }
      if (payload !== undefined) run.push(payload);
    }
    if (run.length > 1) runs.push(run);
    return runs;
  }

  /** Returns all stored frames of this payload length. */
  frames(length: number): Uint8Array[] {
    return [this.#anywhere, this.#consecutive].flatMap((payloads) =>
      Array.from({ length: payloads.count }, (_, place) => payloads.get(place, length) ?? []).flat(),
    );
  }

  /** Returns a random place among all offered frames (Vitter's algorithm R), always the same for the same log. */
  #draw(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((this.#random >>> 0) / 2 ** 32) * (this.#offered + 1));
  }
}
