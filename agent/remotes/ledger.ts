import type { FailureCause } from '../../protocol/errors.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Document } from '../ports.ts';
import { type CounterWindow, unite, use } from './window.ts';

/** What became of one command. */
export interface ActionRecord {
  readonly id: string;
  readonly type: CommandKind;
  /** Its profile actions, joined by a comma, e.g. `doors.lock`; empty when it has none or was refused before. */
  readonly action: string;
  readonly status: RemoteStatus;
  readonly failureCause?: FailureCause;
  readonly detail?: string;
  /** Hexadecimal; kept until the command is finished, so that a restart knows what it was to bring about. */
  readonly body?: string;
  /** UTC ms of the last transition. */
  readonly at: number;
}

/** What a ledger and its copy have in common. */
interface Books {
  /** By key id, hexadecimal. */
  readonly counters: Readonly<Record<string, CounterWindow>>;
  /** Oldest first. */
  readonly actions: readonly ActionRecord[];
  /** Grows with every write; of two books the one with the higher is newer. */
  readonly revision?: number;
  /** When commands were accepted and the car was woken, UTC ms, oldest first. */
  readonly accepted?: readonly Taken[];
  readonly wakeUps?: readonly number[];
  /** Commands issued before are refused: counters of then may be lost. UTC ms. */
  readonly floor?: number;
  /** Something was lost, and the time was not known since. */
  readonly doubtful?: true;
  /** In the copy: finished commands whose outcome is not in the same commit. */
  readonly untold?: readonly string[];
  /** State of programs, schedule and tracking, by name. */
  readonly kept?: Readonly<Record<string, unknown>>;
}
export type LedgerData = Books;

/** A command that was accepted. */
export interface Taken {
  readonly type: CommandKind;
  readonly at: number;
}

/** Commands remembered; an id older than these is still refused by its key's counter window. */
const REMEMBERED = 256;
/** Finished commands in the copy: more cannot finish between two commits of it. */
const COPIED = 32;

export const emptyLedger: LedgerData = { counters: {}, actions: [] };

/** States no further transition follows. */
export function final(status: RemoteStatus): boolean {
  return status === 'Success' || status === 'AlreadyDone' || status === 'Failed';
}

/** The ledger's file; one that was opened from a damaged file says so. */
export interface LedgerDocument extends Document<LedgerData> {
  readonly corrupt?: number;
}

/**
 * What must survive a power cut so that nothing is carried out twice: used counters, commands with their state, and
 * what commands have planned. It is kept twice, in a file of its own that is written before each step, and, as
 * {@link copy}, in the commits of the outbox: a damaged file forgets nothing that was answered.
 */
export class Ledger {
  readonly #document: LedgerDocument;
  #data: LedgerData;
  /** Finished commands whose outcome has not gone to the outbox yet. */
  readonly #untold = new Set<string>();
  #kept: () => Readonly<Record<string, unknown>> = () => ({});

  constructor(document: LedgerDocument) {
    this.#document = document;
    const sound = isBooks(document.data);
    this.#data = sound ? document.data : emptyLedger;
    if (!sound || (document.corrupt ?? 0) > 0) this.#data = { ...this.#data, doubtful: true };
  }

  /** What was kept with {@link keep}, of the last run. */
  get kept(): Readonly<Record<string, unknown>> {
    return this.#data.kept ?? {};
  }

  /** `state` is asked at every write: it goes to disk together with the state of the command that changed it. */
  keep(state: () => Readonly<Record<string, unknown>>): void {
    this.#kept = state;
  }

