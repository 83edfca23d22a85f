import { decodeMessage } from '../../protocol/cbor/message.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { finalStatuses } from '../../protocol/schema/remote.ts';
import type { Clock, OutboxEntry, OutboxReference, OutboxStore, OwedNumbers } from '../ports.ts';

/** Waiting messages of one priority class. */
export interface ClassVitals {
  readonly class: number;
  readonly count: number;
  /** Payload in bytes. */
  readonly bytes: number;
  /** `at` of the oldest message, UTC ms. Omitted if there are none. */
  readonly oldest?: number;
}

interface Waiting {
  count: number;
  bytes: number;
  /** No entry below this number waits. */
  lowest: number;
}

/**
 * Wraps the store of an outbox: counts waiting messages by class, outcomes of commands, and the time for which the
 * oldest commit has been in progress.
 */
export class MeteredStore implements OutboxStore {
  readonly #store: OutboxStore;
  readonly #clock: Clock;
  readonly #classes = new Map<number, Waiting>();
  readonly #outcomes = new Map<string, number>();
  /** Monotonic start times of the running commits, oldest first. */
  readonly #underWay = new Set<{ readonly since: number }>();
  /** Total payload in bytes appended since the start. */
  appended = 0;
  /** Number of commits that the disk refused. */
  refused = 0;

  constructor(store: OutboxStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    for (const entry of store.entries()) this.#add(entry.class, entry.seq, entry.bytes);
  }

  get volatile(): boolean {
    return this.#store.volatile === true;
  }

  get bytes(): number {
    return this.#store.bytes;
  }

  /** Returns the classes with waiting messages. */
  get waiting(): readonly ClassVitals[] {
    return [...this.#classes]
      .filter(([, { count }]) => count > 0)
      .sort(([a], [b]) => a - b)
      .map(([priority, line]) => {
        const oldest = this.#oldest(priority, line)?.at;
        return {
          class: priority,
          count: line.count,
          bytes: line.bytes,
          ...defined({ oldest }),
        };
      });
  }

  /** Number of commands finished since the start, by `Success`, `AlreadyDone` or the cause of their failure. */
  get outcomes(): ReadonlyMap<string, number> {
    return this.#outcomes;
  }

  /** Milliseconds since the oldest running commit started; 0 if no commit is running. */
  get commitWait(): number {
    for (const { since } of this.#underWay) return this.#clock.monotonic() - since;
    return 0;
  }

  entries(): Iterable<OutboxReference> {
    return this.#store.entries();
  }

  reference(priority: number, seq: number): OutboxReference | undefined {
    return this.#store.reference(priority, seq);
  }

  load(priority: number, seq: number): OutboxEntry | undefined {
    return this.#store.load(priority, seq);
  }

  nextSeq(priority: number): number {
    return this.#store.nextSeq(priority);
  }

  firstWaiting(priority: number): number | undefined {
    return this.#store.firstWaiting(priority);
  }

  append(entry: OutboxEntry): void {
    this.#store.append(entry);
    this.appended += entry.payload.length;
    this.#add(entry.class, entry.seq, entry.payload.length);
    if (entry.kind === 'remote') this.#note(entry.payload);
  }

  get damagedFiles(): readonly string[] | undefined {
    return this.#store.damagedFiles;
  }

  acknowledge(priority: number, seq: number): void {
    this.#subtract(priority, seq);
    this.#store.acknowledge(priority, seq);
  }

  giveUp(priority: number, seq: number): void {
    this.#subtract(priority, seq);
    this.#store.giveUp(priority, seq);
  }

  owed(): Iterable<OwedNumbers> {
    return this.#store.owed();
  }

  gapKnown(numbers: OwedNumbers): void {
    this.#store.gapKnown(numbers);
  }

  find(wants: (priorityClass: number, seq: number) => boolean): Iterator<readonly OutboxEntry[]> {
    return this.#store.find?.(wants) ?? [].values();
  }

  async commit(): Promise<void> {
    const commit = { since: this.#clock.monotonic() };
    this.#underWay.add(commit);
    try {
      await this.#store.commit();
    } catch (error) {
      this.refused++;
      throw error;
    } finally {
      this.#underWay.delete(commit);
    }
  }

  #subtract(priority: number, seq: number): void {
    const reference = this.#store.reference(priority, seq);
    const line = this.#classes.get(priority);
    if (reference === undefined || line === undefined) return;
    line.count--;
    line.bytes -= reference.bytes;
  }

  #add(priority: number, seq: number, bytes: number): void {
    const line = this.#classes.get(priority) ?? { count: 0, bytes: 0, lowest: seq };
    line.count++;
    line.bytes += bytes;
    line.lowest = Math.min(line.lowest, seq);
    this.#classes.set(priority, line);
  }

  /** Returns the oldest waiting entry. Advances `line.lowest`, so that each skipped number is checked only once. */
  #oldest(priority: number, line: Waiting): OutboxReference | undefined {
    const end = this.#store.nextSeq(priority);
    for (; line.lowest < end; line.lowest++) {
      const reference = this.#store.reference(priority, line.lowest);
      if (reference !== undefined) return reference;
    }
    return undefined;
  }

  #note(payload: Uint8Array): void {
    let report: RemoteReport;
    try {
      report = decodeMessage(payload).body as RemoteReport;
    } catch (error) {
      // The message is stored and sent unchanged; only this count lacks it.
      if (error instanceof VigieError) return;
      throw error;
    }
    const { status, failureCause = status } = report;
    if (finalStatuses.has(status)) this.#outcomes.set(failureCause, (this.#outcomes.get(failureCause) ?? 0) + 1);
  }
}
