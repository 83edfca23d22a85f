/** Carries out the phase table (phases.ts): one method for each action, and the events that trigger them. */

import { defined } from '../../../protocol/defined.ts';
import type { TripRule } from '../../../protocol/recording.ts';
import type { Trip, TripFault, TripFaultCause, TripReport } from '../../../protocol/schema/trip.ts';
import type { StatusReader } from '../../model/status.ts';
import type { Records } from '../../records.ts';
import { powerOf } from './car.ts';
import { departGauge } from './energy.ts';
import { type CarUse, evidenceOf, overdue, rollsNow, silence, type TripContext, type TripReading } from './evidence.ts';
import { distanceOf, factsOf, recordOf } from './facts.ts';
import { count, loseSight, watch } from './parked.ts';
import { actionFor, phaseOf, type TripAction, type TripEvent, type TripPhase } from './phases.ts';
import { latitude, privacy } from './slots.ts';
import type { OpenTrip, Pause, TripFacts, TripState } from './state.ts';

/** An event of the table at `at`. */
interface Occurrence {
  readonly at: number;
  /** Time since which it is true. */
  readonly since: number;
  /** Reason for missing readings. */
  readonly cause?: TripFaultCause;
  readonly reading?: TripReading;
}

/** Actions after which the same reading is applied again in the new phase. */
const REPEATED: ReadonlySet<TripAction | undefined> = new Set<TripAction>(['resume', 'endUnfinished']);

export class TripMachine {
  readonly #context: TripContext;
  readonly #state: TripState;
  readonly #status: StatusReader;
  readonly #records: Records;

  constructor(state: TripState, status: StatusReader, records: Records, rule: TripRule) {
    this.#context = { state, status, rule };
    this.#state = state;
    this.#status = status;
    this.#records = records;
  }

