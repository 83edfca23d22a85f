/** Expected records according to the script of the day. Times are ms since midnight. */
import { day as script } from '../../adapters/simulated/day.ts';
import { timeOfDay } from '../../adapters/simulated/day-scenario.ts';
import { Route, type RoutePoint } from '../../adapters/simulated/route.ts';
import type { Scene } from '../../adapters/simulated/scenario.ts';
import { distance } from '../../agent/model/position.ts';
import { recordingDefaults } from '../../protocol/recording.ts';
import { DAY, scenario } from '../rig/day.ts';

/** From `from` (inclusive) to `to` (exclusive). */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const route = new Route();
const steps = script.map(({ at }) => timeOfDay(at));
const { grace } = recordingDefaults.trip;
const { onAfter: on, offAfter: off } = recordingDefaults.alert;

export function sceneAt(elapsed: number): Scene {
  return scenario.scene(elapsed, scenario.motion(elapsed), Number.POSITIVE_INFINITY);
}

/** Spans in which a condition holds, according to the script. */
export function spans(so: (scene: Scene) => boolean): Span[] {
  const found: Span[] = [];
  let from: number | undefined;
  for (const at of [...steps, DAY]) {
    const now = at < DAY && so(sceneAt(at));
    if (now) from ??= at;
    else if (from !== undefined) {
      found.push({ from, to: at });
      from = undefined;
    }
  }
  return found;
}

/** Merges spans with a pause shorter than `pause` between them. */
function joined(parts: readonly Span[], pause: number): Span[] {
  const whole: Span[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last !== undefined && part.from - last.to < pause) whole[whole.length - 1] = { from: last.from, to: part.to };
    else whole.push(part);
  }
  return whole;
}

/** Distance of the day so far, km. */
export function wayAt(elapsed: number): number {
  return scenario.motion(elapsed).distance / 1000;
}

export function placeAt(elapsed: number): RoutePoint {
  return route.at(route.along(scenario.motion(elapsed).distance % route.length));
}

export const full: readonly Span[] = spans(({ privacy }) => privacy === 'Full');
export const hiddenPlaces: readonly Span[] = spans(({ privacy }) => privacy !== 'None');
export const tunnels: readonly Span[] = spans(({ sky }) => !sky);
export const asleep: readonly Span[] = spans(({ network }) => network === 'Asleep');

export function within(at: number, among: readonly Span[]): boolean {
  return among.some(({ from, to }) => at >= from && at < to);
}

export interface ExpectedTrip extends Span {
  /** Distance in km, without the parts under Full privacy. */
  readonly way: number;
  readonly startMileage: number;
  readonly private: boolean;
}

export const trips: readonly ExpectedTrip[] = joined(
  spans(({ ignition }) => ignition === 'Start'),
  grace,
)
  .filter(({ from, to }) => wayAt(to) > wayAt(from))
  .map(({ from, to }) => {
    const hidden = full.filter((span) => span.from >= from && span.to <= to);
    const secret = hidden.reduce((sum, span) => sum + wayAt(span.to) - wayAt(span.from), 0);
    return {
      from,
      to,
      way: wayAt(to) - wayAt(from) - secret,
      startMileage: 12_345.6 + wayAt(from),
      private: hidden.length > 0,
    };
  });

const warnings: Readonly<Record<string, (scene: Scene) => boolean>> = {
  LeftFrontDoorOpen: ({ driverDoorOpen }) => driverDoorOpen,
  RightFrontDoorOpen: ({ passengerDoorOpen }) => passengerDoorOpen,
  AddWasherFluid: ({ washerLow }) => washerLow,
  BatteryChargeOrElectricalCircuitSystemFailure: ({ lamps }) => lamps.includes('Battery12V'),
  EngineFault: ({ lamps }) => lamps.includes('EngineFault'),
  EngineOilPressureFailure: ({ lamps }) => lamps.includes('OilPressure'),
  LeftFrontTireUnderInflated: ({ lamps }) => lamps.includes('TyrePressureFL'),
  ReplaceBrakePads: ({ lamps }) => lamps.includes('BrakePads'),
};

/** Lamps that are lit for long enough, with flicker merged, and not under Full privacy. */
export const alerts: readonly (Span & { readonly type: string })[] = Object.entries(warnings)
  .flatMap(([type, lit]) => {
    const seen = spans((scene) => lit(scene) && scene.privacy !== 'Full').filter(({ from, to }) => to - from >= on);
    return joined(seen, off).map((span) => ({ type, ...span }));
  })
  .sort((a, b) => a.from - b.from);

/** Changes of the alarm, from its first reading on. */
export const alarms: readonly { readonly at: number; readonly what: string }[] = script
  .map(({ at }) => timeOfDay(at))
  .filter((at) => sceneAt(at).network === 'Awake')
  .flatMap((at, index, awake) => {
    const before = awake[index - 1];
    if (before === undefined) return [];
    const [now, was] = [sceneAt(at), sceneAt(before)];
    const changes: { at: number; what: string }[] = [];
    if (now.armed !== was.armed) changes.push({ at, what: now.armed === true ? 'Active' : 'Inactive' });
    if (now.trigger !== was.trigger && now.trigger !== 'NoBreakIn') changes.push({ at, what: now.trigger });
    return changes;
  });

/** The theft: detected 100 m from the place of the alarm, ends when a key is present. */
export const theft: Span = (() => {
  const [break_in] = spans(({ trigger }) => trigger !== 'NoBreakIn');
  const key = spans(({ keyPresent }) => keyPresent).find(({ from }) => from > (break_in?.from ?? DAY));
  let from = break_in?.from ?? DAY;
  const place = placeAt(from);
  while (from < DAY && distance(place, placeAt(from)) < recordingDefaults.theft.distance) from += 100;
  return { from, to: key?.from ?? DAY };
})();

const crash = scenario.journeys.find(({ impactAt }) => impactAt !== undefined);
/** The collision. Speed in m/s. */
export const collision = {
  at: crash?.impactAt ?? DAY,
  speed: crash?.drive.impact?.speed ?? 0,
  said: crash?.crash,
  trip: trips.findIndex(({ from, to }) => from <= (crash?.from ?? DAY) && to > (crash?.from ?? DAY)),
};
