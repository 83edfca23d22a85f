import { defined } from '../../protocol/defined.ts';
import type { CustomSignal } from '../../protocol/profile.ts';
import type { CatalogEntry, SignalDefinition } from '../../protocol/schema/catalog.ts';
import { catalogHash } from '../../protocol/signals/catalog.ts';
import { hexOf } from '../../protocol/signals/hash.ts';
import type { Log, Memory } from '../ports.ts';

const STATE = 'signals';
const DEFINITIONS = 'signals/definitions';

/**
 * Number of profile catalogs remembered, including the present one, and of catalogs of ended collections.
 * Catalogs in use are always remembered.
 */
const KEPT = 16;

/**
 * Count of numbers skipped if disk damage may have lost the newest ones: no profile has more signals, and a number
 * that was sent must not change its meaning.
 */
const SKIPPED = 1 << 14;

/** Upper limit of the numbers. No car has used so many: a larger number is damaged. */
const LARGEST = 2 ** 31;

/** A catalog that the car has used. */
interface Used {
  readonly hash: string;
  /** Ascending. */
  readonly numbers: readonly number[];
  /** Time at which it was last in use, UTC ms. Omitted if it is in use, or the car did not know the time. */
  readonly until?: number;
  /** True for the catalog of a collection. Omitted for that of a profile. */
  readonly collected?: true;
}

interface State {
  readonly next: number;
  readonly catalogs: readonly Used[];
}

/** A catalog in use. */
export interface NumberedCatalog {
  /** Numbers by signal index. */
  readonly numbers: readonly number[];
  /** Its hash. */
  readonly catalog: Uint8Array;
  /** Sorted by number. */
  readonly entries: readonly CatalogEntry[];
}

/**
 * Assigns a number to each definition, always the same one. A number never gets another meaning in this car, even if
 * profiles and collections change: a changed definition gets a new number.
 */
export class SignalNumbers implements NumberedCatalog {
  readonly numbers: readonly number[];
  readonly catalog: Uint8Array;
  readonly entries: readonly CatalogEntry[];
  readonly #all: Map<number, CatalogEntry>;
  readonly #byMeaning: Map<string, number>;
  /** Number of users of each catalog in use, by hash. */
  readonly #uses = new Map<string, number>();
  #state: State;
  #definitions: readonly CatalogEntry[];

  /**
   * @param definitions signals of the profile. If there are none, the profile has no catalog.
   * @param now UTC ms. Omitted if the car does not know the time.
   */
  constructor(definitions: readonly SignalDefinition[], memory: Memory, log: Log, now?: number) {
    const { state, definitions: known } = recall(memory, log);
    const next = state.next + (memory.damaged === true ? SKIPPED : 0);
    const catalogs = state.catalogs.map((used) =>
      used.until === undefined && now !== undefined ? { ...used, until: now } : used,
    );
    this.#state = { next, catalogs };
    this.#definitions = known;
    this.#all = new Map(known.map((entry) => [entry.number, entry]));
    this.#byMeaning = new Map(known.map((entry) => [meaningOf(entry), entry.number]));
    const own = definitions.length === 0 ? this.#numbered([]) : this.#use(definitions);
    this.numbers = own.numbers;
    this.catalog = own.catalog;
    this.entries = own.entries;
  }

  /** Returns the catalog of a collection. It is in use until {@link end}. */
  collect(definitions: readonly SignalDefinition[]): NumberedCatalog {
    return this.#use(definitions, true);
  }

