import { type Channel, channelByPath } from '../protocol/channels.ts';
import { formatDuration } from '../protocol/duration.ts';
import { VigieError } from '../protocol/errors.ts';
import { type Leaf, type Slot, type SlotValue, slotByPath, slots } from '../protocol/slots.ts';
import type { Channels } from './channels.ts';
import type { ReadingSink, WantedSignal } from './ports.ts';
import { PositionGate } from './position.ts';
import { hiddenFrom, Privacy } from './privacy.ts';
import type { SourceMapping, VehicleProfile } from './profile.ts';
import type { Status } from './status.ts';

/** What one signal feeds: a slot or channel, and how its number becomes a value. */
interface Target {
  readonly leaf: Leaf;
  /** One of the two is there. */
  readonly slot: Slot | undefined;
  readonly channel: Channel | undefined;
  readonly scale: number;
  readonly offset: number;
  readonly invalid: ReadonlySet<number>;
  readonly values: ReadonlyMap<number, SlotValue> | undefined;
  readonly rank: number;
  readonly contest: Contest | undefined;
  readonly position: boolean;
  /** Milliseconds after which a value of this source is stale. */
  readonly timeout: number;
  /** Level of privacy from which on it is hidden. */
  readonly hiddenFrom: number;
  /** What was read last was no value: what was read before is not so any more. */
  absent: boolean;
}

/** Puts into Status what no signal gives, such as a theft that the agent found out about. */
export interface StatusWriter {
  /** Ignored while privacy hides the slot. */
  set(slot: Slot, value: SlotValue, at: number): void;
  remove(slot: Slot, at: number): void;
  /** The car was declared stolen, or is no longer: privacy counts no more, or again. */
  expose(exposed: boolean, at: number): void;
}

/** Several sources of one path: the best that is alive writes. */
interface Contest {
  /** By rank: when the source last spoke. */
  readonly spoke: number[];
  /** By rank: silence after which the next may write, ms. */
  readonly failover: readonly number[];
}

const privacyState = slotByPath.get('privacy.state') as Slot;

const DEFAULT_FAILOVER = 10_000;

/**
 * Turns readings into Status, whose only writer it is: scales, names, drops what is invalid or out of range, and
 * settles which of several sources speaks.
 */
export class Mapping implements ReadingSink, StatusWriter {
  /** What the decoder must deliver, in this order. */
  readonly wanted: readonly WantedSignal[];
  /** Readings that came. */
  readings = 0;
  /** Readings that were no possible value of their slot. */
  rejected = 0;
  readonly #status: Status;
  readonly #channels: Channels;
  readonly #privacy = new Privacy();
  /** What was read while privacy hid it: it may still be so when privacy ends, and its frame may not change then. */
  readonly #hidden = new Map<Target, SlotValue>();
  readonly #targets: readonly (readonly Target[])[];
  readonly #position: PositionGate;
  readonly #constants: readonly [Slot, SlotValue][];
  #started = false;

