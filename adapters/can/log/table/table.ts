/**
 * Tables of frames as text: CSV and the like of many tools, and plain `time id length bytes`. The columns are those that a
 * line of names gives (header.ts), that the lines show (infer.ts), or that the user named.
 */
import { FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import { Fields, hexDigit, isBlank, Words } from '../fields.ts';
import { busError, identifier, lengthOfCode, type Recording } from '../recording.ts';
import type { LineParser } from '../text.ts';
import { layoutOfHeader } from './header.ts';
import type { Layout } from './layout.ts';
import { TimeReader } from './time.ts';

/** What the word in a column of kinds says of a frame. */
interface Kind {
  readonly extended: boolean;
  readonly remote: boolean;
  readonly error: boolean;
  readonly flags: number;
}

/** Payload bytes of the longest CAN FD frame. */
const LONGEST = 64;

export class TableLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  private readonly kinds = new Words(kindNamed);
  private layout: Layout | undefined;
  private times: TimeReader | undefined;
  private begun = false;

  /** @param layout that of lines before any line of column names; a line of names replaces it */
  constructor(recording: Recording, layout: Layout | undefined) {
    this.recording = recording;
    this.use(layout);
  }

  line(bytes: Uint8Array, start: number, end: number, whole: boolean): string | undefined {
    let p = start;
    while (p < end && isBlank(bytes[p] as number)) p++;
    if (p === end) return undefined;
    if (isComment(bytes, p, end)) {
      this.recording.passOver('comments');
      return undefined;
    }
    const fault = this.layout === undefined ? 'no line of column names came before' : this.frame(bytes, p, end, whole);
    if (fault === undefined) {
      this.begun = true;
      return undefined;
    }
    const layout = layoutOfHeader(latin1(bytes, p, end));
    if (layout !== undefined) {
      this.use(layout);
      return undefined;
    }
    if (this.begun) return fault;
    this.recording.passOver('lines before the first frame');
    return undefined;
  }

  private use(layout: Layout | undefined): void {
    this.layout = layout;
    if (layout !== undefined) this.times = new TimeReader(layout.time);
  }

  private frame(bytes: Uint8Array, start: number, end: number, whole: boolean): string | undefined {
    const { fields, recording } = this;
    const layout = this.layout as Layout;
    if (layout.separator === 'blank') fields.split(bytes, start, end);
    else fields.splitQuoted(layout.separator, bytes, start, end);
    const kind = this.kindOf(layout);
    const marked = (column: number | undefined): boolean => column !== undefined && isYes(fields, column);
    const remote = kind.remote || marked(layout.remote);
    const error = kind.error || marked(layout.error);

    const id = this.identifierOf(layout, kind.extended || marked(layout.extended));
    if (id < 0 && !error) return 'the identifier is not a number of at most 29 bits';
    const at = (this.times as TimeReader).at(fields);
    if (Number.isNaN(at)) return 'the time cannot be read';
    const bus = this.busOf(layout, bytes);
    if (bus < 0) return 'more than 256 buses';
    let flags = kind.flags | (isSent(fields, layout) ? SENT : 0);
    if (error) {
      recording.addEmpty(at, busError, bus, flags & SENT, 0);
      return undefined;
    }
    const announced = layout.length === undefined ? undefined : numberOf(fields, layout.length);
    if (announced !== undefined && (announced < 0 || announced > LONGEST)) return 'the length is not a number up to 64';
    if (remote) {
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, flags & SENT, Math.min(announced ?? 0, 8));
      return undefined;
    }
    const found = this.payloadOf(layout, bytes, announced);
    if (found < 0) return 'the data are not bytes';
    const length = announced === undefined ? found : lengthOf(announced, found);
    if (length < 0) return `there are not ${announced} bytes of data`;
    if (!whole && isCut(bytes, start, end)) return 'the line is cut';
    if (length > 8) flags |= FD;
    recording.add(at, id, bus, flags, length);
    return undefined;
  }

  private identifierOf({ id: { column, base } }: Layout, extended: boolean): number {
    const { fields } = this;
    const last = fields.code(column, -1) | 32;
    // The letter behind the number: h for hexadecimal, x for an extended identifier.
    const drop = last === 104 || last === 120 ? 1 : 0;
    const value =
      base === 10 && drop === 0 && !isPrefixed(fields, column)
        ? fields.integer(column)
        : fields.hex(column, isPrefixed(fields, column) ? 2 : 0, drop);
    return identifier(value, extended || last === 120);
  }

  private busOf({ bus }: Layout, bytes: Uint8Array): number {
    const { fields, recording } = this;
    if (bus === undefined || fields.size(bus) === 0) return recording.unnamed();
    const number = fields.integer(bus);
    if (number >= 0) return recording.channel(number);
    const from = fields.start[bus] as number;
    return recording.busAt(bytes, from, Math.min(fields.end[bus] as number, from + 64));
  }

  private kindOf({ kinds, code }: Layout): Kind {
    let kind = plain;
    if (code !== undefined && this.fields.size(code) === 1) kind = codes.get(this.fields.code(code, 0)) ?? plain;
    for (const column of kinds) {
      kind = both(kind, this.kinds.meaning(this.fields, column));
    }
    return kind;
  }

  /** Writes the bytes that are there to the payload; how many, or -1 for what are not bytes. */
  private payloadOf({ data, separator }: Layout, bytes: Uint8Array, announced: number | undefined): number {
    const { fields, recording } = this;
    const { payload } = recording;
    const { column, form, base } = data;
    if (form === 'base64') {
      if (column >= fields.count) return 0;
      return unpackBase64(bytes, fields.start[column] as number, fields.end[column] as number, payload);
    }
    if (form === 'bytes') {
      let count = 0;
      for (; count < LONGEST && column + count < fields.count && fields.size(column + count) > 0; count++) {
        const octet = numberOf(fields, column + count, base);
        if (octet < 0 || octet > 255) return announced !== undefined && count >= announced ? count : -1;
        payload[count] = octet;
      }
      return count;
    }
    if (column >= fields.count) return 0;
    const last = form === 'rest' ? fields.count - 1 : column;
    // With a known length, what follows the payload on the line is not part of it.
    const most = separator === 'blank' ? (announced ?? LONGEST) : LONGEST;
    return unpack(bytes, fields.start[column] as number, fields.end[last] as number, base, payload, most);
  }
}

