/** Records frames as candump logs: one file, or a limited number of files of which the oldest is deleted. */

import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameBatch, Log } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { RecordingBounds } from '../../../protocol/settings.ts';
import { formatCandump } from './writer.ts';

/** Number of characters buffered before a write: few writes for the card, little loss in a power cut. */
const CHUNK = 64 << 10;

/** Writes every frame into one file. */
export class CandumpFile {
  readonly path: string;
  readonly #descriptor: number;
  #gathered = '';
  #bytes = 0;

  /** @throws VigieError `input.unreadable` if the file cannot be created */
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

  /** Size of the file so far, with buffered bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws VigieError `store.failed` if the write fails; the frames since the last write are then lost */
  write(batch: FrameBatch, buses: readonly string[]): void {
    for (let index = 0; index < batch.count; index++) {
      const line = formatCandump(batch, index, buses);
      this.#gathered += `${line}\n`;
      // Each character of the format is one byte.
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

  /** @throws VigieError `store.failed` if the rest could not be written; the file is closed nevertheless */
  close(): void {
    try {
      this.flush();
    } finally {
      closeSync(this.#descriptor);
    }
  }
}

export interface RecorderOptions extends RecordingBounds {
  /** Folder of the files; created if missing. */
  readonly folder: string;
  readonly log: Log;
}

/** File names, which sort by time: `20261121T080228.123Z.log`. */
const NAME = /^\d{8}T\d{6}\.\d{3}Z(-\d+)?\.log$/;
/** Number of lost frames after a failure before the next attempt to write. */
const PATIENCE = 10_000;

/**
 * Records the frames of live buses in files of limited size and number. It never blocks the frames: if the disk
 * fails, it reports that once, counts the frames as not recorded, and tries again.
 */
export class CandumpRecorder {
  readonly #options: RecorderOptions;
  #file: CandumpFile | undefined;
  #failing = false;
  /** Number of frames since the last failed attempt. */
  #passed = 0;
  /** Number of frames that were not recorded. */
  unrecorded = 0;

  /** @throws VigieError `input.unreadable` if the folder cannot be created */
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

  /** Writes the buffered frames to the file. Call about once a second. */
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
    // The name exists if two files start within a millisecond, or if the clock was set back.
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
