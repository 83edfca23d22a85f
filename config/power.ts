/** The `power` section of vigie.yaml: when the unit sleeps. */
import type { Static } from 'typebox';
import { type LinkSettings, type PowerSettings, powerSettings, sleepingLinkSettings } from '../protocol/settings.ts';
import { closed } from './fields.ts';
import type { Findings } from './findings.ts';
import { members, readSettings } from './settings.ts';

export const powerSchema = closed('Times of sleep and standby', {
  ...members(powerSettings),
  ...members(sleepingLinkSettings),
});
type PowerInput = Static<typeof powerSchema>;

export interface PowerConfiguration extends PowerSettings {
  /** Keep-alive in ms of a sleeping unit, at least as long as that of an awake unit. */
  readonly keepalive: number;
}

/** Reads `power`. `keepalive` is that of an awake unit. */
export function readPower(
  input: PowerInput | undefined,
  { keepalive }: LinkSettings,
  findings: Findings,
): PowerConfiguration {
  const group = { ...powerSettings, ...sleepingLinkSettings };
  const power = readSettings(group, input, '/power', findings, { keepalive });
  if (power.keepalive < keepalive && findings.sound('/power/keepalive')) {
    const message = `a unit that sleeps would ask the broker more often than one that is awake (${keepalive / 1000}s)`;
    findings.error('/power/keepalive', message, 'make it longer, or mqtt.keepalive shorter');
  }
  if (power.lowBatteryStandbyFor > power.standbyFor) {
    const message = 'with a low battery the unit would stay awake for longer';
    findings.error('/power/lowBatteryStandbyFor', message, 'make it at most as long as standbyFor');
  }
  return power;
}
