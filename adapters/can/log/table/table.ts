/**
 * Tables of frames as text: CSV and similar formats of many tools, and plain `time id length bytes`. choose.ts finds
 * the columns. A line that contradicts them is not read as a frame.
 */
import { BIT_RATE_SWITCH, ERROR_STATE, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import { Fields, hexDigit, isBlank, Words } from '../fields.ts';
import { busError, identifier, lengthOfCode, MAX_PAYLOAD_BYTES, type Recording } from '../recording.ts';
import type { LineParser } from '../text.ts';
import { layoutsOfHeader } from './header.ts';
import type { Layout, Separator } from './layout.ts';
import { isDigit, unpack, unpackBase64, unpackWithin } from './payload.ts';
import { TimeReader } from './time.ts';

/** Meaning of a word in a column of kinds. */
interface Kind {
  readonly extended: boolean;
  readonly standard: boolean;
  readonly remote: boolean;
  readonly error: boolean;
  readonly flags: number;
}

const MAX_STANDARD = 0x7ff;
/**
 * Smallest usual 29-bit identifier. In a frame marked as 11 bits, a smaller identifier is a decimal number or in
 * another column, and a larger one is extended even if the log contradicts.
 */
const MIN_EXTENDED = 0x1_0000;
/** Number of characters of a line that are compared with the line of column names. */
export const MAX_NAMES_SIZE = 4096;

export class TableLines implements LineParser {
  private readonly recording: Recording;
  /** Cells of the last line. */
  readonly fields: Fields = new Fields();
  private readonly kinds = new Words(kindNamed);
  private readonly fixed: boolean;
  private layout: Layout;
  private names: string | undefined;
  private waiting: boolean;
  times: TimeReader;
  private begun: boolean;
  /** True once a frame was read: from then on a line with all columns is data. */
  private framed = false;
  /** Number of cells in the line beyond the table's columns: data bytes in separate cells. Negative: fewer bytes. */
  private extra = 0;
  /** Number of cells in the line without empty cells after the last column. */
  cells = 0;

  /**
   * @param names the line of column names, before which no frame is read; undefined if there is none
   * @param fixed true if the user named the columns: no line of names then replaces them
   */
  constructor(recording: Recording, layout: Layout, names?: string, fixed = false) {
    this.recording = recording;
    this.layout = layout;
    this.names = names;
    this.waiting = names !== undefined;
    this.begun = names !== undefined;
    this.fixed = fixed;
    this.times = new TimeReader(layout.time);
  }

  line(bytes: Uint8Array, start: number, end: number, whole: boolean): string | undefined {
    let p = start;
    while (p < end && isBlank(bytes[p] as number)) p++;
    if (p === end) return undefined;
    if (this.waiting) {
      this.waiting = latin1(bytes, start, end) !== this.names;
      if (this.waiting) this.passOver('lines before the column names');
      return undefined;
    }
    const { separator } = this.layout;
    if (isComment(bytes, p, end, separator)) return this.passOver('comments');
    const fault = this.frame(bytes, separator === 'blank' ? p : start, end, whole);
    if (fault === undefined) {
      this.begun = true;
      this.framed = true;
      return undefined;
    }
    return this.unread(bytes, start, end, fault);
  }

  /** Handles a line that is not a frame: column names, text, or a fault. */
  private unread(bytes: Uint8Array, start: number, end: number, fault: string): string | undefined {
    const text = latin1(bytes, start, end);
    // Most cells of data contain no letters beyond hexadecimal digits. Such lines are not searched for names.
    const [layout] = /[g-wyz]/i.test(text) ? layoutsOfHeader(text) : [];
    if (layout !== undefined) {
      if (!this.fixed && text !== this.names) this.use(layout, text);
      return this.passOver('lines of column names');
    }
    if (this.looksLikeData()) return fault;
    return this.passOver(this.begun ? 'lines that are not frames' : 'lines before the first frame');
  }

  /** Changes the columns, as in concatenated files. Keeps the number base found in the earlier lines. */
  private use(layout: Layout, names: string): void {
    const { id } = this.layout;
    this.layout = layoutsOfHeader(names).find((one) => one.id.base === id.base) ?? layout;
    this.names = names;
    this.begun = true;
    this.times = new TimeReader(this.layout.time);
  }

  private passOver(kind: string): undefined {
    this.recording.passOver(kind);
  }

  /**
   * Returns true if at least two cells and a third of all cells contain numbers. In a line with all columns, one number
   * suffices, or after the first frame any text: units may follow the names.
   */
  private looksLikeData(): boolean {
    const { fields } = this;
    let filled = 0;
    let numbers = 0;
    for (let field = 0; field < fields.count; field++) {
      if (fields.size(field) === 0) continue;
      filled++;
      if (NUMBER.test(fields.text(field))) numbers++;
    }
    const { layout } = this;
    const { separator, names } = layout;
    // Text that happens to be aligned has no length in its column.
    const isFull =
      separator === 'aligned'
        ? layout.length !== undefined && lengthIn(fields, layout.length) >= 0
        : separator !== 'blank' && names !== undefined && names.length > 1 && this.cells >= names.length;
    return isFull ? numbers >= 1 || (this.framed && filled >= 1) : numbers >= 2 && numbers * 3 >= filled;
  }

  private frame(bytes: Uint8Array, start: number, end: number, whole: boolean): string | undefined {
    const { fields, recording, layout } = this;
    this.split(bytes, start, end);
    const kind = this.kindOf(layout);
    const error = kind.error || this.marked(layout.error);
    const isExtended = kind.extended || this.marked(layout.extended);
    const id = this.identifierOf(layout, isExtended);
    if (id < 0 && !error) return this.wrong(layout.id.column, 'the identifier is not a number of at most 29 bits');
    const at = this.times.at(fields, this.extra, layout.data.column);
    if (Number.isNaN(at)) return this.wrong(layout.time?.column, 'the time cannot be read');
    const bus = this.busOf(layout, bytes);
    if (bus < 0) return 'more than 256 buses';
    const sent = this.isSent(layout) ? SENT : 0;
    if (error) {
      recording.addEmpty(at, busError, bus, sent, 0);
      return undefined;
    }
    if (!isExtended && isOdd(id) && (kind.standard || this.denied(layout.extended))) {
      return this.wrong(layout.id.column, 'the identifier has more than the 11 bits of the frame');
    }
    const announced = layout.length === undefined ? undefined : lengthIn(fields, this.at(layout.length));
    if (announced !== undefined && (announced < 0 || announced > MAX_PAYLOAD_BYTES)) {
      return this.wrong(layout.length, 'the length is not a number up to 64');
    }
    if (kind.remote || this.marked(layout.remote)) {
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, sent, Math.min(announced ?? 0, 8));
      return undefined;
    }
    const found = this.payloadOf(layout, bytes, announced);
    if (found < 0) return this.wrong(layout.data.column, 'the data are not bytes');
    const length = announced === undefined ? found : this.lengthOf(layout, announced, found);
    if (length < 0)
      return this.wrong(layout.data.column, `there are ${found} bytes of data, the length is ${announced}`);
    if (lengthOfCode(codeOf(length)) !== length)
      return this.wrong(layout.data.column, `no frame has ${length} bytes of data`);
    if (!this.agrees(layout, length))
      return this.wrong(layout.lengthCode, `the length code is not that of ${length} bytes`);
    if (!whole && this.endsInFrame(layout) && isCut(bytes, start, end)) return 'the line is cut';
    recording.add(at, id, bus, sent | this.flagsOf(layout, kind, length), length);
    return undefined;
  }

  private split(bytes: Uint8Array, start: number, end: number): void {
    const { fields, layout } = this;
    const { separator, names } = layout;
    if (separator === 'blank') fields.split(bytes, start, end);
    else if (separator === 'aligned') fields.splitAligned(layout.extents ?? [], layout.data.column, bytes, start, end);
    else fields.splitQuoted(separator, bytes, start, end);
    this.cells = fields.count;
    this.extra = 0;
    if (names === undefined || separator === 'aligned') return;
    while (this.cells > names.length && fields.size(this.cells - 1) === 0) this.cells--;
    const extra = this.cells - names.length;
    this.extra = extra > 0 || separator === 'blank' ? extra : 0;
  }

  /** Returns true if the last cell of the line belongs to its payload or its identifier. */
  private endsInFrame({ id, data, names }: Layout): boolean {
    let last = this.cells - 1;
    while (last > 0 && this.fields.size(last) === 0) last--;
    return (
      names === undefined ||
      last === this.at(id.column) ||
      (last >= data.column && last <= data.column + (data.count ?? 1) - 1 + this.extra)
    );
  }

  /** Returns the cell of a column in this line. */
  private at(column: number): number {
    return column > this.layout.data.column ? column + this.extra : column;
  }

  private marked(column: number | undefined): boolean {
    return column !== undefined && isYes(this.fields, this.at(column));
  }

  private denied(column: number | undefined): boolean {
    return column !== undefined && this.fields.size(this.at(column)) > 0;
  }

  private wrong(column: number | undefined, reason: string): string {
    if (column === undefined) return reason;
    const name = this.layout.names?.[column];
    return `column ${column + 1}${name === undefined || name === '' ? '' : ` (${name})`}: ${reason}`;
  }

  private identifierOf({ id: { column, base } }: Layout, extended: boolean): number {
    const { fields } = this;
    const cell = this.at(column);
    const last = fields.code(cell, -1) | 32;
    // The letter after the number: h for hexadecimal, x for an extended identifier.
    const drop = last === 104 || last === 120 ? 1 : 0;
    const skip = prefixOf(fields, cell);
    const isDecimal = base === 10 && last !== 104 && skip === 0;
    const value = isDecimal ? fields.integer(cell, drop) : fields.hex(cell, skip, drop);
    return identifier(value, extended || last === 120);
  }

  private busOf({ bus }: Layout, bytes: Uint8Array): number {
    const { fields, recording } = this;
    const cell = bus === undefined ? -1 : this.at(bus);
    if (cell < 0 || fields.size(cell) === 0) return recording.unnamed();
    const number = fields.integer(cell);
    if (number >= 0) return recording.channel(number);
    const from = fields.start[cell] as number;
    return recording.busAt(bytes, from, Math.min(fields.end[cell] as number, from + 64));
  }

  private kindOf({ kinds, code }: Layout): Kind {
    let kind = plain;
    if (code !== undefined && this.fields.size(code) === 1) kind = codes.get(this.fields.code(code, 0)) ?? plain;
    for (const column of kinds) {
      kind = both(kind, this.kinds.meaning(this.fields, this.at(column)));
    }
    return kind;
  }

  private flagsOf(layout: Layout, kind: Kind, length: number): number {
    const flags = kind.flags | (length > 8 || this.marked(layout.fd) ? FD : 0);
    if ((flags & FD) === 0) return flags;
    return (
      flags |
      (this.marked(layout.bitRateSwitch) ? BIT_RATE_SWITCH : 0) |
      (this.marked(layout.errorState) ? ERROR_STATE : 0)
    );
  }

  /** Returns true for T(x), Transmit, Send, Out or 1. */
  private isSent({ sent, direction }: Layout): boolean {
    if (this.marked(sent)) return true;
    if (direction === undefined) return false;
    const first = this.fields.code(this.at(direction), 0) | 32;
    return first === 116 || first === 115 || first === 111 || first === 49;
  }

  /** Returns true if the data length code in a separate column matches `length` bytes. */
  private agrees({ lengthCode }: Layout, length: number): boolean {
    if (lengthCode === undefined) return true;
    const code = lengthIn(this.fields, this.at(lengthCode));
    return code === length || lengthOfCode(code) === length;
  }

  /** Writes the existing bytes to the payload. Returns their number, or -1 for other text. */
  private payloadOf(layout: Layout, bytes: Uint8Array, announced: number | undefined): number {
    const { fields, recording, cells, extra } = this;
    const { payload } = recording;
    const { column, form, base, count } = layout.data;
    if (form === 'bytes')
      return this.cellsOf(bytes, column, base, count === undefined ? undefined : count + extra, announced);
    const last = column + extra;
    if (last < column) return 0;
    // A line without its payload column is incomplete, or not part of this table.
    if (column >= cells) return announced === 0 ? 0 : -1;
    const from = fields.start[column] as number;
    const to = fields.end[last] as number;
    if (form === 'base64') return unpackBase64(bytes, from, to, payload);
    if (layout.names === undefined || layout.separator === 'blank')
      return unpackWithin(bytes, from, to, base, payload, announced);
    const found = unpack(bytes, from, to, base, payload);
    // The text of a later column may contain separators.
    if (extra > 0 && announced !== undefined && found !== announced) {
      const first = unpack(bytes, from, fields.end[column] as number, base, payload);
      return first === announced ? first : unpack(bytes, from, to, base, payload);
    }
    return found;
  }

  /** Reads bytes in separate cells. @param width number of cells that may contain them; undefined: all that follow */
  private cellsOf(
    bytes: Uint8Array,
    column: number,
    base: 10 | 16,
    width: number | undefined,
    announced: number | undefined,
  ): number {
    const { fields, recording, cells } = this;
    const { payload } = recording;
    const end = Math.min(cells, column + (width ?? MAX_PAYLOAD_BYTES));
    let count = 0;
    for (; column + count < end && count < MAX_PAYLOAD_BYTES; count++) {
      const from = fields.start[column + count] as number;
      const size = (fields.end[column + count] as number) - from;
      if (size === 2 && base === 16) {
        // Fast path for nearly all cells.
        const high = hexDigit[bytes[from] as number] as number;
        const low = hexDigit[bytes[from + 1] as number] as number;
        if ((high | low) < 16) {
          payload[count] = (high << 4) | low;
          continue;
        }
      }
      if (isEmpty(fields, column + count)) break;
      const octet = numberOf(fields, column + count, base);
      if (octet < 0 || octet > 255)
        return width === undefined && announced !== undefined && count >= announced ? count : -1;
      payload[count] = octet;
    }
    if (width === undefined) return count;
    // A byte after a gap belongs to another column.
    for (let cell = column + count; cell < end; cell++) if (!isEmpty(fields, cell)) return -1;
    return count;
  }

  /** Returns the payload length: the stated one, or that of a stated FD data length code, or -1. */
  private lengthOf({ data }: Layout, announced: number, found: number): number {
    if (announced === found) return found;
    if (announced > 8 && lengthOfCode(announced) === found) return found;
    if (announced > found) return -1;
    // Some tools fill the columns of missing bytes with zeros.
    if (data.form !== 'bytes' || (found !== 8 && found !== MAX_PAYLOAD_BYTES && found !== data.count)) return -1;
    for (let i = announced; i < found; i++) if (this.recording.payload[i] !== 0) return -1;
    return announced;
  }
}

