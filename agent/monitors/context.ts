import { VigieError } from '../../protocol/errors.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import { type Reading, type Telemetry, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { RecentReadings } from '../recorders/collision/recent.ts';

/** Longest context before and after an event plus one tick, in ms. */
const SPAN = 122_000;

/** The part of an event's context that follows the event. */
interface Complement {
  readonly id: string;
  readonly monitorId: string;
  /** Readings after `from`, up to and including `until`; UTC ms. */
  from: number;
  until: number;
}

/** The changes of Status around events. */
export class MonitorContext {
  /** Recent changes; set only while a monitor requests them. */
  ring: RecentReadings | undefined;
  #complements: Complement[] = [];
  /** True if something changed since {@link state} was called. */
  altered = false;

  /** Starts storing changes if a monitor requests the context; otherwise stops once no event needs them. */
  keep(asked: boolean): void {
    if (asked) this.ring ??= new RecentReadings(SPAN);
    else if (this.#complements.length === 0) this.ring = undefined;
  }

  /** Returns the changes in the `span` before an event at `at`. */
  before(at: number, span: number): Telemetry | undefined {
    return telemetryOf(span > 0 ? this.ring?.between(at - span, at) : undefined);
  }

  /** Collects the changes in the `span` after the event, which follow it in a message. */
  expect(event: MonitorEvent, span: number): void {
    if (span <= 0) return;
    this.#complements.push({ id: event.id, monitorId: event.monitorId, from: event.at, until: event.at + span });
    this.altered = true;
  }

  /** Returns the complements that are complete at `now`. */
  tick(now: number): MonitorEvent[] {
    this.ring?.prune(now);
    if (this.#complements.length === 0) return [];
    const ready: MonitorEvent[] = [];
    const left: Complement[] = [];
    for (const complement of this.#complements) {
      const { id, monitorId, from, until } = complement;
      // If the clock was set back, the complement would wait until the old time is reached again.
      if (now >= from && now < until) {
        left.push(complement);
        continue;
      }
      const telemetry = telemetryOf(this.ring?.between(from + 1, until));
      if (telemetry !== undefined) ready.push({ id, monitorId, at: from, refresh: false, telemetry, complement: true });
    }
    this.altered ||= left.length !== this.#complements.length;
    this.#complements = left;
    return ready;
  }

  correct(by: number): void {
    for (const complement of this.#complements) {
      complement.from += by;
      complement.until += by;
      this.altered = true;
    }
  }

  state(): unknown {
    return this.#complements;
  }

  restore(state: unknown): void {
    if (!Array.isArray(state)) throw new VigieError('input.malformed', 'the stored contexts are not a list');
    this.#complements = state.map((complement: Complement) => ({ ...complement }));
  }
}

function telemetryOf(readings: readonly Reading[] | undefined): Telemetry | undefined {
  return readings === undefined || readings.length === 0 ? undefined : telemetryFromReadings(readings);
}
