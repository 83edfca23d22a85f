/**
 * A lowdb adapter that appends to segments; docs/durability.md defines the terms. `Low.data` is a live
 * collection; `write` persists its changes and nothing else:
 *
 *     db.data.append(…);
 *     await db.write();        // any number of these share one fdatasync
 *
 * Invariants:
 * - A group contains all changes made before its commit, and ends with a mark: a power cut leaves either the whole
 *   group or nothing of it (groups.ts).
 * - Only the newest segment is written. It is synced before the next segment is created.
 * - The first group of every segment contains a checkpoint. A segment without live records is removed only when the
 *   group that removed its last live record is on the medium. The newest sealed segment stays, so that one damaged
 *   record cannot lose the counters.
 * - After a failed write or sync the segment is no longer trusted (Linux forgets which pages failed): the records
 *   written since its last sync are written again to a new segment, with a checkpoint.
 */
import type { Adapter } from 'lowdb';
import type { Log } from '../../agent/ports.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { markSize, type RecordBatch, smallestPadding } from './batch.ts';
import { Compaction, moveBack } from './compaction.ts';
import { Contents, type Medium, type Move, type Removal } from './contents.ts';
import { isFull, nodeFileSystem, type OpenFile } from './files.ts';
import { Flusher } from './flusher.ts';
import { defaultBytesPerDay, defaultDiskBytes, defaultSegmentBytes, type JournalOptions } from './journal-options.ts';
import { Manifest } from './manifest.ts';
import type { MessageFile } from './message-search.ts';
import { type JournalMetrics, noMetrics } from './metrics.ts';
import { SegmentReader } from './reader.ts';
import { wearRecord } from './record-types.ts';
import { Recovery } from './recovery.ts';
import { newSegment, type Segment } from './segment.ts';
import { SegmentFiles } from './segments.ts';
import { Wear } from './wear.ts';

interface Current {
  readonly segment: Segment;
  readonly file: OpenFile;
  /** Number of bytes known to be on the medium. */
  synced: number;
}

/** The last group, as long as it may not be on the medium. */
interface UnsyncedGroup {
  readonly segment: Segment;
  readonly batch: RecordBatch;
  readonly base: number;
  readonly moves: readonly Move[];
}

/** Maximum size of one write call in bytes. */
const WRITE_BYTES = 1 << 20;
const PAGE_BYTES = 4096;
/** Maximum padding up to the end of a page, as a share of the group. It saves the medium from writing a page twice. */
const MAX_PADDING_SHARE = 1 / 8;

