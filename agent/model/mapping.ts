import type { Channel } from '../../protocol/channels.ts';
import type { VehicleProfile } from '../../protocol/profile.ts';
import { type Slot, type SlotValue, slotAt, slots } from '../../protocol/slots.ts';
import type { ReadingSink, WantedSignal } from '../ports.ts';
import type { Channels } from './channels.ts';
import { PositionGate, WHOLE } from './position.ts';
import { hiddenFrom, Privacy } from './privacy.ts';
import type { Status } from './status.ts';
import {
  type Contest,
  compile,
  contestsOf,
  convert,
  isPlain,
  Latest,
  type RefusalListener,
  refusalOf,
  slotOf,
  type Target,
} from './target.ts';

/** Sets values of Status that no signal provides, such as a theft that the agent has detected. */
export interface StatusWriter {
  /** Sets a value. Has no effect while privacy hides the slot. */
  set(slot: Slot, value: SlotValue, at: number): void;
  remove(slot: Slot, at: number): void;
  /** Suspends privacy if the car was declared stolen (`exposed`); applies it again otherwise. */
  expose(exposed: boolean, at: number): void;
  /** Shows `value` in place of the car's value of the slot, until {@link release}. */
  overrule(slot: Slot, value: SlotValue, at: number): void;
  /** Shows no value until the car reports another one, because the present one is no longer valid. */
  retract(slot: Slot, at: number): void;
  /** Shows the car's value of the slot again. */
  release(slot: Slot, at: number): void;
}

/** A slot that shows a value other than the one that the car reports. */
interface Overruled {
  readonly value: SlotValue | undefined;
  /** Value that the car reports, or undefined. */
  said: SlotValue | undefined;
}

/** Signals that always arrive together. */
export interface SourceGroup {
  readonly signals: readonly number[];
  /** Indexes of the slots and channels that need only a new time if the signals are repeated. */
  readonly slots: Int32Array;
  readonly channels: Int32Array;
  readonly others: readonly Target[];
}

/** Longest delay in ms of one bus's frames behind another's that were delivered earlier: buses are read in turns. */
const SKEW = 1_000;

const privacyState = slotAt('privacy.state');

/**
 * Converts readings into Status and is its only writer: scales, names, drops invalid or out-of-range values, and
 * decides which of several sources to use.
 */
export class Mapping implements ReadingSink, StatusWriter {
  /** Signals that the decoder must deliver, in this order. */
  readonly wanted: readonly WantedSignal[];
  /** Number of readings received. */
  readings = 0;
  /** Number of readings with a value that is impossible for their slot. */
  rejected = 0;
  readonly #status: Status;
  readonly #channels: Channels;
  readonly #privacy = new Privacy();
  /** Values hidden by privacy: they may still be valid when it ends, and an unchanged frame is not converted again. */
  readonly #hidden = new Map<Target, SlotValue>();
  readonly #overruled = new Map<Slot, Overruled>();
  readonly #targets: readonly (readonly Target[])[];
  /** Last reading by signal: most values are repeated in frames in which others changed. */
  readonly #latest: Latest;
  readonly #position: PositionGate;
  readonly #constants: readonly [Slot, SlotValue][];
  readonly #refusals: RefusalListener | undefined;
  #started = false;

