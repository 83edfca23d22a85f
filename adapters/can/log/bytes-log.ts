/** A log in a format that is read sequentially. */
import type { FrameBatch } from '../../../agent/ports.ts';
import type { LogFormat } from './formats.ts';
import type { ByteInput } from './input.ts';
import { type LogReader, RecordingLog } from './log-reader.ts';
import type { LogParser, Recording } from './recording.ts';

interface Begun {
  readonly buffer: Uint8Array;
  readonly from: number;
  readonly filled: number;
}

export class BytesLog extends RecordingLog implements LogReader {
  readonly format: LogFormat;
  private readonly input: ByteInput;
  private readonly parser: LogParser;
  private begun: Begun | undefined;
  private closed = false;

  constructor(format: LogFormat, input: ByteInput, recording: Recording, parser: LogParser, begun: Begun) {
    super(recording);
    this.format = format;
    this.input = input;
    this.parser = parser;
    this.begun = begun;
  }

  get size(): number {
    return this.input.size;
  }

  get position(): number {
    return this.input.position;
  }

  async *batches(): AsyncGenerator<FrameBatch> {
    const { input, recording, parser, begun } = this;
    if (begun === undefined) return;
    this.begun = undefined;
    const { batch } = recording;
    let { buffer, from, filled } = begun;
    let last = false;
    while (!this.closed) {
      from = parser.parse(buffer, from, filled, last);
      if (recording.full) {
        yield this.counted(batch);
        batch.count = 0;
        continue;
      }
      if (last) break;
      // With a live source (standard input), do not wait for a full batch, nor for the next frame on the bus.
      if (batch.count > 0 && input.size === 0) {
        yield this.counted(batch);
        batch.count = 0;
        if (this.closed) return;
      }
      // An incomplete record moves to the front. If a record is larger than the buffer, the buffer is doubled. The
      // parsers limit the size of a record, and thus the buffer.
      if (from === 0 && filled === buffer.length) {
        const larger = new Uint8Array(buffer.length * 2);
        larger.set(buffer);
        buffer = larger;
      } else {
        buffer.copyWithin(0, from, filled);
        filled -= from;
        from = 0;
      }
      let count: number;
      try {
        count = await input.read(buffer.subarray(filled));
      } catch (error) {
        if (this.closed) return;
        if (batch.count > 0) yield this.counted(batch);
        throw error;
      }
      filled += count;
      last = count === 0;
    }
    if (input.broken !== undefined) recording.brokenPacking(input.broken);
    if (batch.count > 0 && !this.closed) yield this.counted(batch);
    batch.count = 0;
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.input.close();
  }
}