export class Journal implements Adapter<Contents>, Medium {
  readonly contents: Contents;
  readonly wear: Wear;
  readonly metrics: JournalMetrics = noMetrics();
  readonly segmentBytes: number;
  /** Files in which reading the journal found damage. */
  damagedFiles: readonly string[] = [];
  /** True if damage may have lost commits. */
  doubtful = false;
  readonly #log: Log | undefined;
  readonly #store: SegmentFiles;
  readonly #manifest: Manifest;
  readonly #reader: SegmentReader;
  readonly #compaction: Compaction;
  readonly #flusher: Flusher;
  readonly #segments = new Map<number, Segment>();
  #sealed: Segment[] = [];
  #current: Current | undefined;
  /** Segment to create next; it has no file yet. */
  #upcoming: Segment | undefined;
  #unsynced: UnsyncedGroup | undefined;
  /** True if the last write or flush failed. The next group then includes a checkpoint of the whole state. */
  #failed = false;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(directory: string, options: JournalOptions = {}) {
    const files = options.files ?? nodeFileSystem;
    this.segmentBytes = options.segmentBytes ?? defaultSegmentBytes;
    this.#flusher = new Flusher(options.timer);
    this.#log = options.log;
    const { keptBytes = 0, agreed = () => undefined } = options;
    const keeping = { bytes: keptBytes, least: this.segmentBytes / 4, agreed };
    this.#store = new SegmentFiles(directory, files, options.log, keeping);
    this.#manifest = new Manifest(directory, files, options.log);
    this.#reader = new SegmentReader(files, options.log);
    this.wear = new Wear(options.bytesPerDay ?? defaultBytesPerDay, options.now ?? Date.now);
    this.metrics.diskBound = options.diskBytes ?? defaultDiskBytes;
    this.metrics.flashedBound = this.wear.bound;
    this.contents = new Contents(this, options.log);
    this.#compaction = new Compaction(this.contents, this.#reader, this.segmentBytes, options.log);
  }

  /** Rebuilds the contents from the segments. Call once, before the first write. Rejects with `store.unreadable`. */
  async read(): Promise<Contents> {
    const recovery = new Recovery(this.#store, this.#manifest, this.contents, this.#log);
    await recovery.read();
    const { segments, findings } = recovery;
    this.damagedFiles = recovery.damagedFiles;
    this.doubtful = recovery.doubtful;
    this.wear.resume(recovery.wear);
    Object.assign(this.metrics, findings);
    for (const segment of segments) this.#segments.set(segment.number, segment);
    for (const { rows } of this.contents.all()) {
      rows.forEachRecord((number, bytes) => {
        this.#segments.get(number)!.live += bytes;
      });
    }
    this.#sealed = segments;
    this.#failed = !recovery.durable || segments.some(({ suspect }) => suspect);
    this.#updateMetrics();
    return this.contents;
  }

  /**
   * Resolves when all changes made before the call are on the medium. Rejects with `store.failed` if the disk fails to
   * write; the next call tries again.
   */
  write(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => undefined) // its own callers received that failure
      .then(() => {
        this.#next = undefined;
        this.#running = this.#commit(false);
        return this.#running;
      });
    return this.#next;
  }

  /**
   * Passes removals to the operating system, so that they survive the death of the process. Does nothing while the
   * batch contains other changes, because a group must be written as a whole. Never throws: the next {@link write}
   * writes removals that failed here, or reports the failure.
   */
  spill(): void {
    const { contents } = this;
    const current = this.#current;
    if (this.#failed || current === undefined || current.segment.used >= this.segmentBytes) return;
    if (contents.segment !== undefined || contents.removals.length === 0) return;
    try {
      const removals = contents.takeRemovals();
      contents.encodeRemovals(removals);
      this.#subtractLive(removals);
      this.#endGroup(current.synced);
      this.#writeBatch(current, contents.batch);
      contents.dropBatch();
    } catch (error) {
      this.#failed = true;
      this.metrics.failures++;
      this.#log?.warn('store.failed', { file: current.segment.path, error: String(error) });
    }
  }

  /** Commits, writes a final copy of the counters and closes the files. Rejects like {@link write}. */
  async close(): Promise<void> {
    try {
      await this.write();
      if (this.#current !== undefined) await this.#commit(true);
      if (this.#current !== undefined) await this.#manifest.close(this.contents, this.#current);
    } finally {
      if (this.#current !== undefined) this.#store.closeQuietly(this.#current.file);
      this.#current = undefined;
      this.#reader.close();
    }
  }

  /** Closes the files of a journal that could not be opened, without writing anything. */
  abandon(): void {
    this.#reader.close();
  }

  // For the contents only:

  nextSegment(): Segment {
    const segment = this.#current?.segment;
    if (segment !== undefined && segment.used < this.segmentBytes) return segment;
    if (this.#upcoming === undefined) {
      const number = this.#store.nextNumber;
      this.#upcoming = newSegment(number, this.#store.path(number));
      this.#segments.set(number, this.#upcoming);
    }
    return this.#upcoming;
  }

  readRecord(number: number, offset: number, size: number): Uint8Array | undefined {
    const segment = this.#segments.get(number)!;
    const bytes = this.#reader.read(segment, offset, size);
    if (bytes === undefined) {
      this.metrics.damaged++;
      this.#log?.error('store.damagedRecord', { file: segment.path, offset });
    }
    return bytes;
  }

  async #commit(last: boolean): Promise<void> {
    try {
      if (this.#failed) this.#giveUpSegment();
      await this.#sealFull();
      for (const prepare of this.contents.beforeGroup) prepare();
      this.#writeGroup(last);
      await this.#sync();
      await this.#sealFull();
    } catch (cause) {
      const failure = this.#failure(cause);
      this.#giveUpSegment();
      // On a full disk, remove a file kept only in case a receiver requests its messages, then try again.
      if (!isFull(cause) || !this.#store.makeRoom()) throw failure;
      await this.#commit(last);
    } finally {
      this.#updateMetrics();
    }
  }

  /** Writes all changes as one group. */
  #writeGroup(last: boolean): void {
    const { contents } = this;
    const restate = this.#failed;
    if (!restate && !last && contents.segment === undefined && contents.removals.length === 0) return;
    const segment = contents.placeBatch();
    const removals = contents.takeRemovals();
    if (!restate) contents.encodeRemovals(removals);
    this.#subtractLive(removals);
    const { batch } = contents;
    const written = batch.length;
    // If the flash has been written too much today, postpone the moves.
    const wait = this.wear.exceeded && !restate && this.metrics.disk < this.metrics.diskBound / 2;
    const moves = wait ? [] : this.#compaction.step(this.#sealed, written);
    this.metrics.moved += batch.length - written;
    this.#unsynced = { segment, batch, base: segment.used, moves };
    const first = this.#current?.segment !== segment;
    if (first || restate || last) {
      contents.encodeCheckpoint();
      batch.add([wearRecord, this.wear.day, this.wear.today]);
    }
    if (first) this.#begin(segment);
    const current = this.#current!;
    this.#endGroup(current.synced);
    this.#writeBatch(current, batch);
    contents.takeBatch();
    this.#failed = false;
  }

  #begin(segment: Segment): void {
    const file = this.#store.create(segment, this.#sealed.at(-1), this.segmentBytes);
    this.#current = { segment, file, synced: 0 };
    this.#upcoming = undefined;
  }

  /** Ends the group in the batch with its mark. Pads the group to the end of the page if that is near. */
  #endGroup(synced: number): void {
    const { contents } = this;
    const from = contents.placeBatch().used;
    const { batch } = contents;
    const rest = PAGE_BYTES - ((from + batch.length + markSize) % PAGE_BYTES);
    if (rest >= smallestPadding && rest <= batch.length * MAX_PADDING_SHARE) batch.addPadding(rest);
    batch.addMark(from, batch.sum, synced);
  }

  /** Writes the batch. If this throws, the records in the segment are unchanged. */
  #writeBatch({ segment, file }: Current, batch: RecordBatch): void {
    const { bytes } = batch;
    for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
      file.write(bytes.subarray(at, Math.min(at + WRITE_BYTES, bytes.length)), segment.used + at);
    }
    segment.used += bytes.length;
    this.metrics.written += bytes.length;
  }

  /** Subtracts the sizes of removed records from the live bytes of their segments. */
  #subtractLive(removals: readonly Removal[]): void {
    for (const { extent } of removals)
      if (extent !== undefined) this.#segments.get(extent.segment)!.live -= extent.size;
  }

  /** Syncs the written groups to the medium, then removes segments that are no longer needed. */
  async #sync(): Promise<void> {
    const current = this.#current;
    if (current === undefined || current.synced === current.segment.used) return;
    await this.#store.syncNames();
    const upTo = current.segment.used;
    const dead = this.#dead();
    await this.#flusher.flush(current.file);
    this.metrics.flushes++;
    this.wear.flushed(current.synced, upTo);
    current.synced = upTo;
    if (this.#unsynced !== undefined) {
      this.contents.recycleBatch(this.#unsynced.batch);
      this.#unsynced = undefined;
      for (const segment of this.#sealed) segment.suspect = false;
    }
    const older = this.#sealed.filter((segment) => !dead.includes(segment));
    await this.#manifest.update(this.contents, current, older, dead.length > 0);
    for (const segment of dead) this.#retire(segment);
    // Damaged records must not reappear, even after a power cut.
    if (dead.some(({ damaged }) => damaged)) await this.#store.syncNames();
  }

  /** Returns the segments that will not be needed once the written groups are on the medium. */
  #dead(): readonly Segment[] {
    const dead: Segment[] = [];
    let before: Segment | undefined;
    for (const segment of this.#sealed) {
      // The newest sealed segment is a second copy of the counters, unless it is damaged.
      if (segment === this.#sealed.at(-1) && !segment.damaged) break;
      // Its header states where the previous segment's records end, which is needed until that file is cut there.
      const needed = before !== undefined && !before.clean;
      if (segment.live === 0 && !needed && !segment.stuck) dead.push(segment);
      before = segment;
    }
    return dead;
  }

  #retire(segment: Segment): void {
    this.#reader.forget(segment);
    segment.stuck = !this.#store.retire(segment, this.segmentBytes);
    if (segment.stuck) return;
    this.#sealed = this.#sealed.filter((one) => one !== segment);
    this.#segments.delete(segment.number);
  }

  /** Syncs a full segment to the medium and seals it. Only then may the next segment be created. */
  async #sealFull(): Promise<void> {
    if (this.#current === undefined || this.#current.segment.used < this.segmentBytes) return;
    await this.#sync();
    for (const one of this.#sealed) {
      // Occasionally retry a removal that the disk refused.
      one.stuck = false;
      if (!one.clean) await this.#store.cut(one);
    }
    const { segment, file } = this.#current;
    this.#sealed.push(segment);
    this.#current = undefined;
    this.#store.closeQuietly(file);
  }

  /** Abandons the newest segment. Puts records that may not be on the medium into the batch again. */
  #giveUpSegment(): void {
    const { contents } = this;
    const current = this.#current;
    const unsynced = this.#unsynced;
    this.#current = undefined;
    this.#upcoming = undefined;
    this.#unsynced = undefined;
    this.#failed = true;
    // The checkpoint in the next group replaces these removal records.
    this.#subtractLive(contents.takeRemovals());
    // The group failed while it was written, or while it was flushed and other records were already in the batch.
    const wasWritten = unsynced !== undefined && unsynced.batch !== contents.batch;
    if (unsynced !== undefined) moveBack(unsynced.moves, unsynced.segment, this.#segments);
    contents.rebase();
    if (wasWritten) contents.relocate(unsynced.batch.bytes, unsynced.segment, unsynced.base);
    if (current === undefined) return;
    const { segment, file, synced } = current;
    this.#reader.forget(segment);
    if (synced === 0) {
      this.#store.discard(segment.path, file);
    } else {
      segment.used = synced;
      segment.clean = false;
      this.#store.closeQuietly(file);
      this.#sealed.push(segment);
    }
  }

  #failure(cause: unknown): VigieError {
    this.metrics.failures++;
    const where = this.#current?.segment.path ?? this.#store.lastPath;
    const reason = reasonOf(cause);
    const message = `the journal was not written (${reason}); it is tried again`;
    return new VigieError('store.failed', message, { where, cause });
  }

  /** Returns the files that contain acknowledged messages, oldest first, each with the end of its valid records. */
  messageFiles(): readonly MessageFile[] {
    const kept = this.#store.kept.all.map(({ number, path }) => ({ number, path, used: Number.POSITIVE_INFINITY }));
    return [...kept, ...this.#sealed, ...(this.#current === undefined ? [] : [this.#current.segment])].sort(
      (a, b) => a.number - b.number,
    );
  }

  #updateMetrics(): void {
    const { metrics } = this;
    metrics.damaged += this.#compaction.takeDamaged();
    const segments = this.#current === undefined ? this.#sealed : [...this.#sealed, this.#current.segment];
    metrics.segments = segments.length;
    metrics.spares = this.#store.spares;
    metrics.live = segments.reduce((sum, { live }) => sum + live, 0);
    metrics.kept = this.#store.kept.bytes;
    metrics.disk = segments.reduce((sum, { used }) => sum + used, metrics.kept) + metrics.spares * this.segmentBytes;
    metrics.flashed = this.wear.total;
    metrics.flashedToday = this.wear.today;
  }
}
