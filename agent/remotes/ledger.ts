import { defined } from '../../protocol/defined.ts';
import type { FailureCause } from '../../protocol/errors.ts';
import { type CommandKind, finalStatuses, type RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Document, Memory } from '../ports.ts';
import { isUsed, type ReplayWindow, unite, use } from './replay-window.ts';

/** State of one command. */
export interface ActionRecord {
  readonly id: string;
  readonly type: CommandKind;
  /** Its profile actions, joined by a comma, e.g. `doors.lock`. Empty if it has none or was refused early. */
  readonly action: string;
  readonly status: RemoteStatus;
  readonly failureCause?: FailureCause;
  readonly detail?: string;
  /** Hexadecimal; stored until the command has ended, so that its intended result is known after a restart. */
  readonly body?: string;
  /** UTC ms of the last transition. */
  readonly at: number;
}

export interface LedgerData {
  /** Used counters by key id in hexadecimal. */
  readonly counters: Readonly<Record<string, ReplayWindow>>;
  /** Oldest first. */
  readonly actions: readonly ActionRecord[];
  /** Grows with every change; of two ledgers, the one with the higher revision is newer. */
  readonly revision?: number;
  /** Times at which commands were accepted and the car was woken, UTC ms, oldest first. */
  readonly accepted?: readonly Taken[];
  readonly wakeUps?: readonly number[];
  /** Commands issued before this time (UTC ms) are refused, because their counters may be lost. */
  readonly floor?: number;
  /** Set if something was lost and the time has been unknown since then. */
  readonly doubtful?: true;
  /** In the file: lowest possible revision of the journal when this file was written. */
  readonly committed?: number;
  /** State of programs, schedule and tracking, by name. */
  readonly kept?: Readonly<Record<string, unknown>>;
}

/** The copy in {@link Memory}. Long, seldom changed fields have separate keys: a commit contains only the changes. */
interface Head extends Omit<LedgerData, 'counters' | 'actions' | 'accepted' | 'kept' | 'committed'> {
  /** Lowest possible revision of the file. */
  readonly filed?: number;
  /** Finished commands with an outcome that is not in the same commit. */
  readonly unreported: readonly string[];
  /** Positions of the commands, oldest first: the last part of their keys. */
  readonly places: readonly number[];
}

/** The copy, valid until the ledger changes. */
interface Copy {
  readonly of: {
    readonly data: LedgerData;
    readonly unreported: ReadonlySet<string>;
    readonly filed: number | undefined;
  };
  readonly states: readonly (readonly [key: string, value: unknown])[];
}

/** A command that was accepted. */
interface Taken {
  readonly type: CommandKind;
  readonly at: number;
}

/** Number of finished commands remembered; an older id is still refused by its key's counter window. */
const REMEMBERED = 256;
/** Number of finished commands in the copy, in addition to those that the file lacks. */
const COPIED = 32;
/** Key of the copy in {@link Memory}, and prefix of the keys of its parts. */
const COPY = 'remotes';

export const emptyLedger: LedgerData = { counters: Object.freeze({}), actions: [] };

/** Returns true for a state that no further transition follows. */
export function final(status: RemoteStatus): boolean {
  return finalStatuses.has(status);
}

/** The ledger's file, and the result of reading it. */
export interface LedgerDocument extends Document<LedgerData> {
  /** Files that could not be read. */
  readonly corrupt?: number;
  /** Generation that was read; default: the newest. */
  readonly found?: 'newest' | 'previous' | 'none';
}

/** Returns true if the journal lacks commits that the file refers to: it is missing or was replaced by an older one. */
export function lacksCommits(file: LedgerData, memory: Pick<Memory, 'recall'>): boolean {
  const head = memory.recall(COPY);
  return file.committed !== undefined && (!isHead(head) || revisionOf(head) < file.committed);
}

/**
 * State that must survive a power cut so that nothing is carried out twice: used counters, commands with their state,
 * and planned commands. It is stored twice: as {@link states} in the commits of the outbox, each state with the message
 * that reports it, and in a separate file, which lacks the commands in progress and replaces commits that are lost or
 * damaged.
 */
