import { type Deflate, portableDeflate } from '../../protocol/columns/deflate.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { VehicleProfile } from '../../protocol/profile.ts';
import type { TelemetryRule } from '../../protocol/recording.ts';
import {
  type Reading,
  type TimeResolution,
  telemetryBounds,
  telemetryFromReadings,
  telemetrySlots,
} from '../../protocol/schema/telemetry.ts';
import type { OutboxSettings } from '../../protocol/settings.ts';
import { type Slot, type SlotValue, slotById, slots } from '../../protocol/slots.ts';
import type { StatusListener } from '../model/status.ts';
import type { Records } from '../records.ts';
import { PARTS, type Patience, type Recorder, unchanged } from './recorder.ts';

const FALLBACK: TelemetryRule = { interval: 1_000, deadBand: 0, heartbeat: 60_000 };
/** Readings may arrive out of order by this many ms; a larger step back is a step of the clock. */
const STEP = 10_000;
/** Number of readings after which a batch is closed: more would save little and be lost together. */
const READINGS = 1_000;
/** Longest duration of a batch in ms: each second is a part of the state. */
const LONGEST = PARTS * 1_000 - 4_000;

interface Track {
  readonly slot: Slot;
  readonly rule: TelemetryRule;
  /** Last recorded reading; its time is in whole ms, as in the persisted form. */
  value: SlotValue | undefined;
  at: number;
  /** `seen`: an earlier run had read the value again since then. `fresh`: it was not stale at the next tick. */
  seen: boolean;
  fresh: boolean;
  /** A change that the minimum interval holds back. */
  held: SlotValue | undefined;
  heldAt: number;
}

/**
 * Persisted form of the tracks: times are ms before `at`; `seen` is 2 for a value that is not stale at the next tick.
 * Both lists are in the order of evaluation.
 */
interface State {
  readonly at: number;
  readonly tracks: readonly (readonly [slot: number, before: number, seen: 0 | 1 | 2, value: SlotValue])[];
  readonly held: readonly (readonly [slot: number, before: number, value: SlotValue])[];
}

interface TelemetryOptions extends Partial<Pick<OutboxSettings, 'batch'>> {
  readonly deflate?: Deflate;
  readonly patience?: Patience;
}

/** A stored reading of the open batch: id of the slot, time, value. */
type Draft = readonly [slot: number, at: number, value: SlotValue];

/**
 * Records readings on change: at most one per interval and slot (the last one of the interval, so that the series ends
 * with the true value), quantities beyond their dead-band, and a heartbeat while readings repeat the same value, except
 * in a sleeping car. Readings are sent in batches; until a batch is closed, each second's readings are a part of the
 * recorder's state.
 */
export class TelemetryRecorder implements Recorder {
  readonly name = 'telemetry';
  readonly watches = telemetrySlots;
  readonly #status: StatusListener;
  readonly #records: Records;
  readonly #rules: VehicleProfile['telemetry'];
  readonly #deflate: Deflate;
  /** Age in ms of its first reading at which a batch is closed: a longer batch needs fewer bytes per reading. */
  readonly #age: number;
  readonly #patience: Patience;
  /** In an array: each step of a Map's iterator allocates, and a tick visits all tracks. */
  readonly #tracks: Track[] = [];
  /** The tracks by index of the slot, because changes are a hundred times as frequent as ticks. */
  readonly #byIndex: (Track | undefined)[] = new Array(slots.length).fill(undefined);
  readonly #held = new Set<Track>();
  /** Readings of the open batch by second, those of the present second last. */
  #seconds: Reading[][] = [[]];
  #readings = 0;
  /** Time of the last tick; 0 before the first. */
  #tickAt = 0;
  /** Number of parts that the last commit may have written. */
  #written = 0;

  constructor(
    status: StatusListener,
    records: Records,
    rules: VehicleProfile['telemetry'],
    { deflate = portableDeflate, batch = LONGEST, patience = unchanged }: TelemetryOptions = {},
  ) {
    this.#status = status;
    this.#records = records;
    this.#rules = rules;
    this.#deflate = deflate;
    this.#age = Math.min(batch, LONGEST);
    this.#patience = patience;
  }

  changed(slot: Slot, value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    const track = this.#byIndex[slot.index] ?? this.#track(slot, Number.NEGATIVE_INFINITY, undefined);
    const { rule } = track;
    if (typeof value === 'number' && typeof track.value === 'number' && Math.abs(value - track.value) < rule.deadBand) {
      this.#release(track);
      return;
    }
    if (passed(track.at, at, rule.interval)) this.#record(track, value, at);
    else this.#hold(track, value, Math.round(at));
  }

  /** A removed value is neither repeated nor recorded later. */
  removed(slot: Slot): void {
    const track = this.#byIndex[slot.index];
    if (track === undefined) return;
    this.#release(track);
    this.#tracks.splice(this.#tracks.indexOf(track), 1);
    this.#byIndex[slot.index] = undefined;
  }

