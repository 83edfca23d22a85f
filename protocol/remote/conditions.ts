/** Conditions and signs of failure that several kinds have in common. */
import type { Condition } from '../profile.ts';
import { slots } from '../slots.ts';
import type { FailureSign, InterlockRule } from './kind.ts';

export const CHARGING = 'energies.Electric.extension.electric.charging';
/** A standing car's speed sensor may still say this, km/h. */
export const STANDING = 1;

export const pluggedIn: Condition = { path: `${CHARGING}.plugged`, equals: true };

/** Every door, flap and window that Status knows. */
export const openings: readonly string[] = slots
  .map(({ path }) => path)
  .filter((path) => path.startsWith('doorsState.opening.'));

/** @param limit km/h */
export function speedAtMost(limit: number): InterlockRule {
  return {
    any: [{ path: 'kinetic.speed', atMost: limit }],
    refusal: 'command.vehicleInUse',
    demand: 'the car must be stationary',
  };
}

/** An act of the driver that ends an action. */
export function driverAct(path: string, value: string | boolean, detail: string): FailureSign {
  return { path, value, code: 'command.canceled', detail };
}

export const engineStarted = driverAct('ignition.type', 'Start', 'the engine was started meanwhile');
export const ignitionOn: readonly FailureSign[] = [
  driverAct('ignition.type', 'StartUp', 'the ignition was switched on meanwhile'),
  engineStarted,
];
