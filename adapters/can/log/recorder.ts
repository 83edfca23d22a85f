/** Frames as candump logs: one file, or a bounded row of files that replace each other. */

import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameBatch, Log } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { RecordingBounds } from '../../../protocol/settings.ts';
import { formatCandump } from './writer.ts';

/** Characters gathered before they are written: few writes for the card, little lost in a power cut. */
const CHUNK = 64 << 10;

/** Writes every frame into one file. */
export class CandumpFile {
  readonly path: string;
  readonly #descriptor: number;
  #gathered = '';
  #bytes = 0;

  /** @throws VigieError `input.unreadable` when the file cannot be made */
  constructor(path: string) {
    this.path = path;
    try {
      this.#descriptor = openSync(path, 'w');
    } catch (cause) {
      throw new VigieError('input.unreadable', `cannot be written: ${(cause as Error).message}`, {
        where: path,
        cause,
      });
    }
  }

  /** Bytes of the file so far, those not yet written included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws VigieError `store.failed` when the disk does not take it; what was gathered since the last write is lost */
  write(batch: FrameBatch, buses: readonly string[]): void {
    for (let index = 0; index < batch.count; index++) {
      const line = formatCandump(batch, index, buses);
      this.#gathered += `${line}\n`;
      // Every character of the format is one byte.
      this.#bytes += line.length + 1;
      if (this.#gathered.length >= CHUNK) this.flush();
    }
  }

  /** @throws VigieError `store.failed` */
  flush(): void {
    const bytes = Buffer.from(this.#gathered, 'latin1');
    this.#gathered = '';
    try {
      for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
    } catch (cause) {
      throw new VigieError('store.failed', `cannot be written on: ${(cause as Error).message}`, {
        where: this.path,
        cause,
      });
    }
  }

  /** @throws VigieError `store.failed` when the rest could not be written; the file is closed all the same */
  close(): void {
    try {
      this.flush();
    } finally {
      closeSync(this.#descriptor);
    }
  }
}

export interface RecorderOptions extends RecordingBounds {
  /** Made when it is missing. */
  readonly folder: string;
  readonly log: Log;
}

/** Names sort by time: `20261121T080228.123Z.log`. */
const NAME = /^\d{8}T\d{6}\.\d{3}Z(-\d+)?\.log$/;
/** After a failure, the disk is tried again with the first frame after this many lost ones. */
const PATIENCE = 10_000;

/**
 * Records the frames of live buses in files of bounded size and number. It never stands in the way of the frames: a
 * disk that refuses is said once, frames are counted as not recorded, and it is tried again.
 */
export class CandumpRecorder {
  readonly #options: RecorderOptions;
  #file: CandumpFile | undefined;
  #failing = false;
  /** Frames since the last attempt that failed. */
  #passed = 0;
  /** Frames that are in no file. */
  unrecorded = 0;

  /** @throws VigieError `input.unreadable` when the folder cannot be made */
  constructor(options: RecorderOptions) {
    this.#options = options;
    try {
      mkdirSync(options.folder, { recursive: true });
    } catch (cause) {
      const message = `the folder of recordings cannot be made: ${(cause as Error).message}`;
      throw new VigieError('input.unreadable', message, { where: options.folder, cause });
    }
  }

  write(batch: FrameBatch, buses: readonly string[]): void {
    if (batch.count === 0) return;
    if (this.#failing) {
      this.#passed += batch.count;
      this.unrecorded += batch.count;
      if (this.#passed < PATIENCE) return;
      this.#passed = 0;
    }
    try {
      this.#file ??= this.#begin(batch.at[0] as number);
      this.#file.write(batch, buses);
      this.#failing = false;
      if (this.#file.bytes >= this.#options.size) this.close();
    } catch (error) {
      this.unrecorded += this.#failing ? 0 : batch.count;
      this.#fail(error as Error);
    }
  }

  /** Hands what was gathered to the system; call it about once a second. */
  flush(): void {
    this.#attempt((file) => file.flush());
  }

  close(): void {
    this.#attempt((file) => file.close());
    this.#file = undefined;
  }

  #attempt(step: (file: CandumpFile) => void): void {
    if (this.#file === undefined) return;
    try {
      step(this.#file);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #begin(at: number): CandumpFile {
    const { folder, keep } = this.#options;
    const recordings = readdirSync(folder).filter((name) => NAME.test(name));
    recordings.sort();
    for (const old of recordings.slice(0, Math.max(0, recordings.length - keep + 1))) rmSync(join(folder, old));
    const stem = new Date(at).toISOString().replace(/[-:]/g, '');
    let name = `${stem}.log`;
    // Two files within a millisecond, or a clock that was set back.
    for (let n = 2; recordings.includes(name); n++) name = `${stem}-${n}.log`;
    return new CandumpFile(join(folder, name));
  }

  #fail(error: Error): void {
    if (!this.#failing) {
      this.#options.log.error('recorder.failed', { error: error.message });
    }
    this.#failing = true;
    const file = this.#file;
    this.#file = undefined;
    try {
      file?.close();
    } catch (closing) {
      this.#options.log.warn('recorder.cut', { error: (closing as Error).message });
    }
  }
}
