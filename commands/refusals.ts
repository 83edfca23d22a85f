/** Lists the mapped paths of a profile that have no value or refused values, with the rule that caused each refusal. */
import type { ChannelObserver } from '../agent/model/channels.ts';
import type { StatusObserver } from '../agent/model/status.ts';
import type { RefusalListener, ValueRefusal } from '../agent/model/target.ts';
import { type Channel, channelByPath, channels } from '../protocol/channels.ts';
import { counted } from '../protocol/counted.ts';
import type { SourceMapping } from '../protocol/profile.ts';
import { type Leaf, type Slot, slotByPath, slots } from '../protocol/slots.ts';

/** Largest number of listed paths. The others are only counted. */
const MOST_PATHS = 20;
/** Largest number of listed raw values per path. */
const MOST_RAWS = 5;
/** Largest number of named sources per path. */
const MOST_SOURCES = 3;

interface Tally {
  count: number;
  /** Value that exceeds the rule's limit the most. */
  worst: number;
  worstRaw: number;
  readonly raws: Set<number>;
}

/** Observes an agent while it receives the readings of a log. */
export class Refusals implements RefusalListener, StatusObserver, ChannelObserver {
  readonly #tallies = new Map<string, Map<ValueRefusal, Tally>>();
  /** Flags of slots and channels that had a value, by index: thousands of values arrive per second. */
  readonly #slots = new Uint8Array(slots.length);
  readonly #channels = new Uint8Array(channels.length);

  refused(path: string, rule: ValueRefusal, value: number, raw: number): void {
    let rules = this.#tallies.get(path);
    if (rules === undefined) {
      rules = new Map();
      this.#tallies.set(path, rules);
    }
    let tally = rules.get(rule);
    if (tally === undefined) {
      tally = { count: 0, worst: value, worstRaw: raw, raws: new Set() };
      rules.set(rule, tally);
    }
    tally.count++;
    if (tally.raws.size <= MOST_RAWS) tally.raws.add(raw);
    if (rule === 'below' ? value < tally.worst : value > tally.worst) {
      tally.worst = value;
      tally.worstRaw = raw;
    }
  }

  changed({ index }: Slot): void {
    this.#slots[index] = 1;
  }

  channel({ index }: Channel): void {
    this.#channels[index] = 1;
  }

  sample({ index }: Channel): void {
    this.#channels[index] = 1;
  }

  /** @param known returns true if the path has a value from before the log */
  lines(sources: readonly SourceMapping[], known: (path: string) => boolean): string[] {
    const valued = new Set<string>();
    for (const { index, path } of slots) if (this.#slots[index] === 1) valued.add(path);
    for (const { index, path } of channels) if (this.#channels[index] === 1) valued.add(path);
    const byPath = new Map<string, SourceMapping[]>();
    for (const source of sources) byPath.set(source.path, [...(byPath.get(source.path) ?? []), source]);
    const without = [...byPath].filter(([path]) => !valued.has(path) && !known(path));
    const missing = without.map(([path, of]) => `${path}: ${this.#reasonOf(path, of)}`);
    const refused = [...this.#tallies].flatMap(([path, rules]) => {
      const told = [...rules]
        .filter(([rule]) => rule !== 'unavailable')
        .map(([rule, tally]) => wordsOf(path, rule, tally));
      return told.length === 0 ? [] : [`${path}: ${told.join('; ')}`];
    });
    return [
      ...listed(`no value for ${without.length} of ${counted(byPath.size, 'mapped path')}:`, missing),
      ...listed('refused values:', refused),
    ];
  }

  #reasonOf(path: string, sources: readonly SourceMapping[]): string {
    const own = this.#tallies.get(path);
    const position = path.startsWith('lastPosition.') ? this.#tallies.get('lastPosition') : undefined;
    const rules = [...(own?.keys() ?? []), ...(position?.keys() ?? [])];
    if (rules.length > 0) {
      return rules.every((rule) => rule === 'unavailable')
        ? 'only raw values that `invalid` lists'
        : 'every value was refused, see below';
    }
    const names = sources.map(({ message, signal }) => `${message}.${signal}`);
    const shown = [...names.slice(0, MOST_SOURCES), ...(names.length > MOST_SOURCES ? ['…'] : [])].join(' or ');
    return path.startsWith('lastPosition.') ? `no whole position came with ${shown}` : `${shown} never came`;
  }
}

function listed(title: string, entries: readonly string[]): string[] {
  if (entries.length === 0) return [];
  const more = entries.length - MOST_PATHS;
  const shown = entries.slice(0, MOST_PATHS).map((entry) => `  ${entry}`);
  return [title, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

function wordsOf(path: string, rule: ValueRefusal, tally: Tally): string {
  const leaf: Leaf | undefined = slotByPath.get(path) ?? channelByPath.get(path);
  const unit = leaf?.unit === undefined || leaf.unit === '1' ? '' : ` ${leaf.unit}`;
  const { count, worst, worstRaw } = tally;
  const example = `such as ${Number(worst.toPrecision(9))}${unit} (raw ${worstRaw})`;
  const times = counted(count, 'time');
  switch (rule) {
    case 'below':
      return `${times} below ${leaf?.minimum}${unit}, ${example}`;
    case 'above':
      return `${times} above ${leaf?.maximum}${unit}, ${example}`;
    case 'unlisted':
      return `${times} not in the map: raw ${rawsOf(tally)}`;
    case 'hidden':
      return `${times} hidden by the privacy that was chosen in the car`;
    case 'no-fix':
      return `${times} without a fix`;
    case 'no-place':
      return `${times} latitude 0, longitude 0, which a receiver without a fix says`;
    case 'jump':
      return `${times} farther from the position before than a car can drive`;
    case 'no-number':
      return `${times} no number that can be written (raw ${rawsOf(tally)})`;
    case 'unavailable':
      return `${times} not available`;
  }
}

function rawsOf({ raws }: Tally): string {
  const sorted = [...raws].sort((one, other) => one - other);
  return `${sorted.slice(0, MOST_RAWS).join(', ')}${sorted.length > MOST_RAWS ? ', …' : ''}`;
}
