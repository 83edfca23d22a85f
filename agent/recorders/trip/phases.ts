/**
 * The states of a trip and what leads from one to the next; docs/trips.md draws them.
 *
 *     parked → driving ⇄ paused → parked
 *                 ⇅
 *                gap → parked
 */
import type { TripRule } from '../../../protocol/recording.ts';
import type { Trip, TripFault, TripFaultCause } from '../../../protocol/schema/trip.ts';
import type { Records } from '../../records.ts';
import type { StatusReader } from '../../status.ts';
import { hasSwitch, measuresWay, powerOf } from './car.ts';
import { begin, forget, way } from './distance.ts';
import { beginGauge, departGauge, forgetGauge, gaugeMembers } from './energy.ts';
import { factsOf, recordOf } from './facts.ts';
import { newShares } from './segments.ts';
import { latitude, moving, privacy, speed } from './slots.ts';
import type { TripFacts, TripState } from './state.ts';

/** What has just been heard of the car. */
export interface CarUse {
  /** Whether it is on. */
  readonly power: boolean;
  /** It has moved: its odometer stepped, it left its place, or it says so. */
  readonly moved: boolean;
  /** It rolls. */
  readonly rolls: boolean;
  /** It was found where and as it was parked. */
  readonly rests: boolean;
}

/** A car that is on, or whose state is unknown, is driven after this distance; less is a faulty reading. km */
const DRIVEN = 0.02;
/** A car that is off has been driven after so much: less is pushed, or rolls out. km */
const PUSHED = 0.1;
/** A speed counts as the present one for so long, ms. */
const PRESENT = 10_000;
/** A car that has neither speed nor switch stands when it has not moved for so long, ms. */
const STILL = 60_000;

export class Phases {
  readonly #state: TripState;
  readonly #status: StatusReader;
  readonly #records: Records;
  readonly #rule: TripRule;

  constructor(state: TripState, status: StatusReader, records: Records, rule: TripRule) {
    this.#state = state;
    this.#status = status;
    this.#records = records;
    this.#rule = rule;
  }

  /** What the mere passing of time has done by `at`. Called before each event. */
  elapse(at: number): void {
    const state = this.#state;
    const silent = state.heardAt === null || at - state.heardAt > this.#rule.silence;
    if (state.open !== null && state.open.gap === null && state.open.pause === null && silent) this.#fallSilent();
    if (state.open !== null) this.#expire(at);
    if (state.open === null && silent) this.#darken();
  }

