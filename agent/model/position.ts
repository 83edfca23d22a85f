import type { StatusContents } from '../../protocol/schema/status.ts';
import { type Slot, type SlotValue, slotAt } from '../../protocol/slots.ts';
import type { Privacy } from './privacy.ts';
import type { Status, StatusReader } from './status.ts';
import type { RefusalListener, ValueRefusal } from './target.ts';

export type Position = NonNullable<StatusContents['lastPosition']>;

const latitude = slotAt('lastPosition.latitude');
const longitude = slotAt('lastPosition.longitude');
const fixStatus = slotAt('lastPosition.fixStatus');
const type = slotAt('lastPosition.type');

const lastPosition: ReadonlySet<number> = new Set([latitude.object]);

/** Highest speed of a road vehicle, m/s; a larger jump between two fixes is an error of the receiver. */
const FASTEST = 70;
/** Bits of a position with both latitude and longitude. */
export const WHOLE = 3;
/** Number of refused jumps after which the earlier position counts as the wrong one. */
const JUMPS_BELIEVED = 5;

/**
 * Admits only complete positions to Status: latitude and longitude of the same time, with a fix, not the 0,0 of a
 * receiver without one, and not further from the last position than a car can have driven.
 */
export class PositionGate {
  readonly #status: Status;
  /** The latest value of each component. */
  readonly #latest = new Map<Slot, SlotValue>();
  /** Received components since the last position, as bits: latitude (1) and longitude (2). */
  heard = 0;
  #changed = false;
  readonly #privacy: Pick<Privacy, 'levelAt'>;
  /** Components that were last read in a private period. */
  readonly #concealed = new Set<Slot>();
  #needsFix = false;
  #hasFix = false;
  #last: { latitude: number; longitude: number; at: number } | undefined;
  #jumps = 0;
  readonly #refusals: RefusalListener | undefined;

  constructor(status: Status, privacy: Pick<Privacy, 'levelAt'>, refusals?: RefusalListener) {
    this.#status = status;
    this.#privacy = privacy;
    this.#refusals = refusals;
  }

  /** Call with true if the profile has a source for the fix: positions then count only while it reports a fix. */
  expectFix(expected: boolean): void {
    this.#needsFix = expected;
  }

  /** Accepts one component. `value` is undefined if the receiver has none. */
  offer(slot: Slot, value: SlotValue | undefined, at: number): void {
    if (slot === fixStatus) this.#hasFix = value !== undefined;
    if (value === undefined) {
      this.#latest.delete(slot);
      this.heard &= ~bitOf(slot);
      return;
    }
    this.#latest.set(slot, value);
    this.#hear(slot, at);
    this.#changed = true;
  }