/** A number in a cell, usually with leading digits: a time, an identifier or a byte; or a flag. */
const NUMBER = /^([-+$]?(0x)?[\da-f][\da-fx.,: /T_-]*[hxZ]?|true|false)$/i;

const plain: Kind = { extended: false, standard: false, remote: false, error: false, flags: 0 };

/** Kind by the code in {@link Layout.code}. */
const codes: ReadonlyMap<number, Kind> = new Map([
  [49, { ...plain, extended: true }],
  [56, { ...plain, flags: SENT }],
  [57, { ...plain, extended: true, flags: SENT }],
]);

function kindNamed(word: string): Kind {
  return {
    extended: /ext|xtd|29|^x$|^e$/i.test(word),
    standard: /std|standard|base|^11|^s$/i.test(word),
    remote: /remote|rtr/i.test(word),
    error: /err/i.test(word),
    flags: /fd/i.test(word) ? FD : 0,
  };
}

function both(a: Kind, b: Kind): Kind {
  if (a === plain) return b;
  if (b === plain) return a;
  return {
    extended: a.extended || b.extended,
    standard: a.standard || b.standard,
    remote: a.remote || b.remote,
    error: a.error || b.error,
    flags: a.flags | b.flags,
  };
}

/** Returns the data length code of a payload of this length, or 16 for an impossible length. */
function codeOf(length: number): number {
  if (length <= 8) return length;
  let code = 9;
  while (code < 16 && lengthOfCode(code) !== length) code++;
  return code;
}

