import { defined } from '../../protocol/defined.ts';
import { factOf, shortened } from '../../protocol/errors.ts';
import type { RemoteReport, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Clock, Log, Publisher } from '../ports.ts';
import { type ActionRecord, final, type Ledger } from './ledger.ts';
import type { Refusal } from './plan.ts';

/** Maximum length in characters of a detail, according to its schema. */
const DETAIL = 256;
/** Delay in ms between a commit and writing the ledger's file: an answer must not wait for the file. */
const FOLLOW = 1_000;

/** A command in progress: its record and its answers. */
export interface Progress {
  readonly record: ActionRecord;
  readonly correlation: Uint8Array | undefined;
  /** States that are not published. */
  readonly unreported: ReadonlySet<RemoteStatus>;
}

interface ReportsParts {
  readonly ledger: Ledger;
  /** True if the commits of the publisher contain the copy of the ledger. */
  readonly copied: boolean;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

/** Stores and reports each state of a command; both are on disk before the next step. */
export class Reports {
  readonly #parts: ReportsParts;
  #stopped = false;
  /** Cancels the timer for writing the file. Undefined if the file is as new as the commits. */
  #behind: (() => void) | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: ReportsParts) {
    this.#parts = parts;
  }

  /** Stops writing and publishing. */
  stop(): void {
    this.#stopped = true;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when the file of the ledger is as new as the commits. */
  async settled(): Promise<void> {
    if (this.#behind !== undefined) this.#save();
    await this.#saving;
  }

  /**
   * Applies states in their order; resolves with the last when all are on disk.
   * @throws VigieError `store.failed` if a state that is not final is not on disk
   */
  async advance(progress: Progress, ...states: readonly RemoteStatus[]): Promise<Progress> {
    const kept = states.map((status) => this.#keep(progress, { ...progress.record, status }));
    return (await Promise.all(kept)).at(-1) ?? progress;
  }

  /** Ends the command as failed. Never rejects if the disk refuses a write: a final state is still reported. */
  async fail(progress: Progress, { code, detail }: Refusal): Promise<void> {
    const { id, type } = progress.record;
    this.#parts.log.warn('command.failed', { id, type, code, detail });
    const cause = factOf(code).cause ?? 'GeneralError';
    await this.#keep(progress, { ...progress.record, status: 'Failed', failureCause: cause, detail });
  }

  /** Publishes a state that is on disk. */
  async publish({ record, correlation, unreported }: Progress): Promise<void> {
    const { id, type, status, failureCause, detail } = record;
    if (unreported.has(status)) return;
    const { revision } = this.#parts.ledger;
    const report: RemoteReport = {
      remoteActionId: id,
      type,
      status,
      ...defined({ failureCause }),
      ...(detail === undefined ? {} : { detail: shortened(detail, DETAIL) }),
    };
    if (final(status)) this.#parts.ledger.reported(id);
    try {
      await this.#parts.publisher.secure('remote', report, {
        ...defined({ correlation }),
        ...(final(status) ? {} : { durable: true }),
      });
      if (this.#parts.copied) this.#parts.ledger.committed(revision);
    } catch (error) {
      // A final state is sent from memory. An unfinished command is not published and must not continue.
      if (!final(status)) throw error;
    }
    if (final(status)) this.#parts.log.info('command.finished', { id, type, status, failureCause });
  }

  /**
   * If the disk refuses a write, an unfinished command stops, because its next steps could happen twice; a final state
   * is still reported.
   */
  async #keep(progress: Progress, changed: ActionRecord): Promise<Progress> {
    const { body, ...rest } = changed;
    const finished = final(changed.status);
    const record = { ...rest, ...(finished || body === undefined ? {} : { body }), at: this.#parts.clock.now() };
    const next = { ...progress, record };
    if (this.#stopped) return next;
    const { ledger, copied, log, clock } = this.#parts;
    ledger.set(record);
    // One commit has the state and the message that reports it; an unpublished state causes no commit.
    const together = copied && !progress.unreported.has(record.status);
    try {
      if (!together) await ledger.write();
    } catch (error) {
      if (!finished) throw error;
      log.error('command.unwritten', { error: (error as Error).message });
    }
    await this.publish(next);
    if (together && finished) this.#behind ??= clock.after(FOLLOW, () => this.#save());
    return next;
  }

  #save(): void {
    this.#behind?.();
    this.#behind = undefined;
    this.#saving = this.#parts.ledger.write().catch((error: Error) => {
      this.#parts.log.error('command.copyUnwritten', { error: error.message });
    });
  }
}