const plain: Kind = { extended: false, remote: false, error: false, flags: 0 };

/** By the character of {@link Layout.code}. */
const codes: ReadonlyMap<number, Kind> = new Map([
  [49, { ...plain, extended: true }],
  [56, { ...plain, flags: SENT }],
  [57, { ...plain, extended: true, flags: SENT }],
]);

function kindNamed(word: string): Kind {
  return {
    extended: /ext|xtd|^x$/i.test(word),
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
    remote: a.remote || b.remote,
    error: a.error || b.error,
    flags: a.flags | b.flags,
  };
}

/** The length of the payload: as announced, or what the announced data length code of an FD frame stands for; or -1. */
function lengthOf(announced: number, found: number): number {
  const coded = announced > 8 ? lengthOfCode(announced) : -1;
  if (coded === found) return coded;
  return announced <= found ? announced : -1;
}

function isComment(bytes: Uint8Array, from: number, end: number): boolean {
  const code = bytes[from];
  return code === 35 || (code === 47 && from + 1 < end && bytes[from + 1] === 47) || (code === 59 && end - from > 1);
}

/** A byte that is cut short looks like one of a single digit. */
function isCut(bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from < 2 || !isDigit(bytes[end - 1] as number, 16)) return false;
  return !isDigit(bytes[end - 2] as number, 16);
}

function isPrefixed(fields: Fields, column: number): boolean {
  return fields.code(column, 0) === 48 && (fields.code(column, 1) | 32) === 120;
}

/** A number in a column, in hexadecimal digits behind `0x`; or -1. */
function numberOf(fields: Fields, column: number, base: 10 | 16 = 10): number {
  if (isPrefixed(fields, column)) return fields.hex(column, 2);
  return base === 16 ? fields.hex(column) : fields.integer(column);
}

function isYes(fields: Fields, column: number): boolean {
  if (fields.size(column) === 0) return false;
  const first = fields.code(column, 0) | 32;
  // 0, false, no, standard, `-`
  return first !== 48 && first !== 102 && first !== 110 && first !== 115 && first !== 45;
}

/** T(x), Transmit, Send, Out. */
function isSent(fields: Fields, { direction, sent }: Layout): boolean {
  if (sent !== undefined && isYes(fields, sent)) return true;
  if (direction === undefined) return false;
  const first = fields.code(direction, 0) | 32;
  return first === 116 || first === 115 || first === 111;
}

/**
 * Reads bytes that are written one behind the other, with or without blanks, commas, `0x` and the like between them, up
 * to `most`; how many, or -1 for digits that make no bytes.
 */
function unpack(bytes: Uint8Array, from: number, to: number, base: 10 | 16, into: Uint8Array, most: number): number {
  let count = 0;
  let p = from;
  while (p < to && count < most) {
    while (p < to && !isDigit(bytes[p] as number, base)) p++;
    if (p < to && bytes[p] === 48 && p + 1 < to && ((bytes[p + 1] as number) | 32) === 120) p += 2;
    const first = p;
    while (p < to && isDigit(bytes[p] as number, base)) p++;
    const digits = p - first;
    if (digits === 0) continue;
    if (base === 10 || digits <= 2) {
      let value = 0;
      for (let i = first; i < p; i++) value = value * base + (hexDigit[bytes[i] as number] as number);
      if (value > 255) return -1;
      into[count++] = value;
      continue;
    }
    if (digits % 2 !== 0) return -1;
    for (let i = first; i < p && count < LONGEST; i += 2) {
      into[count++] = ((hexDigit[bytes[i] as number] as number) << 4) | (hexDigit[bytes[i + 1] as number] as number);
    }
  }
  return count;
}

/** Value of a character of base64 (RFC 4648, clauses 4 and 5); 0x80 for any other, which is passed over. */
const sextets: Uint8Array = new Uint8Array(256).fill(0x80);
for (const alphabet of ['+/', '-_']) {
  const characters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let i = 0; i < 64; i++) sextets[characters.charCodeAt(i)] = i;
}

/** Reads base64 up to its padding and to the longest payload; how many bytes there are. */
function unpackBase64(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  let count = 0;
  let bits = 0;
  let pending = 0;
  for (let p = from; p < to && bytes[p] !== 61 && count < LONGEST; p++) {
    const sextet = sextets[bytes[p] as number] as number;
    if (sextet > 63) continue;
    pending = ((pending << 6) | sextet) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    into[count++] = (pending >> bits) & 255;
  }
  return count;
}

function isDigit(code: number, base: 10 | 16): boolean {
  return (hexDigit[code] as number) < base;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 1024)).toString('latin1');
}
