/**
 * A lowdb adapter that appends. `Low.data` is a live collection whose changes queue operations; `write` persists
 * these and nothing else:
 *
 *     db.data.append(entry);
 *     await db.write();        // any number of these share one fdatasync
 *
 * Invariants:
 * - A segment is written only while it is the newest, and is synced before the next one is begun. So what is on
 *   the medium after a power cut is what was written up to some moment, but for the newest segment.
 * - Every segment begins with a checkpoint. A segment without live entries goes only when a later checkpoint is
 *   on the medium, and the last sealed one stays, so that one damaged record does not lose the counters.
 * - After a failed write or sync the segment is not trusted any more (Linux forgets which pages failed): what
 *   it held since its last sync is queued again, for a new segment.
 */
import { Decoder } from 'cbor-x';
import type { Adapter } from 'lowdb';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { RecordBatch } from './batch.ts';
import { chooseVictim } from './compaction.ts';
import { type FileSystem, nodeFileSystem, type OpenFile } from './files.ts';
import { Flusher } from './flusher.ts';
import { headLength } from './record.ts';
import { type Segment, SegmentFiles, type SegmentFindings } from './segments.ts';
import { type EntryCodec, isSlot, NumberedSeries, type Operation, place, type Residence, type Slot } from './series.ts';

export interface JournalOptions {
  /** Bytes after which the next segment is begun; 1 MiB. */
  readonly segmentBytes?: number;
  readonly log?: Log;
  readonly files?: FileSystem;
}

/** Counts since the journal was opened. */
export interface JournalMetrics extends SegmentFindings {
  segments: number;
  /** Whole records of a type this version does not know, skipped. */
  unknown: number;
  /** Whole records that are not what their type says, skipped. */
  malformed: number;
  /** Flushes to the medium. */
  flushes: number;
  /** Bytes written, frames and checkpoints included. */
  written: number;
  /** Of these, by compaction. */
  moved: number;
  /** Writes and flushes that failed. */
  failures: number;
}

interface Active {
  readonly segment: Segment;
  readonly file: OpenFile;
  /** Bytes known to be on the medium. */
  synced: number;
}

/** A record written again elsewhere, and where it lay. */
interface Move<E> {
  readonly slot: Slot<E>;
  readonly from: Residence;
  readonly size: number;
}

const defaultSegmentBytes = 1 << 20;
/** Bytes from which a write is not made longer. */
const chunk = 64 << 10;
/** Bytes that one step of compaction moves at least. */
const smallestStep = 4096;

export class Journal<E> implements Adapter<NumberedSeries<E>> {
  readonly #codec: EntryCodec<E>;
  readonly #segmentBytes: number;
  readonly #log: Log | undefined;
  readonly #files: FileSystem;
  readonly #store: SegmentFiles;
  readonly #flusher = new Flusher();
  readonly #decoder = new Decoder({ useRecords: false, mapsAsObjects: false });
  readonly metrics: JournalMetrics = {
    segments: 0,
    damaged: 0,
    torn: 0,
    unreadable: 0,
    aside: 0,
    unknown: 0,
    malformed: 0,
    flushes: 0,
    written: 0,
    moved: 0,
    failures: 0,
  };

