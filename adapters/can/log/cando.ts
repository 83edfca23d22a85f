/**
 * Files of CANDO adapters, in blocks of twelve bytes:
 *
 *     0  seconds of a minute (6 bits), milliseconds (10 bits)
 *     2  low byte of the identifier   3  length (4 bits), 0, high bits of the identifier (3 bits)
 *     4  data, padded with FF
 *
 * A block with the identifier FFFF is the start of the recording. There are no extended identifiers. Times restart
 * every minute.
 */
import { CANDO_BLOCK as BLOCK, candoKind } from './cando-block.ts';
import type { LogParser, Recording } from './recording.ts';

const MINUTE = 60_000;

export class CandoParser implements LogParser {
  readonly #recording: Recording;
  #minutes = 0;
  #before = 0;
  /** Number of bytes of the file before those being parsed. */
  #position = 0;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    const recording = this.#recording;
    let pos = from;
    while (!recording.full && end - pos >= BLOCK) {
      this.#block(bytes, pos, this.#position + pos - from);
      pos += BLOCK;
    }
    if (last && !recording.full && end > pos) {
      recording.passOver('last blocks that are cut');
      pos = end;
    }
    this.#position += pos - from;
    return pos;
  }

  #block(bytes: Uint8Array, pos: number, at: number): void {
    const recording = this.#recording;
    const kind = candoKind((i) => bytes[pos + i] as number);
    if (kind === 'start') {
      recording.passOver('blocks of the start time');
      return;
    }
    if (kind === 'other') {
      const reason = 'a block of 12 bytes is not a frame';
      recording.fault(0, `${reason}, at byte ${at}`, reason);
      return;
    }
    const [first, second, low, high] = bytes.subarray(pos, pos + 4) as unknown as [number, number, number, number];
    const time = (first >> 2) * 1000 + (((first & 3) << 8) | second);
    if (time < this.#before) this.#minutes++;
    this.#before = time;
    const length = high >> 4;
    recording.payload.set(bytes.subarray(pos + 4, pos + 4 + length));
    recording.add(this.#minutes * MINUTE + time, ((high & 7) << 8) | low, recording.unnamed(), 0, length);
  }
}
