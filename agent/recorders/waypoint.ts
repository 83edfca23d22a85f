import type { WaypointRule } from '../../protocol/recording.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { type Slot, type SlotValue, slotByPath } from '../../protocol/slots.ts';
import { distance } from '../position.ts';
import type { Records } from '../records.ts';
import type { StatusReader } from '../status.ts';
import type { Recorder } from './recorder.ts';

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const latitude = slot('lastPosition.latitude');
const longitude = slot('lastPosition.longitude');
const altitude = slot('lastPosition.altitude');
const heading = slot('lastPosition.heading');
const type = slot('lastPosition.type');
const fixStatus = slot('lastPosition.fixStatus');
const speed = slot('kinetic.speed');

/** Below this way a new fix of a standing car is drift of the receiver, m. */
const DRIFT = 15;

/** Sets a waypoint when the car has gone far enough, turned enough, or driven long enough since the last. */
export class WaypointRecorder implements Recorder {
  readonly name = 'waypoint';
  readonly #status: StatusReader;
  readonly #records: Records;
  readonly #rule: WaypointRule;
  #moved = false;
  #last: Waypoint | undefined;

  constructor(status: StatusReader, records: Records, rule: WaypointRule) {
    this.#status = status;
    this.#records = records;
    this.#rule = rule;
  }

  changed(changed: Slot, _value: SlotValue, _previous: SlotValue | undefined, _at: number): void {
    if (changed === latitude || changed === longitude) this.#moved = true;
  }

  removed(removed: Slot): void {
    if (removed === latitude || removed === longitude) this.#moved = false;
  }

  /** At one look a second no point is later than the second in which it became due. */
  tick(now: number): void {
    if (!this.#moved) return;
    this.#moved = false;
    const point = this.#position(now);
    if (this.#last !== undefined && !this.#due(this.#last, point)) return;
    this.#last = point;
    this.#records.append('waypoint', { points: [point] }, point.at);
  }

  flush(now: number): void {
    this.tick(now);
  }

  #due(last: Waypoint, next: Waypoint): boolean {
    const way = distance(last, next);
    if (way < DRIFT) return false;
    const turn = Math.abs((((next.heading ?? 0) - (last.heading ?? 0) + 540) % 360) - 180);
    return (
      way >= this.#rule.distance ||
      turn >= this.#rule.heading ||
      next.at - last.at >= this.#rule.interval ||
      next.at < last.at
    );
  }

  #position(at: number): Waypoint {
    const read = (from: Slot): SlotValue | undefined => this.#status.value(from);
    const point: Record<string, unknown> = { at: Math.round(at) };
    for (const [name, from] of [
      ['latitude', latitude],
      ['longitude', longitude],
      ['altitude', altitude],
      ['heading', heading],
      ['type', type],
      ['fixStatus', fixStatus],
      ['speed', speed],
    ] as const) {
      const value = read(from);
      if (value !== undefined) point[name] = value;
    }
    return point as unknown as Waypoint;
  }
}
