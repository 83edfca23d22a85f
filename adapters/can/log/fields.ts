/** Reads the fields of one line of text in place, without creating strings. */

/** Value of a hexadecimal digit by character code; 0x80 for other characters. */
export const hexDigit: Uint8Array = new Uint8Array(256).fill(0x80);
for (let i = 0; i < 16; i++) {
  hexDigit['0123456789abcdef'.charCodeAt(i)] = i;
  hexDigit['0123456789ABCDEF'.charCodeAt(i)] = i;
}

/** Powers of ten, the divisors for a fraction of up to 16 digits. */
const powers: Float64Array = Float64Array.from({ length: 17 }, (_, digits) => 10 ** digits);

/** Maximum number of fields that are read: an FD frame in a Vector log has about 90. */
const most = 160;

/** The fields of one line. The object is reused for every line. */
export class Fields {
  count = 0;
  readonly start: Int32Array = new Int32Array(most);
  readonly end: Int32Array = new Int32Array(most);
  private bytes: Uint8Array = new Uint8Array(0);

  /** Splits at runs of blanks and tabs. */
  split(bytes: Uint8Array, from: number, to: number): void {
    this.bytes = bytes;
    let count = 0;
    let i = from;
    while (count < most) {
      while (i < to && isBlank(bytes[i] as number)) i++;
      if (i >= to) break;
      this.start[count] = i;
      while (i < to && !isBlank(bytes[i] as number)) i++;
      this.end[count++] = i;
    }
    this.count = count;
  }

  /**
   * Splits at every `separator` (a character code), and drops blanks and other padding around fields. A field
   * may be enclosed in double quotes, which are also dropped, and may then contain separators.
   */
  splitQuoted(separator: number, bytes: Uint8Array, from: number, to: number): void {
    this.bytes = bytes;
    const { start, end } = this;
    const padding = PADDING;
    let count = 0;
    let i = from;
    while (count < most && i <= to) {
      let a = i;
      while (a < to && padding[bytes[a] as number] === 1 && bytes[a] !== separator) a++;
      // `="123"` means a number stored as text in spreadsheets.
      if (bytes[a] === 61 && bytes[a + 1] === 34 && a + 1 < to) a++;
      const quoted = bytes[a] === 34 && a < to;
      if (quoted) a++;
      const mark = quoted ? 34 : separator;
      let stop = a;
      while (stop < to && bytes[stop] !== mark) stop++;
      let b = stop;
      while (a < b && padding[bytes[a] as number] === 1) a++;
      while (b > a && padding[bytes[b - 1] as number] === 1) b--;
      start[count] = a;
      end[count++] = b;
      while (stop < to && bytes[stop] !== separator) stop++;
      i = stop + 1;
    }
    this.count = count;
  }

  /**
   * Splits a line with columns that are aligned under their names. A word belongs to the column name that it overlaps
   * most, or else to the nearest one. All words from the column `wide` to the next name belong to `wide`.
   * @param extents start and end of each name in characters from the start of the line
   */
  splitAligned(
    extents: readonly (readonly [number, number])[],
    wide: number,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): void {
    this.bytes = bytes;
    this.count = extents.length;
    this.start.fill(from, 0, this.count);
    this.end.fill(from, 0, this.count);
    for (let i = from; i < to; ) {
      while (i < to && isPadding(bytes[i] as number)) i++;
      if (i >= to) break;
      const begin = i;
      while (i < to && !isPadding(bytes[i] as number)) i++;
      const column = columnAt(extents, wide, begin - from, i - from);
      if (this.end[column] === from) this.start[column] = begin;
      this.end[column] = i;
    }
  }

  size(field: number): number {
    return field < this.count ? (this.end[field] as number) - (this.start[field] as number) : 0;
  }

  /** Returns the character code at `index` of a field, from its end if negative; 0 if outside the field. */
  code(field: number, index: number): number {
    if (field >= this.count) return 0;
    const at = index < 0 ? (this.end[field] as number) + index : (this.start[field] as number) + index;
    return at < (this.start[field] as number) || at >= (this.end[field] as number) ? 0 : (this.bytes[at] as number);
  }

  text(field: number): string {
    if (field >= this.count) return '';
    return String.fromCharCode(
      ...this.bytes.subarray(
        this.start[field],
        Math.min(this.end[field] as number, (this.start[field] as number) + 256),
      ),
    );
  }

