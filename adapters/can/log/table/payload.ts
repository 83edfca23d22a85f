/** Reads the payload bytes in one cell of a table, in hexadecimal or decimal digits or in base64. */
import { hexDigit, isBlank } from '../fields.ts';
import { MAX_PAYLOAD_BYTES } from '../recording.ts';

/** Characters that may separate bytes: blanks, separators, brackets, quotes. */
const BETWEEN: Uint8Array = new Uint8Array(256);
for (const character of ' \t\0,;:.-_|[](){}\'"$xXhH') BETWEEN[character.charCodeAt(0)] = 1;
BETWEEN[0xa0] = 1;

/**
 * Reads consecutive bytes, with or without blanks, commas, `0x` and similar between them. Returns their number,
 * or -1 for digits or other characters that are not bytes.
 */
export function unpack(bytes: Uint8Array, from: number, to: number, base: 10 | 16, into: Uint8Array): number {
  let count = 0;
  let p = from;
  while (p < to) {
    while (p < to && !isDigit(bytes[p] as number, base)) if (BETWEEN[bytes[p++] as number] === 0) return -1;
    if (p + 2 < to && bytes[p] === 48 && ((bytes[p + 1] as number) | 32) === 120) p += 2;
    const first = p;
    while (p < to && isDigit(bytes[p] as number, base)) p++;
    const digits = p - first;
    if (digits === 0) continue;
    const isOne = base === 10 || digits <= 2;
    if (!isOne && digits % 2 !== 0) return -1;
    if (count + (isOne ? 1 : digits / 2) > MAX_PAYLOAD_BYTES) return -1;
    if (!isOne) {
      for (let i = first; i < p; i += 2) {
        into[count++] = ((hexDigit[bytes[i] as number] as number) << 4) | (hexDigit[bytes[i + 1] as number] as number);
      }
      continue;
    }
    if (digits > 3) return -1;
    let value = 0;
    for (let i = first; i < p; i++) value = value * base + (hexDigit[bytes[i] as number] as number);
    if (value > 255) return -1;
    into[count++] = value;
  }
  return count;
}

/** As {@link unpack}, for a line that may continue after the payload if its length is stated. */
export function unpackWithin(
  bytes: Uint8Array,
  from: number,
  to: number,
  base: 10 | 16,
  into: Uint8Array,
  announced: number | undefined,
): number {
  const found = unpack(bytes, from, to, base, into);
  if (found >= 0 || announced === undefined) return found;
  // Only words may follow a payload: another byte would contradict the length.
  for (let end = to - 1; end > from; end--) {
    if (!isBlank(bytes[end] as number)) continue;
    const shorter = unpack(bytes, from, end, base, into);
    if (shorter >= 0) return shorter;
  }
  return -1;
}

/** Value of a base64 character (RFC 4648, clauses 4 and 5); 0x80 for other characters, which are skipped. */
const sextets: Uint8Array = new Uint8Array(256).fill(0x80);
for (const alphabet of ['+/', '-_']) {
  const characters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let i = 0; i < 64; i++) sextets[characters.charCodeAt(i)] = i;
}

/** Reads base64 up to its padding or the longest payload. Returns the number of bytes. */
export function unpackBase64(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  let count = 0;
  let bits = 0;
  let pending = 0;
  for (let p = from; p < to && bytes[p] !== 61 && count < MAX_PAYLOAD_BYTES; p++) {
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

/** Returns true for a digit of this base. */
export function isDigit(code: number, base: 10 | 16): boolean {
  return (hexDigit[code] as number) < base;
}
