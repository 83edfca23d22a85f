/**
 * Wanted signals of each frame, as columns that grow when a plan is added and otherwise never change. A plan is a range
 * of rows, one per signal. Rows of multiplexors come before the rows that they select.
 *
 * Numbers that are used together are in one array, because each array adds its own bounds checks to the loops.
 */
import type { Signal } from '../database.ts';
import { bytesNeeded } from '../layout.ts';
import { operation } from './extraction.ts';
import { OP_SIZE } from './operation.ts';
import { type Selector, selectorOf } from './selector.ts';
import { NO_FULL_LENGTH } from './slot-record.ts';

/** A signal and its index in the list of wanted signals. */
export interface IndexedSignal {
  readonly signal: Signal;
  readonly index: number;
}

/** Index of a row that is read only to select other rows, not to be delivered. */
export const UNWANTED = -1;

/** Number of values per plan in {@link DecodeTables.plans}. */
export const PLAN_SIZE = 4;
/** The plan's first row, and the row after its last. */
export const PLAN_FIRST_ROW = 0;
export const PLAN_END_ROW = 1;
/** Payload length that contains every row. Longer than any payload if rows depend on several others. */
export const PLAN_FULL_LENGTH = 2;
/** 1 if some rows have Motorola order, else 0. */
export const PLAN_HAS_BIG = 3;

/**
 * Returns the column with `more` added from `count` on. Doubles a full column, so that the cost per plan stays
 * constant.
 */
function extended<T extends Int32Array | Float64Array>(
  before: T,
  count: number,
  more: readonly number[],
  column: new (length: number) => T,
): T {
  const needed = count + more.length;
  let all = before;
  if (needed > before.length) {
    all = new column(Math.max(needed, 2 * before.length));
    all.set(before);
  }
  all.set(more, count);
  return all;
}

/** Columns may have spare room: {@link DecodeTables.rows} is the number of rows in use. */
export class DecodeTables {
  plans = new Int32Array(0);
  /** Per plan: the wanted signals of all its rows. */
  readonly signals: (readonly number[])[] = [];
  /** Per plan: position of the single multiplexor that selects rows. Undefined if there are several, or none. */
  readonly selectors: (Selector | undefined)[] = [];

  /** Per row: its wanted signal, or UNWANTED. */
  indexes = new Int32Array(0);
  /** Two numbers per row: factor and offset. */
  scales = new Float64Array(0);
  /** OP_SIZE numbers per row: operation that extracts the value, see extraction.ts. */
  operations = new Int32Array(0);
  /** Per row: required payload length in bytes. */
  needs = new Int32Array(0);
  /** Per row: row of the multiplexor that selects it, or -1. */
  parents = new Int32Array(0);
  /** Per row: 2^width if the row is signed, else 0. Multiplexor values are unsigned. */
  wraps = new Float64Array(0);
  /** Two numbers per row: lowest and highest multiplexor value that selects it. In most cases they are equal. */
  selections = new Float64Array(0);
  /** Per row: limits of additional ranges, in pairs. Undefined if there are none. */
  readonly ranges: (readonly number[] | undefined)[] = [];

  #rows = 0;
  #planned = 0;
  /** Plans from {@link select}, by original plan and rows. */
  readonly #selected = new Map<string, number>();

  get rows(): number {
    return this.#rows;
  }

