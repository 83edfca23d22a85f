/** Decides which events of the phase table (phases.ts) have happened, from the state of the trip and Status. */
import type { TripRule } from '../../../protocol/recording.ts';
import type { StatusReader } from '../../model/status.ts';
import { hasSwitch, measuresWay, powerOf } from './car.ts';
import { way } from './distance.ts';
import type { TripEvent, TripPhase } from './phases.ts';
import { moving, privacy, speed } from './slots.ts';
import type { TripState } from './state.ts';

/** Signs of use among the readings made at one time. */
export interface CarUse {
  /** True if the odometer stepped, the car left its position, or `kinetic.moving` is true in a car without a speed. */
  readonly moved: boolean;
  /** True if the speed is above the rule's limit for a moving car. */
  readonly rolls: boolean;
  /** True if the car stands, or is at its parking position. */
  readonly rests: boolean;
}

export interface TripReading extends CarUse {
  /** True if the readings include the value that decides whether the car is on. */
  readonly power: boolean;
  /** Time at which the parked car began to roll, before these readings; trip time in ms. */
  readonly rolling: number | null;
}

export interface TripContext {
  readonly state: TripState;
  readonly status: StatusReader;
  readonly rule: TripRule;
}

/** An event that has been true since `since`, trip time in ms. */
export interface TripEvidence {
  readonly event: TripEvent;
  readonly since: number;
}

/** Distance in km from which a car counts as driven: `on` (or no switch): above a faulty reading; `off`: not pushed. */
const DRIVEN_KM = { on: 0.02, off: 0.1 };
/** Time for which a speed is valid after its reading. */
const SPEED_VALID_MS = 10_000;
/** Time without movement after which a car without speed and switch counts as standing. */
const STANDING_MS = 60_000;

/** Returns the event that a reading means in this phase, or undefined if it changes nothing. */
export function evidenceOf(
  phase: TripPhase,
  context: TripContext,
  at: number,
  reading: TripReading,
): TripEvidence | undefined {
  if (phase === 'driving') return standing(context, at);
  if (phase === 'paused') return drivenOn(context, reading) ? { event: 'driven', since: at } : undefined;
  if (phase === 'gap' || phase === 'pausedGap') return afterGap(phase, context, at, reading);
  if (!departed(context, at, reading)) return undefined;
  return { event: 'driven', since: context.state.on ?? reading.rolling ?? at };
}

/** Returns the event of a silence at `at`, or undefined if the car is not silent. */
export function silence(phase: TripPhase, { state, status, rule }: TripContext, at: number): TripEvidence | undefined {
  const { heardAt, open } = state;
  if (heardAt !== null && at - heardAt <= rule.silence) return undefined;
  const since = Math.max(heardAt ?? Number.NEGATIVE_INFINITY, open?.startedAt ?? Number.NEGATIVE_INFINITY);
  const atRest = phase === 'driving' && !hasSwitch(status) && !rolledAt({ state, status, rule }, since);
  return { event: atRest ? 'silentAtRest' : 'silent', since };
}

/** Returns true if the grace time of a pause or gap is over. */
export function overdue(phase: TripPhase, { state, status, rule }: TripContext, at: number): boolean {
  const { open, heardAt, offAt } = state;
  if (open === null) return false;
  const { pause, gap } = open;
  // Under full privacy nothing may be published until it ends.
  if (gap !== null && status.value(privacy) === 'Full') return false;
  if (phase === 'gap' && gap !== null) return at - gap.since > rule.grace;
  if (pause === null) return false;
  // A car that is switched on during a pause may wait until it becomes silent.
  const waits = gap === null && powerOf(status) === 'on';
  const from = waits ? (heardAt ?? pause.at) : Math.max(pause.at, offAt ?? pause.at);
  return at - from > rule.grace;
}

/** Returns true if the car rolls now, according to its speed or `kinetic.moving`. */
export function rollsNow({ state, status, rule }: TripContext, at: number): boolean {
  const reading = state.meter.speed;
  if (status.value(speed) === undefined) return status.value(moving) === true;
  return reading !== null && reading.value > rule.moving && at - reading.at <= SPEED_VALID_MS;
}

/** Returns true if a parked car was driven: not pushed, and not moved by one faulty reading. */
function departed({ state, status, rule }: TripContext, at: number, { moved }: TripReading): boolean {
  const power = powerOf(status);
  if (moved && power !== 'off') return true;
  if (state.rolling !== null && way(state.meter) >= drivenAfter(power)) return true;
  // Without measured movement, only the engine can show a drive.
  return state.on !== null && at - state.on > rule.silence && !measuresWay(status);
}

function drivenOn({ state, status }: TripContext, { power: powerRead, moved, rolls }: TripReading): boolean {
  const power = powerOf(status);
  if (moved && power !== 'off') return true;
  if (power === 'on' && powerRead && !measuresWay(status)) return true;
  const since = way(state.meter) - (state.open?.pause?.facts.distance ?? 0);
  return rolls && since >= drivenAfter(power);
}

/** Returns the event of a reading during a gap, if it shows that the car is driven or was switched off. */
function afterGap(
  phase: TripPhase,
  { status }: TripContext,
  at: number,
  reading: TripReading,
): TripEvidence | undefined {
  const { rolls, moved, power: powerRead } = reading;
  const power = powerOf(status);
  const switched = phase === 'gap' && powerRead ? power : undefined;
  if (rolls || (moved && power !== 'off') || switched === 'on') return { event: 'driven', since: at };
  return switched === 'off' ? { event: 'foundOff', since: at } : undefined;
}

function standing(context: TripContext, at: number): TripEvidence | undefined {
  const { state, status } = context;
  const power = powerOf(status);
  if (power === 'on' || state.open === null || rollsNow(context, at)) return undefined;
  const { startedAt } = state.open;
  const movedAt = state.movedAt ?? startedAt;
  const hasSpeed = status.value(speed) !== undefined || status.value(moving) !== undefined;
  if (power === undefined && !hasSpeed && measuresWay(status) && at - movedAt <= STANDING_MS) return undefined;
  return { event: 'stands', since: Math.max(startedAt, movedAt, state.offAt ?? movedAt) };
}

/** Returns true if the car rolled when it fell silent at `since`. */
function rolledAt({ state, status, rule }: TripContext, since: number): boolean {
  const { meter, movedAt } = state;
  if (status.value(speed) !== undefined) return meter.speed !== null && meter.speed.value > rule.moving;
  if (status.value(moving) !== undefined) return status.value(moving) === true;
  return measuresWay(status) && movedAt !== null && since - movedAt <= STANDING_MS;
}

function drivenAfter(power: ReturnType<typeof powerOf>): number {
  return power === 'off' ? DRIVEN_KM.off : DRIVEN_KM.on;
}
