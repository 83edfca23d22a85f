import { type Channel, channelByPath } from '../../protocol/channels.ts';
import { formatDuration, isDuration } from '../../protocol/duration.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { SourceMapping } from '../../protocol/profile.ts';
import { type Leaf, type Slot, type SlotValue, slotByPath } from '../../protocol/slots.ts';
import { hiddenFrom } from './privacy.ts';

/** Target of one signal: a slot or channel, and the conversion of the signal's number to a value. */
export interface Target {
  readonly leaf: Leaf;
  /** Either `slot` or `channel` is set. */
  readonly slot: Slot | undefined;
  readonly channel: Channel | undefined;
  readonly scale: number;
  readonly offset: number;
  readonly quantise: Quantiser;
  /** Raw values that mean no value. Undefined if every raw value is valid. */
  readonly invalid: ReadonlySet<number> | undefined;
  readonly values: ReadonlyMap<number, SlotValue> | undefined;
  readonly rank: number;
  readonly contest: Contest | undefined;
  readonly position: boolean;
  /** Milliseconds after which a value of this source is stale. */
  readonly timeout: number;
  /** Lowest level of privacy that hides it. */
  readonly hiddenFrom: number;
  /** True if the last reading was not a value: the previous value is no longer valid. */
  absent: boolean;
  /** Last conversion and its result: most values are repeated in frames in which others changed. */
  lastValue: number;
  lastRaw: number;
  lastConverted: SlotValue | undefined;
}

/** Several sources of one path: the best active source writes. */
export interface Contest {
  /** Last activity of each source, by rank. */
  readonly spoke: number[];
  /** Silence in ms after which the next source may write, by rank. */
  readonly failover: readonly number[];
}

const DEFAULT_FAILOVER = 10_000;

/** Returns the nearest value that the resolution can represent. */
type Quantiser = (value: number) => number;

function quantiserOf({ resolution = 0 }: Leaf): Quantiser {
  if (resolution === 0) return (value) => value;
  const steps = 1 / resolution;
  const exact = Math.round(steps);
  // A decimal resolution has no exact double: divide by its whole inverse to get the double nearest to the decimal.
  if (Math.abs(steps - exact) < 1e-9 * steps) return (value) => Math.round(value * exact) / exact + 0;
  return (value) => Math.round(value / resolution) * resolution + 0;
}

/** Returns the nearest value that the slot's resolution can represent: Status has the same values as the messages. */
export function quantise(slot: Leaf, value: number): number {
  return quantiserOf(slot)(value);
}

/** Returns the value of a reading for the target, or undefined if the reading means no value or an impossible one. */
export function convert(target: Target, value: number, raw: number): SlotValue | undefined {
  if (value !== target.lastValue || raw !== target.lastRaw) {
    target.lastConverted = converted(target, value, raw);
    target.lastValue = value;
    target.lastRaw = raw;
  }
  return target.lastConverted;
}

function converted(target: Target, value: number, raw: number): SlotValue | undefined {
  if (target.invalid?.has(raw)) return undefined;
  if (target.values !== undefined) return target.values.get(raw);
  const slot = target.leaf;
  const scaled = value * target.scale + target.offset;
  if (slot.kind === 'flag') return scaled !== 0;
  if (!Number.isFinite(scaled)) return undefined;
  // Signals count time in seconds after scaling; the interface uses strings. Other strings have no numeric form.
  if (slot.kind === 'text') return slot.duration === true && isDuration(scaled) ? formatDuration(scaled) : undefined;
  const quantised = target.quantise(scaled);
  if (slot.minimum !== undefined && quantised < slot.minimum) return undefined;
  if (slot.maximum !== undefined && quantised > slot.maximum) return undefined;
  return quantised;
}

/** Reason why a reading has no value for its path. */
export type ValueRefusal =
  | 'unavailable'
  | 'below'
  | 'above'
  | 'unlisted'
  | 'no-number'
  | 'hidden'
  | 'no-fix'
  | 'no-place'
  | 'jump';

/** Receives each refused reading; `value` is in the unit of the path. A whole position has the path `lastPosition`. */
export interface RefusalListener {
  refused(path: string, rule: ValueRefusal, value: number, raw: number): void;
}

