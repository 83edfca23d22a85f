import { VigieError } from '../../protocol/errors.ts';
import type { WaypointRule } from '../../protocol/recording.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import type { OutboxSettings } from '../../protocol/settings.ts';
import { type Slot, type SlotValue, slotAt } from '../../protocol/slots.ts';
import { deviationFrom, distance } from '../model/position.ts';
import type { StatusReader } from '../model/status.ts';
import type { Records } from '../records.ts';
import { type Patience, type Recorder, unchanged } from './recorder.ts';

const latitude = slotAt('lastPosition.latitude');
const longitude = slotAt('lastPosition.longitude');
const speed = slotAt('kinetic.speed');
const members = Object.entries({
  latitude,
  longitude,
  altitude: slotAt('lastPosition.altitude'),
  heading: slotAt('lastPosition.heading'),
  type: slotAt('lastPosition.type'),
  fixStatus: slotAt('lastPosition.fixStatus'),
  signalQuality: slotAt('lastPosition.signalQuality'),
  speed,
});

/** Distance in m below which a new fix of a standing car is drift of the receiver, in a car without a speed. */
const DRIFT = 15;
/** Speed in km/h below which the car stands. */
const STANDING = 1;
/** Time in ms without a fix that counts as a gap. A car that is within `way` m of its last position has stood. */
const GAP = { time: 30_000, way: 50 };
/** Time in ms without a moving fix after which the car has stood: its departure is a point, the first of a track. */
const STOOD = 10_000;
/** Number of fixes evaluated together: more would cost more per fix and make lines longer than straight roads. */
const SPAN = 240;
/** Largest number of points in one message. */
const POINTS = 20;
/** Longest age in ms of a point in a message. */
const LONGEST = 60_000;

interface State {
  readonly last: Waypoint | undefined;
  readonly between: readonly Waypoint[];
  readonly batch: readonly Waypoint[];
  readonly broken: boolean;
  readonly movedAt: number | undefined;
}

/** Intervals in ms between points while the car is stolen, independent of the distance. */
interface Tracking {
  readonly running: number;
  readonly shutdown: number;
}

/**
 * Sets waypoints so that the route between two of them deviates by at most the rule's `error` from the straight line
 * (opening window: a fix becomes a point as soon as the line beyond it would leave a fix too far aside; one fix per
 * second is enough, as within it even tyres at their limit cause less than a metre). Also sets a point when the car has
 * driven far enough, turned enough, or driven long enough since the last point, where it stops, and where it departs.
 */
export class WaypointRecorder implements Recorder {
  readonly name = 'waypoint';
  readonly watches = [latitude, longitude];
  readonly #status: StatusReader;
  readonly #records: Records;
  readonly #rule: WaypointRule;
  readonly #age: number;
  readonly #patience: Patience;
  /** Time of the position that was read since the last tick. */
  #movedAt: number | undefined;
  /** The last point. */
  #last: Waypoint | undefined;
  /** Fixes since then, oldest first. */
  #between: Waypoint[] = [];
  #batch: Waypoint[] = [];
  /** True if the next point does not continue the previous ones. */
  #broken = true;
  #tracking: Tracking | undefined;

  constructor(
    status: StatusReader,
    records: Records,
    rule: WaypointRule,
    { batch }: Pick<OutboxSettings, 'batch'> = { batch: LONGEST },
    patience: Patience = unchanged,
  ) {
    this.#status = status;
    this.#records = records;
    this.#rule = rule;
    this.#age = batch;
    this.#patience = patience;
  }

  /** Starts or stops tracking a stolen car. */
  track(tracking: Tracking | undefined): void {
    this.#tracking = tracking;
  }

  changed(_slot: Slot, _value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    this.#movedAt = at;
  }

