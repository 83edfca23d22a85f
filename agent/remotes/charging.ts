import { instantOf } from '../../protocol/calendar.ts';
import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** Charging of the traction battery: now, later, by programs, or how. */
export const charging: RemoteKind = {
  type: 'ElectricBatteryChargingRequest',
  plan: (bytes, { programs }) => {
    const { immediate, schedule, preferences } = readBody('ElectricBatteryChargingRequest', bytes);
    const actions: string[] = [];
    if (immediate !== undefined) actions.push(immediate ? 'charging.start' : 'charging.stop');
    if (preferences?.level !== undefined) actions.push(`charging.${preferences.level.toLowerCase()}`);
    if (preferences?.type !== undefined) actions.push(`charging.${preferences.type.toLowerCase()}`);
    if (schedule?.nextDelayedTime !== undefined) {
      const text = schedule.nextDelayedTime;
      return { actions, effects: [programs.delayed(instantOf(text) ?? text)] };
    }
    return { actions, effects: schedule?.programs === undefined ? [] : [programs.charging(schedule.programs)] };
  },
};
