import { DAY } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { DayStep, Setting } from './day.ts';
import { Drive, type Motion } from './drive.ts';
import type { Route } from './route.ts';
import { parked, type Scenario, type Scene } from './scenario.ts';

/** Distance in m before a bend at which the driver indicates. */
const INDICATED = 40;

/** A computed drive of the day. Times are ms since the start of the day. */
interface Journey {
  readonly from: number;
  readonly to: number;
  /** Time of the collision. */
  readonly impactAt: number | undefined;
  /** Total distance in m of the day's earlier drives. */
  readonly before: number;
  readonly drive: Drive;
  /** Report of the restraint system from `impactAt` until the ignition is off. */
  readonly crash: Scene['crash'];
  readonly offAt: number;
}

/** A period of the day in which the script changes nothing. */
interface Stretch {
  readonly at: number;
  readonly scene: Scene;
}

/** A scripted day: the settings of its steps, and the movement that results from them. */
export class Day implements Scenario {
  readonly period = DAY;
  readonly way: number;
  readonly passes = true;
  readonly journeys: readonly Journey[];
  readonly #stretches: readonly Stretch[];
  /** Index of the last queried stretch: time usually moves forward. */
  #place = 0;
  /** The last scene that differed from that of its stretch, and its inputs. */
  #varied:
    | { stretch: Scene; powertrain: Scene['powertrain']; indicator: Scene['indicator']; crash: boolean }
    | undefined;
  #scene: Scene = parked;

  /** Throws `input.malformed` if the steps are not a day: out of order, or with a drive that arrives too late. */
  constructor(route: Route, steps: readonly DayStep[]) {
    this.#stretches = stretchesOf(steps);
    this.journeys = journeysOf(route, steps, this.#stretches);
    const last = this.journeys.at(-1);
    this.way = last === undefined ? 0 : last.before + last.drive.length;
    const laps = this.way / route.length;
    if (Math.abs(laps - Math.round(laps)) > 1e-9)
      throw malformed(`the car is ${laps} laps from home when the day ends`);
  }

  motion(elapsed: number): Motion {
    const journey = this.#journey(elapsed);
    if (journey === undefined) return { distance: 0, speed: 0, acceleration: 0 };
    const motion = journey.drive.at((elapsed - journey.from) / 1000);
    return { ...motion, distance: journey.before + motion.distance };
  }

  scene(elapsed: number, motion: Motion, toBend: number): Scene {
    const stretch = this.#stretches[this.#find(elapsed)]?.scene ?? parked;
    if (stretch.ignition === 'Stop') return stretch;
    const journey = this.#journey(elapsed);
    const driving = journey !== undefined && elapsed > journey.from && elapsed < journey.to;
    // At a red light the engine is stopped while the ignition stays on.
    const powertrain = driving && motion.speed === 0 ? 'Stopped' : stretch.powertrain;
    const indicator = driving && toBend <= INDICATED ? 'Left' : 'None';
    const crash = journey?.impactAt !== undefined && elapsed >= journey.impactAt && elapsed < journey.offAt;
    const before = this.#varied;
    const same = before?.stretch === stretch && before.powertrain === powertrain && before.indicator === indicator;
    if (same && before.crash === crash) return this.#scene;
    this.#varied = { stretch, powertrain, indicator, crash };
    this.#scene = { ...stretch, powertrain, indicator, crash: crash ? journey?.crash : undefined };
    return this.#scene;
  }

  asleep(elapsed: number): number {
    const place = this.#find(elapsed);
    if (this.#stretches[place]?.scene.network !== 'Asleep') return 0;
    const awake = this.#stretches.slice(place).find(({ scene }) => scene.network !== 'Asleep');
    return (awake?.at ?? DAY) - elapsed;
  }

  /** Returns the current drive, or the last one. */
  #journey(elapsed: number): Journey | undefined {
    return this.journeys.findLast(({ from }) => from <= elapsed);
  }

  #find(elapsed: number): number {
    const stretches = this.#stretches;
    if ((stretches[this.#place]?.at ?? 0) > elapsed) this.#place = 0;
    while ((stretches[this.#place + 1]?.at ?? Number.POSITIVE_INFINITY) <= elapsed) this.#place++;
    return this.#place;
  }
}

/** Returns the time in ms since midnight of hh:mm:ss. */
export function timeOfDay(written: string): number {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d)$/.exec(written) ?? [];
  const time = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  if (!(time < DAY)) throw malformed(`${written} is not a time of day, hh:mm:ss`);
  return time;
}

function stretchesOf(steps: readonly DayStep[]): Stretch[] {
  let scene = parked;
  let before = -1;
  return steps.map(({ at: written, what: _, drive: __, timeKnown: ___, ...changes }) => {
    const at = timeOfDay(written);
    if (at <= before) throw malformed(`${written} comes after a later step`);
    before = at;
    scene = { ...scene, ...(changes satisfies Partial<Setting>) };
    return { at, scene };
  });
}

function journeysOf(route: Route, steps: readonly DayStep[], stretches: readonly Stretch[]): Journey[] {
  const journeys: Journey[] = [];
  let before = 0;
  for (const { at, drive: scripted } of steps) {
    if (scripted === undefined) continue;
    const from = timeOfDay(at);
    const { red, crash } = scripted;
    const way = scripted.way === 'home' ? Math.ceil(before / route.length) * route.length - before : scripted.way;
    const options = { from: before % route.length, way, crash: crash !== undefined };
    const drive = new Drive(route, red === undefined ? options : { ...options, red });
    if (from < (journeys.at(-1)?.to ?? 0)) throw malformed(`at ${at} the drive before has not arrived`);
    const { impact } = drive;
    const to = from + drive.duration * 1000;
    const offAt = stretches.find(({ at: time, scene }) => time >= from && scene.ignition !== 'Start')?.at ?? DAY;
    if (to >= offAt) throw malformed(`the drive of ${at} takes until ${to} ms, but the ignition is off at ${offAt} ms`);
    journeys.push({
      from,
      to,
      impactAt: impact === undefined ? undefined : from + impact.at * 1000,
      before,
      drive,
      crash,
      offAt,
    });
    before += drive.length;
  }
  return journeys;
}

function malformed(what: string): VigieError {
  return new VigieError('input.malformed', `the script of the day: ${what}`);
}
