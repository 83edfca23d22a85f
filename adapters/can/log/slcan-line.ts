/** Lines of an adapter with Lawicel's protocol, and their detection. Their layout is described in slcan-log.ts. */
import { hexOf } from './fields.ts';
import type { Head } from './format.ts';
import { lengthOfCode } from './recording.ts';

/** Number of digits of a time stamp. */
export const STAMP = 4;
export const LETTERS = 'tTrRdDbB';
export const bare = /^[0-7][\dA-F]{2}([\dA-F]{2}){0,8}$/i;
/** Minimum number of lines that prove a log of bare frames. Other files contain lines of digits too. */
const fewestBare = 3;
const provingLength = 7;
/** Commands and answers: open, close, speed, acceptance, version, serial number, status, acknowledged. */
export const spoken = /^([OLCzZ]|[SsXZ][\dA-F]{1,6}|[MmW][\dA-F]{1,8}|[VvN][\dA-Z]{0,8}|F[\dA-F]{0,2})$/i;

/** Returns the number of frames in the head, or 0 if a line is not of this protocol. */
export function slcanScore({ lines }: Head): number {
  // The head may end within its last line.
  const said = lines.slice(0, -1).map(withoutBells);
  let frames = 0;
  let plain = 0;
  for (const line of said) {
    if (slcanSize(Buffer.from(line, 'latin1'), 0, line.length) > 0) frames++;
    else if (bare.test(line)) plain += line.length >= provingLength ? 1 : 0;
    else if (line !== '' && !spoken.test(line) && line.charCodeAt(0) !== 35) return 0;
  }
  return plain >= fewestBare ? frames + plain : frames;
}

/** Returns the length of the frame in a line, without its time stamp, or 0 if the line is not a frame. */
export function slcanSize(bytes: Uint8Array, start: number, end: number): number {
  const letter = LETTERS.indexOf(String.fromCharCode(bytes[start] ?? 0));
  if (letter < 0) return 0;
  const digits = letter % 2 === 0 ? 3 : 8;
  const code = hexOf(bytes, start + 1 + digits, start + 2 + digits);
  if (hexOf(bytes, start + 1, start + 1 + digits) < 0 || code < 0) return 0;
  const length = letter === 2 || letter === 3 ? 0 : slcanLength(code, letter);
  const size = 2 + digits + 2 * length;
  const rest = end - start - size;
  return length >= 0 && (rest === 0 || rest === STAMP) ? size : 0;
}

export function slcanLength(code: number, letter: number): number {
  return letter < 4 && code > 8 ? -1 : lengthOfCode(code);
}

/** Returns true if enough lines of a head are frames without a letter. */
export function hasBareLines({ lines }: Head): boolean {
  return lines.map(withoutBells).filter((line) => bare.test(line) && line.length >= provingLength).length >= fewestBare;
}

/** Removes BEL characters: an adapter refuses a command with BEL, without a line end. */
function withoutBells(line: string): string {
  return line.replaceAll('\u0007', '').trim();
}