  /** Breaks the track when privacy removes the position: it does not continue across the gap. */
  removed(removed: Slot): void {
    if (removed !== latitude && removed !== longitude) return;
    this.#movedAt = undefined;
    if (this.#broken) return;
    this.#settle();
    this.#broken = true;
    this.#send();
  }

  /** Called once a second: each point is set within the second in which it became due. */
  tick(now: number): void {
    const last = this.#between.at(-1) ?? this.#last;
    // The clock stepped back: the track so far has other times.
    if (last !== undefined && now < last.at - 1000) this.#break();
    if (this.#movedAt !== undefined) {
      this.#take(this.#position(this.#movedAt));
      this.#movedAt = undefined;
    }
    if (this.#stopped() && this.#between.length > 0) this.#settle();
    this.#follow(now);
    const first = this.#batch[0];
    if (
      first !== undefined &&
      (this.#batch.length >= POINTS || now - first.at >= this.#patience(this.#age) || now < first.at)
    ) {
      this.#send();
    }
  }

  flush(now: number): void {
    if (this.#movedAt !== undefined) this.tick(now);
    this.#settle();
    this.#send();
  }

  state(): unknown {
    return {
      last: this.#last,
      between: this.#between,
      batch: this.#batch,
      broken: this.#broken,
      movedAt: this.#movedAt,
    } satisfies State;
  }

  restore(state: unknown): void {
    const { last, between, batch, broken, movedAt } = state as Partial<State>;
    if (!Array.isArray(between) || !Array.isArray(batch))
      throw new VigieError('input.malformed', 'the stored path is not a list');
    this.#last = last;
    this.#between = [...between];
    this.#batch = [...batch];
    this.#broken = broken ?? last === undefined;
    this.#movedAt = movedAt;
  }

  correct(by: number, latest: number): void {
    const moved = (point: Waypoint): Waypoint => (point.at <= latest ? { ...point, at: point.at + by } : point);
    if (this.#movedAt !== undefined) this.#movedAt += by;
    this.#last = this.#last === undefined ? undefined : moved(this.#last);
    this.#between = this.#between.map(moved);
    this.#batch = this.#batch.map(moved);
  }

  #take(fix: Waypoint): void {
    const last = this.#last;
    const before = this.#between.at(-1) ?? last;
    if (last === undefined || before === undefined || this.#broken) {
      this.#set(last === undefined ? fix : { ...fix, gap: true });
      return;
    }
    if (this.#drifts(before, fix)) return;
    if (fix.at - before.at > GAP.time && distance(before, fix) > GAP.way) {
      this.#settle();
      this.#set({ ...fix, gap: true });
      return;
    }
    if (fix.at - before.at > STOOD) {
      this.#settle();
      this.#set(fix);
      return;
    }
    // The line to the new fix would leave a fix too far aside: the route turns at the previous fix.
    const aside = deviationFrom(last, fix);
    if (this.#between.some((point) => aside(point) > this.#rule.error)) this.#settle();
    this.#between.push(fix);
    if (this.#due(this.#last ?? last, fix)) this.#settle();
  }

  #due(last: Waypoint, fix: Waypoint): boolean {
    const { interval, distance: way, heading } = this.#rule;
    const turn = Math.abs((((fix.heading ?? 0) - (last.heading ?? 0) + 540) % 360) - 180);
    return (
      this.#between.length >= SPAN || fix.at - last.at >= interval || turn >= heading || distance(last, fix) >= way
    );
  }

  #drifts(before: Waypoint, fix: Waypoint): boolean {
    if (fix.speed !== undefined) return fix.speed < STANDING;
    return distance(before, fix) < DRIFT;
  }

  #stopped(): boolean {
    const value = this.#status.value(speed);
    return typeof value === 'number' && value < STANDING;
  }

  /** Adds a point of a stolen car at the ordered intervals, whether it is standing or not. */
  #follow(now: number): void {
    if (this.#tracking === undefined || this.#status.value(latitude) === undefined) return;
    const due = this.#stopped() ? this.#tracking.shutdown : this.#tracking.running;
    const last = this.#last;
    if (last !== undefined && now - last.at < due && now >= last.at) return;
    this.#settle();
    if (this.#last === last) this.#set(this.#position(now));
    this.#send();
  }

  /** Turns the newest fix into a waypoint. */
  #settle(): void {
    const fix = this.#between.at(-1);
    if (fix !== undefined) this.#set(fix);
  }

  #set(point: Waypoint): void {
    this.#last = point;
    this.#between = [];
    this.#broken = false;
    this.#batch.push(point);
  }

  #break(): void {
    this.#settle();
    this.#send();
    this.#broken = true;
  }

  #send(): void {
    const points = this.#batch;
    const [first] = points;
    if (first === undefined) return;
    this.#batch = [];
    this.#records.append('waypoint', { points }, first.at);
  }

  #position(at: number): Waypoint {
    const point: Record<string, SlotValue> = { at: Math.round(at) };
    for (const [name, from] of members) {
      const value = this.#status.value(from);
      if (value !== undefined) point[name] = value;
    }
    return point as unknown as Waypoint;
  }
}
