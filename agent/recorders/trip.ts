import { defined } from '../../protocol/defined.ts';
import { recordingDefaults, type TripRule } from '../../protocol/recording.ts';
import { progressMembers, type Trip, type TripFaultCause, type TripReport } from '../../protocol/schema/trip.ts';
import { type Slot, type SlotValue, slots as statusSlots } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import type { Records } from '../records.ts';
import type { OpenTripReader, Recorder, TripProgress, TripReader } from './recorder.ts';
import { tellsPower } from './trip/car.ts';
import { forget } from './trip/distance.ts';
import { forgetGauge } from './trip/energy.ts';
import type { CarUse } from './trip/evidence.ts';
import { Hearing } from './trip/hearing.ts';
import { TripMachine } from './trip/machine.ts';
import { gaugeSlots, nothing, TripReadings } from './trip/readings.ts';
import { copy } from './trip/shape.ts';
import * as slots from './trip/slots.ts';
import { correctState, keptState, newState, type TripState } from './trip/state.ts';
import { corrected, proceed } from './trip/timeline.ts';

export interface TripParts {
  readonly status: StatusReader;
  readonly records: Records;
  readonly rule?: TripRule | undefined;
}

/** Slots that show movement or the switch state of the car, without positions. */
const signs: ReadonlySet<Slot> = new Set([...slots.powerSlots, slots.speed, slots.moving, slots.mileage]);
const places: ReadonlySet<Slot> = new Set([slots.latitude, slots.longitude]);
const ways: ReadonlySet<Slot> = new Set(slots.waySlots);
const powers: ReadonlySet<Slot> = new Set(slots.powerSlots);
/** Slots whose changes concern a trip. Most slots do not. */
const concerning: ReadonlySet<Slot> = new Set([...signs, ...places, ...gaugeSlots.keys(), slots.privacy]);
/** Role of each slot in a trip, by its index: the speed alone changes a thousand times a minute. */
const roles = statusSlots.map((slot) =>
  slot === slots.privacy
    ? 'privacy'
    : (gaugeSlots.get(slot) ?? (places.has(slot) ? 'place' : signs.has(slot) ? 'sign' : undefined)),
);

/**
 * Derives trips from the switch, the speed, the odometer and the position of the car (docs/trips.md). After a power cut
 * it resumes from its saved state, as after a gap in the readings.
 */
export class TripRecorder implements Recorder, TripReader, OpenTripReader, TripProgress {
  readonly name = 'trip';
  readonly watches = concerning;
  readonly #status: StatusReader;
  readonly #records: Records;
  readonly #rule: TripRule;
  readonly #hearing: Hearing;
  #state: TripState;
  #machine: TripMachine;
  #readings: TripReadings;
  /** Position that privacy has just removed: if privacy hides the rest of the car as well, the trip ends there. */
  #parting: TripState['position'] = null;
  /** Saved state of a parked car since its readings stopped. */
  #silence: unknown;

  constructor({ status, records, rule = recordingDefaults.trip }: TripParts) {
    this.#status = status;
    this.#records = records;
    this.#rule = rule;
    this.#hearing = new Hearing(status);
    this.#state = newState();
    this.#machine = new TripMachine(this.#state, status, records, rule);
    this.#readings = new TripReadings(this.#state, status, this.#machine, rule);
  }

  get current(): string | undefined {
    return this.#state.open?.id;
  }

  present(now: number): Trip | undefined {
    const { last, lead } = this.#state.timeline;
    return this.#machine.present(Math.max(now + lead, last ?? now));
  }

  progress(now: number, whole: boolean): TripReport | undefined {
    const { last, lead } = this.#state.timeline;
    if (!whole) return this.#machine.progress(Math.max(now + lead, last ?? now));
    const trip = this.present(now);
    if (trip === undefined) return undefined;
    const { id, updatedAt } = trip;
    const known: Partial<Trip> = this.#records.get('trip', id) ?? {};
    const changed = progressMembers.filter((name) => JSON.stringify(trip[name]) !== JSON.stringify(known[name]));
    return { id, ...defined({ updatedAt }), ...Object.fromEntries(changed.map((name) => [name, trip[name]])) };
  }

  /**
   * Publishes the open trip, marked as unfinished, if no reading follows, as at the end of a log. It stays open for a
   * run that resumes it.
   */
  putUnfinished(now: number): Trip | undefined {
    const trip = this.#status.value(slots.privacy) === 'Full' ? undefined : this.present(now);
    if (trip === undefined) return undefined;
    const faults: Trip['faults'] = [...(trip.faults ?? []), { fault: 'Unfinished', cause: 'Connection' }];
    const unfinished: Trip = { ...trip, faults };
    this.#records.put('trip', unfinished);
    return unfinished;
  }