  /** What the copy in the outbox's commits says. */
  get copy(): unknown {
    const { actions, ...rest } = this.#data;
    return {
      ...rest,
      untold: [...this.#untold],
      actions: [...actions.filter(({ status }) => !final(status)), ...actions.slice(-COPIED)],
    };
  }

  /** Makes up for what the file lost, from the {@link copy} of the last commit. Call it once, before anything else. */
  recall(copy: unknown): void {
    if (!isBooks(copy)) return;
    const mine = this.#data;
    const newer = (copy.revision ?? 0) > (mine.revision ?? 0) ? copy : mine;
    const told = new Map(copy.actions.map((action) => [action.id, action]));
    // The copy is of a commit with all that was published: what it does not know as finished was perhaps never told.
    const known = mine.actions.findLastIndex(({ id, status }) => told.get(id)?.status === status);
    for (const { id, status } of mine.actions.slice(known + 1)) if (final(status)) this.#untold.add(id);
    for (const id of copy.untold ?? []) this.#untold.add(id);
    const actions = new Map([...copy.actions, ...mine.actions].map((action) => [action.id, action]));
    if (newer === copy) for (const action of copy.actions) actions.set(action.id, action);
    const { doubtful: _made, untold: _then, ...sure } = newer;
    this.#data = { ...sure, counters: united(mine.counters, copy.counters), actions: [...actions.values()] };
  }

  /** Something was lost: to be written down, before anything else is, that it was. */
  get doubtful(): boolean {
    return this.#data.doubtful === true;
  }

  /**
   * After a loss: commands issued up to `until` (UTC ms) are refused from now on, because whether they were carried out
   * is not known any more. To be called when the time is known.
   */
  settle(until: number): void {
    const { doubtful: _lost, ...rest } = this.#data;
    this.#data = { ...rest, floor: until };
  }

  /** True when a command of that moment may have been carried out in a time that the ledger has lost. */
  forgot(issued: number): boolean {
    return this.doubtful || issued <= (this.#data.floor ?? Number.NEGATIVE_INFINITY);
  }

  find(id: string): ActionRecord | undefined {
    return this.#data.actions.find((action) => action.id === id);
  }

  /** Commands that an earlier run left without a final state. */
  unfinished(): readonly ActionRecord[] {
    return this.#data.actions.filter((action) => !final(action.status));
  }

  /** Finished commands that an earlier run did not tell the outcome of. */
  untold(): readonly ActionRecord[] {
    return this.#data.actions.filter(({ id, status }) => final(status) && this.#untold.has(id));
  }

  /** The outcome goes to the outbox, in the commit that has the next {@link copy}. */
  told(id: string): void {
    this.#untold.delete(id);
  }

  /** Marks a counter as used; false when it was used before. On disk with the next `record`. */
  use(key: string, counter: number): boolean {
    const next = use(this.#data.counters[key], counter);
    if (next === undefined) return false;
    this.#data = { ...this.#data, counters: { ...this.#data.counters, [key]: next } };
    return true;
  }

  /** Commands accepted after `since`, UTC ms, of one kind or of all. */
  accepted(since: number, type?: CommandKind): number {
    return (this.#data.accepted ?? []).filter((taken) => taken.at > since && (type ?? taken.type) === taken.type)
      .length;
  }

  /** Notes an accepted command; those before `since` are forgotten. On disk with the next `record`. */
  accept(taken: Taken, since: number): void {
    const accepted = (this.#data.accepted ?? []).filter(({ at }) => at > since && at <= taken.at);
    this.#data = { ...this.#data, accepted: [...accepted, taken] };
  }

  /** Times the car was woken after `since`, UTC ms. */
  wakeUps(since: number): number {
    return (this.#data.wakeUps ?? []).filter((at) => at > since).length;
  }

  /** Notes a wake-up; those before `since` are forgotten. On disk with the next `record`. */
  wake(at: number, since: number): void {
    this.#data = { ...this.#data, wakeUps: [...(this.#data.wakeUps ?? []).filter((woken) => woken > since), at] };
  }

  /** Sets a command's state; resolves when it is on disk. */
  async record(action: ActionRecord): Promise<void> {
    if (final(action.status)) this.#untold.add(action.id);
    const others = this.#data.actions.filter((other) => other.id !== action.id);
    this.#data = { ...this.#data, actions: [...others, action].slice(-REMEMBERED) };
    await this.write();
  }

  /** Writes down what has changed beside the commands. */
  async write(): Promise<void> {
    this.#data = { ...this.#data, revision: (this.#data.revision ?? 0) + 1, kept: this.#kept() };
    await this.#document.write(this.#data);
  }
}

function united(a: Books['counters'], b: Books['counters']): Books['counters'] {
  const result: Record<string, CounterWindow> = { ...a };
  for (const [key, window] of Object.entries(b)) result[key] = unite(result[key], window);
  return result;
}

function isBooks(data: unknown): data is Books {
  const { counters, actions } = (data ?? {}) as Partial<Books>;
  return typeof counters === 'object' && counters !== null && Array.isArray(actions);
}
