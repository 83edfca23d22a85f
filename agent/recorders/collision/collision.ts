import { type Channel, channelByPath } from '../../../protocol/channels.ts';
import { type Deflate, portableDeflate } from '../../../protocol/columns/deflate.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { shiftInstants } from '../../../protocol/instants.ts';
import { type CollisionRule, recordingDefaults } from '../../../protocol/recording.ts';
import { type Collision, collisionSchema } from '../../../protocol/schema/collision.ts';
import { telemetryFromReadings, telemetrySlots } from '../../../protocol/schema/telemetry.ts';
import { type Slot, type SlotValue, slotAt } from '../../../protocol/slots.ts';
import { presentPosition } from '../../model/position.ts';
import type { StatusReader } from '../../model/status.ts';
import type { Records } from '../../records.ts';
import type { Recorder, TripReader } from '../recorder.ts';
import { Accelerometer, type KeptSamples } from './accelerometer.ts';
import { CrashReport, type Impact, severityRank } from './crash-report.ts';
import { impactOf } from './pulse.ts';
import { type KeptReading, RecentReadings } from './recent.ts';

const vertical = channelByPath.get('acceleration.vertical') as Channel;
const emergencyCall = slotAt('safety.autoECallTriggering');

/** Time in ms in which an event data recorder evaluates the change of speed. 49 CFR 563.5, "trigger threshold". */
const WINDOW = 150;
/** Span in ms before the window, in which the resting acceleration is measured. */
const REST = 500;
/** The car lies on its side or roof (60° and more) if its upward acceleration is below this (m/s²) for so long (ms). */
const UPRIGHT = 4.9;
const LYING = 2_000;
/** Limits of the collision schema: change of speed in km/h, and time between samples of a pulse in ms. */
const LIMIT = { change: 1_000, interval: 1_000 };

/** A collision in progress: recorded at once, and again with all measurements when `until` is reached. */
interface Open {
  record: Collision;
  readonly at: number;
  readonly until: number;
  /** Set if the car reported the crash: a further report is another collision. */
  declared?: true;
}

/** Persisted form. Contains samples only while they belong to a collision, because of their size. */
interface State {
  readonly open: Open | undefined;
  /** Crash report of the car, by path of the channel. */
  readonly report: Readonly<Record<string, SlotValue>>;
  readonly suspected: number | undefined;
  readonly lyingSince: number | undefined;
  readonly samples: KeptSamples | undefined;
  readonly readings: readonly KeptReading[] | undefined;
}

interface CollisionParts {
  readonly status: StatusReader;
  readonly records: Records;
  readonly trips: TripReader;
  readonly rule: CollisionRule | undefined;
  readonly deflate?: Deflate | undefined;
}

/**
 * Records collisions that the car reports, and those that an accelerometer shows. Impacts that occur before the
 * readings after the first are complete belong to the same collision, which then has several sides, unless the car
 * itself reports that one crash was over before the next.
 */
export class CollisionRecorder implements Recorder {
  readonly name = 'collision';
  readonly watches = new Set([...telemetrySlots, emergencyCall]);
  readonly #parts: CollisionParts;
  readonly #rule: CollisionRule;
  readonly #accelerometer = new Accelerometer();
  readonly #recent: RecentReadings;
  #open: Open | undefined;
  /** Time at which the pulse crossed the threshold; evaluated at the end of its window. */
  #suspected: number | undefined;
  /** Time since which the car has been lying on its side or roof. */
  #lyingSince: number | undefined;
  readonly #report = new CrashReport();
  /** True if an emergency call was triggered in the present frame. */
  #called = false;
  /** True if the present frame contains signals of the crash report. */
  #reported = false;

  constructor(parts: CollisionParts) {
    this.#parts = parts;
    this.#rule = parts.rule ?? recordingDefaults.collision;
    this.#recent = new RecentReadings(this.#rule.before + this.#rule.after + WINDOW);
  }

  changed(slot: Slot, value: SlotValue, previous: SlotValue | undefined, at: number): void {
    this.#recent.take(slot, value, at);
    // The first reading after a start may be from an old crash.
    if (slot === emergencyCall && value === 'Detected' && previous !== undefined) this.#called = true;
  }

  removed(slot: Slot): void {
    this.#recent.forget(slot);
  }

