import { bytesOf, hexOf } from './hex.ts';

/** One line that an adapter printed, by kind. */
type AdapterLine =
  /** A frame after a header (`ATH1`): 11 or 29 bits of CAN; `data` with its ISO-TP control bytes. */
  | { readonly kind: 'frame'; readonly header: string; readonly data: Uint8Array }
  /** A message after the three header bytes of J1850, ISO 9141-2 or ISO 14230-4, with its checksum verified. */
  | { readonly kind: 'message'; readonly header: string; readonly data: Uint8Array }
  /** A whole answer without a header (`ATH0`). */
  | { readonly kind: 'bare'; readonly data: Uint8Array }
  /** Length of a multi-frame answer without headers, e.g. `014`; precedes its segments. */
  | { readonly kind: 'length'; readonly bytes: number }
  /** One segment of such an answer, numbered `0:` to `F:` and again from `0:`. */
  | { readonly kind: 'segment'; readonly index: number; readonly data: Uint8Array }
  /** The adapter's reason for no (further) answer. */
  | { readonly kind: 'complaint'; readonly text: string; readonly meaning: string; readonly reason: ComplaintReason }
  /** Irrelevant text: an echo of the request, `OK`, an empty line. */
  | { readonly kind: 'other' };

/**
 * The cause of a complaint: no unit answered in time; no protocol was found; the adapter lost frames; a character from
 * this program stopped it; the bus could not be used; a frame arrived damaged; the adapter goes to sleep; it restarted
 * and lost its settings; it does not support the command; this program does not recognise the line.
 */
export type ComplaintReason =
  | 'silence'
  | 'unconnected'
  | 'overflow'
  | 'stopped'
  | 'bus'
  | 'damage'
  | 'sleep'
  | 'restart'
  | 'unknown'
  | 'unreadable';

/** Messages of adapters in place of an answer (ELM327 data sheet, "Error Messages and Alerts"; STN1110 manual §5). */
const COMPLAINTS: readonly (readonly [RegExp, ComplaintReason, string])[] = [
  [/NO ?DATA/, 'silence', 'no ECU answered in time'],
  [/UNABLE ?TO ?CONNECT/, 'unconnected', 'no protocol gave an answer: is the ignition on?'],
  [/BUFFER ?FULL/, 'overflow', 'the adapter lost frames because its buffer was full'],
  [/STOPPED/, 'stopped', 'the adapter was interrupted by a character from this side'],
  [/CAN ?ERROR/, 'bus', 'the CAN controller could not send or receive: wrong bit rate or wiring'],
  [/BUS BUSY/, 'bus', 'the bus was too busy to send'],
  [/BUS ERROR/, 'bus', 'the bus carries no valid signal'],
  [/BUS INIT[: .]*ERROR/, 'bus', 'the bus could not be initialised'],
  [/FB ERROR/, 'bus', 'the adapter did not read back its own frame from the bus'],
  [/DATA ERROR/, 'damage', 'a frame came with a wrong checksum or format'],
  [/RX ERROR/, 'damage', 'a frame came with an error'],
  [/CRC ERROR/, 'damage', 'a frame came with a wrong checksum'],
  [/FC RX TIMEOUT/, 'silence', 'no flow control frame came from the ECU'],
  [/OUT OF MEMORY/, 'overflow', 'the adapter ran out of memory'],
  [/ACT ALERT/, 'sleep', 'the adapter saw no activity and goes to sleep'],
  [/LP ALERT/, 'sleep', 'the adapter goes to sleep'],
  [/LV RESET/, 'restart', 'the adapter restarted for low voltage'],
  [/ERR\d\d/, 'restart', 'the adapter reports an internal error'],
  [/^\?$/, 'unknown', 'the adapter does not know the command'],
];

/** Words that adapters print before an answer, on the same line or on a separate one. */
const PROLOGUE = /^(?:SEARCHING|BUS INIT)\s*:?[\s.]*(?:OK)?/;

/**
 * Splits the text that an adapter printed. Lines end with CR, LF or both; `>` is the prompt, NUL is noise (data sheet).
 * `echoed`: the first line may be the request.
 */
export function adapterLines(response: string, echoed = true): AdapterLine[] {
  const lines: AdapterLine[] = [];
  let answered = !echoed;
  for (const piece of response.split(/[\r\n>]+/)) {
    const line = adapterLine(piece);
    if (!answered && line.kind === 'frame' && isEcho(piece, line.data)) continue;
    if (line.kind === 'other') continue;
    answered = true;
    lines.push(line);
  }
  return lines;
}