  tick(now: number): void {
    for (const track of this.#held) {
      if (passed(track.at, now, track.rule.interval)) this.#record(track, track.held as SlotValue, track.heldAt);
    }
    for (let i = 0; i < this.#tracks.length; i++) {
      const track = this.#tracks[i] as Track;
      // The clock stepped back: restart the wait.
      if (now < track.at - STEP) track.at = Math.round(now);
      if (!passed(track.at, now, track.rule.heartbeat) || !this.#lives(track, now)) continue;
      const value = this.#status.value(track.slot);
      // After a restart, Status may lack values of an object that was never complete.
      if (value !== undefined) this.#record(track, value, now);
    }
    if (this.#tickAt === 0) for (const track of this.#tracks) track.fresh = false;
    this.#tickAt = now;
    const first = this.#seconds[0]?.[0];
    if (first === undefined) return;
    if (this.#readings >= READINGS || now - first.at >= this.#patience(this.#age) || now < first.at - STEP)
      this.#close();
    else if ((this.#seconds.at(-1) as Reading[]).length > 0) this.#seconds.push([]);
  }

  flush(): void {
    for (const track of this.#held) this.#record(track, track.held as SlotValue, track.heldAt);
    this.#close();
  }

  state(): unknown {
    const tracks = this.#tracks;
    const held = [...this.#held];
    const at = Math.max(0, ...tracks.map((track) => track.at), ...held.map(({ heldAt }) => heldAt));
    return {
      at,
      tracks: tracks.map((track) => {
        const seen = !this.#seen(track) ? 0 : this.#lives(track, this.#tickAt + 1_000) ? 2 : 1;
        return [track.slot.id, at - track.at, seen, track.value as SlotValue] as const;
      }),
      held: held.map((track) => [track.slot.id, at - track.heldAt, track.held as SlotValue]),
    } satisfies State;
  }

  restore(state: unknown): void {
    const { at, tracks, held } = state as Partial<State>;
    if (typeof at !== 'number' || !Array.isArray(tracks) || !Array.isArray(held)) {
      throw new VigieError('input.malformed', 'the stored last readings are not valid');
    }
    for (const [id, before, seen, value] of tracks as State['tracks']) {
      const slot = slotById.get(id);
      if (slot !== undefined) Object.assign(this.#track(slot, at - before, value), { seen: seen > 0, fresh: seen > 1 });
    }
    for (const [id, before, value] of held as State['held']) {
      const slot = slotById.get(id);
      const track = slot && this.#byIndex[slot.index];
      if (track !== undefined) this.#hold(track, value, at - before);
    }
  }

  *parts(): Generator<readonly [number, unknown]> {
    const drafts = this.#seconds.filter((second) => second.length > 0);
    for (const [key, second] of drafts.entries()) {
      yield [key, second.map(({ slot, at, value }): Draft => [slot.id, at, value])];
    }
    for (let key = drafts.length; key < this.#written; key++) yield [key, undefined];
    this.#written = drafts.length;
  }

  restoreParts(parts: readonly unknown[]): void {
    this.#written = PARTS;
    this.#seconds = [];
    for (const part of parts) {
      if (!Array.isArray(part)) throw new VigieError('input.malformed', 'the stored readings are not a list');
      const readings = (part as readonly Draft[]).flatMap(([id, at, value]) => {
        const slot = slotById.get(id);
        return slot === undefined ? [] : [{ slot, at, value }];
      });
      this.#readings += readings.length;
      this.#seconds.push(readings);
    }
    // Continue the last second, so that restarts do not add parts.
    if (this.#seconds.length === 0) this.#seconds.push([]);
  }

  correct(by: number, latest: number): void {
    const later = (at: number): number => (at <= latest ? at + by : at);
    const moved = <T extends SlotValue | undefined>(slot: Slot, value: T): T =>
      slot.kind === 'instant' && typeof value === 'number' ? (later(value) as T) : value;
    this.#seconds = this.#seconds.map((second) =>
      second.map(({ slot, value, at }) => ({ slot, value: moved(slot, value), at: later(at) })),
    );
    for (const track of this.#tracks) {
      track.at = later(track.at);
      track.heldAt = later(track.heldAt);
      track.value = moved(track.slot, track.value);
      track.held = moved(track.slot, track.held);
    }
  }

  #track(slot: Slot, at: number, value: SlotValue | undefined): Track {
    const track: Track = {
      slot,
      rule: this.#rule(slot),
      value,
      at,
      seen: false,
      fresh: false,
      held: undefined,
      heldAt: 0,
    };
    this.#tracks.push(track);
    this.#byIndex[slot.index] = track;
    return track;
  }

  /** Returns true if the slot was read again since its record. */
  #seen({ seen, slot, at }: Track): boolean {
    return seen || this.#status.seenAt(slot) > at;
  }

  #lives(track: Track, now: number): boolean {
    return this.#seen(track) && (track.fresh || this.#status.fresh(track.slot, now));
  }

  #hold(track: Track, value: SlotValue, at: number): void {
    track.held = value;
    track.heldAt = at;
    this.#held.add(track);
  }

  #record(track: Track, value: SlotValue, at: number): void {
    this.#release(track);
    track.value = value;
    track.at = Math.round(at);
    track.seen = false;
    (this.#seconds.at(-1) as Reading[]).push({ slot: track.slot, value, at: track.at });
    this.#readings++;
    if (this.#readings >= telemetryBounds.readings) this.#close();
  }

  /** Drops the held-back reading: a newer one replaces it. */
  #release(track: Track): void {
    if (track.held === undefined) return;
    track.held = undefined;
    this.#held.delete(track);
  }

  #close(): void {
    const readings = this.#seconds.flat();
    this.#seconds = [[]];
    this.#readings = 0;
    if (readings.length === 0) return;
    let from = Number.POSITIVE_INFINITY;
    for (const { at } of readings) if (at < from) from = at;
    const resolution = (slot: Slot): TimeResolution => this.#rule(slot).resolution ?? 1;
    this.#records.append('telemetry', telemetryFromReadings(readings, { resolution, deflate: this.#deflate }), from);
  }

  #rule(slot: Slot): TelemetryRule {
    return this.#rules[slot.path] ?? this.#rules['default'] ?? FALLBACK;
  }
}

/** Returns true if `span` ms have passed since `from`, or the clock stepped back. */
function passed(from: number, now: number, span: number): boolean {
  return now - from >= span || now < from - STEP;
}
