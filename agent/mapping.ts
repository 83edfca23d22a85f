import { formatDuration } from '../protocol/duration.ts';
import { VigieError } from '../protocol/errors.ts';
import { type Slot, type SlotValue, slotByPath } from '../protocol/slots.ts';
import type { ReadingSink, WantedSignal } from './ports.ts';
import { PositionGate } from './position.ts';
import type { SourceMapping, VehicleProfile } from './profile.ts';
import type { Status } from './status.ts';

/** What one signal feeds: a slot, and how its number becomes the slot's value. */
interface Target {
  readonly slot: Slot;
  readonly scale: number;
  readonly offset: number;
  readonly invalid: ReadonlySet<number>;
  readonly values: ReadonlyMap<number, SlotValue> | undefined;
  readonly rank: number;
  readonly contest: Contest | undefined;
  readonly position: boolean;
}

/** Several sources of one path: the best that is alive writes. */
interface Contest {
  /** By rank: when the source last spoke. */
  readonly spoke: number[];
  /** By rank: silence after which the next may write, ms. */
  readonly failover: readonly number[];
}

const DEFAULT_FAILOVER = 10_000;

/**
 * Turns readings into Status, whose only writer it is: scales, names, drops what is invalid or out of range, and
 * settles which of several sources speaks.
 */
export class Mapping implements ReadingSink {
  /** What the decoder must deliver, in this order. */
  readonly wanted: readonly WantedSignal[];
  /** Readings that came. */
  readings = 0;
  /** Readings that were no possible value of their slot. */
  rejected = 0;
  readonly #status: Status;
  readonly #targets: readonly (readonly Target[])[];
  readonly #position: PositionGate;
  readonly #constants: readonly [Slot, SlotValue][];
  #started = false;

  constructor(status: Status, profile: VehicleProfile) {
    this.#status = status;
    this.#position = new PositionGate(status);
    const wanted: WantedSignal[] = [];
    const targets: Target[][] = [];
    const indexes = new Map<string, number>();
    const contests = contestsOf(profile.sources);
    for (const source of profile.sources) {
      const key = `${source.bus ?? ''}/${source.message}.${source.signal}`;
      let index = indexes.get(key);
      if (index === undefined) {
        index = wanted.length;
        indexes.set(key, index);
        const { message, signal } = source;
        wanted.push(source.bus === undefined ? { message, signal } : { bus: source.bus, message, signal });
        targets.push([]);
      }
      const target = compile(source, contests.get(source.path));
      targets[index]?.push(target);
      if (source.timeout !== undefined) status.expireAfter(target.slot, source.timeout);
    }
    this.wanted = wanted;
    this.#targets = targets;
    this.#constants = Object.entries(profile.constants).map(([path, value]) => [slotOf(path), value]);
    this.#position.expectFix(profile.sources.some((source) => source.path === 'lastPosition.fixStatus'));
  }

  reading(signal: number, value: number, raw: number, at: number): void {
    this.readings++;
    for (const target of this.#targets[signal] as readonly Target[]) {
      if (target.contest !== undefined && !speaks(target, target.contest, at)) continue;
      const converted = convert(target, value, raw);
      if (target.position) this.#position.offer(target.slot, converted);
      else if (converted !== undefined) this.#status.write(target.slot, converted, at);
      if (converted === undefined && !target.invalid.has(raw)) this.rejected++;
    }
  }

  alive(signals: readonly number[], at: number): void {
    for (const signal of signals) {
      for (const target of this.#targets[signal] as readonly Target[]) {
        if (target.contest !== undefined && !speaks(target, target.contest, at)) continue;
        if (target.position) this.#position.repeat(target.slot, at);
        else this.#status.seen(target.slot, at);
      }
    }
  }

  settled(at: number): void {
    if (!this.#started) {
      this.#started = true;
      for (const [slot, value] of this.#constants) this.#status.write(slot, value, at);
    }
    this.#position.settle(at);
  }
}

/** The value nearest to `value` that the slot's resolution can say; what Status holds is what the wire carries. */
export function quantise(slot: Slot, value: number): number {
  const resolution = slot.resolution ?? 0;
  if (resolution === 0) return value;
  const steps = 1 / resolution;
  const exact = Math.round(steps);
  // A decimal resolution has no exact double: divide by its whole inverse to get the double nearest to the decimal.
  if (Math.abs(steps - exact) < 1e-9 * steps) return Math.round(value * exact) / exact + 0;
  return Math.round(value / resolution) * resolution + 0;
}

function convert(target: Target, value: number, raw: number): SlotValue | undefined {
  if (target.invalid.has(raw)) return undefined;
  if (target.values !== undefined) return target.values.get(raw);
  const slot = target.slot;
  const scaled = value * target.scale + target.offset;
  if (slot.kind === 'flag') return scaled !== 0;
  if (!Number.isFinite(scaled)) return undefined;
  // Signals count time in seconds once scaled; the interface writes it out. Any other text has no number form.
  if (slot.kind === 'text') return slot.duration === true && scaled >= 0 ? formatDuration(scaled) : undefined;
  const quantised = quantise(slot, scaled);
  if (slot.minimum !== undefined && quantised < slot.minimum) return undefined;
  if (slot.maximum !== undefined && quantised > slot.maximum) return undefined;
  return quantised;
}

function compile(source: SourceMapping, contest: Contest | undefined): Target {
  const slot = slotOf(source.path);
  const values = source.map === undefined ? undefined : new Map<number, SlotValue>();
  for (const [raw, value] of Object.entries(source.map ?? {})) {
    if (value !== null) values?.set(Number(raw), slot.kind === 'set' && typeof value === 'string' ? [value] : value);
  }
  return {
    slot,
    scale: source.scale,
    offset: source.offset,
    invalid: new Set(source.invalid),
    values,
    rank: source.priority,
    contest,
    position: slot.path.startsWith('lastPosition.'),
  };
}

function contestsOf(sources: readonly SourceMapping[]): Map<string, Contest> {
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

/** Notes that the target's source spoke; true when no better source did within its fail-over time. */
function speaks(target: Target, contest: Contest, at: number): boolean {
  contest.spoke[target.rank] = at;
  for (let better = 0; better < target.rank; better++) {
    const silence = at - (contest.spoke[better] as number);
    // A better source that spoke in the future spoke before the clock was set back.
    if (silence >= 0 && silence <= (contest.failover[better] as number)) return false;
  }
  return true;
}

function slotOf(path: string): Slot {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new VigieError('configuration.wrong', `Status has no path ${path}`);
  return slot;
}