  get phase(): TripPhase {
    return phaseOf(this.#state);
  }

  /** Applies timeouts up to `at`. Call before each event. */
  elapse(at: number): void {
    this.#silence(at);
    if (overdue(this.phase, this.#context, at)) this.#happens('overdue', { at, since: at });
    // After the end of a trip the car is parked, and may be silent in that phase as well.
    this.#silence(at);
  }

  /** Applies the readings of one time. `power` as in {@link TripReading}. */
  advance(at: number, { moved, rolls, rests }: CarUse, power: boolean): void {
    const state = this.#state;
    if (power) state.offAt = powerOf(this.#status) === 'on' ? null : (state.offAt ?? at);
    if (rolls || moved) {
      state.movedAt = at;
      departGauge(state.gauges.Fuel);
      departGauge(state.gauges.Electric);
    }
    this.#follow(at, { power, moved, rolls, rests, rolling: state.rolling });
  }

  /** Call when a measure shows that the car moves, before {@link advance}. */
  stir(event: 'rolls' | 'left' | 'stepped', at: number, since: number): void {
    this.#happens(event, { at, since });
  }

  /** Call when privacy hides the readings of the car from `at` on. */
  hide(at: number, cause: TripFaultCause): void {
    this.#happens('hidden', { at, since: at, cause });
  }

  /** Adds a fault to the open trip, once. */
  lack(fault: TripFault, cause: TripFaultCause): void {
    const faults = this.#state.open?.faults;
    if (faults?.some((known) => known.fault === fault && known.cause === cause) === false)
      faults.push({ fault, cause });
  }

  /** Adds the fault of missing positions if the trip is driven while positions are private. */
  lackPosition(): void {
    const hidden = this.#status.value(latitude) === undefined && this.#status.value(privacy) === 'Geolocation';
    if (hidden) this.lack('DataLacking', 'GeoPrivacy');
  }

  /** Returns the open trip at `at`, or undefined. */
  present(at: number): Trip | undefined {
    const { open } = this.#state;
    if (open === null) return undefined;
    const facts = (open.gap ?? open.pause)?.facts ?? factsOf(this.#state, this.#status);
    const until = open.gap?.since ?? open.pause?.at ?? at;
    return recordOf(open, this.#state, this.#status, facts, Math.max(until, open.startedAt), undefined);
  }

  /** Returns only id, `updatedAt` and distance of {@link present}: most reports contain nothing else. */
  progress(at: number): TripReport | undefined {
    const { open } = this.#state;
    if (open === null) return undefined;
    const held = open.gap ?? open.pause;
    const distance = held === null ? distanceOf(this.#state) : held.facts.distance;
    const until = Math.round(Math.max(open.gap?.since ?? open.pause?.at ?? at, open.startedAt));
    const updatedAt = until > Math.round(open.createdAt) ? until : undefined;
    return { id: open.id, ...defined({ updatedAt, distance }) };
  }

  #silence(at: number): void {
    const found = silence(this.phase, this.#context, at);
    if (found !== undefined) this.#happens(found.event, { at, since: found.since, cause: 'Connection' });
  }

  #follow(at: number, reading: TripReading): void {
    this.#happens('reading', { at, since: at, reading });
    const found = evidenceOf(this.phase, this.#context, at, reading);
    if (found === undefined) return;
    const action = this.#happens(found.event, { at, since: found.since });
    if (REPEATED.has(action)) this.#follow(at, reading);
  }

  /** Carries out the action of the table and returns its name. */
  #happens(event: TripEvent, occurrence: Occurrence): TripAction | undefined {
    const action = actionFor(this.phase, event);
    if (action !== undefined) this.#actions[action](occurrence);
    return action;
  }

  readonly #actions: Readonly<Record<TripAction, (occurrence: Occurrence) => void>> = {
    watch: ({ at, reading }) => {
      if (reading !== undefined) watch(this.#context, at, reading);
    },
    count: () => count(this.#state),
    setOff: ({ since }) => {
      count(this.#state);
      this.#state.rolling = since;
    },
    noteRolling: ({ since }) => {
      this.#state.rolling ??= since;
    },
    begin: ({ at, since }) => this.#begin(at, since),
    noteMovement: ({ at }) => {
      if (powerOf(this.#status) !== 'on' && rollsNow(this.#context, at)) this.#state.movedAt = at;
    },
    pause: ({ since }) => {
      this.#trip.pause = { at: since, facts: this.#facts() };
    },
    resume: () => {
      this.#trip.pause = null;
    },
    lose: ({ since, cause = 'Connection' }) => {
      const trip = this.#trip;
      trip.gap = { since: Math.max(since, trip.startedAt), cause, paused: false, facts: this.#facts() };
    },
    losePaused: ({ since, cause = 'Connection' }) => {
      const trip = this.#trip;
      const facts = trip.pause?.facts ?? this.#facts();
      trip.gap = { since: Math.max(since, trip.startedAt), cause, paused: true, facts };
    },
    noteCause: ({ cause = 'Connection' }) => {
      const { gap } = this.#trip;
      if (gap !== null && (gap.cause === 'Connection' || cause === 'FullPrivacy')) gap.cause = cause;
    },
    bridge: ({ at }) => this.#bridge(at),
    end: ({ at }) => this.#end(at, this.#trip.pause, undefined),
    endUnfinished: ({ at }) => {
      const { gap } = this.#trip;
      const cause = gap?.cause ?? 'Connection';
      this.lack('Unfinished', cause);
      this.#end(at, gap === null ? null : { at: gap.since, facts: gap.facts }, cause);
    },
    endHidden: ({ at }) => {
      const { gap, pause } = this.#trip;
      this.#end(at, pause, gap?.cause ?? 'Connection');
    },
    loseSight: ({ cause = 'Connection' }) => loseSight(this.#state, cause),
  };

  #begin(at: number, since: number): void {
    const state = this.#state;
    const unseen = !state.rest;
    state.open = {
      id: this.#records.newId(at),
      createdAt: at,
      startedAt: Math.min(at, Math.max(since, state.timeline.floor ?? since)),
      startPosition: unseen && !state.fixed ? null : (state.startPosition ?? state.position),
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
    this.#put(at);
  }

  /** Covers a gap, unless private, with the odometer and positions. */
  #bridge(at: number): void {
    const state = this.#state;
    const trip = this.#trip;
    const { gap } = trip;
    if (gap === null) return;
    const bridged = gap.cause === 'Connection' && (state.meter.odometer !== null || state.meter.fix !== null);
    if (!bridged) state.away += at - gap.since;
    state.wayAt = at;
    trip.gap = null;
    trip.pause = null;
    this.lack('DataLacking', gap.cause);
    this.#put(at);
  }

  /** Ends the trip with the values recorded at its end. `unseen`: why the parked car sends no data. */
  #end(at: number, noted: Pause | null, unseen: TripFaultCause | undefined): void {
    const state = this.#state;
    const trip = this.#trip;
    const { at: stoppedAt, facts } = noted ?? { at, facts: this.#facts() };
    this.#records.put('trip', recordOf(trip, state, this.#status, facts, at, stoppedAt));
    state.open = null;
    state.on = null;
    state.rolling = null;
    state.timeline.floor = Math.max(stoppedAt, trip.startedAt);
    state.rest = true;
    if (unseen !== undefined) loseSight(state, unseen);
    count(state);
  }

  #facts(): TripFacts {
    return factsOf(this.#state, this.#status);
  }

  #put(at: number): void {
    const trip = this.present(at);
    if (trip !== undefined) this.#records.put('trip', trip);
  }

  /** The open trip, in the phases that have one. */
  get #trip(): OpenTrip {
    const { open } = this.#state;
    if (open === null) throw new Error('no trip is open');
    return open;
  }
}
