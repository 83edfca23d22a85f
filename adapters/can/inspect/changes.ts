/** Detects whether the values of a frame differ from those of the previous frame of its identifier. */
import type { Signal } from '../dbc/database.ts';
import { selects } from '../dbc/frame-reader.ts';
import { bitsOf, bytesNeeded, longestPayload, readable, readBits } from '../dbc/layout.ts';

/**
 * Maximum number of combinations of multiplexor values compared separately; with more, a frame may pass once too often.
 */
const MOST_PAGES = 4096;

/** The compared bits for one combination of multiplexor values. */
interface Page {
  readonly mask: Uint8Array;
  readonly previous: Uint8Array;
}

/** Compares the payloads of one identifier on one bus. */
export class ChangeDetector {
  readonly #signals: readonly Signal[] | undefined;
  readonly #multiplexors: readonly Signal[];
  readonly #pages = new Map<string, Page>();
  /** Without signals: the previous payload, and its length. */
  readonly #previous = new Uint8Array(longestPayload);
  #previousLength = -1;

  /**
   * @param signals compared signals; a multiplexed one with its own last value. If omitted, compares the whole payload
   */
  constructor(signals?: readonly Signal[]) {
    this.#signals = signals?.filter(readable);
    this.#multiplexors = [...new Set(this.#signals?.flatMap(multiplexorsOf) ?? [])];
  }

  /** Returns true for the first payload, and for each that differs from the previous one. */
  differs(payload: Uint8Array): boolean {
    if (this.#signals !== undefined) return this.#signalsDiffer(payload, this.#signals);
    const previous = this.#previous;
    let differs = payload.length !== this.#previousLength;
    for (let k = 0; k < payload.length; k++) {
      if (payload[k] === previous[k]) continue;
      previous[k] = payload[k]!;
      differs = true;
    }
    this.#previousLength = payload.length;
    return differs;
  }

  #signalsDiffer(payload: Uint8Array, signals: readonly Signal[]): boolean {
    const key = this.#multiplexors.map((signal) => rawOf(payload, signal)).join();
    const known = this.#pages.get(`${payload.length}:${key}`);
    const page = known ?? this.#newPage(`${payload.length}:${key}`, payload, signals);
    // A page on which no signal is present shows no difference.
    let differs = known === undefined && page.mask.some((mask) => mask !== 0);
    for (let k = 0; k < payload.length; k++) {
      const byte = payload[k]! & page.mask[k]!;
      if (byte === page.previous[k]) continue;
      page.previous[k] = byte;
      differs = true;
    }
    return differs;
  }

  #newPage(key: string, payload: Uint8Array, signals: readonly Signal[]): Page {
    if (this.#pages.size >= MOST_PAGES) this.#pages.clear();
    const mask = new Uint8Array(longestPayload);
    for (const signal of signals) {
      if (bytesNeeded(signal) > payload.length || !isSelected(payload, signal)) continue;
      for (const bit of bitsOf(signal)) mask[bit >>> 3]! |= 1 << (bit & 7);
    }
    const page = { mask, previous: new Uint8Array(longestPayload) };
    this.#pages.set(key, page);
    return page;
  }
}

function multiplexorsOf({ selection }: Signal): Signal[] {
  return selection === undefined ? [] : [selection.multiplexor, ...multiplexorsOf(selection.multiplexor)];
}

/** Returns true if the payload contains the signal: the multiplexors above it have values that select it. */
function isSelected(payload: Uint8Array, { selection }: Signal): boolean {
  if (selection === undefined) return true;
  const { multiplexor, ranges } = selection;
  const raw = rawOf(payload, multiplexor);
  return raw !== undefined && selects(multiplexor, Number(raw), ranges) && isSelected(payload, multiplexor);
}

/** Returns the bits of a signal as an unsigned integer, or undefined if they are past the end. */
function rawOf(payload: Uint8Array, signal: Signal): bigint | undefined {
  return bytesNeeded(signal) > payload.length ? undefined : readBits(payload, signal);
}