/** Returns the rule by which {@link convert} rejected a reading. */
export function refusalOf(
  { invalid, values, leaf, scale, offset, quantise }: Target,
  value: number,
  raw: number,
): ValueRefusal {
  if (invalid?.has(raw) === true) return 'unavailable';
  if (values !== undefined) return 'unlisted';
  const quantised = quantise(value * scale + offset);
  if (leaf.minimum !== undefined && quantised < leaf.minimum) return 'below';
  return leaf.maximum !== undefined && quantised > leaf.maximum ? 'above' : 'no-number';
}

/** Compiles the target of a source of a profile. Throws `configuration.wrong` for an unknown path. */
export function compile(source: SourceMapping, contest: Contest | undefined): Target {
  const { leaf, slot, channel } = leafOf(source.path);
  const values = source.map === undefined ? undefined : new Map<number, SlotValue>();
  for (const [raw, value] of Object.entries(source.map ?? {})) {
    if (value !== null) values?.set(Number(raw), leaf.kind === 'set' && typeof value === 'string' ? [value] : value);
  }
  return {
    leaf,
    slot,
    channel,
    scale: source.scale,
    offset: source.offset,
    quantise: quantiserOf(leaf),
    invalid: source.invalid.length === 0 ? undefined : new Set(source.invalid),
    values,
    rank: source.priority,
    contest,
    position: slot?.path.startsWith('lastPosition.') ?? false,
    timeout: source.timeout ?? Number.POSITIVE_INFINITY,
    hiddenFrom: hiddenFrom(leaf.path),
    absent: false,
    // NaN: no reading equals it.
    lastValue: Number.NaN,
    lastRaw: Number.NaN,
    lastConverted: undefined,
  };
}

/** Returns true for a target with a single source, where a repeated value needs only a new time. */
export function isPlain({ channel, contest, position }: Target): boolean {
  return contest === undefined && !position && channel?.sampled !== true;
}

/**
 * Last values of signals that feed only one plain slot or channel. Stored in columns, because there are millions of
 * such readings.
 */
export class Latest {
  /** Index of the slot or channel of each signal, or -1. */
  readonly slots: Int32Array;
  readonly channels: Int32Array;
  /** Last reading of each signal: its number (NaN if it does not count), its raw number, and the converted value. */
  readonly values: Float64Array;
  readonly raws: Float64Array;
  readonly converted: (SlotValue | undefined)[];
  readonly #targets: readonly (Target | undefined)[];

  constructor(targets: readonly (readonly Target[])[]) {
    this.#targets = targets.map(([target, ...others]) => {
      if (target === undefined || others.length > 0 || !isPlain(target)) return undefined;
      // A repeated privacy value must be applied again: it counts as a new choice.
      return target.slot?.path === 'privacy.state' ? undefined : target;
    });
    this.slots = Int32Array.from(this.#targets, (target) => target?.slot?.index ?? -1);
    this.channels = Int32Array.from(this.#targets, (target) => target?.channel?.index ?? -1);
    this.values = new Float64Array(targets.length).fill(Number.NaN);
    this.raws = new Float64Array(targets.length);
    this.converted = new Array(targets.length).fill(undefined);
  }

  /** Stores a reading of a signal that has been applied. */
  note(signal: number, value: number, raw: number): void {
    const target = this.#targets[signal];
    if (target === undefined) return;
    this.values[signal] = target.lastConverted === undefined ? Number.NaN : value;
    this.raws[signal] = raw;
    this.converted[signal] = target.lastConverted;
  }
}

/** Returns the paths with several sources, and their contests. */
export function contestsOf(sources: readonly SourceMapping[]): Map<string, Contest> {
  const failover = new Map<string, number[]>();
  for (const source of sources) {
    const ranks = failover.get(source.path) ?? [];
    ranks[source.priority] = source.failover ?? DEFAULT_FAILOVER;
    failover.set(source.path, ranks);
  }
  const contests = new Map<string, Contest>();
  for (const [path, ranks] of failover) {
    if (ranks.length < 2) continue;
    contests.set(path, { spoke: ranks.map(() => Number.NEGATIVE_INFINITY), failover: ranks });
  }
  return contests;
}

function leafOf(path: string): Pick<Target, 'leaf' | 'slot' | 'channel'> {
  const channel = channelByPath.get(path);
  if (channel !== undefined) return { leaf: channel, slot: undefined, channel };
  const slot = slotOf(path);
  return { leaf: slot, slot, channel };
}

/** Returns the slot of a path. Throws `configuration.wrong` for a path that Status does not have. */
export function slotOf(path: string): Slot {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new VigieError('configuration.wrong', `Status has no path ${path}`);
  return slot;
}
