/** Builds the messages of receivers. */
import { type Fix, NmeaParser } from '../../../adapters/gnss/index.ts';

/** A sentence with its checksum and without a line end. */
export function sentence(content: string): string {
  let sum = 0;
  for (const character of content) sum ^= character.charCodeAt(0);
  return `$${content}*${sum.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Sentences with line ends. */
export function told(...contents: readonly string[]): string {
  return contents.map((content) => `${sentence(content)}\r\n`).join('');
}

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export interface Parsed {
  readonly fixes: readonly Fix[];
  readonly faults: readonly string[];
}

/** Fixes and faults (`line: message`) of a whole recording. A text has one character per byte. */
export function parse(text: string | Uint8Array): Parsed {
  const parser = new NmeaParser({ file: 'drive.nmea', latest: Date.UTC(2026, 0, 1) });
  const bytes = typeof text === 'string' ? bytesOf(text) : text;
  const fixes = [...parser.push(bytes), ...parser.finish()];
  return { fixes, faults: parser.faults.first.map(({ line, message }) => `${line}: ${message}`) };
}

/** A SiRF binary frame around a payload. */
export function sirfFrame(payload: Uint8Array): Uint8Array {
  const sum = payload.reduce((total, byte) => (total + byte) & 0x7fff, 0);
  const length = payload.length;
  return Uint8Array.from([0xa0, 0xa2, length >> 8, length & 255, ...payload, sum >> 8, sum & 255, 0xb0, 0xb3]);
}