  channel(channel: Channel, value: SlotValue): void {
    if (this.#report.take(channel, value)) this.#reported = true;
  }

  channelAbsent(channel: Channel): void {
    if (this.#report.take(channel, undefined)) this.#reported = true;
  }

  settled(at: number): void {
    if (!this.#called && !this.#reported) return;
    const called = this.#called;
    this.#called = false;
    this.#reported = false;
    const change = this.#report.settle();
    if (change === undefined) {
      if (called) this.#collided(at, {});
      return;
    }
    const { declared, standing, named, impact, tippedOver, pedestrian } = change;
    if (declared && this.#open?.declared === true) this.#complete(this.#open, at);
    const isCrash = called || declared || tippedOver || pedestrian || (named && standing);
    if (!isCrash && !(named && this.#open !== undefined)) return;
    this.#collided(at, impact, {
      ...(tippedOver ? { tippedOver } : {}),
      ...(pedestrian ? { pedestrian } : {}),
    });
    if (declared && this.#open !== undefined) this.#open.declared = true;
  }

  sample(axis: Channel, value: SlotValue, at: number): void {
    if (typeof value === 'number' && this.#accelerometer.take(axis, value, at)) this.#measure(axis, value, at);
  }

  tick(now: number): void {
    this.settled(now);
    this.#judge(now);
    const open = this.#open;
    // If the clock stepped back, the collision would stay open until the old time is reached again.
    if (open !== undefined && (now >= open.until || now < open.at - this.#rule.after)) this.#complete(open, now);
    // Prune last, because a collision may have waited one tick longer than readings are stored.
    this.#recent.prune(now);
  }

  flush(now: number): void {
    this.settled(now);
    this.#judge(now);
    if (this.#open !== undefined) this.#complete(this.#open, now);
  }

  state(): unknown {
    const measuring = this.#open !== undefined || this.#suspected !== undefined;
    const from = (this.#open?.at ?? this.#suspected ?? 0) - this.#rule.before;
    return {
      open: this.#open,
      report: this.#report.state(),
      suspected: this.#suspected,
      lyingSince: this.#lyingSince,
      samples: measuring ? this.#accelerometer.since(from) : undefined,
      readings: measuring ? this.#recent.state() : undefined,
    } satisfies State;
  }

  restore(state: unknown): void {
    const { open, report, suspected, lyingSince, samples, readings } = state as Partial<State>;
    const none = open !== undefined && (typeof open.record?.id !== 'string' || typeof open.until !== 'number');
    if (none || typeof report !== 'object') {
      throw new VigieError('input.malformed', 'the stored collision is invalid');
    }
    this.#open = open;
    this.#report.restore(report);
    this.#suspected = suspected;
    this.#lyingSince = lyingSince;
    if (samples !== undefined) this.#accelerometer.restore(samples);
    if (readings !== undefined) this.#recent.restore(readings);
  }

  correct(by: number, latest: number): void {
    this.#accelerometer.correct(by);
    this.#recent.correct(by);
    if (this.#suspected !== undefined) this.#suspected += by;
    if (this.#lyingSince !== undefined) this.#lyingSince += by;
    if (this.#open === undefined) return;
    const { record, at, until } = this.#open;
    const shifted = shiftInstants(collisionSchema, record, by, latest);
    this.#open = { ...this.#open, record: shifted, at: at + by, until: until + by };
  }

  #measure(axis: Channel, value: number, at: number): void {
    if (axis === vertical) this.#tilt(value, at);
    const { threshold } = this.#rule;
    if (this.#suspected === undefined && this.#accelerometer.planeSquared >= threshold * threshold)
      this.#suspected = at;
    if (this.#suspected !== undefined && at - this.#suspected >= WINDOW) this.#judge(at);
  }

  #tilt(upward: number, at: number): void {
    if (upward >= UPRIGHT) this.#lyingSince = undefined;
    else this.#lyingSince ??= at;
    const lying = this.#lyingSince !== undefined && at - this.#lyingSince >= LYING;
    if (lying && this.#open !== undefined && this.#open.record.tippedOver !== true) {
      this.#collided(at, {}, { tippedOver: true });
    }
  }

  /** Decides whether a suspicion was a collision, at the end of its window. */
  #judge(now: number): void {
    const from = this.#suspected;
    if (from === undefined || (now >= from && now - from < WINDOW)) return;
    this.#suspected = undefined;
    const window = this.#accelerometer.between(from - WINDOW / 3, from + WINDOW);
    if (window === undefined) return;
    const before = this.#accelerometer.between(from - REST, from - WINDOW / 3);
    const rest = { longitudinal: mean(before?.longitudinal), lateral: mean(before?.lateral) };
    const impact = impactOf(window, rest);
    if (Math.hypot(impact.longitudinalChange, impact.lateralChange) < this.#rule.speedChange) return;
    this.#collided(from, impact, {
      longitudinalChange: changeOf(impact.longitudinalChange),
      lateralChange: changeOf(impact.lateralChange),
    });
  }

  #collided(at: number, hit: Impact, more: Partial<Collision> = {}): void {
    const moment = Math.round(at);
    const open = this.#open ?? this.#begin(moment);
    const details = withDetail(open.record.details ?? [], hit);
    const record: Collision = {
      ...open.record,
      ...more,
      ...(details.length === 0 ? {} : { details }),
    };
    const published = open.record.updatedAt !== undefined || this.#open !== undefined;
    if (published) record.updatedAt = Math.max(moment, record.createdAt);
    if (this.#open !== undefined && same(record, open.record)) return;
    open.record = record;
    this.#open = open;
    this.#parts.records.put('collision', record);
  }

  #begin(at: number): Open {
    const { status, records, trips } = this.#parts;
    const position = presentPosition(status);
    const record: Collision = {
      createdAt: at,
      id: records.newId(at),
      ...defined({ tid: trips.current, position }),
    };
    return { record, at, until: at + this.#rule.after };
  }

  /** Call when the readings after the impact are complete. Records the collision again with all measurements. */
  #complete(open: Open, now: number): void {
    this.#open = undefined;
    const { before, after } = this.#rule;
    const measured = this.#accelerometer.between(open.at - before, open.at + after);
    // Samples at longer intervals show no pulse.
    const samples = measured !== undefined && measured.interval <= LIMIT.interval ? measured : undefined;
    const readings = this.#recent.between(open.at - before, open.at + after);
    if (samples === undefined && readings.length === 0) return;
    const values = (axis: Float64Array | undefined): number[] => Array.from(axis ?? [], tenth);
    const { longitudinal, lateral, vertical } = samples ?? {};
    this.#parts.records.put('collision', {
      ...open.record,
      updatedAt: Math.max(Math.round(Math.min(open.until, now)), open.record.createdAt),
      ...(samples === undefined
        ? {}
        : {
            pulse: {
              start: Math.round(samples.start),
              interval: Math.round(samples.interval * 1000) / 1000,
              ...(longitudinal === undefined ? {} : { longitudinal: values(longitudinal) }),
              ...(lateral === undefined ? {} : { lateral: values(lateral) }),
              ...(vertical === undefined ? {} : { vertical: values(vertical) }),
            },
          }),
      ...(readings.length === 0
        ? {}
        : { readings: telemetryFromReadings(readings, { deflate: this.#parts.deflate ?? portableDeflate }) }),
    });
  }
}

type Detail = NonNullable<Collision['details']>[number];

/** Returns one detail per side, with its worst severity. A severity without a side belongs to the last known side. */
function withDetail(details: readonly Detail[], hit: Impact): Detail[] {
  const struck = hit.side ?? details.at(-1)?.side;
  if (struck === undefined) return [...details];
  const known = details.find((detail) => detail.side === struck);
  const worst = [known?.severity, hit.severity].filter((one) => one !== undefined);
  worst.sort((a, b) => severityRank(b) - severityRank(a));
  const detail: Detail = { side: struck, ...defined({ severity: worst[0] }) };
  return known === undefined ? [...details, detail] : details.map((one) => (one === known ? detail : one));
}

function same(a: Collision, b: Collision): boolean {
  return JSON.stringify({ ...a, updatedAt: 0 }) === JSON.stringify({ ...b, updatedAt: 0 });
}

function mean(axis: Float64Array | undefined): number {
  if (axis === undefined || axis.length === 0) return 0;
  return axis.reduce((sum, value) => sum + value, 0) / axis.length;
}

/** Limits the change of speed: a sensor at the end of its range reports more than any crash causes. */
function changeOf(speed: number): number {
  return tenth(Math.max(-LIMIT.change, Math.min(LIMIT.change, speed)));
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
