import { hexByte } from '../../protocol/hex.ts';
/** Formats bytes as two upper-case digits each, without spaces. */
export function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexByte(byte);
  return text;
}

/** Parses an even number of hexadecimal digits without spaces; undefined for anything else. */
export function bytesOf(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9A-Fa-f]*$/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
