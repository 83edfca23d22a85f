import { ERROR, type FrameBatch, REMOTE } from '../../../agent/ports.ts';
import { decimalScale, rounded } from '../../../protocol/decimals.ts';
import type { DbcMessage, Signal } from './database.ts';
import { Halves, load, operation, rawOf } from './decoding/extraction.ts';
import { OP_KIND, REGISTERS, WIDE } from './decoding/operation.ts';
import { bytesNeeded, readable, runStart } from './layout.ts';
import { type BoundDatabase, MessageFinder } from './matching.ts';

/** A frame with its name and all its signals as physical values. */
export interface ReadFrame {
  readonly message: string;
  /**
   * Integers beyond 2^53 as decimal text, and values that are not finite as `nan`, `inf`, `-inf`. With choices, the
   * name of the value if it has one.
   */
  readonly signals: Record<string, number | string>;
}

interface FrameReaderOptions {
  /** True for names from the value tables instead of numbers. */
  readonly choices?: boolean;
  /** Rounds numbers to the decimals that factor and offset can produce, e.g. 69.57 instead of 69.57000000000001. */
  readonly decimals?: boolean;
}

/** How one signal is read. */
interface Reader {
  readonly signal: Signal;
  readonly name: string;
  readonly table: Int32Array;
  /** First of the 64 payload bytes in which the signal is read. */
  readonly base: number;
  readonly needs: number;
  /** Factor and offset if both are integers and the result may exceed the integers that a double can represent. */
  readonly exact: { readonly factor: bigint; readonly offset: bigint } | undefined;
  readonly parent: number;
  readonly ranges: readonly (readonly [number, number])[];
  /** 10 to the power of the number of decimals. Undefined if values keep the precision of a double. */
  readonly scale: number | undefined;
}

const limit = 2 ** 53;

/** Reads every signal of every frame, for users and for comparison. {@link DbcDecoder} is faster. */
export class DbcFrameReader {
  readonly #messages: MessageFinder;
  readonly #buses: readonly string[];
  readonly #choices: boolean;
  readonly #decimals: boolean;
  readonly #readers = new Map<DbcMessage, readonly Reader[]>();
  readonly #registers = new Int32Array(REGISTERS);
  readonly #halves = new Halves();

  /** @param buses names that {@link FrameBatch.bus} indexes; may grow later. */
  constructor(bound: readonly BoundDatabase[], buses: readonly string[], options: FrameReaderOptions = {}) {
    this.#messages = new MessageFinder(bound);
    this.#buses = buses;
    this.#choices = options.choices === true;
    this.#decimals = options.decimals === true;
  }

  /**
   * Decodes frame `i` of the batch. Returns undefined if no DBC of its bus describes it, and for error and remote
   * frames. Omits signals that a multiplexor does not select and those past the end of the payload.
   */
  decode(batch: FrameBatch, i: number): ReadFrame | undefined {
    const id = batch.id[i]!;
    if ((id & (REMOTE | ERROR)) !== 0) return undefined;
    return this.read(id, batch.bus[i]!, batch.data, batch.offset[i]!, batch.length[i]!);
  }

  /** Like {@link decode}, for a payload of any length, as in a transport protocol. */
  read(id: number, bus: number, data: Uint8Array, from: number, length: number): ReadFrame | undefined {
    const message = this.#messages.find(this.#buses[bus], id);
    return message === undefined
      ? undefined
      : { message: message.name, signals: this.#signals(message, data, from, length) };
  }

  #signals(message: DbcMessage, data: Uint8Array, from: number, length: number): Record<string, number | string> {
    const readers = this.#readersOf(message);
    let loaded = 0;
    load(this.#registers, data, from, length);
    const raws: (number | undefined)[] = [];
    // No prototype, so that no signal name in a file is special.
    const signals: Record<string, number | string> = Object.create(null);
    for (const reader of readers) {
      const { signal, name, table, base, needs, parent, ranges } = reader;
      const selector = parent < 0 ? 0 : raws[parent];
      const there =
        needs <= length && selector !== undefined && (parent < 0 || selects(readers[parent]!.signal, selector, ranges));
      if (!there) {
        raws.push(undefined);
        continue;
      }
      if (base !== loaded) {
        load(this.#registers, data, from + base, length - base);
        loaded = base;
      }
      const raw = rawOf(this.#registers, table, 0, this.#halves);
      raws.push(raw);
      const choice = this.#choices ? signal.choices?.get(raw) : undefined;
      signals[name] = choice ?? this.#physical(reader, raw);
    }
    return signals;
  }

  #physical({ signal, table, exact, scale }: Reader, raw: number): number | string {
    if (exact !== undefined) {
      const integer = table[OP_KIND] === WIDE ? this.#halves.integer() : BigInt(raw);
      const value = integer * exact.factor + exact.offset;
      const number = Number(value);
      return Math.abs(number) > limit || BigInt(number) !== value ? value.toString() : number;
    }
    const value = raw * signal.factor + signal.offset;
    return writable(this.#decimals ? rounded(value, scale) : value);
  }

  #readersOf(message: DbcMessage): readonly Reader[] {
    let readers = this.#readers.get(message);
    if (readers === undefined) {
      readers = readersOf(message.signals);
      this.#readers.set(message, readers);
    }
    return readers;
  }
}

/** Returns a value that JSON can represent: non-finite values as `nan`, `inf`, `-inf`. */
export function writable(value: number): number | 'nan' | 'inf' | '-inf' {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
}

/** Returns true if the raw value of a multiplexor, read as unsigned, is in one of the ranges. */
export function selects(multiplexor: Signal, raw: number, ranges: readonly (readonly [number, number])[]): boolean {
  const value = raw < 0 && multiplexor.type === 'signed' ? raw + 2 ** multiplexor.length : raw;
  return ranges.some(([low, high]) => value >= low && value <= high);
}

/** Returns readers, with multiplexors before the signals they select. */
function readersOf(signals: readonly Signal[]): Reader[] {
  const order = new Map<Signal, number>();
  const readers: Reader[] = [];
  const add = (signal: Signal): number => {
    const known = order.get(signal);
    if (known !== undefined) return known;
    const { selection } = signal;
    const parent = selection === undefined ? -1 : add(selection.multiplexor);
    // A signal has at most 64 bits, so the 64 bytes that begin at a multiple of 8 bits contain it.
    const base = readable(signal) ? 0 : (runStart(signal) >>> 6) * 8;
    const table = Int32Array.from(operation({ ...signal, start: signal.start - 8 * base }));
    const needs = bytesNeeded(signal);
    const ranges = selection?.ranges ?? [];
    const exact = needsExactness(signal) ? { factor: BigInt(signal.factor), offset: BigInt(signal.offset) } : undefined;
    const scale = scaleOf(signal);
    readers.push({ signal, name: signal.name, table, base, needs, exact, parent, ranges, scale });
    order.set(signal, readers.length - 1);
    return readers.length - 1;
  };
  for (const signal of signals) add(signal);
  return readers;
}

/**
 * Returns 10 to the power of the number of decimals of a signal's values; undefined to keep the precision of a double.
 */
export function scaleOf({ type, factor, offset }: Signal): number | undefined {
  return type === 'float' ? undefined : decimalScale(factor, offset);
}

/** Returns true if raw and physical values are integers and some are larger than 2^53. */
function needsExactness({ type, length, factor, offset }: Signal): boolean {
  if (type === 'float' || !Number.isInteger(factor) || !Number.isInteger(offset)) return false;
  return 2 ** length * Math.abs(factor) + Math.abs(offset) > limit;
}