/** Returns the causes of the error messages in the text. */
export function complaintReasons(response: string): ReadonlySet<ComplaintReason> {
  const reasons = new Set<ComplaintReason>();
  for (const line of adapterLines(response)) if (line.kind === 'complaint') reasons.add(line.reason);
  return reasons;
}

/**
 * Returns true if the first line, which reads as a frame with an 11-bit identifier, is the echo of a request with its
 * count of answers (`21291`, `22D4101`): it begins with the service of a request, and the bytes after three digits are
 * not a single frame.
 */
function isEcho(piece: string, data: Uint8Array): boolean {
  const digits = piece.replaceAll(/[\s\0]/g, '');
  if (digits.length % 2 === 0 || digits.length > 11 || /^\s*[0-9A-Fa-f]{3}\s/.test(piece)) return false;
  const length = data[0] ?? 0;
  return Number.parseInt(digits.slice(0, 2), 16) < 0x40 && (length === 0 || length > 7 || length >= data.length);
}

function adapterLine(piece: string): AdapterLine {
  const printed = piece.replaceAll('\0', '').trim().toUpperCase();
  const complaint = COMPLAINTS.find(([words]) => words.test(printed));
  if (complaint !== undefined) {
    const [, reason, meaning] = complaint;
    return { kind: 'complaint', text: printed.slice(0, 60), meaning, reason };
  }
  const line = printed.replace(PROLOGUE, '').trim();
  if (line === '' || line === 'OK') return { kind: 'other' };

  const segment = /^([0-9A-F])\s*:(.*)$/.exec(line);
  if (segment !== null) {
    const data = bytesOf((segment[2] ?? '').replaceAll(/\s/g, ''));
    if (data === undefined) return unreadable(line);
    return { kind: 'segment', index: Number.parseInt(segment[1] ?? '', 16), data };
  }
  if (/^[0-9A-F]{3}$/.test(line)) return { kind: 'length', bytes: Number.parseInt(line, 16) };
  // With ATD1, the number of data bytes is between an 11-bit identifier and the data.
  const digits = line.replace(/^([0-7][0-9A-F]{2}) [0-8] (?=[0-9A-F]{2}(?: |$))/, '$1').replaceAll(/\s/g, '');
  if (!/^[0-9A-F]{2,}$/.test(digits)) return unreadable(line);
  return bytesLine(digits, line);
}

function bytesLine(digits: string, line: string): AdapterLine {
  if (digits.length % 2 !== 0) {
    // An 11-bit identifier is three digits; the rest of the line is whole bytes.
    if (!/^[0-7]/.test(digits)) return unreadable(line);
    return { kind: 'frame', header: digits.slice(0, 3), data: bytesOf(digits.slice(3)) as Uint8Array };
  }
  const bytes = bytesOf(digits) as Uint8Array;
  const first = bytes[0] as number;
  // A 29-bit identifier prints as four bytes, the first at most 1F; an answer starts at 40 or more (ISO 14229-1 §7.4).
  if (first <= 0x1f && bytes.length > 4) {
    return { kind: 'frame', header: digits.slice(0, 8), data: bytes.subarray(4) };
  }
  if (isLegacy(bytes)) {
    return { kind: 'message', header: hexOf(bytes.subarray(0, 3)), data: bytes.subarray(3, -1) };
  }
  return (first & 0x40) === 0 ? { kind: 'other' } : { kind: 'bare', data: bytes };
}

function unreadable(line: string): AdapterLine {
  const meaning = 'neither hexadecimal bytes nor a known message';
  return { kind: 'complaint', text: line.slice(0, 60), meaning, reason: 'unreadable' };
}

/**
 * Returns true if header and checksum are valid for J1850 (PWM 41 6B xx, VPW 48 6B xx), ISO 9141-2 (48 6B xx) or
 * ISO 14230-2 (format byte, tester F1, source).
 */
function isLegacy(bytes: Uint8Array): boolean {
  if (bytes.length < 5) return false;
  const [format = 0, target = 0] = bytes;
  const obd = (format === 0x41 || format === 0x48) && target === 0x6b;
  if (!obd && !(format >= 0x80 && target === 0xf1)) return false;
  const body = bytes.subarray(0, -1);
  const check = bytes.at(-1);
  return check === (body.reduce((sum, byte) => sum + byte, 0) & 0xff) || check === crc8(body);
}

/** Computes the CRC-8 of SAE J1850 §5.4.2: polynomial 1D, start FF, inverted. */
function crc8(bytes: Uint8Array): number {
  let crc = 0xff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x80) === 0 ? 0 : 0x1d)) & 0xff;
  }
  return crc ^ 0xff;
}