  /** Returns true if a field is `word`, ignoring the case of the field. `word` must be in lower case. */
  is(field: number, word: string): boolean {
    if (this.size(field) !== word.length) return false;
    const start = this.start[field] as number;
    for (let i = 0; i < word.length; i++) {
      const c = this.bytes[start + i] as number;
      if ((c >= 65 && c <= 90 ? c | 32 : c) !== word.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Returns a hexadecimal number of 1 to 8 digits, without `skip` leading and `drop` trailing characters, or -1. */
  hex(field: number, skip = 0, drop = 0): number {
    if (field >= this.count) return -1;
    return hexOf(this.bytes, (this.start[field] as number) + skip, (this.end[field] as number) - drop);
  }

  /** Returns a decimal number of 1 to 16 digits, without `drop` trailing characters, or -1. */
  integer(field: number, drop = 0): number {
    if (field >= this.count) return -1;
    return integerOf(this.bytes, this.start[field] as number, (this.end[field] as number) - drop);
  }

  /** Returns a decimal fraction (point or comma) times `scale`, or NaN for invalid text. */
  scaled(field: number, scale: number): number {
    if (field >= this.count) return Number.NaN;
    return scaledOf(this.bytes, this.start[field] as number, this.end[field] as number, scale);
  }

  /** Writes `length` fields of two hexadecimal digits to `into`, one byte each. Returns false if one is invalid. */
  octets(first: number, length: number, into: Uint8Array): boolean {
    if (first + length > this.count) return false;
    for (let i = 0; i < length; i++) {
      const start = this.start[first + i] as number;
      if ((this.end[first + i] as number) !== start + 2) return false;
      const high = hexDigit[this.bytes[start] as number] as number;
      const low = hexDigit[this.bytes[start + 1] as number] as number;
      if ((high | low) > 15) return false;
      into[i] = (high << 4) | low;
    }
    return true;
  }

  /** As {@link octets}, for decimal bytes 0..255. */
  decimals(first: number, length: number, into: Uint8Array): boolean {
    for (let i = 0; i < length; i++) {
      const value = this.integer(first + i);
      if (value < 0 || value > 255) return false;
      into[i] = value;
    }
    return true;
  }
}

export function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** 1 for blanks, and for characters that tools write instead: zeros, no-break spaces (in UTF-8 after 0xC2). */
const PADDING: Uint8Array = new Uint8Array(256);
for (const code of [32, 9, 0, 0xa0, 0xc2]) PADDING[code] = 1;

function isPadding(code: number): boolean {
  return PADDING[code] === 1;
}

/** Returns the column of a word at these positions, for {@link Fields.splitAligned}. */
function columnAt(extents: readonly (readonly [number, number])[], wide: number, from: number, to: number): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let column = 0; column < extents.length; column++) {
    const [begin, end] = extents[column] as readonly [number, number];
    const next = extents[column + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    // If negative, this is the distance.
    const overlap = Math.min(end, to) - Math.max(begin, from);
    const near = column === wide && from >= begin && to <= next ? Math.max(overlap, 0.5) : overlap;
    if (near <= most) continue;
    best = column;
    most = near;
  }
  return best;
}

/** Returns the value of 1 to 8 hexadecimal digits between two positions, or -1. */
export function hexOf(bytes: Uint8Array, from: number, to: number): number {
  if (to <= from || to - from > 8) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = hexDigit[bytes[i] as number] as number;
    if (digit > 15) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** Returns the value of 1 to 16 decimal digits between two positions, or -1. */
export function integerOf(bytes: Uint8Array, from: number, to: number): number {
  if (to <= from || to - from > 16) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Returns the value of `123`, `-123.456` or `123,456` times `scale`, or NaN. Scales integer part and fraction apart
 * so that a present-day time in milliseconds keeps its microseconds.
 */
export function scaledOf(bytes: Uint8Array, from: number, to: number, scale: number): number {
  if (bytes[from] === 45 && bytes[from + 1] !== 45) return -scaledOf(bytes, from + 1, to, scale);
  let point = from;
  while (point < to && bytes[point] !== 46 && bytes[point] !== 44) point++;
  const whole = integerOf(bytes, from, point);
  if (whole < 0) return Number.NaN;
  if (point === to) return whole * scale;
  const fraction = integerOf(bytes, point + 1, to);
  if (fraction < 0) return Number.NaN;
  return whole * scale + (fraction * scale) / (powers[to - point - 1] as number);
}

/** Maximum number of cached words: a column with the name of a word column may contain any text. */
const mostWords = 1000;

/** Cached meanings of the short words of a log (`Rx`, `DT`, `[8]`): every line has the same few. */
export class Words<Meaning> {
  private readonly meanings = new Map<number, Meaning>();
  private readonly read: (word: string) => Meaning;

  constructor(read: (word: string) => Meaning) {
    this.read = read;
  }

  meaning(fields: Fields, field: number): Meaning {
    const size = fields.size(field);
    let key = 0;
    for (let i = 0; i < size; i++) {
      const code = fields.code(field, i);
      // A cache key holds four characters, none of which is 0.
      if (size > 4 || code === 0) return this.read(fields.text(field));
      key = (key << 8) | code;
    }
    let meaning = this.meanings.get(key);
    if (meaning === undefined) {
      meaning = this.read(fields.text(field));
      if (this.meanings.size < mostWords) this.meanings.set(key, meaning);
    }
    return meaning;
  }
}
