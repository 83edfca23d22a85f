/** Actions of the phase table (phases.ts) for a car without a trip. */
import type { TripFaultCause } from '../../../protocol/schema/trip.ts';
import { measuresWay, powerOf } from './car.ts';
import * as meters from './distance.ts';
import { beginGauge, forgetGauge, gaugeMembers } from './energy.ts';
import { rollsNow, type TripContext, type TripReading } from './evidence.ts';
import { newShares } from './segments.ts';
import type { TripState } from './state.ts';

/** Restarts distance, speeds and energies for the next trip. */
export function count(state: TripState): void {
  meters.begin(state.meter);
  for (const gauge of Object.values(state.gauges)) beginGauge(gauge);
  state.shares = newShares();
  state.maxSpeed = state.meter.speed === null ? null : state.meter.speed.value;
  state.away = 0;
  state.startPosition = state.position;
  state.startMileage = state.meter.odometer?.value ?? null;
}

/** Records whether the parked car is on, rolls, or is at rest. */
export function watch(context: TripContext, at: number, reading: TripReading): void {
  const { state, status, rule } = context;
  const { power: powerRead, moved, rolls, rests } = reading;
  const power = powerOf(status);
  if (state.dark && (powerRead || moved || rolls || rests)) reappear(state, at, rule.silence);
  // In a car without other signals, an engine at rest means that the car is parked.
  const off = power === 'off' || (power === undefined && !measuresWay(status));
  if ((powerRead && off) || (rests && !rolls)) state.rest = true;
  if (!rolls && !rollsNow(context, at)) state.rolling = null;
  if (!powerRead) return;
  if (power !== 'on') state.on = null;
  else if (state.on === null) {
    // If the car rolled before it was switched on, its trip has already started.
    if (state.rolling === null) count(state);
    state.on = state.rolling ?? at;
  }
}

/** Call when the parked car may be moved without data from now on: its last readings are no longer valid. */
export function loseSight(state: TripState, cause: TripFaultCause): void {
  state.blind = cause;
  if (state.dark) return;
  state.dark = true;
  state.rest = false;
  state.fixed = false;
  state.on = null;
  state.rolling = null;
  for (const measure of ['speed', 'odometer'] as const) meters.forget(state.meter, measure);
}

/** Call when readings resume. Discards energies not read since then, which may be from before the silence. */
function reappear(state: TripState, at: number, silence: number): void {
  state.dark = false;
  for (const gauge of Object.values(state.gauges)) {
    if (gauge.at !== null && at - gauge.at <= silence) continue;
    for (const member of gaugeMembers) forgetGauge(gauge, member);
  }
}