  constructor(status: Status, channels: Channels, profile: VehicleProfile) {
    this.#status = status;
    this.#channels = channels;
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
      // With several sources the one that writes says how long its value holds.
      if (source.priority === 0) this.#expire(target);
    }
    this.wanted = wanted;
    this.#targets = targets;
    this.#constants = Object.entries(profile.constants).map(([path, value]) => [slotOf(path), value]);
    this.#position.expectFix(profile.sources.some((source) => source.path === 'lastPosition.fixStatus'));
  }

  reading(signal: number, value: number, raw: number, at: number): void {
    this.readings++;
    for (const target of this.#targets[signal] as readonly Target[]) {
      if (target.contest !== undefined && !this.#speaks(target, target.contest, at)) continue;
      const converted = convert(target, value, raw);
      target.absent = converted === undefined;
      // A value that came and went while privacy hid it never comes out.
      if (target.absent && this.#hidden.size > 0) this.#hidden.delete(target);
      if (target.position) this.#position.offer(target.slot as Slot, converted);
      else if (converted !== undefined) this.#write(target, converted, at);
      if (converted === undefined && !target.invalid.has(raw)) this.rejected++;
    }
  }

  alive(signals: readonly number[], at: number): void {
    let located = false;
    for (const signal of signals) {
      for (const target of this.#targets[signal] as readonly Target[]) {
        if (target.contest !== undefined && !this.#speaks(target, target.contest, at)) continue;
        if (target.position) {
          this.#position.repeat(target.slot as Slot, at);
          located = true;
        } else if (this.#hidden.size > 0 && this.#hidden.has(target)) this.#reveal(target, at);
        else if (target.slot !== undefined) this.#status.seen(target.slot, at);
        else this.#channels.seen(target.channel as Channel, at);
      }
    }
    // What came with the frame before belongs to the position that is repeated here.
    if (located) this.#position.settle(at);
  }

  settled(at: number): void {
    if (!this.#started) {
      this.#started = true;
      // What an earlier run left is not read again by being the same.
      for (const [slot, value] of this.#constants) if (this.#status.value(slot) !== value) this.set(slot, value, at);
    }
    this.#position.settle(at);
  }

  set(slot: Slot, value: SlotValue, at: number): void {
    if (hiddenFrom(slot.path) > this.#privacy.level) this.#status.write(slot, value, at);
  }

  remove(slot: Slot, at: number): void {
    this.#status.remove(slot, at);
  }

  expose(exposed: boolean, at: number): void {
    const before = this.#privacy.level;
    this.#privacy.expose(exposed);
    this.#privacyChanged(before, at);
  }

  /** Takes up the privacy that Status remembers from an earlier run. */
  resume(): void {
    const chosen = this.#status.value(privacyState);
    if (chosen !== undefined) this.#privacy.choose(chosen);
    this.#position.hide(this.#privacy.level > 0);
  }

  #write(target: Target, value: SlotValue, at: number): void {
    const { slot, channel } = target;
    if (target.hiddenFrom <= this.#privacy.level) {
      this.#hidden.set(target, value);
      return;
    }
    // It is told anew: what was hidden is not what its frame repeats from now on.
    if (this.#hidden.size > 0) this.#hidden.delete(target);
    if (slot === undefined) {
      this.#channels.write(channel as Channel, value, at);
      return;
    }
    if (slot === privacyState) this.#choose(value, at);
    this.#status.write(slot, value, at);
  }

  #reveal(target: Target, at: number): void {
    if (target.hiddenFrom <= this.#privacy.level) return;
    const value = this.#hidden.get(target) as SlotValue;
    this.#hidden.delete(target);
    this.#write(target, value, at);
  }

  #choose(state: SlotValue, at: number): void {
    const before = this.#privacy.level;
    this.#privacy.choose(state);
    this.#privacyChanged(before, at);
  }

  #privacyChanged(before: number, at: number): void {
    const { level } = this.#privacy;
    if (level === before) return;
    this.#position.hide(level > 0);
    // Constants are facts of the car, known before; they come back with the rest.
    if (level < before) this.#started = false;
    else this.#conceal(level, at);
  }

  #conceal(level: number, at: number): void {
    for (const targets of this.#targets) {
      for (const target of targets) {
        const { slot, channel } = target;
        if (target.hiddenFrom > level || target.position) continue;
        const value = slot === undefined ? this.#channels.value(channel as Channel) : this.#status.value(slot);
        if (value !== undefined && !target.absent) this.#hidden.set(target, value);
      }
    }
    for (const slot of slots) if (hiddenFrom(slot.path) <= level) this.#status.remove(slot, at);
  }

  /** Notes that the target's source spoke; true when no better source did within its fail-over time. */
  #speaks(target: Target, contest: Contest, at: number): boolean {
    contest.spoke[target.rank] = at;
    for (let better = 0; better < target.rank; better++) {
      const silence = at - (contest.spoke[better] as number);
      // A better source that spoke in the future spoke before the clock was set back.
      if (silence >= 0 && silence <= (contest.failover[better] as number)) return false;
    }
    this.#expire(target);
    return true;
  }

  #expire({ slot, channel, timeout }: Target): void {
    if (slot !== undefined) this.#status.expireAfter(slot, timeout);
    else this.#channels.expireAfter(channel as Channel, timeout);
  }
}

/** The value nearest to `value` that the slot's resolution can say; what Status holds is what the wire carries. */
export function quantise(slot: Leaf, value: number): number {
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
  const slot = target.leaf;
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
    invalid: new Set(source.invalid),
    values,
    rank: source.priority,
    contest,
    position: slot?.path.startsWith('lastPosition.') ?? false,
    timeout: source.timeout ?? Number.POSITIVE_INFINITY,
    hiddenFrom: hiddenFrom(leaf.path),
    absent: false,
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

function leafOf(path: string): Pick<Target, 'leaf' | 'slot' | 'channel'> {
  const channel = channelByPath.get(path);
  if (channel !== undefined) return { leaf: channel, slot: undefined, channel };
  const slot = slotOf(path);
  return { leaf: slot, slot, channel };
}

function slotOf(path: string): Slot {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new VigieError('configuration.wrong', `Status has no path ${path}`);
  return slot;
}