function isComment(bytes: Uint8Array, from: number, end: number, separator: Separator): boolean {
  const code = bytes[from];
  if (code === separator) return false;
  return code === 35 || (code === 47 && from + 1 < end && bytes[from + 1] === 47) || (code === 59 && end - from > 1);
}

function isOdd(id: number): boolean {
  const number = id & 0x1fff_ffff;
  return number > MAX_STANDARD && number < MIN_EXTENDED;
}

/** Returns true for a possibly incomplete byte, which looks like a byte of a single digit. */
function isCut(bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from < 2 || !isDigit(bytes[end - 1] as number, 16)) return false;
  return !isDigit(bytes[end - 2] as number, 16);
}

/** Returns the number of characters before the digits of a hexadecimal number: `0x`, `$`. */
function prefixOf(fields: Fields, cell: number): number {
  const first = fields.code(cell, 0);
  if (first === 36) return 1;
  return first === 48 && (fields.code(cell, 1) | 32) === 120 ? 2 : 0;
}

/** Returns the number in a cell, in hexadecimal digits after `0x` or before `h`, or -1. */
function numberOf(fields: Fields, cell: number, base: 10 | 16 = 10): number {
  const skip = prefixOf(fields, cell);
  const drop = (fields.code(cell, -1) | 32) === 104 ? 1 : 0;
  return base === 16 || skip > 0 || drop > 0 ? fields.hex(cell, skip, drop) : fields.integer(cell);
}

/** Returns a length, also from the hexadecimal digit of a data length code. */
function lengthIn(fields: Fields, cell: number): number {
  const number = numberOf(fields, cell);
  return number < 0 && fields.size(cell) === 1 ? fields.hex(cell) : number;
}

/** Returns true for an empty cell, or dashes that mean nothing. */
function isEmpty(fields: Fields, cell: number): boolean {
  const size = fields.size(cell);
  return size === 0 || (fields.code(cell, 0) === 45 && fields.code(cell, -1) === 45 && size <= 2);
}

function isYes(fields: Fields, cell: number): boolean {
  const size = fields.size(cell);
  if (size === 0) return false;
  const first = fields.code(cell, 0) | 32;
  // Means identifiers of 11 bits.
  if (size === 2 && first === 49 && fields.code(cell, 1) === 49) return false;
  // 0, false, no, standard, `-`
  return first !== 48 && first !== 102 && first !== 110 && first !== 115 && first !== 45;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, MAX_NAMES_SIZE)).toString('latin1');
}
