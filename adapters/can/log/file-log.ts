/** A log in a format that needs random access to a file. */
import type { FrameBatch } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { FrameFile, LogPart } from './format.ts';
import type { LogFormat } from './formats.ts';
import type { LogFile } from './input.ts';
import { type LogReader, RecordingLog } from './log-reader.ts';
import type { Recording } from './recording.ts';

export class FileLog extends RecordingLog implements LogReader {
  readonly format: LogFormat;
  readonly #file: LogFile;
  readonly #frames: FrameFile;
  #begun = false;
  #closed = false;

  constructor(format: LogFormat, recording: Recording, file: LogFile, frames: FrameFile) {
    super(recording);
    this.format = format;
    this.#file = file;
    this.#frames = frames;
  }

  get size(): number {
    return this.#file.size;
  }

  get position(): number {
    return this.#frames.position;
  }

  get parts(): readonly LogPart[] {
    return this.#frames.parts ?? [];
  }

  async *batches(): AsyncGenerator<FrameBatch> {
    if (this.#begun) return;
    this.#begun = true;
    const { batch } = this.recording;
    for (let more = true; more && !this.#closed; ) {
      let failure: unknown;
      try {
        more = await this.#frames.fill();
      } catch (error) {
        if (!(error instanceof VigieError)) throw error;
        failure = error;
      }
      if (this.#closed) return;
      if (batch.count > 0) yield this.counted(batch);
      batch.count = 0;
      if (failure !== undefined) throw failure;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#frames.close();
    await this.#file.close();
  }
}
