import type { TelemetryRule } from '../../protocol/recording.ts';
import { isTelemetry, type Reading, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import type { Slot, SlotValue } from '../../protocol/slots.ts';
import type { VehicleProfile } from '../profile.ts';
import type { Records } from '../records.ts';
import type { StatusReader } from '../status.ts';
import type { Recorder } from './recorder.ts';

const FALLBACK: TelemetryRule = { interval: 1_000, deadBand: 0, heartbeat: 60_000 };
/** Readings may come a little out of order; what lies further back is a step of the clock, ms. */
const STEP = 10_000;
/** A batch is closed after this many readings, or at the tick after it was opened: on disk within a second. */
const BATCH = 500;

interface Track {
  readonly slot: Slot;
  readonly rule: TelemetryRule;
  /** Last reading that was recorded. */
  value: SlotValue | undefined;
  at: number;
  /** A change that the minimum interval holds back. */
  held: SlotValue | undefined;
  heldAt: number;
}

/**
 * Records readings on change: at most one per interval and slot (the last of the interval is kept, so the series
 * ends on the true value), quantities beyond their dead-band, and a heartbeat while a value stays the same.
 */
export class TelemetryRecorder implements Recorder {
  readonly name = 'telemetry';
  readonly #status: StatusReader;
  readonly #records: Records;
  readonly #rules: VehicleProfile['telemetry'];
  readonly #tracks = new Map<Slot, Track>();
  readonly #held = new Set<Track>();
  #batch: Reading[] = [];

  constructor(status: StatusReader, records: Records, rules: VehicleProfile['telemetry']) {
    this.#status = status;
    this.#records = records;
    this.#rules = rules;
  }

  changed(slot: Slot, value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    if (!isTelemetry(slot)) return;
    let track = this.#tracks.get(slot);
    if (track === undefined) {
      const rule = this.#rules[slot.path] ?? this.#rules['default'] ?? FALLBACK;
      track = { slot, rule, value: undefined, at: Number.NEGATIVE_INFINITY, held: undefined, heldAt: 0 };
      this.#tracks.set(slot, track);
    }
    const { rule } = track;
    if (typeof value === 'number' && typeof track.value === 'number' && Math.abs(value - track.value) < rule.deadBand) {
      this.#release(track);
      return;
    }
    if (passed(track.at, at, rule.interval)) this.#record(track, value, at);
    else {
      track.held = value;
      track.heldAt = at;
      this.#held.add(track);
    }
  }

  /** What is no longer known is neither repeated nor caught up with. */
  removed(slot: Slot): void {
    const track = this.#tracks.get(slot);
    if (track === undefined) return;
    this.#release(track);
    this.#tracks.delete(slot);
  }

  tick(now: number): void {
    for (const track of this.#held) {
      if (passed(track.at, now, track.rule.interval)) this.#record(track, track.held as SlotValue, track.heldAt);
    }
    for (const track of this.#tracks.values()) {
      if (!passed(track.at, now, track.rule.heartbeat) || !this.#status.fresh(track.slot, now)) continue;
      this.#record(track, this.#status.value(track.slot) as SlotValue, now);
    }
    this.#close();
  }

  flush(_now: number): void {
    for (const track of this.#held) this.#record(track, track.held as SlotValue, track.heldAt);
    this.#close();
  }

  #record(track: Track, value: SlotValue, at: number): void {
    this.#release(track);
    track.value = value;
    track.at = at;
    this.#batch.push({ slot: track.slot, value, at: Math.round(at) });
    if (this.#batch.length >= BATCH) this.#close();
  }

  /** What was held back is overtaken by a newer reading. */
  #release(track: Track): void {
    track.held = undefined;
    this.#held.delete(track);
  }

  #close(): void {
    if (this.#batch.length === 0) return;
    const readings = this.#batch;
    this.#batch = [];
    let from = Number.POSITIVE_INFINITY;
    for (const { at } of readings) if (at < from) from = at;
    this.#records.append('telemetry', telemetryFromReadings(readings), from);
  }
}

/** Whether `span` ms have passed since `from`. A clock that stepped back says nothing about it: then they have. */
function passed(from: number, now: number, span: number): boolean {
  return now - from >= span || now < from - STEP;
}
