/**
 * The entries of one series in memory, as columns: 36 bytes per entry, so that a backlog of a million messages needs
 * little memory. Rows are sorted by number; removed rows are compacted later.
 */

/** Position of a record on the disk. */
export interface RecordExtent {
  /** Number, from 1, of the segment that contains the record. */
  readonly segment: number;
  /** Offset of the record in the file in bytes. */
  readonly offset: number;
  /** Size of the record in bytes, head included. */
  readonly size: number;
}

/** Time of an entry, and two values whose meaning depends on the kind of entry. */
export interface Traits {
  readonly at: number;
  /** 32 bits. */
  readonly a: number;
  /** 32 bits. */
  readonly b: number;
}

const MIN_ROWS = 64;
const GROWTH = 1.5;
/** Marks a removed entry in the segment column. */
const REMOVED = 0;

export class Rows {
  #number = new Float64Array(MIN_ROWS);
  #at = new Float64Array(MIN_ROWS);
  #segment = new Uint32Array(MIN_ROWS);
  #offset = new Uint32Array(MIN_ROWS);
  #size = new Uint32Array(MIN_ROWS);
  #a = new Uint32Array(MIN_ROWS);
  #b = new Uint32Array(MIN_ROWS);
  /** First row that may be live; all earlier rows are removed. */
  #from = 0;
  #to = 0;
  #live = 0;

  /** Number of existing entries. */
  get size(): number {
    return this.#live;
  }

