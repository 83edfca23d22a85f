/** Conditions and failure signs that several kinds of command share. */
import type { Condition } from '../profile.ts';
import { slots } from '../slots.ts';
import type { FailureSign, InterlockRule } from './kind.ts';

export const CHARGING = 'energies.Electric.extension.electric.charging';
/** Highest speed in km/h that the sensor of a stationary car may still report. */
export const STANDING = 1;

export const pluggedIn: Condition = { path: `${CHARGING}.plugged`, equals: true };

/** Status paths of every door, flap and window. */
export const openings: readonly string[] = slots
  .map(({ path }) => path)
  .filter((path) => path.startsWith('doorsState.opening.'));

/** Requires a speed of at most `limit`. @param limit km/h */
export function speedAtMost(limit: number): InterlockRule {
  return {
    any: [{ path: 'kinetic.speed', atMost: limit }],
    refusal: 'command.vehicleInUse',
    demand: 'the car must be stationary',
  };
}

/** Describes something that the driver does to end an action. */
export function driverAct(path: string, value: string | boolean, detail: string): FailureSign {
  return { path, value, code: 'command.canceled', detail };
}

export const engineStarted = driverAct('ignition.type', 'Start', 'the engine was started meanwhile');
export const ignitionOn: readonly FailureSign[] = [
  driverAct('ignition.type', 'StartUp', 'the ignition was switched on meanwhile'),
  engineStarted,
];
