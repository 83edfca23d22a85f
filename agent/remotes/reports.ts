import { factOf } from '../../protocol/errors.ts';
import type { RemoteReport, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Log, Publisher } from '../ports.ts';
import { type ActionRecord, final, type Ledger } from './ledger.ts';
import type { Refusal } from './plan.ts';

/** Characters of a detail that fit into its schema. */
const DETAIL = 256;

/** A command under way: what is written of it, and how it is answered. */
export interface Progress {
  readonly record: ActionRecord;
  readonly correlation: Uint8Array | undefined;
  /** States that are not told. */
  readonly untold: ReadonlySet<RemoteStatus>;
}

export interface ReportsParts {
  readonly ledger: Ledger;
  readonly publisher: Publisher;
  readonly log: Log;
  /** UTC ms. */
  readonly now: () => number;
}

/** Writes down each state of a command and tells it; both are on disk before the next step is taken. */
export class Reports {
  readonly #parts: ReportsParts;
  #stopped = false;

  constructor(parts: ReportsParts) {
    this.#parts = parts;
  }

  /** Nothing is written or told any more. */
  stop(): void {
    this.#stopped = true;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** @throws VigieError `store.failed` when a state that is not final is not on disk */
  async advance(progress: Progress, status: RemoteStatus): Promise<Progress> {
    return this.#keep(progress, { ...progress.record, status });
  }

  /** Never rejects for a disk that refuses: a final state is told all the same. */
  async fail(progress: Progress, { code, detail }: Refusal): Promise<void> {
    const { id, type } = progress.record;
    this.#parts.log.warn('a command failed', { id, type, code, detail });
    const cause = factOf(code).cause ?? 'GeneralError';
    await this.#keep(progress, { ...progress.record, status: 'Failed', failureCause: cause, detail });
  }

  /** Tells a state again that is on disk. */
  async tell({ record, correlation, untold }: Progress): Promise<void> {
    const { id, type, status, failureCause, detail } = record;
    if (untold.has(status)) return;
    const report: RemoteReport = {
      remoteActionId: id,
      type,
      status,
      ...(failureCause === undefined ? {} : { failureCause }),
      ...(detail === undefined ? {} : { detail: detail.slice(0, DETAIL) }),
    };
    if (final(status)) this.#parts.ledger.told(id);
    try {
      await this.#parts.publisher.secure('remote', report, correlation === undefined ? {} : { correlation });
    } catch (error) {
      // The outbox sends what the disk refused; only a command that is not finished must not go on.
      if (!final(status)) throw error;
    }
    if (final(status)) this.#parts.log.info('command finished', { id, type, status, failureCause });
  }

  /**
   * A disk that refuses stops a command that is not finished, because what follows could not be kept from happening
   * twice; a final state is told all the same.
   */
  async #keep(progress: Progress, changed: ActionRecord): Promise<Progress> {
    const { body, ...rest } = changed;
    const finished = final(changed.status);
    const record = { ...rest, ...(finished || body === undefined ? {} : { body }), at: this.#parts.now() };
    const next = { ...progress, record };
    if (this.#stopped) return next;
    try {
      await this.#parts.ledger.record(record);
    } catch (error) {
      if (!finished) throw error;
      this.#parts.log.error('the outcome of a command could not be written down', { error: (error as Error).message });
    }
    await this.tell(next);
    return next;
  }
}