  /** Adds an entry. Its number must exceed all previous ones; otherwise, call {@link sort} afterwards. */
  push(number: number, extent: RecordExtent, traits: Traits): void {
    if (this.#to === this.#number.length) this.#resize(Math.ceil(GROWTH * this.#to));
    const row = this.#to++;
    this.#live++;
    this.#number[row] = number;
    this.#at[row] = traits.at;
    this.#a[row] = traits.a;
    this.#b[row] = traits.b;
    this.move(row, extent);
  }

  /** Returns the row of an existing entry, or -1; valid until an entry is added or removed. */
  find(number: number): number {
    const row = this.#first(number);
    return row < this.#to && this.#number[row] === number && this.#segment[row] !== REMOVED ? row : -1;
  }

  /** Returns the row of the first existing entry whose number is at least `number`, or -1. */
  next(number: number): number {
    for (let row = this.#first(number); row < this.#to; row++) if (this.#segment[row] !== REMOVED) return row;
    return -1;
  }

  number(row: number): number {
    return this.#number[row]!;
  }

  at(row: number): number {
    return this.#at[row]!;
  }

  a(row: number): number {
    return this.#a[row]!;
  }

  b(row: number): number {
    return this.#b[row]!;
  }

  segment(row: number): number {
    return this.#segment[row]!;
  }

  offset(row: number): number {
    return this.#offset[row]!;
  }

  /** Returns the size of the record in bytes. */
  bytes(row: number): number {
    return this.#size[row]!;
  }

  /** Sets the new position of a record that has been copied. */
  move(row: number, { segment, offset, size }: RecordExtent): void {
    this.#segment[row] = segment;
    this.#offset[row] = offset;
    this.#size[row] = size;
  }

  remove(row: number): void {
    this.#segment[row] = REMOVED;
    this.#live--;
    while (this.#from < this.#to && this.#segment[this.#from] === REMOVED) this.#from++;
    const rows = this.#to - this.#from;
    if (this.#from > MIN_ROWS + rows || rows > MIN_ROWS + 2 * this.#live) this.#squeeze();
  }

  /** Sorts the rows by number after recovery. Of several rows with the same number, keeps the one added last. */
  sort(): void {
    let sorted = true;
    for (let row = 1; row < this.#to && sorted; row++) sorted = this.#number[row - 1]! < this.#number[row]!;
    if (sorted) {
      // Shrink the columns: they grew while the rows were read.
      this.#resize(Math.max(MIN_ROWS, Math.ceil(1.1 * this.#to)));
      return;
    }
    const order = sortedRows(this.#number.subarray(0, this.#to));
    const rows: number[] = [];
    for (const [i, row] of order.entries()) {
      if (i + 1 < order.length && this.#number[order[i + 1]!] === this.#number[row]) continue;
      rows.push(row);
    }
    const pick = <T extends Float64Array | Uint32Array>(column: T, into: T): T => {
      for (const [i, row] of rows.entries()) into[i] = column[row]!;
      return into;
    };
    const length = Math.max(MIN_ROWS, rows.length);
    this.#number = pick(this.#number, new Float64Array(length));
    this.#at = pick(this.#at, new Float64Array(length));
    this.#segment = pick(this.#segment, new Uint32Array(length));
    this.#offset = pick(this.#offset, new Uint32Array(length));
    this.#size = pick(this.#size, new Uint32Array(length));
    this.#a = pick(this.#a, new Uint32Array(length));
    this.#b = pick(this.#b, new Uint32Array(length));
    this.#to = rows.length;
    this.#live = rows.length;
  }

  /** Calls `add` with the segment and size of every record. */
  forEachRecord(add: (segment: number, bytes: number) => void): void {
    for (let row = this.#from; row < this.#to; row++) {
      if (this.#segment[row] !== REMOVED) add(this.#segment[row]!, this.#size[row]!);
    }
  }

  /** Returns the existing numbers below `next` as ranges: gap, count, gap, count, … from 0. */
  ranges(next: number): number[] {
    const first = this.#number[this.#from];
    const last = this.#number[this.#to - 1];
    // Fast path for the usual backlog, whose numbers have no gap.
    if (first !== undefined && last !== undefined && last < next && last - first + 1 === this.#live) {
      return this.#live === 0 ? [] : [first, this.#live];
    }
    const result: number[] = [];
    let end = 0;
    for (let row = this.#from; row < this.#to; row++) {
      const number = this.#number[row]!;
      if (number >= next) break;
      if (this.#segment[row] === REMOVED) continue;
      if (result.length > 0 && number === end) result[result.length - 1]!++;
      else result.push(number - end, 1);
      end = number + 1;
    }
    return result;
  }

  /** Returns the first row whose number is at least `number`. */
  #first(number: number): number {
    let low = this.#from;
    let high = this.#to;
    // Fast path: callers usually need the oldest entry.
    if (low < high && this.#number[low]! >= number) return low;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#number[middle]! < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #squeeze(): void {
    let to = 0;
    for (let row = this.#from; row < this.#to; row++) {
      if (this.#segment[row] === REMOVED) continue;
      if (to !== row) {
        this.#number[to] = this.#number[row]!;
        this.#at[to] = this.#at[row]!;
        this.#segment[to] = this.#segment[row]!;
        this.#offset[to] = this.#offset[row]!;
        this.#size[to] = this.#size[row]!;
        this.#a[to] = this.#a[row]!;
        this.#b[to] = this.#b[row]!;
      }
      to++;
    }
    this.#from = 0;
    this.#to = to;
    if (to * 4 < this.#number.length && this.#number.length > MIN_ROWS) this.#resize(Math.max(MIN_ROWS, to * 2));
  }

  #resize(length: number): void {
    const grow = <T extends Float64Array | Uint32Array>(column: T, into: T): T => {
      into.set(column.subarray(0, this.#to));
      return into;
    };
    this.#number = grow(this.#number, new Float64Array(length));
    this.#at = grow(this.#at, new Float64Array(length));
    this.#segment = grow(this.#segment, new Uint32Array(length));
    this.#offset = grow(this.#offset, new Uint32Array(length));
    this.#size = grow(this.#size, new Uint32Array(length));
    this.#a = grow(this.#a, new Uint32Array(length));
    this.#b = grow(this.#b, new Uint32Array(length));
  }
}

/** Returns the rows sorted by number; rows with the same number keep their order. */
function sortedRows(numbers: Float64Array): Uint32Array {
  const least = numbers.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY);
  const most = numbers.reduce((most, number) => Math.max(most, number), 0);
  const order = new Uint32Array(numbers.length);
  if ((most - least + 1) * numbers.length <= Number.MAX_SAFE_INTEGER) {
    // Combine number and row in one double: sorting without a comparison function takes a tenth of the time.
    const keys = numbers.map((number, row) => (number - least) * numbers.length + row).sort();
    return order.map((_, i) => keys[i]! % numbers.length);
  }
  return order.map((_, row) => row).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
}
