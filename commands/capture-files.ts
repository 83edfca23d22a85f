/** Writes captures as logs to a folder, one file each: candump while parts arrive, MDF4 when all have arrived. */

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mdf4Of } from '../adapters/can/log/mdf4/writer.ts';
import { candumpOf } from '../assembly/capture-view.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { unpackFrames } from '../protocol/captures/capture.ts';
import { VigieError } from '../protocol/errors.ts';
import type { Capture } from '../protocol/schema/capture.ts';

export type CaptureFormat = 'candump' | 'mdf4';

const endings = { candump: 'log', mdf4: 'mf4' } as const satisfies Record<CaptureFormat, string>;

interface OpenFile {
  readonly path: string;
  /** Parts of an MDF4 file, which can only be written as a whole. */
  readonly parts: Capture[];
  /** Number of the next part to write. */
  next: number;
  /** Parts that arrived too early, by number. */
  readonly early: Map<number, Capture>;
}

export class CaptureFiles {
  readonly #folder: string;
  readonly #report: (line: string) => void;
  readonly #format: CaptureFormat;
  readonly #open = new Map<string, OpenFile>();

  /** @throws VigieError `usage.wrong` if the folder cannot be created */
  constructor(folder: string, report: (line: string) => void, format: CaptureFormat = 'candump') {
    makeDirectory(folder, { of: 'captures', choose: '--captures' });
    this.#folder = folder;
    this.#report = report;
    this.#format = format;
  }

  /**
   * Accepts parts in any order, each once.
   * @throws VigieError `message.malformed` for an unreadable part, `store.failed` if the file cannot be written
   */
  take(part: Capture): void {
    // The identifier becomes part of a file name.
    if (!/^[0-9a-fA-F_-]{1,64}$/.test(part.id))
      throw new VigieError('message.malformed', `no capture has the id ${part.id}`);
    const path = join(this.#folder, `${part.id}.${endings[this.#format]}`);
    const file = this.#open.get(part.id) ?? { path, parts: [], next: 0, early: new Map<number, Capture>() };
    this.#open.set(part.id, file);
    file.early.set(part.part, part);
    for (let next = file.early.get(file.next); next !== undefined; next = file.early.get(file.next)) {
      file.early.delete(file.next);
      this.#write(file, next, file.next > 0);
      file.next++;
      this.#tell(file.path, next);
      if (!next.last) continue;
      this.#finish(file);
      this.#open.delete(part.id);
    }
  }

  /** Writes the parts that wait for missing ones, and reports the missing parts. */
  close(): void {
    for (const file of this.#open.values()) {
      const { path, early } = file;
      const late = [...early.values()].sort((a, b) => a.part - b.part);
      const [first] = late;
      let next = file.next;
      // Messages that were sent before the watch began do not arrive again. The car itself still has them.
      if (next === 0 && first !== undefined) {
        next = first.part;
        this.#report(
          `${path}: begins with part ${next}: no earlier one came during this watch; while the car keeps the capture, its GET /vigie/v1/captures has all of it`,
        );
      }
      for (const part of late) {
        this.#write(file, part, true);
        this.#tellLoss(path, part);
        if (part.part === next) next++;
      }
      this.#finish(file);
      const ended = late.at(-1);
      if (ended?.last !== true || next <= ended.part) this.#report(`${path}: parts are missing from part ${next} on`);
    }
    this.#open.clear();
  }

  #write(file: OpenFile, part: Capture, append: boolean): void {
    if (this.#format === 'mdf4') file.parts.push(part);
    else write(file.path, candumpOf(part), append);
  }

  #finish({ path, parts }: OpenFile): void {
    if (this.#format !== 'mdf4') return;
    write(path, mdf4Of(parts.map((part) => ({ frames: unpackFrames(part), buses: part.buses }))), false);
  }

  #tell(path: string, part: Capture): void {
    this.#tellLoss(path, part);
    if (part.last) this.#report(`${path}: complete`);
  }

  #tellLoss(path: string, { since, lost, broken }: Capture): void {
    if (since !== undefined)
      this.#report(`${path}: begins at ${new Date(since).toISOString()}, frames before were not in memory`);
    if (lost !== undefined) this.#report(`${path}: up to ${lost} frames were overwritten before the car wrote them`);
    if (broken === true) this.#report(`${path}: the agent ended during the capture`);
  }
}

function write(path: string, contents: string | Uint8Array, append: boolean): void {
  try {
    (append ? appendFileSync : writeFileSync)(path, contents);
  } catch (cause) {
    throw new VigieError('store.failed', `cannot be written: ${(cause as Error).message}`, { where: path, cause });
  }
}