  /** Call when a component was repeated unchanged: a car that drives due east repeats its latitude. */
  repeat(slot: Slot, at: number): void {
    if (this.#latest.has(slot)) this.#hear(slot, at);
    this.#status.seen(slot, at);
  }

  #hear(slot: Slot, at: number): void {
    this.heard |= bitOf(slot);
    if (this.#privacy.levelAt(at) > 0) this.#concealed.add(slot);
    else if (this.#concealed.size > 0) this.#concealed.delete(slot);
  }

  /** Returns the bit of a component, or 0 if it was read in a private time. */
  #open(slot: Slot): number {
    return this.#concealed.has(slot) ? 0 : bitOf(slot);
  }

  /** Call when privacy hides or shows positions. Components from a private period stay hidden until read again. */
  privacyChanged(): void {
    // The next position must be received completely after the change. It is shown even if it equals the last one, and
    // is not compared with a hidden position.
    this.heard = 0;
    this.#changed = true;
    this.#last = undefined;
  }

  /** Call when a frame or fix is complete. Writes the position to Status if both components arrived. */
  settle(at: number): void {
    if (this.heard !== WHOLE) return;
    const open = this.#privacy.levelAt(at) > 0 ? 0 : this.#open(latitude) | this.#open(longitude);
    if (open !== WHOLE) {
      this.heard = open;
      this.#refuse('hidden');
      return;
    }
    // A repeated position is also complete: the following components belong to the next one.
    this.heard = 0;
    if (!this.#changed) return;
    this.#changed = false;
    const position = {
      latitude: this.#latest.get(latitude) as number,
      longitude: this.#latest.get(longitude) as number,
      at,
    };
    if (this.#needsFix && !this.#hasFix) {
      this.#refuse('no-fix');
      return;
    }
    if (!this.#plausible(position)) return;
    this.#last = position;
    if (!this.#latest.has(type)) this.#latest.set(type, 'Acquire');
    this.#latest.forEach((value, slot) => {
      if (!this.#concealed.has(slot)) this.#status.write(slot, value, at);
    });
  }

  #refuse(rule: ValueRefusal): void {
    this.#refusals?.refused('lastPosition', rule, Number.NaN, Number.NaN);
  }

  #plausible(next: { latitude: number; longitude: number; at: number }): boolean {
    if (next.latitude === 0 && next.longitude === 0) {
      this.#refuse('no-place');
      return false;
    }
    const last = this.#last;
    if (last === undefined) return true;
    const seconds = Math.max(1, (next.at - last.at) / 1000);
    if (distance(last, next) <= FASTEST * seconds || next.at < last.at) {
      this.#jumps = 0;
      return true;
    }
    this.#jumps++;
    if (this.#jumps < JUMPS_BELIEVED) {
      this.#refuse('jump');
      return false;
    }
    this.#jumps = 0;
    return true;
  }
}

function bitOf(slot: Slot): number {
  return slot === latitude ? 1 : slot === longitude ? 2 : 0;
}

/** Returns the present position in the format of the interface, or undefined. */
export function presentPosition(status: Pick<StatusReader, 'contents'>): Position | undefined {
  return status.contents(lastPosition).lastPosition;
}

/** Returns the distance in m between two points on the sphere of mean radius 6,371,009 m (IUGG), by haversine. */
export function distance(
  a: { latitude: number; longitude: number },
  b: { latitude: number; longitude: number },
): number {
  const radians = Math.PI / 180;
  const sinLatitude = Math.sin(((b.latitude - a.latitude) * radians) / 2);
  const sinLongitude = Math.sin(((b.longitude - a.longitude) * radians) / 2);
  const h =
    sinLatitude * sinLatitude +
    Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * sinLongitude * sinLongitude;
  return 2 * 6_371_009 * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Returns the distance in m from `point` to the straight line between two points at most 100 km apart. */
export function deviation(
  from: { latitude: number; longitude: number },
  to: { latitude: number; longitude: number },
  point: { latitude: number; longitude: number },
): number {
  return deviationFrom(from, to)(point);
}

/** Returns a function that returns the distance in m of a point from the line between two points within 100 km. */
export function deviationFrom(
  from: { latitude: number; longitude: number },
  to: { latitude: number; longitude: number },
): (point: { latitude: number; longitude: number }) => number {
  // Between two waypoints the sphere is nearly flat: metres east and north of `from`.
  const scale = (6_371_009 * Math.PI) / 180;
  const narrow = Math.cos((from.latitude * Math.PI) / 180);
  const east = (other: { longitude: number }): number =>
    (((((other.longitude - from.longitude + 540) % 360) + 360) % 360) - 180) * scale * narrow;
  const north = (other: { latitude: number }): number => (other.latitude - from.latitude) * scale;
  const x = east(to);
  const y = north(to);
  const length = x * x + y * y;
  return (point) => {
    const px = east(point);
    const py = north(point);
    const along = length === 0 ? 0 : Math.max(0, Math.min(1, (px * x + py * y) / length));
    return Math.hypot(px - along * x, py - along * y);
  };
}
