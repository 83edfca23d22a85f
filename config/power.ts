/** The `power` section of vigie.yaml: when the unit goes to sleep. */
import Type, { type Static } from 'typebox';
import { configurationDefaults } from './defaults.ts';
import { closed, duration, number } from './fields.ts';
import type { Findings } from './findings.ts';
import { readDuration } from './quantities.ts';

export const powerSchema = closed(
  {
    standbyFor: Type.Optional(duration('The unit stays awake for so long after a frame or a message')),
    lowBatteryStandbyFor: Type.Optional(duration('The same while the 12 V battery is low')),
    battery: Type.Optional(number('Charge of the 12 V battery below which it is low, %', { minimum: 0, maximum: 100 })),
    busSilentAfter: Type.Optional(duration('Buses that say nothing for so long are asleep')),
    wakeTimeout: Type.Optional(duration('A car that is woken has to be heard within')),
    keepalive: Type.Optional(duration('As mqtt.keepalive, while the unit sleeps')),
  },
  'When the unit goes to sleep, and how it sleeps',
);
export type PowerInput = Static<typeof powerSchema>;

/** Times in ms. */
export interface PowerConfiguration {
  readonly standbyFor: number;
  readonly lowBatteryStandbyFor: number;
  /** Charge of the 12 V battery, %. */
  readonly battery: number;
  readonly busSilentAfter: number;
  readonly wakeTimeout: number;
  /** Whole seconds, and no shorter than that of an awake unit. */
  readonly keepalive: number;
}

/** MQTT 5.0, 3.1.2.10: the keep alive is 16 bits of seconds. */
const LONGEST_KEEPALIVE = 65_535_000;
/** Messages of a bus that is awake come at least every second or two. */
const SHORTEST_SILENCE = 2_000;

/** Reads `power`; `keepalive` is that of the unit that is awake, ms. */
export function readPower(input: PowerInput | undefined, keepalive: number, findings: Findings): PowerConfiguration {
  const defaults = { ...configurationDefaults.power, keepalive };
  if (input === undefined || !findings.sound('/power')) return defaults;
  const time = (name: Exclude<keyof PowerConfiguration, 'battery'>): number => {
    const written = input[name];
    return written === undefined ? defaults[name] : readDuration(written);
  };
  const power: PowerConfiguration = {
    standbyFor: time('standbyFor'),
    lowBatteryStandbyFor: time('lowBatteryStandbyFor'),
    battery: input.battery ?? defaults.battery,
    busSilentAfter: time('busSilentAfter'),
    wakeTimeout: time('wakeTimeout'),
    keepalive: time('keepalive'),
  };
  if (power.busSilentAfter < SHORTEST_SILENCE) {
    findings.error('/power/busSilentAfter', 'a bus that is awake may be silent for so long', 'write at least 2s');
  }
  if (power.keepalive % 1000 !== 0 || power.keepalive > LONGEST_KEEPALIVE) {
    findings.error('/power/keepalive', 'MQTT counts this in whole seconds, at most 65535', 'write e.g. 15m');
  } else if (power.keepalive < keepalive) {
    const message = `a unit that sleeps would ask the broker more often than one that is awake (${keepalive / 1000}s)`;
    findings.error('/power/keepalive', message, 'make it longer, or mqtt.keepalive shorter');
  }
  if (power.lowBatteryStandbyFor > power.standbyFor) {
    const message = 'with a low battery the unit would stay awake for longer';
    findings.error('/power/lowBatteryStandbyFor', message, 'make it at most as long as standbyFor');
  }
  return power;
}