  readonly #batch = new RecordBatch();
  #sealed: Segment[] = [];
  #active: Active | undefined;
  #unsynced: Slot<E>[] = [];
  #unsyncedMoves: Move<E>[] = [];
  /** Live entries of the segment being emptied. */
  #moving: { readonly victim: Segment; readonly slots: Slot<unknown>[] } | undefined;
  #directoryUnsynced = false;
  /** The newest segment takes nothing more until it is synced. */
  #sealing = false;
  /** The last write or flush failed; the next commit begins a new segment and ends with a checkpoint. */
  #failed = false;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(directory: string, codec: EntryCodec<E>, options: JournalOptions = {}) {
    this.#codec = codec;
    this.#segmentBytes = options.segmentBytes ?? defaultSegmentBytes;
    this.#log = options.log;
    this.#files = options.files ?? nodeFileSystem;
    this.#store = new SegmentFiles(directory, this.#files, options.log);
  }

  /** Rebuilds the collection from the segments; call it once, before the first write. */
  async read(): Promise<NumberedSeries<E>> {
    const series = new NumberedSeries<E>(this.#codec);
    const { segments, unsynced, ...findings } = await this.#store.load((payload, segment) => {
      let record: unknown;
      try {
        record = this.#decoder.decode(payload);
      } catch (error) {
        this.metrics.malformed++;
        this.#log?.warn('store.malformed', { file: segment.path, error: String(error) });
        return;
      }
      const reading = series.replay(record, segment, headLength + payload.length);
      if (reading !== 'known') this.metrics[reading]++;
    });
    series.settle();
    Object.assign(this.metrics, findings);
    this.#sealed = segments;
    if (unsynced.length > 0) {
      this.#failed = true;
      for (const segment of unsynced) this.#takeBack(series, segment.slots as Slot<E>[]);
    }
    this.#count();
    return series;
  }

  /**
   * Resolves when all operations queued before the call are on the medium. Rejects with `store.failed` when the
   * disk did not take them; they stay queued for the next call.
   */
  write(series: NumberedSeries<E>): Promise<void> {
    this.#next ??= this.#running
      .catch(() => undefined) // that failure was its own callers' to hear
      .then(() => {
        this.#next = undefined;
        this.#running = this.#commit(series);
        return this.#running;
      });
    return this.#next;
  }

  /**
   * Hands the queued operations to the operating system, so that the death of the process does not lose them.
   * Never throws: what cannot be written now is left to the next {@link write}, which says so.
   */
  spill(series: NumberedSeries<E>): void {
    if (this.#failed || this.#sealing) return;
    try {
      this.#begin(series);
      this.#drain(series, Number.POSITIVE_INFINITY);
    } catch (error) {
      this.#failed = true;
      this.metrics.failures++;
      this.#log?.warn('store.failed', { file: this.#store.lastPath, error: String(error) });
    }
  }

  /** Commits, adds a last copy of the counters and closes the segment. Rejects as {@link write} does. */
  async close(series: NumberedSeries<E>): Promise<void> {
    try {
      await this.write(series);
      if (this.#active === undefined) return;
      this.#checkpoint(series);
      await this.#seal();
    } catch (cause) {
      throw cause instanceof VigieError ? cause : this.#failure(cause);
    } finally {
      if (this.#active !== undefined) this.#store.closeQuietly(this.#active.file);
      this.#active = undefined;
    }
  }

  async #commit(series: NumberedSeries<E>): Promise<void> {
    const before = this.metrics.written - this.metrics.moved;
    try {
      if (this.#failed) this.#abandon(series);
      const restate = this.#failed;
      do {
        if (this.#active !== undefined && this.#active.segment.used >= this.#segmentBytes) await this.#seal();
        if (series.queued > 0 || restate) this.#begin(series);
        this.#drain(series, this.#segmentBytes);
        if (restate && series.queued === 0) this.#checkpoint(series);
        await this.#sync();
      } while (series.queued > 0 && this.#active !== undefined && this.#active.segment.used >= this.#segmentBytes);
      // Unless a spill failed meanwhile: that leaves part of a write behind what the segment holds.
      if (restate) this.#failed = false;
    } catch (cause) {
      this.#failed = true;
      const failure = this.#failure(cause);
      this.#abandon(series);
      throw failure;
    }
    this.#compact(series, this.metrics.written - this.metrics.moved - before);
    this.#count();
  }

  #failure(cause: unknown): VigieError {
    this.metrics.failures++;
    const where = this.#active?.segment.path ?? this.#store.lastPath;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new VigieError('store.failed', `the journal was not written (${reason}); it is tried again`, {
      where,
      cause,
    });
  }

  /** Makes a segment when there is none to write to. */
  #begin(series: NumberedSeries<E>): void {
    if (this.#active !== undefined) return;
    const { segment, file } = this.#store.create(this.#segmentBytes);
    this.#active = { segment, file, synced: 0 };
    this.#directoryUnsynced = true;
    this.#checkpoint(series);
  }

  #checkpoint(series: NumberedSeries<E>): void {
    this.#batch.clear();
    this.#batch.add(series.checkpoint());
    this.#append();
  }

  /** Writes the batch; when that throws, the segment holds what it held before. */
  #append(): void {
    const { segment, file } = this.#active!;
    file.write(this.#batch.bytes, segment.used);
    segment.used += this.#batch.length;
    this.metrics.written += this.#batch.length;
  }

  /** Writes queued operations until the segment holds `limit` bytes; those not written stay queued. */
  #drain(series: NumberedSeries<E>, limit: number): void {
    if (this.#active === undefined || series.queued === 0) return;
    const { segment } = this.#active;
    const operations = series.takeOperations();
    const batch = this.#batch;
    let done = 0;
    try {
      while (done < operations.length && segment.used < limit) {
        const sizes: number[] = [];
        batch.clear();
        for (let i = done; i < operations.length; i++) {
          if (batch.length >= chunk || segment.used + batch.length >= limit) break;
          const record = series.record(operations[i]!);
          sizes.push(record === undefined ? 0 : batch.add(record));
        }
        this.#append();
        for (const size of sizes) this.#written(operations[done++]!, segment, size);
      }
    } finally {
      if (done < operations.length) series.returnOperations(operations.slice(done));
    }
  }

  #written(operation: Operation<E>, segment: Segment, size: number): void {
    if (size === 0 || !isSlot(operation)) return;
    if (operation.residence === undefined) {
      this.#unsynced.push(operation);
    } else {
      this.#unsyncedMoves.push({ slot: operation, from: operation.residence, size: operation.size });
      this.metrics.moved += size;
    }
    place(operation, segment, size);
  }

  /** Puts on the medium what was written, then lets go of the segments that nobody needs any more. */
  async #sync(): Promise<void> {
    const active = this.#active;
    if (active === undefined || active.synced === active.segment.used) return;
    if (this.#directoryUnsynced) {
      await this.#files.syncDirectory(this.#store.directory);
      this.#directoryUnsynced = false;
    }
    const upTo = active.segment.used;
    const slots = this.#unsynced;
    const moves = this.#unsyncedMoves;
    const dead = this.#sealed.slice(0, -1).filter((segment) => segment.live === 0);
    this.#unsynced = [];
    this.#unsyncedMoves = [];
    try {
      await this.#flusher.flush(active.file);
    } catch (error) {
      this.#unsynced = slots.concat(this.#unsynced);
      this.#unsyncedMoves = moves.concat(this.#unsyncedMoves);
      throw error;
    }
    this.metrics.flushes++;
    active.synced = upTo;
    if (dead.length === 0) return;
    this.#sealed = this.#sealed.filter((segment) => !dead.includes(segment));
    for (const segment of dead) this.#store.remove(segment.path);
  }

  async #seal(): Promise<void> {
    this.#sealing = true;
    try {
      await this.#sync();
      const { segment, file } = this.#active!;
      this.#sealed.push(segment);
      this.#active = undefined;
      this.#store.closeQuietly(file);
    } finally {
      this.#sealing = false;
    }
  }

  /** Gives up the newest segment and queues again what is not known to be on the medium. */
  #abandon(series: NumberedSeries<E>): void {
    const active = this.#active;
    this.#active = undefined;
    this.#moving = undefined;
    for (const { slot, from, size } of this.#unsyncedMoves) if (slot.entry !== undefined) place(slot, from, size);
    this.#takeBack(series, this.#unsynced);
    this.#unsynced = [];
    this.#unsyncedMoves = [];
    if (active === undefined) return;
    if (active.synced === 0) {
      this.#store.discard(active.segment.path, active.file);
    } else {
      this.#store.closeQuietly(active.file);
      this.#sealed.push(active.segment);
    }
  }

  #takeBack(series: NumberedSeries<E>, slots: readonly Slot<E>[]): void {
    for (const slot of slots) if (slot.entry !== undefined) place(slot, undefined, 0);
    series.requeue(slots);
  }

  /** One step: queues some live records of the emptiest segment for the next commit. */
  #compact(series: NumberedSeries<E>, written: number): void {
    if (this.#moving === undefined) {
      const victim = chooseVictim(this.#sealed, this.#segmentBytes);
      if (victim === undefined) return;
      this.#moving = { victim, slots: victim.slots.filter((slot) => slot.residence === victim).reverse() };
    }
    const { victim, slots } = this.#moving;
    let budget = Math.min(Math.max(2 * written, smallestStep), this.#segmentBytes);
    while (budget > 0 && slots.length > 0) {
      const slot = slots.pop()!;
      if (slot.residence !== victim) continue;
      series.queueMove(slot as Slot<E>);
      budget -= slot.size;
    }
    if (slots.length === 0) this.#moving = undefined;
  }

  #count(): void {
    this.metrics.segments = this.#sealed.length + (this.#active === undefined ? 0 : 1);
  }
}