export class Ledger {
  readonly #document: LedgerDocument;
  #data: LedgerData;
  /** Finished commands with an outcome that is not in the outbox yet. Replaced, never changed. */
  #unreported: ReadonlySet<string> = new Set();
  #kept: () => Readonly<Record<string, unknown>> = () => ({});
  #behind: boolean;
  /**
   * Number of commands finished, now and when the file was written: the file lacks the difference.
   */
  #finished = 0;
  #finishedInFile = 0;
  /** Revisions that are known to be on disk. */
  #committed: number | undefined;
  #filed: number | undefined;
  /** Positions of the commands in the copy, by id. */
  #places = new Map<string, number>();
  #copy: Copy | undefined;

  constructor(document: LedgerDocument) {
    this.#document = document;
    const sound = isBooks(document.data);
    this.#data = sound ? frozen(document.data) : emptyLedger;
    const { corrupt = 0, found = 'newest' } = document;
    this.#behind = !sound || corrupt > 0 || found !== 'newest';
    if (this.#behind) this.#data = { ...this.#data, doubtful: true };
    else this.#filed = revisionOf(this.#data);
    this.#committed = this.#data.committed;
  }

  /** True if the file lacks entries of the copy: until it is written, they exist only once. */
  get behind(): boolean {
    return this.#behind;
  }

  /** Revision of the newest state. It only grows. */
  get revision(): number {
    return revisionOf(this.#data);
  }

  /** Call when the journal has all changes up to this revision on disk. */
  committed(revision: number): void {
    this.#committed = Math.max(revision, this.#committed ?? 0);
  }

  /** State stored with {@link keep} by the previous run. */
  get kept(): Readonly<Record<string, unknown>> {
    return this.#data.kept ?? {};
  }

  /** Calls `state` with each new state of a command, and stores the result in the same commit. */
  keep(state: () => Readonly<Record<string, unknown>>): void {
    this.#kept = state;
  }

  /** Returns the copy, for {@link Memory}: the unfinished commands and the most recent finished ones. */
  states(): Iterable<readonly [key: string, value: unknown]> {
    const [data, unreported, filed] = [this.#data, this.#unreported, this.#filed];
    const { of } = this.#copy ?? {};
    if (this.#copy === undefined || of?.data !== data || of.unreported !== unreported || of.filed !== filed) {
      this.#copy = { of: { data, unreported, filed }, states: [...this.#states()] };
    }
    return this.#copy.states;
  }

  /** Returns only frozen values: unchanged values need not be compared. */
  *#states(): Generator<readonly [key: string, value: unknown]> {
    const { counters, actions, accepted, kept, committed: _, ...head } = this.#data;
    const finished = actions
      .filter(({ status }) => final(status))
      .slice(this.#finishedInFile - this.#finished - COPIED);
    const copied = [...actions.filter(({ status }) => !final(status)), ...finished];
    const before = this.#places;
    this.#places = new Map();
    const free = placesBeside(copied.flatMap(({ id }) => before.get(id) ?? []));
    for (const { id } of copied) this.#places.set(id, before.get(id) ?? (free.next().value as number));
    const places = [...this.#places.values()];
    const filed = defined({ filed: this.#filed });
    yield [COPY, Object.freeze({ ...head, ...filed, unreported: [...this.#unreported], places } satisfies Head)];
    yield [`${COPY}/counters`, counters];
    yield [`${COPY}/accepted`, accepted];
    yield [`${COPY}/kept`, kept];
    for (const [index, action] of copied.entries()) yield [`${COPY}/${places[index]}`, action];
    for (const place of before.values()) if (!places.includes(place)) yield [`${COPY}/${place}`, undefined];
  }

  /**
   * Adds the entries that the file lacks from the copy of the last commit. If the copy is missing or older than the
   * file requires, an old disk may have been restored: commands carried out since then are unknown. Call once, before
   * any other method.
   */
  recall(memory: Pick<Memory, 'recall' | 'damaged'>): void {
    const head = memory.recall(COPY);
    const lost = lacksCommits(this.#data, memory);
    let restored = false;
    if (isHead(head)) {
      const { places, unreported, filed = 0, ...rest } = head;
      restored = !this.#behind && this.revision < filed;
      this.committed(revisionOf(head));
      const found = places.map((place) => [place, memory.recall(`${COPY}/${place}`)] as const);
      const actions = found.flatMap(([place, action]) => {
        if (!isAction(action)) return [];
        this.#places.set(action.id, place);
        return [action];
      });
      const counters = memory.recall(`${COPY}/counters`);
      const accepted = memory.recall(`${COPY}/accepted`);
      const kept = memory.recall(`${COPY}/kept`) as LedgerData['kept'];
      const copy: LedgerData = {
        ...rest,
        counters: isObject(counters) ? counters : {},
        actions,
        ...(Array.isArray(accepted) ? { accepted } : {}),
        ...defined({ kept }),
      };
      this.#unite(copy, unreported);
    }
    // The lost commits may have had entries that the file lacks.
    if (memory.damaged === true || lost || restored) this.#data = { ...this.#data, doubtful: true };
  }

  #unite(copy: LedgerData, unreported: readonly string[]): void {
    const mine = this.#data;
    const newer = revisionOf(copy) > revisionOf(mine) ? copy : mine;
    if (newer === copy) {
      this.#behind = true;
      this.#finished += copy.actions.length;
    }
    const copied = new Map(copy.actions.map((action) => [action.id, action]));
    // The copy is from the same commit as the published messages: the outcome of a command that the copy does not have
    // as finished may not have been published.
    const known = mine.actions.findLastIndex(({ id, status }) => copied.get(id)?.status === status);
    const untold = mine.actions.slice(known + 1).filter(({ status }) => final(status));
    this.#unreported = new Set([...this.#unreported, ...untold.map(({ id }) => id), ...unreported]);
    const actions = new Map<string, ActionRecord>();
    for (const action of newer === copy ? [...mine.actions, ...copy.actions] : [...copy.actions, ...mine.actions]) {
      // The last state of a command counts and moves to the end: the oldest entries are removed first.
      actions.delete(action.id);
      actions.set(action.id, action);
    }
    // The newer ledger also decides `doubtful`: the copy completes a file that lost nothing newer.
    this.#data = frozen({ ...newer, counters: united(mine.counters, copy.counters), actions: [...actions.values()] });
  }

  /** True if something was lost. This must be stored before anything else. */
  get doubtful(): boolean {
    return this.#data.doubtful === true;
  }

  /**
   * Call after a loss, when the time is known. From now on, commands issued up to `until` (UTC ms) are refused, because
   * the agent no longer knows which of them were carried out.
   */
  settle(until: number): void {
    const { doubtful: _lost, ...rest } = this.#data;
    this.#data = { ...rest, floor: until };
  }

  /** Returns true if a command issued at this time may have been carried out in a period that the ledger has lost. */
  forgot(issued: number): boolean {
    return this.doubtful || issued <= (this.#data.floor ?? Number.NEGATIVE_INFINITY);
  }

  find(id: string): ActionRecord | undefined {
    return this.#data.actions.find((action) => action.id === id);
  }

  /** Returns the commands that an earlier run left without a final state. */
  unfinished(): readonly ActionRecord[] {
    return this.#data.actions.filter((action) => !final(action.status));
  }

  /** Returns finished commands with an outcome that the previous run did not report. */
  unreported(): readonly ActionRecord[] {
    return this.#data.actions.filter(({ id, status }) => final(status) && this.#unreported.has(id));
  }

  /** Call when the outcome is in the outbox: it is in the same commit as the next {@link states}. */
  reported(id: string): void {
    this.#unreported = new Set([...this.#unreported].filter((other) => other !== id));
  }

  /** Marks a counter as used; returns false if it was used before. On disk with the next state of a command. */
  use(key: string, counter: number): boolean {
    const next = use(this.#data.counters[key], counter);
    if (next === undefined) return false;
    this.#data = { ...this.#data, counters: Object.freeze({ ...this.#data.counters, [key]: next }) };
    return true;
  }

  /** Returns true if {@link use} would refuse the counter. */
  used(key: string, counter: number): boolean {
    return isUsed(this.#data.counters[key], counter);
  }

  /**
   * Returns the number of commands accepted after `since` and up to `now`, UTC ms, of one kind or of all. Ignores later
   * entries, which are from before the clock was set back and would count until that time is reached again.
   */
  accepted(since: number, now: number, type?: CommandKind): number {
    const taken = (this.#data.accepted ?? []).filter(({ at }) => at > since && at <= now);
    return type === undefined ? taken.length : taken.filter((one) => one.type === type).length;
  }

  /** Records an accepted command and removes those before `since`. On disk with the next state of a command. */
  accept(taken: Taken, since: number): void {
    const accepted = (this.#data.accepted ?? []).filter(({ at }) => at > since && at <= taken.at);
    this.#data = { ...this.#data, accepted: Object.freeze([...accepted, taken]) };
  }

  /** Returns the number of wake-ups of the car after `since` and up to `now`, UTC ms, as {@link accepted} does. */
  wakeUps(since: number, now: number): number {
    return (this.#data.wakeUps ?? []).filter((at) => at > since && at <= now).length;
  }

  /** Records a wake-up and removes those before `since`. On disk with the next state of a command. */
  wake(at: number, since: number): void {
    const wakeUps = (this.#data.wakeUps ?? []).filter((woken) => woken > since && woken <= at);
    this.#data = { ...this.#data, wakeUps: [...wakeUps, at] };
  }

  /**
   * Sets a command's state. It is on disk with the next commit, as one of the {@link states}, and with the next
   * `write`.
   */
  set(action: ActionRecord): void {
    if (final(action.status)) {
      this.#unreported = new Set([...this.#unreported, action.id]);
      this.#finished++;
    }
    const actions = [...this.#data.actions.filter((other) => other.id !== action.id), Object.freeze(action)];
    const oldest = actions.length - REMEMBERED;
    this.#data = { ...this.#data, actions: actions.filter(({ status }, at) => at >= oldest || !final(status)) };
    this.#advance();
  }

  /** Writes the file; resolves when all current state is on disk. */
  async write(): Promise<void> {
    this.#advance();
    const { revision } = this;
    const finished = this.#finished;
    await this.#document.write(
      this.#committed === undefined ? this.#data : { ...this.#data, committed: this.#committed },
    );
    this.#filed = Math.max(revision, this.#filed ?? 0);
    this.#finishedInFile = Math.max(finished, this.#finishedInFile);
    this.#behind = false;
  }

  /** Records in the file, from the first commit on, that the journal has a copy: if it is absent later, it was lost. */
  async mark(commit: (() => Promise<void>) | undefined): Promise<void> {
    if (this.#committed !== undefined || commit === undefined) return;
    const { revision } = this;
    await commit();
    this.committed(revision);
    await this.write();
  }

  #advance(): void {
    this.#data = { ...this.#data, revision: this.revision + 1, kept: Object.freeze(this.#kept()) };
  }
}

function revisionOf({ revision = 0 }: Pick<LedgerData, 'revision'>): number {
  return revision;
}

/** Returns the numbers from 0 on that are not in `taken`. */
function* placesBeside(taken: readonly number[]): Generator<number, never> {
  for (let place = 0; ; place++) if (!taken.includes(place)) yield place;
}

function united(a: LedgerData['counters'], b: LedgerData['counters']): LedgerData['counters'] {
  const result: Record<string, ReplayWindow> = { ...a };
  for (const [key, window] of Object.entries(b)) result[key] = unite(result[key], window);
  return Object.freeze(result);
}

/** Returns the same data, frozen, so that {@link Memory} recognizes unchanged parts. */
function frozen(data: LedgerData): LedgerData {
  for (const part of [data.counters, data.accepted, data.kept, ...data.actions]) Object.freeze(part);
  return data;
}

function isBooks(data: unknown): data is LedgerData {
  const { counters, actions } = (data ?? {}) as Partial<LedgerData>;
  return isObject(counters) && Array.isArray(actions);
}

function isHead(data: unknown): data is Head {
  const { unreported, places } = (data ?? {}) as Partial<Head>;
  return Array.isArray(unreported) && Array.isArray(places);
}

function isAction(data: unknown): data is ActionRecord {
  const { id, status } = (data ?? {}) as Partial<ActionRecord>;
  return typeof id === 'string' && typeof status === 'string';
}

function isObject(value: unknown): value is LedgerData['counters'] {
  return typeof value === 'object' && value !== null;
}