  /** Adds a plan for one or more signals, all readable, and returns its index in `plans`. */
  add(wanted: readonly IndexedSignal[]): number {
    const start = this.rows;
    const rows: { signal: Signal; index: number; parent: number }[] = [];
    const numbers = new Map<Signal, number>();
    const rowOf = (signal: Signal): number => {
      const known = numbers.get(signal);
      if (known !== undefined) return known;
      const parent = signal.selection === undefined ? -1 : rowOf(signal.selection.multiplexor);
      rows.push({ signal, index: UNWANTED, parent });
      numbers.set(signal, start + rows.length - 1);
      return start + rows.length - 1;
    };
    for (const { signal, index } of wanted) {
      const row = rows[rowOf(signal) - start]!;
      if (row.index === UNWANTED) row.index = index;
      else rows.push({ signal, index, parent: row.parent });
    }
    const selected = rows.some((row) => row.parent >= 0);

    const needs = rows.map((row) => bytesNeeded(row.signal));
    const indexes = rows.map((row) => row.index);
    const scales = rows.flatMap((row) => [row.signal.factor, row.signal.offset]);
    const operations = rows.flatMap((row) => operation(row.signal));
    const parents = rows.map((row) => row.parent);
    const wraps = rows.map(({ signal }) => (signal.type === 'signed' ? 2 ** signal.length : 0));
    this.indexes = extended(this.indexes, start, indexes, Int32Array);
    this.scales = extended(this.scales, 2 * start, scales, Float64Array);
    this.operations = extended(this.operations, OP_SIZE * start, operations, Int32Array);
    this.needs = extended(this.needs, start, needs, Int32Array);
    this.parents = extended(this.parents, start, parents, Int32Array);
    this.wraps = extended(this.wraps, start, wraps, Float64Array);
    const selections = rows.flatMap(({ signal }) => signal.selection?.ranges[0] ?? [1, 0]);
    this.selections = extended(this.selections, 2 * start, selections, Float64Array);
    this.#rows += rows.length;
    for (const { signal } of rows) {
      const further = signal.selection?.ranges.slice(1).flat() ?? [];
      this.ranges.push(further.length === 0 ? undefined : further);
    }

    const swapped = rows.some(({ signal }) => signal.byteOrder === 'big') ? 1 : 0;
    const selector = selected ? selectorOf(rows.map(({ signal }) => signal)) : undefined;
    const plain = selected && selector === undefined ? NO_FULL_LENGTH : Math.max(...needs);
    return this.#plan(start, plain, swapped, selector);
  }

  /** Returns, for a plan with a selector, the plan of the wanted signals for this raw value of the multiplexor. */
  select(plan: number, raw: number): number {
    const end = this.plans[plan + PLAN_END_ROW]!;
    const rows: number[] = [];
    for (let row = this.plans[plan + PLAN_FIRST_ROW]!; row < end; row++) {
      const parent = this.parents[row]!;
      if (this.indexes[row] !== UNWANTED && (parent < 0 || this.selects(row, parent, raw))) rows.push(row);
    }
    const key = `${plan} ${rows.join()}`;
    let selected = this.#selected.get(key);
    if (selected === undefined) {
      selected = this.#copy(rows, this.plans[plan + PLAN_HAS_BIG]!);
      this.#selected.set(key, selected);
    }
    return selected;
  }

  /** Adds a plan of existing rows that do not depend on each other. */
  #copy(rows: readonly number[], swapped: number): number {
    const start = this.rows;
    const operations = rows.flatMap((row) => [...this.operations.subarray(row * OP_SIZE, (row + 1) * OP_SIZE)]);
    const scales = rows.flatMap((row) => [this.scales[row * 2]!, this.scales[row * 2 + 1]!]);
    const needs = rows.map((row) => this.needs[row]!);
    this.indexes = extended(
      this.indexes,
      start,
      rows.map((row) => this.indexes[row]!),
      Int32Array,
    );
    this.scales = extended(this.scales, 2 * start, scales, Float64Array);
    this.operations = extended(this.operations, OP_SIZE * start, operations, Int32Array);
    this.needs = extended(this.needs, start, needs, Int32Array);
    this.parents = extended(
      this.parents,
      start,
      rows.map(() => -1),
      Int32Array,
    );
    this.wraps = extended(
      this.wraps,
      start,
      rows.map(() => 0),
      Float64Array,
    );
    this.selections = extended(
      this.selections,
      2 * start,
      rows.flatMap(() => [1, 0]),
      Float64Array,
    );
    this.ranges.push(...rows.map(() => undefined));
    this.#rows += rows.length;
    return this.#plan(start, Math.max(0, ...needs), swapped, undefined);
  }

  /** Adds a plan of the rows from `start` on. */
  #plan(start: number, plain: number, swapped: number, selector: Selector | undefined): number {
    const plan = this.#planned;
    this.plans = extended(this.plans, plan, [start, this.rows, plain, swapped], Int32Array);
    this.#planned += PLAN_SIZE;
    this.signals.push([...this.indexes.subarray(start, this.rows)].filter((index) => index !== UNWANTED));
    this.selectors.push(selector);
    return plan;
  }

  /** Returns true if `raw` of the multiplexor in row `parent` selects `row`. */
  selects(row: number, parent: number, raw: number): boolean {
    const value = raw < 0 ? raw + this.wraps[parent]! : raw;
    if (value >= this.selections[row * 2]! && value <= this.selections[row * 2 + 1]!) return true;
    const ranges = this.ranges[row];
    if (ranges === undefined) return false;
    for (let i = 0; i < ranges.length; i += 2) if (value >= ranges[i]! && value <= ranges[i + 1]!) return true;
    return false;
  }
}
