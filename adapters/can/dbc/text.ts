/** Vector's tools write Windows-1252. Others write UTF-8 with or without a byte order mark, and some write UTF-16. */

/** Code points of the bytes 0x80..0x9F in Windows-1252. The five unassigned ones stay C1 controls (WHATWG Encoding). */
const high = [
  0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d,
  0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,
  0x017e, 0x0178,
];

/** Does not use TextDecoder('windows-1252'), because some Node versions leave 0x80..0x9F as control characters. */
function windows1252(bytes: Uint8Array): string {
  const parts: string[] = [];
  const codes: number[] = [];
  for (const byte of bytes) {
    codes.push(byte >= 0x80 && byte < 0xa0 ? high[byte - 0x80]! : byte);
    if (codes.length === 4096) parts.push(String.fromCharCode(...codes.splice(0)));
  }
  parts.push(String.fromCharCode(...codes));
  return parts.join('');
}

/**
 * Decodes the text of a network description: UTF-16 with a byte order mark, else UTF-8 if every byte sequence is valid,
 * else Windows-1252. Never throws. Removes a byte order mark.
 */
export function decodeText(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    // The bytes are not UTF-8. Windows-1252 accepts any byte.
    if (error instanceof TypeError) return windows1252(bytes);
    throw error;
  }
}
