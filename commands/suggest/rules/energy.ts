/** Rules for fuel, traction battery and charging. */
import type { Rule } from '../rule.ts';
import { rule, twoStates } from '../rule.ts';

const percent = { covers: [0, 100], within: [-10, 130], usual: [0, 101] } as const;

/** Question for battery sensors: combustion cars have sensors of the starter battery with the same names. */
const whichBattery: Rule['doubt'] = {
  when: 'battery',
  unless: 'traction motor charging',
  question: 'is it the traction battery, or that of the starter?',
};

const ELECTRIC = 'energies.Electric.extension.electric';

export const energy: readonly Rule[] = [
  rule('energies.Fuel.level', ['fuel level', 'fuel!'], {
    besides: 'display vehicle',
    around: 'level vehicle display fuel distance odometer oil',
    never: 'request pump history',
    number: {
      ...percent,
      unitNeeded: 'litres (scale: 100 / those of the full tank)',
      asks: { 'L l liter litre Unit_Liter gal ltr': 'in litres: give scale: 100 / (litres of the full tank)' },
    },
  }),
  rule('energies.Fuel.autonomy', ['autonomy! fuel', 'autonomy!'], {
    besides: 'fuel vehicle display distance',
    around: 'fuel vehicle display distance consumption',
    never: 'request traction battery charge charging gear lever lead exhaust motor',
    number: { covers: [0, 500], within: [0, 10_000], usual: [0, 2500] },
  }),
  rule(
    'energies.Fuel.extension.fuel.consumptions.instant',
    ['consumption! instant', 'fuel consumption! instant', 'fuel consumption!', 'consumption!'],
    {
      besides: 'fuel instant display',
      around: 'fuel vehicle display distance instant',
      never: 'request traction battery',
      number: { covers: [0, 25], within: [0, 1000], usual: [0, 1000], unitNeeded: true },
    },
  ),
  rule('energies.Fuel.extension.fuel.consumptions.total', ['total fuel consumption', 'total fuel!'], {
    besides: 'engine fuel consumption total',
    around: 'fuel engine consumption total',
    never: 'request distance',
    number: { covers: [0, 1_000_000], within: [0, 1e12], usual: [0, 1e9], rises: true, unitNeeded: true },
  }),
  rule(
    'energies.Electric.level',
    ['charge! battery traction', 'charge! traction', 'charge! battery', 'charge!', 'battery level! traction'],
    {
      besides: 'battery traction display vehicle level',
      around: 'battery traction vehicle display charging energy power',
      never: 'auxiliary cell request',
      number: { ...percent },
      doubt: whichBattery,
    },
  ),
  rule('energies.Electric.autonomy', ['autonomy! traction/battery/motor/charging/charge'], {
    besides: 'battery traction vehicle display motor charge charging',
    around: 'battery traction vehicle display motor charge energy',
    never: 'request exhaust fuel',
    number: { covers: [0, 200], within: [0, 10_000], usual: [0, 1500] },
  }),
  rule(
    `${ELECTRIC}.battery.load.residual`,
    ['battery energy level!', 'energy! level', 'energy! charge', 'traction level!'],
    {
      besides: 'battery traction level',
      around: 'battery traction vehicle charge level',
      never: 'request',
      number: { covers: [0, 5000], within: [0, 1e7], usual: [0, 1e6], unitNeeded: true },
    },
  ),
  rule(`${ELECTRIC}.battery.load.capacity`, ['battery energy! capacity', 'battery capacity!', 'energy! capacity'], {
    besides: 'battery traction energy',
    around: 'battery traction vehicle charge',
    never: 'request auxiliary',
    number: { covers: [0, 5000], within: [0, 1e7], usual: [0, 1e6], unitNeeded: true },
  }),
  rule(`${ELECTRIC}.battery.health.capacity`, ['health! battery', 'health!'], {
    besides: 'battery traction capacity',
    around: 'battery traction vehicle charge',
    never: 'auxiliary cell request',
    number: { ...percent, unitNeeded: true },
    doubt: whichBattery,
  }),
  rule(`${ELECTRIC}.consumption.consumption`, ['consumption!', 'motor consumption!', 'energy consumption!'], {
    besides: 'motor energy instant traction',
    around: 'energy battery traction motor vehicle',
    never: 'request fuel',
    number: { covers: [0, 50], within: [-1000, 1000], usual: [-200, 200], unitNeeded: true },
  }),
  rule(`${ELECTRIC}.charging.plugged`, ['charging plug!', 'charger plug!', 'plugged!'], {
    besides: 'charging charger plugged plug engaged',
    around: 'charging charger battery vehicle',
    never: 'request flap',
    states: {
      ...twoStates({ false: 'unplugged/no/off/none/not-plugged', true: 'plugged/plug/yes/on' }, ['false', 'true']),
    },
  }),
  rule(`${ELECTRIC}.charging.status`, ['charging!', 'charger charging!'], {
    besides: 'battery traction charger vehicle',
    around: 'battery traction charger vehicle charging',
    never: 'request auxiliary',
    states: {
      values: Object.entries({
        Failure: 'fault',
        Disconnected: 'unplugged/not-plugged',
        Finished: 'finished',
        Stopped: 'stopped/off/no/none/not-charging/inactive',
        InProgress: 'charging/progress/active/on',
      }),
      enough: ['InProgress'],
      plain: true,
    },
  }),
  rule(
    `${ELECTRIC}.charging.remainingTime`,
    ['charging delay!', 'charging level! time!', 'charging time! level', 'charging autonomy time!'],
    {
      besides: 'battery level charging time delay',
      around: 'battery charging charger vehicle',
      never: 'request',
      number: { covers: [0, 7200], within: [0, 1e6], usual: [0, 400_000], unitNeeded: true },
    },
  ),
  rule(`${ELECTRIC}.charging.chargingRate`, ['charging rate!', 'charging speed!'], {
    besides: 'speed rate charging',
    around: 'battery charging charger vehicle',
    never: 'request',
    number: { covers: [0, 50], within: [0, 1000], usual: [0, 500], unitNeeded: true },
  }),
];