  changed(slot: Slot, value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    const role = roles[slot.index];
    if (role === undefined) return;
    const now = this.#arrive(at);
    if (role === 'privacy') {
      if (value === 'Full' && this.#blinded()) this.#machine.hide(now, 'FullPrivacy');
      // Observers are notified after hidden values are removed: the removed position belongs to no later choice.
      this.#parting = null;
      return;
    }
    this.#hearing.changed(slot);
    if (role === 'place') {
      // A position has two coordinates: the next tick evaluates it, when both have arrived.
      this.#state.fixAt = now;
      this.#noteHeard(now, true);
    } else if (role === 'sign') {
      this.#machine.advance(now, this.#readings.read(slot, value, now), this.#tellsPower(slot));
      this.#noteHeard(now, ways.has(slot));
    } else this.#readings.gauge(role, value, now);
  }

  removed(slot: Slot, _previous: SlotValue, at: number): void {
    const gauge = gaugeSlots.get(slot);
    if (gauge === undefined && !signs.has(slot) && !places.has(slot)) return;
    const now = this.#arrive(at);
    const state = this.#state;
    this.#hearing.removed(slot);
    if (places.has(slot)) {
      this.#parting ??= state.position;
      state.position = null;
      state.startPosition = null;
      state.fixAt = null;
      if (this.#blinded()) this.#hide(now, 'GeoPrivacy');
      forget(state.meter, 'fix');
    } else if (signs.has(slot)) this.#hide(now, 'FullPrivacy');
    if (slot === slots.speed) forget(state.meter, 'speed');
    if (slot === slots.mileage) forget(state.meter, 'odometer');
    if (gauge !== undefined) forgetGauge(state.gauges[gauge.type], gauge.member);
  }

  tick(wall: number): void {
    const now = this.#arrive(wall);
    const state = this.#state;
    const { changed, repeated } = this.#hearing.look(wall);
    this.#parting = null;
    const power = tellsPower(this.#status, (slot) => repeated.has(slot));
    this.#machine.advance(now, this.#repeated(repeated, now), power);
    const heard = [...changed, ...repeated].filter((slot) => signs.has(slot) || places.has(slot));
    const way = heard.some((slot) => ways.has(slot));
    if (heard.length > 0) this.#noteHeard(now, way);
    this.#lackWay(now);
    state.tickAt = now;
  }

  /** Keeps an open trip open. Every commit contains its state. */
  flush(_now: number): void {}

  /** Returns an unchanged state for a parked car without new readings: elapsed time alone needs no write. */
  state(): unknown {
    const { dark, open } = this.#state;
    const hearing = this.#hearing.state();
    const silent = dark && open === null && hearing.changed.length === 0 && hearing.repeated.length === 0;
    if (!silent) this.#silence = undefined;
    else if (this.#silence !== undefined) return this.#silence;
    const state = { trip: this.#state, hearing };
    if (silent) this.#silence = copy(state);
    return this.#silence ?? state;
  }

  restore(state: unknown): void {
    const { trip, hearing } = keptState(state);
    this.#state = copy(trip);
    this.#hearing.restore(hearing);
    this.#machine = new TripMachine(this.#state, this.#status, this.#records, this.#rule);
    this.#readings = new TripReadings(this.#state, this.#status, this.#machine, this.#rule);
  }

  /** Corrects the state. records.ts corrects the records and publishes them again. */
  correct(by: number, latest = Number.POSITIVE_INFINITY): void {
    this.#silence = undefined;
    const state = this.#state;
    this.#hearing.correct(by);
    correctState(state, corrected(state.timeline, by, state.open?.startedAt ?? null), latest);
  }

  /** Accepts the time of an event, applies the elapsed time, and returns the trip time of the event. */
  #arrive(at: number): number {
    const state = this.#state;
    const { phase } = this.#machine;
    const moment = proceed(state.timeline, at, phase !== 'unseen' && phase !== 'parked');
    if (moment.shift !== 0) correctState(state, moment.shift);
    this.#machine.elapse(moment.at);
    return moment.at;
  }

  #tellsPower(slot: Slot): boolean {
    return powers.has(slot) && tellsPower(this.#status, (known) => known === slot);
  }

  #repeated(repeated: ReadonlySet<Slot>, now: number): CarUse {
    const state = this.#state;
    let heard = nothing;
    for (const slot of repeated) {
      const gauge = gaugeSlots.get(slot);
      if (gauge === undefined) {
        if (signs.has(slot)) heard = either(heard, this.#readings.repeat(slot, now));
      } else {
        state.gauges[gauge.type].at = now;
        if (state.gauges[gauge.type][gauge.member] !== null) continue;
        this.#readings.gauge(gauge, this.#status.value(slot), now);
      }
    }
    const { fixAt } = state;
    state.fixAt = null;
    if (fixAt !== null) return either(heard, this.#readings.fix(fixAt));
    const stays = [...places].some((slot) => repeated.has(slot));
    return stays ? either(heard, this.#readings.sameFix(now)) : heard;
  }

  #noteHeard(now: number, way: boolean): void {
    this.#state.heardAt = now;
    if (way) this.#state.wayAt = now;
  }

  /** Returns true if Status has no value left that shows the movement of the car. */
  #blinded(): boolean {
    return [...signs].every((slot) => this.#status.value(slot) === undefined);
  }

  #hide(now: number, cause: TripFaultCause): void {
    const state = this.#state;
    const { position } = state;
    state.position ??= this.#parting;
    this.#machine.hide(now, cause);
    state.position = position;
  }

  /** Adds a fault to a driven trip with readings of the switch but none of the distance or position. */
  #lackWay(now: number): void {
    const { wayAt } = this.#state;
    if (this.#machine.phase !== 'driving') return;
    if (wayAt !== null && now - wayAt > this.#rule.silence) this.#machine.lack('DataLacking', 'Connection');
    this.#machine.lackPosition();
  }
}

function either(a: CarUse, b: CarUse): CarUse {
  return {
    moved: a.moved || b.moved,
    rolls: a.rolls || b.rolls,
    rests: a.rests || b.rests,
  };
}
