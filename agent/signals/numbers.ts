import type { CatalogEntry, SignalDefinition } from '../../protocol/schema/catalog.ts';
import { catalogHash } from '../../protocol/signals/catalog.ts';
import { hexOf } from '../../protocol/signals/hash.ts';
import type { Log, Memory } from '../ports.ts';

const STATE = 'signals';
const DEFINITIONS = 'signals/definitions';

/** Catalogs that are remembered: the present one, and those of the profiles before. */
const KEPT = 16;

/**
 * Numbers that are skipped when damage of the disk may have taken the newest ones: no profile has more signals, and no
 * number that was sent is to get another meaning.
 */
const SKIPPED = 1 << 14;

/** No car has used so many numbers; a larger one is damaged. */
const LARGEST = 2 ** 31;

/** A catalog that the car has used. */
interface Used {
  readonly hash: string;
  readonly numbers: readonly number[];
  /** UTC ms at which another took its place; absent: it is in use, or the car did not know the time. */
  readonly until?: number;
}

interface State {
  readonly next: number;
  /** The one in use last. */
  readonly catalogs: readonly Used[];
}

/**
 * Gives each definition a number, and the same definition always the same. A number never gets another meaning in this
 * car, whatever profiles come and go: a definition that changes gets a new number.
 */
export class SignalNumbers {
  /** By place in the profile. */
  readonly numbers: readonly number[];
  /** Hash of the catalog in use. */
  readonly catalog: Uint8Array;
  readonly #entries: ReadonlyMap<number, CatalogEntry>;
  readonly #state: State;
  readonly #definitions: readonly CatalogEntry[];

  /** @param now UTC ms; absent: the car does not know the time */
  constructor(definitions: readonly SignalDefinition[], memory: Memory, log: Log, now?: number) {
    const before = recall(memory, log);
    let next = before.state.next + (memory.damaged === true ? SKIPPED : 0);
    const entries = new Map(before.definitions.map((entry) => [entry.number, entry]));
    const byMeaning = new Map(before.definitions.map((entry) => [meaningOf(entry), entry.number]));
    this.numbers = definitions.map((definition) => {
      const known = byMeaning.get(meaningOf(definition));
      if (known !== undefined) return known;
      const number = next++;
      entries.set(number, { number, ...definition });
      byMeaning.set(meaningOf(definition), number);
      return number;
    });
    this.#entries = entries;
    const numbers = [...this.numbers].sort((a, b) => a - b);
    this.catalog = catalogHash(this.#listed(numbers));
    const hash = hexOf(this.catalog);
    const others = before.state.catalogs
      .filter((used) => used.hash !== hash)
      .map((used) => (used.until === undefined && now !== undefined ? { ...used, until: now } : used));
    const catalogs = [...others.slice(1 - KEPT), { hash, numbers }];
    const used = new Set(catalogs.flatMap((catalog) => catalog.numbers));
    this.#state = Object.freeze({ next, catalogs });
    this.#definitions = Object.freeze(this.#listed([...used].sort((a, b) => a - b)));
  }

  /** Entries of the catalog in use. */
  get entries(): readonly CatalogEntry[] {
    return this.#listed(this.#state.catalogs.at(-1)?.numbers ?? []);
  }

  /** Entries of a catalog that the car has used; undefined when it is not remembered. */
  entriesOf(hash: Uint8Array): readonly CatalogEntry[] | undefined {
    const used = this.#state.catalogs.find((catalog) => catalog.hash === hexOf(hash));
    return used === undefined ? undefined : this.#listed(used.numbers);
  }

  /** Catalogs of earlier profiles that telemetry from `oldest`, UTC ms, on may name. */
  *earlier(oldest: number): Generator<readonly CatalogEntry[]> {
    for (const { numbers, until = Number.POSITIVE_INFINITY } of this.#state.catalogs.slice(0, -1)) {
      if (until >= oldest) yield this.#listed(numbers);
    }
  }

  /** What must be known again after a power cut. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    yield [STATE, this.#state];
    yield [DEFINITIONS, this.#definitions];
  }

  #listed(numbers: readonly number[]): CatalogEntry[] {
    return numbers.flatMap((number) => this.#entries.get(number) ?? []);
  }
}

/** Equal for definitions that mean the same. */
function meaningOf({ name, kind, unit, resolution, offset, names }: SignalDefinition): string {
  return JSON.stringify([name, kind, unit, resolution, offset, names?.map(({ count, name: of }) => [count, of])]);
}

interface Kept {
  readonly state: State;
  readonly definitions: readonly CatalogEntry[];
}

function recall(memory: Memory, log: Log): Kept {
  const state = memory.recall(STATE);
  const definitions = memory.recall(DEFINITIONS);
  if (state === undefined && definitions === undefined) return { state: { next: 1, catalogs: [] }, definitions: [] };
  const kept = { state, definitions } as Kept;
  if (isWhole(kept)) return kept;
  const message = 'the stored numbers of custom signals are damaged; all signals get new numbers';
  log.error('signals.numbers', { message });
  return { state: { next: unused(kept), catalogs: [] }, definitions: [] };
}

/** Each catalog names itself by the hash of its definitions: with it every damage of them shows. */
function isWhole({ state, definitions }: Kept): boolean {
  try {
    const entries = new Map(definitions.map((entry) => [entry.number, entry]));
    const used = new Set(state.catalogs.flatMap(({ numbers }) => numbers));
    if (entries.size !== definitions.length || used.size !== entries.size) return false;
    if (!isNumber(state.next) || ![...used].every((number) => isNumber(number) && number < state.next)) return false;
    return state.catalogs.every(({ hash, numbers, until }) => {
      const listed = numbers.map((number) => entries.get(number) as CatalogEntry);
      return (until === undefined || Number.isFinite(until)) && hexOf(catalogHash(listed)) === hash;
    });
  } catch {
    // A member that has another form than it must.
    return false;
  }
}

/** A number beyond all that the car may have used. */
function unused({ state, definitions }: { readonly state: unknown; readonly definitions: unknown }): number {
  let highest = 0;
  const walk = (value: unknown): void => {
    if (isNumber(value)) highest = Math.max(highest, value);
    else if (Array.isArray(value)) for (const inner of value) walk(inner);
  };
  const { next, catalogs } = membersOf(state);
  walk(listOf(definitions).map((entry) => membersOf(entry)['number']));
  walk(listOf(catalogs).map((catalog) => membersOf(catalog)['numbers']));
  // Of catalogs that are not remembered only `next` knows how high they went.
  return isNumber(next) && next > highest ? next : highest + 1 + SKIPPED;
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= LARGEST;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