  /** What was heard at `at` leads to. */
  advance(at: number, heard: CarUse): void {
    const state = this.#state;
    const power = powerOf(this.#status);
    if (heard.power) state.offAt = power === 'on' ? null : (state.offAt ?? at);
    if (heard.rolls || heard.moved) {
      state.movedAt = at;
      departGauge(state.gauges.Fuel);
      departGauge(state.gauges.Electric);
    }
    if (state.open === null) this.#parked(at, heard);
    else if (state.open.gap !== null) this.#lost(at, heard);
    else if (state.open.pause !== null) this.#paused(at, heard);
    else this.#driving(at);
  }

  /** Counting of way and energy begins. */
  begin(): void {
    const state = this.#state;
    begin(state.meter);
    for (const gauge of Object.values(state.gauges)) beginGauge(gauge);
    state.shares = newShares();
    state.maxSpeed = state.meter.speed === null ? null : state.meter.speed.value;
    state.away = 0;
    state.startPosition = state.position;
    state.startMileage = state.meter.odometer?.value ?? null;
  }

  /** Nothing more will be heard of the car, for `cause`, from `at` on. */
  hide(at: number, cause: TripFaultCause): void {
    const { open } = this.#state;
    if (open === null) {
      this.#darken();
      this.#state.blind = cause;
    } else if (open.gap === null) this.#lose(at, cause, open.pause?.facts);
    else if (open.gap.cause === 'Connection' || cause === 'FullPrivacy') open.gap.cause = cause;
  }

  /** Adds what is lacking to the open trip, once. */
  lack(fault: TripFault, cause: TripFaultCause): void {
    const faults = this.#state.open?.faults;
    if (faults?.some((known) => known.fault === fault && known.cause === cause) === false)
      faults.push({ fault, cause });
  }

  /** The open trip as it stands at `at`. */
  present(at: number): Trip | undefined {
    const state = this.#state;
    const { open } = state;
    if (open === null) return undefined;
    const facts = (open.gap ?? open.pause)?.facts ?? factsOf(state, this.#status);
    const until = open.gap?.since ?? open.pause?.at ?? at;
    return recordOf(open, state, this.#status, facts, Math.max(until, open.startedAt), undefined);
  }

  /** Puts the open trip as it stands. */
  put(at: number): void {
    const trip = this.present(at);
    if (trip !== undefined) this.#records.put('trip', trip);
  }

  #parked(at: number, heard: CarUse): void {
    const state = this.#state;
    const power = powerOf(this.#status);
    if (state.dark && (heard.power || heard.moved || heard.rolls || heard.rests)) this.#lighten(at);
    // Of a car that tells nothing else, an engine that stands says that it is parked.
    if (heard.power && (power === 'off' || (power === undefined && !measuresWay(this.#status)))) state.rest = true;
    if (heard.rests && !heard.rolls) state.rest = true;
    const since = state.rolling;
    if (!heard.rolls && !this.#rolls(at)) state.rolling = null;
    if (heard.power && power !== 'on') state.on = null;
    if (heard.power && power === 'on' && state.on === null) {
      // What began to roll before it was on has begun already.
      if (state.rolling === null) this.begin();
      state.on = state.rolling ?? at;
    }
    const driven = state.rolling !== null || state.on !== null ? way(state.meter) : 0;
    const rolled = state.rolling !== null && driven >= (power === 'off' ? PUSHED : DRIVEN);
    const runs = state.on !== null && at - state.on > this.#rule.silence && !measuresWay(this.#status);
    if (rolled || runs || (heard.moved && power !== 'off')) this.#open(at, state.on ?? since ?? at);
  }

  #open(at: number, startedAt: number): void {
    const state = this.#state;
    const unseen = !state.rest;
    const start = unseen && !state.fixed ? null : (state.startPosition ?? state.position);
    state.open = {
      id: this.#records.newId(at),
      createdAt: at,
      startedAt: Math.min(at, Math.max(startedAt, state.timeline.floor ?? startedAt)),
      startPosition: start,
      startMileage: state.startMileage,
      faults: [],
      pause: null,
      gap: null,
    };
    state.on = null;
    state.rolling = null;
    state.movedAt = at;
    if (unseen) this.lack('Unstarted', state.blind);
    this.lackPosition();
    this.put(at);
  }

  /** A trip that is driven while its positions are kept private lacks them. */
  lackPosition(): void {
    const hidden = this.#status.value(latitude) === undefined && this.#status.value(privacy) === 'Geolocation';
    if (hidden) this.lack('DataLacking', 'GeoPrivacy');
  }

  #driving(at: number): void {
    const state = this.#state;
    const { open } = state;
    const power = powerOf(this.#status);
    if (open === null || power === 'on') return;
    if (this.#rolls(at)) {
      state.movedAt = at;
      return;
    }
    const movedAt = state.movedAt ?? open.startedAt;
    const tells = this.#status.value(speed) !== undefined || this.#status.value(moving) !== undefined;
    if (power === undefined && !tells && measuresWay(this.#status) && at - movedAt <= STILL) return;
    this.#pause(Math.max(open.startedAt, movedAt, state.offAt ?? movedAt));
  }

  #pause(at: number): void {
    const { open } = this.#state;
    if (open !== null) open.pause = { at, facts: factsOf(this.#state, this.#status) };
  }

  #paused(at: number, heard: CarUse): void {
    const state = this.#state;
    const pause = state.open?.pause;
    if (pause === undefined || pause === null) return;
    if (!this.#drivesOn(heard, pause.facts)) return;
    if (state.open !== null) state.open.pause = null;
    this.#driving(at);
  }

  #drivesOn(heard: CarUse, facts: TripFacts): boolean {
    const power = powerOf(this.#status);
    if (heard.moved && power !== 'off') return true;
    if (power === 'on' && heard.power && !measuresWay(this.#status)) return true;
    const since = way(this.#state.meter) - (facts.distance ?? 0);
    return heard.rolls && since >= (power === 'off' ? PUSHED : DRIVEN);
  }

  /** During a gap only what shows the car being driven, or parked, counts. */
  #lost(at: number, heard: CarUse): void {
    const state = this.#state;
    const { open } = state;
    const gap = open?.gap;
    if (open === null || gap === undefined || gap === null) return;
    const power = powerOf(this.#status);
    const driven = heard.rolls || (heard.moved && power !== 'off') || (!gap.paused && heard.power && power === 'on');
    if (driven) {
      // Odometer and positions bridge a gap, unless it is a private one.
      const bridged = gap.cause === 'Connection' && (state.meter.odometer !== null || state.meter.fix !== null);
      if (!bridged) state.away += at - gap.since;
      state.wayAt = at;
      open.gap = null;
      open.pause = null;
      this.lack('DataLacking', gap.cause);
      this.put(at);
    } else if (!gap.paused && heard.power && power === 'off') {
      this.#end(at);
      this.#parked(at, heard);
    }
  }

  /** The car has fallen silent while it was driven, or when it was switched off without anything that tells so. */
  #fallSilent(): void {
    const state = this.#state;
    const { open, heardAt } = state;
    if (open === null || heardAt === null) return;
    const since = Math.max(heardAt, open.startedAt);
    const { meter } = state;
    const rolled =
      this.#status.value(speed) !== undefined
        ? meter.speed !== null && meter.speed.value > this.#rule.moving
        : this.#status.value(moving) === true || (this.#status.value(moving) === undefined && this.#wentOn(since));
    if (rolled || hasSwitch(this.#status)) this.#lose(since, 'Connection', undefined);
    else this.#pause(since);
  }

  #wentOn(at: number): boolean {
    return measuresWay(this.#status) && this.#state.movedAt !== null && at - this.#state.movedAt <= STILL;
  }

  #lose(since: number, cause: TripFaultCause, paused: TripFacts | undefined): void {
    const { open } = this.#state;
    if (open === null) return;
    const facts = paused ?? factsOf(this.#state, this.#status);
    open.gap = { since: Math.max(since, open.startedAt), cause, paused: paused !== undefined, facts };
  }

  #expire(at: number): void {
    const state = this.#state;
    const { open } = state;
    if (open === null) return;
    const { pause, gap } = open;
    // Full privacy forbids any publication before it ends.
    if (gap !== null && this.#status.value(privacy) === 'Full') return;
    let from: number | undefined;
    if (gap !== null && !gap.paused) from = gap.since;
    else if (pause !== null) {
      const on = gap === null && powerOf(this.#status) === 'on';
      from = on ? (state.heardAt ?? pause.at) : Math.max(pause.at, state.offAt ?? pause.at);
    }
    if (from !== undefined && at - from > this.#rule.grace) this.#end(at);
  }

  #end(at: number): void {
    const state = this.#state;
    const { open } = state;
    if (open === null) return;
    const { pause, gap } = open;
    const unseen = gap !== null && !gap.paused ? gap : null;
    const noted = unseen ?? pause;
    if (unseen !== null) this.lack('Unfinished', unseen.cause);
    const facts = noted?.facts ?? factsOf(state, this.#status);
    const stoppedAt = unseen?.since ?? pause?.at ?? at;
    const record: Trip = recordOf(open, state, this.#status, facts, at, stoppedAt);
    this.#records.put('trip', record);
    state.open = null;
    state.on = null;
    state.rolling = null;
    state.timeline.floor = Math.max(stoppedAt, open.startedAt);
    state.rest = gap === null;
    if (gap !== null) {
      this.#darken();
      state.blind = gap.cause;
    }
    this.begin();
  }

  /** What was known of the parked car may have changed unseen. */
  #darken(): void {
    const state = this.#state;
    if (state.dark) return;
    state.dark = true;
    state.blind = 'Connection';
    state.rest = false;
    state.fixed = false;
    state.on = null;
    state.rolling = null;
    for (const measure of ['speed', 'odometer'] as const) forget(state.meter, measure);
  }

  /** The car is heard again. Energies that are not are none of it, or were of another day. */
  #lighten(at: number): void {
    this.#state.dark = false;
    for (const gauge of Object.values(this.#state.gauges)) {
      if (gauge.at !== null && at - gauge.at <= this.#rule.silence) continue;
      for (const member of gaugeMembers) forgetGauge(gauge, member);
    }
  }

  #rolls(at: number): boolean {
    const reading = this.#state.meter.speed;
    if (this.#status.value(speed) !== undefined) {
      return reading !== null && reading.value > this.#rule.moving && at - reading.at <= PRESENT;
    }
    return this.#status.value(moving) === true;
  }
}