  constructor(status: Status, channels: Channels, profile: VehicleProfile, refusals?: RefusalListener) {
    this.#status = status;
    this.#channels = channels;
    this.#refusals = refusals;
    this.#position = new PositionGate(status, this.#privacy, refusals);
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
      // With several sources, the active source determines the time-out of its value.
      if (source.priority === 0) this.#expire(target);
    }
    this.wanted = wanted;
    this.#targets = targets;
    this.#latest = new Latest(targets);
    this.#constants = Object.entries(profile.constants).map(([path, value]) => [slotOf(path), value]);
    this.#position.expectFix(profile.sources.some((source) => source.path === 'lastPosition.fixStatus'));
  }

  /** Returns the level of privacy, now or for readings made at `at`: 0 hides nothing, 1 positions, 2 all but safety. */
  privacyLevel(at = Number.POSITIVE_INFINITY): number {
    const privacy = this.#privacy;
    return at < privacy.until ? privacy.levelAt(at) : privacy.level;
  }

  /** Call after the clock was stepped forward by `by` ms. */
  stepped(by: number): void {
    this.#channels.stepped(by);
    this.#privacy.stepped(by);
  }

  /** Returns a function that returns the highest level since its previous call. */
  highestPrivacy(): () => number {
    return this.#privacy.highest();
  }

  reading(signal: number, value: number, raw: number, at: number): void {
    this.readings++;
    const { values, raws } = this.#latest;
    const isRepeated = value === values[signal] && raw === raws[signal] && at >= this.#privacy.until;
    if (isRepeated && this.#confirm(signal, at)) return;
    this.#read(signal, value, raw, at);
    this.#latest.note(signal, value, raw);
  }

  /** Handles a repeated reading. Returns true if only its time had to be updated. */
  #confirm(signal: number, at: number): boolean {
    const { slots: plain, channels, converted } = this.#latest;
    const value = converted[signal] as SlotValue;
    const slot = plain[signal] as number;
    if (slot >= 0) return this.#status.confirm(slot, value, at);
    // A channel also stores values that privacy hides.
    return this.#hidden.size === 0 && this.#channels.confirm(channels[signal] as number, value, at);
  }

  #read(signal: number, value: number, raw: number, at: number): void {
    for (const target of this.#targets[signal] as readonly Target[]) {
      if (target.contest !== undefined && !this.#speaks(target, target.contest, at)) continue;
      const converted = convert(target, value, raw);
      target.absent = converted === undefined;
      // A value that appeared and disappeared while privacy hid it is never published.
      if (target.absent && this.#hidden.size > 0) this.#hidden.delete(target);
      if (target.position) this.#position.offer(target.slot as Slot, converted, at);
      else if (converted !== undefined) this.#write(target, converted, at);
      else if (target.channel !== undefined) this.#channels.clear(target.channel, at);
      else if (this.#overruled.size > 0) this.#unsay(target.slot);
      if (converted === undefined) this.#refuse(target, value, raw);
    }
  }

  #refuse(target: Target, value: number, raw: number): void {
    if (target.invalid?.has(raw) !== true) this.rejected++;
    const { leaf, scale, offset } = target;
    this.#refusals?.refused(leaf.path, refusalOf(target, value, raw), value * scale + offset, raw);
  }

  alive(signals: readonly number[], at: number): void {
    let located = false;
    for (const signal of signals) {
      for (const target of this.#targets[signal] as readonly Target[]) located = this.#alive(target, at) || located;
    }
    // Coordinates of the previous frame belong to the position that this frame repeats.
    if (located) this.#position.settle(at);
  }

  /** Prepares a group of signals that always arrive together, for {@link aliveTogether}. */
  group(signals: readonly number[]): SourceGroup {
    const targets = signals.flatMap((signal) => this.#targets[signal] as readonly Target[]);
    const plain = targets.filter(isPlain);
    return {
      signals,
      slots: Int32Array.from(plain.flatMap(({ slot }) => slot?.index ?? [])),
      channels: Int32Array.from(plain.flatMap(({ channel }) => channel?.index ?? [])),
      others: targets.filter((target) => !isPlain(target)),
    };
  }

  /** Like {@link alive}, for a group at once: most frames of a bus change nothing. */
  aliveTogether({ signals, slots: plain, channels, others }: SourceGroup, at: number): void {
    if (this.#hidden.size > 0 || at < this.#privacy.until) {
      this.alive(signals, at);
      return;
    }
    this.#status.seenAll(plain, at);
    this.#channels.seenAll(channels, at);
    let located = false;
    for (let i = 0; i < others.length; i++) located = this.#alive(others[i] as Target, at) || located;
    if (located) this.#position.settle(at);
  }

  settled(at: number): void {
    if (!this.#started) {
      this.#started = true;
      // Do not turn a restored value into a reading of this run only because it equals the constant.
      for (const [slot, value] of this.#constants) if (this.#status.value(slot) !== value) this.set(slot, value, at);
    }
    if (this.#position.heard === WHOLE) this.#position.settle(at);
    this.#status.settle(at);
  }

  set(slot: Slot, value: SlotValue, at: number): void {
    if (hiddenFrom(slot.path) > this.#privacy.level) this.#status.write(slot, value, at);
  }

  remove(slot: Slot, at: number): void {
    this.#status.remove(slot, at);
  }

  overrule(slot: Slot, value: SlotValue, at: number): void {
    const shown = this.#status.value(slot);
    const known = this.#overruled.get(slot);
    // After a restart Status still shows the value that an earlier run of the agent set.
    const said = known === undefined ? (shown === value ? undefined : shown) : known.said;
    this.#overruled.set(slot, { value, said });
    this.set(slot, value, at);
  }

  retract(slot: Slot, at: number): void {
    const known = this.#overruled.get(slot);
    this.#overruled.set(slot, { value: undefined, said: known === undefined ? this.#status.value(slot) : known.said });
    this.#status.remove(slot, at);
  }

  release(slot: Slot, at: number): void {
    const known = this.#overruled.get(slot);
    if (known === undefined) return;
    this.#overruled.delete(slot);
    if (known.said === undefined) this.#status.remove(slot, at);
    else this.set(slot, known.said, at);
  }

  expose(exposed: boolean, at: number): void {
    const before = this.#privacy.level;
    this.#privacy.expose(exposed, at);
    this.#privacyChanged(before, at);
  }

  /** Restores the privacy setting from the Status of an earlier run. */
  resume(): void {
    const chosen = this.#status.value(privacyState);
    if (chosen !== undefined) this.#privacy.choose(chosen, Number.NEGATIVE_INFINITY);
    this.#position.privacyChanged();
  }

  #write(target: Target, value: SlotValue, at: number): void {
    const { slot, channel } = target;
    if (target.hiddenFrom <= this.privacyLevel(at)) {
      this.#hidden.set(target, value);
      this.#refusals?.refused(target.leaf.path, 'hidden', Number.NaN, Number.NaN);
      return;
    }
    // Later frames repeat this new value, not the hidden one.
    if (this.#hidden.size > 0) this.#hidden.delete(target);
    if (slot === undefined) {
      this.#channels.write(channel as Channel, value, at);
      return;
    }
    if (slot === privacyState) this.#choose(value, at);
    if (this.#overruled.size > 0 && this.#isOverruled(slot, value, at)) return;
    this.#status.write(slot, value, at);
  }

  /** Handles a value that the car reports. Returns true if the slot shows another value instead. */
  #isOverruled(slot: Slot, value: SlotValue, at: number): boolean {
    const known = this.#overruled.get(slot);
    if (known === undefined) return false;
    if (known.value === undefined && value !== known.said) {
      this.#overruled.delete(slot);
      return false;
    }
    known.said = value;
    if (known.value !== undefined) this.#status.write(slot, known.value, at);
    return true;
  }

  #unsay(slot: Slot | undefined): void {
    const known = slot === undefined ? undefined : this.#overruled.get(slot);
    if (known !== undefined) known.said = undefined;
  }

  /** Marks the target's value as still current. Returns true if the target is a part of a position. */
  #alive(target: Target, at: number): boolean {
    if (target.contest !== undefined && !this.#speaks(target, target.contest, at)) return false;
    if (target.position) {
      this.#position.repeat(target.slot as Slot, at);
      return true;
    }
    if (this.#hidden.size > 0 && this.#hidden.has(target)) this.#reveal(target, at);
    else if (at < this.#privacy.until && target.hiddenFrom <= this.#privacy.levelAt(at)) return false;
    else if (target.slot !== undefined) this.#status.seen(target.slot, at);
    else this.#channels.seen(target.channel as Channel, at);
    return false;
  }

  #reveal(target: Target, at: number): void {
    if (target.hiddenFrom <= this.privacyLevel(at)) return;
    const value = this.#hidden.get(target) as SlotValue;
    this.#hidden.delete(target);
    this.#write(target, value, at);
  }

  #choose(state: SlotValue, at: number): void {
    const before = this.#privacy.level;
    this.#privacy.choose(state, at);
    this.#privacyChanged(before, at);
  }

  #privacyChanged(before: number, at: number): void {
    const { level } = this.#privacy;
    if (level === before) return;
    this.#position.privacyChanged();
    // Constants are known facts of the car; they are restored with the other values.
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

  /** Records that the target's source was active. Returns true if no better source was within its fail-over time. */
  #speaks(target: Target, contest: Contest, at: number): boolean {
    contest.spoke[target.rank] = at;
    for (let better = 0; better < target.rank; better++) {
      const silence = at - (contest.spoke[better] as number);
      // A better source with a future time was read first, or was active before the clock was set back.
      if (silence >= -SKEW && silence <= (contest.failover[better] as number)) return false;
    }
    this.#expire(target);
    return true;
  }

  #expire({ slot, channel, timeout }: Target): void {
    if (slot !== undefined) this.#status.expireAfter(slot, timeout);
    else this.#channels.expireAfter(channel as Channel, timeout);
  }
}