  /** Call when the catalog of a collection is no longer in use. `now` as for the constructor. */
  end({ catalog }: NumberedCatalog, now?: number): void {
    const hash = hexOf(catalog);
    const uses = (this.#uses.get(hash) ?? 0) - 1;
    if (uses > 0) this.#uses.set(hash, uses);
    else this.#uses.delete(hash);
    if (uses !== 0) return;
    const used = this.#state.catalogs.find((one) => one.hash === hash);
    const others = this.#state.catalogs.filter((one) => one !== used);
    if (used !== undefined) this.#remember([...others, now === undefined ? used : { ...used, until: now }]);
  }

  /** Returns the entries of a catalog that the car has used, or undefined if the catalog is not remembered. */
  entriesOf(hash: Uint8Array): readonly CatalogEntry[] | undefined {
    const used = this.#state.catalogs.find((catalog) => catalog.hash === hexOf(hash));
    return used === undefined ? undefined : this.#listed(used.numbers);
  }

  /** Returns catalogs no longer in use that telemetry from `oldest` (UTC ms) on may refer to. */
  *earlier(oldest: number): Generator<readonly CatalogEntry[]> {
    for (const { hash, numbers, until = Number.POSITIVE_INFINITY } of this.#state.catalogs) {
      if (until >= oldest && !this.#uses.has(hash)) yield this.#listed(numbers);
    }
  }

  /** Returns the state that must survive a power cut. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    yield [STATE, this.#state];
    yield [DEFINITIONS, this.#definitions];
  }

  #use(definitions: readonly SignalDefinition[], collected = false): NumberedCatalog {
    const found = this.#numbered(definitions);
    const hash = hexOf(found.catalog);
    this.#uses.set(hash, (this.#uses.get(hash) ?? 0) + 1);
    const known = this.#state.catalogs.find((one) => one.hash === hash);
    const isCollected = collected && (known === undefined || known.collected === true);
    const numbers = found.entries.map(({ number }) => number);
    const used: Used = { hash, numbers, ...(isCollected ? { collected: true } : {}) };
    this.#remember([...this.#state.catalogs.filter((one) => one !== known), used]);
    return found;
  }

  #numbered(definitions: readonly SignalDefinition[]): NumberedCatalog {
    const numbers = definitions.map((definition) => this.#numberOf(definition));
    const entries = this.#listed([...numbers].sort((a, b) => a - b));
    return { numbers, catalog: catalogHash(entries), entries };
  }

  #numberOf(definition: SignalDefinition): number {
    const meaning = meaningOf(definition);
    const known = this.#byMeaning.get(meaning);
    if (known !== undefined) return known;
    const number = this.#state.next;
    this.#state = { ...this.#state, next: number + 1 };
    this.#all.set(number, { number, ...definition });
    this.#byMeaning.set(meaning, number);
    return number;
  }

  #remember(catalogs: readonly Used[]): void {
    const isUsed = ({ hash }: Used): boolean => this.#uses.has(hash);
    const ended = catalogs.filter((one) => !isUsed(one));
    const kept = [
      ...ended.filter(({ collected }) => collected === undefined).slice(1 - KEPT),
      ...ended.filter(({ collected }) => collected !== undefined).slice(-KEPT),
      ...catalogs.filter(isUsed),
    ];
    const numbers = new Set(kept.flatMap((catalog) => catalog.numbers));
    this.#state = Object.freeze({ next: this.#state.next, catalogs: kept });
    this.#definitions = Object.freeze(this.#listed([...numbers].sort((a, b) => a - b)));
    // A forgotten number is not used again; if its definition returns, that gets another number.
    for (const [number, entry] of this.#all) {
      if (numbers.has(number)) continue;
      this.#all.delete(number);
      this.#byMeaning.delete(meaningOf(entry));
    }
  }

  #listed(numbers: readonly number[]): CatalogEntry[] {
    return numbers.flatMap((number) => this.#all.get(number) ?? []);
  }
}

/** Returns the identity of a signal, without how it is read and recorded. */
export function definitionOf({ name, kind, unit, resolution, offset, names }: CustomSignal): SignalDefinition {
  return {
    name,
    kind,
    ...defined({ unit, resolution, offset, names }),
  };
}

/** Returns equal keys for definitions with the same meaning. */
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
  log.error('signals.numbers');
  return { state: { next: unused(kept), catalogs: [] }, definitions: [] };
}

/** Returns true if the state is undamaged. Each catalog has the hash of its definitions, which detects any damage. */
function isWhole({ state, definitions }: Kept): boolean {
  try {
    const entries = new Map(definitions.map((entry) => [entry.number, entry]));
    const used = new Set(state.catalogs.flatMap(({ numbers }) => numbers));
    if (entries.size !== definitions.length || used.size !== entries.size) return false;
    if (!isNumber(state.next) || ![...used].every((number) => isNumber(number) && number < state.next)) return false;
    return state.catalogs.every(({ hash, numbers, until, collected }) => {
      const listed = numbers.map((number) => entries.get(number) as CatalogEntry);
      if (collected !== undefined && collected !== true) return false;
      return (until === undefined || Number.isFinite(until)) && hexOf(catalogHash(listed)) === hash;
    });
  } catch {
    // A field has the wrong type.
    return false;
  }
}

/** Returns a number above all that the car may have used. */
function unused({ state, definitions }: { readonly state: unknown; readonly definitions: unknown }): number {
  let highest = 0;
  const walk = (value: unknown): void => {
    if (isNumber(value)) highest = Math.max(highest, value);
    else if (Array.isArray(value)) for (const inner of value) walk(inner);
  };
  const { next, catalogs } = membersOf(state);
  walk(listOf(definitions).map((entry) => membersOf(entry)['number']));
  walk(listOf(catalogs).map((catalog) => membersOf(catalog)['numbers']));
  // For forgotten catalogs, only `next` shows their highest number.
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
