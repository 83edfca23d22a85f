/** Answers as an adapter prints them: ISO 15765-2 frames after their identifier, one per line. */

const hex = (byte: number, digits = 2): string => byte.toString(16).toUpperCase().padStart(digits, '0');

/**
 * Bytes of each frame: SF `0L …`, otherwise FF `1L LL …` and CF `2N …`, where N counts from 1 and continues with 0
 * after F.
 */
function framesOf(payload: readonly number[], room: number): number[][] {
  if (payload.length < room) return [[payload.length, ...payload]];
  const frames = [[0x10 + Math.floor(payload.length / 256), payload.length % 256, ...payload.slice(0, room - 2)]];
  for (let at = room - 2, number = 1; at < payload.length; at += room - 1, number++) {
    frames.push([0x20 + (number % 16), ...payload.slice(at, at + room - 1)]);
  }
  return frames;
}

export interface Printing {
  /** Identifier of the answers, e.g. `7E8`. */
  readonly header: string;
  /** Extended address before the bytes of each frame. */
  readonly address?: number | undefined;
  readonly spaces?: boolean;
  /** Byte with which frames are padded to eight bytes. */
  readonly filler?: number | undefined;
}

/** Lines of one answer. */
export function printed(payload: readonly number[], { header, address, spaces, filler }: Printing): string {
  const prefix = address === undefined ? [] : [address];
  const lines = framesOf(payload, 8 - prefix.length).map((frame) => {
    const bytes = [...prefix, ...frame];
    while (filler !== undefined && bytes.length < 8) bytes.push(filler);
    // With spaces, 29-bit identifiers are also printed as separate bytes.
    const identifier = spaces && header.length === 8 ? (header.match(/../g) ?? []).join(' ') : header;
    return spaces
      ? `${identifier} ${bytes.map((byte) => hex(byte)).join(' ')} `
      : `${identifier}${bytes.map((byte) => hex(byte)).join('')}`;
  });
  return lines.join('\n');
}
