/** Shorthand for tests of monitors. */
import type { StatusContents } from '../../../protocol/schema/status.ts';
import type { MonitorRig } from './rig.ts';

export const T = Date.UTC(2026, 5, 10, 9);
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

export const fast = { name: 'fast', data: { data: 'vehicle.kinetic.speed', op: 'greaterThan', value: ['130'] } };

export function rule(triggers: object[], boolExp?: string, rest: object = {}): object {
  const names = triggers.map((trigger) => (trigger as { name: string }).name);
  return { label: 'test', triggerParam: { triggers, boolExp: boolExp ?? names.join(' & ') }, ...rest };
}

type Place = NonNullable<StatusContents['lastPosition']>;
export const placeOf = (rig: MonitorRig): Place => rig.status.contents().lastPosition as Place;

/** Seconds after T and names of the triggers of each event. An r marks a refresh. */
export function told(rig: MonitorRig): string[] {
  return rig.events.map(
    ({ at, refresh, triggers = [] }) => `${(at - T) / SECOND}${refresh ? 'r' : ''} ${triggers.join()}`,
  );
}
