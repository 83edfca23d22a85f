/** Rules for driving assistance, driving mode, warnings and service. */
import type { Rule, StateRule } from '../rule.ts';
import { onOff, rule, twoStates } from '../rule.ts';

const flag: StateRule = { values: onOff, enough: ['true', 'false'], bit: ['false', 'true'] };

const mode = (path: string, meaning: string, others: string): Rule =>
  rule(`transmission.gearbox.mode.${path}`, ['gearbox program!', 'gear program!', 'gearbox!'], {
    besides: 'gearbox gear',
    around: 'gearbox gear display powertrain',
    never: 'request',
    states: { ...twoStates({ true: meaning, false: others }), labelled: true },
  });

const lamp = (type: string, names: readonly string[], besides = ''): Rule =>
  rule(`alerts.${type}`, names, {
    besides: `lamp warning display active ${besides}`,
    around: 'lamp warning display vehicle engine oil fuel level brake tyre stability antilock pressure airbag steering',
    never: 'request',
    states: { ...flag, values: [...onOff, ['true', 'low/fault']] },
  });

export const assistance: readonly Rule[] = [
  rule('adas.esp', ['stability active!'], {
    besides: 'stability active tractioncontrol brake',
    around: 'stability brake antilock tractioncontrol vehicle lamp display parkingbrake speed',
    never: 'request fault',
    strict: true,
    states: flag,
  }),
  rule('adas.abs', ['antilock active!', 'antilock brake!'], {
    besides: 'antilock active brake',
    around: 'stability brake antilock vehicle wheel speed',
    never: 'request fault',
    strict: true,
    states: flag,
  }),
  rule('adas.fse', ['parkingbrake!'], {
    besides: 'active lamp engaged on switch',
    around: 'brake door lamp display vehicle gear stability parkingbrake',
    never: 'request fault',
    strict: true,
    states: {
      ...twoStates(
        {
          false: 'released/off/no/inactive/open/none/not-active/not-engaged',
          true: 'engaged/on/active/yes/closed/not-released',
        },
        ['false', 'true'],
      ),
    },
  }),
  rule('adas.lvv', ['cruise!', 'limiter!', 'speed limiter!'], {
    besides: 'limiter active cruise',
    around: 'cruise speed adaptive driver switch wiper turn display',
    never: 'fault',
    states: { ...twoStates({ true: 'limiter', false: 'none/cruise/adaptive/off/no' }), labelled: true },
  }),
  rule('adas.sli', ['speedlimit!'], {
    around: 'display lane',
    never: 'request',
    number: { covers: [0, 120], within: [0, 260], usual: [0, 256], unitNeeded: true },
  }),
  rule('adas.rgi', ['advice!', 'gear advice!'], {
    besides: 'gear up down lever',
    around: 'gear display gearbox engine',
    states: {
      values: [
        ['UpDown', 'both'],
        ['UpDown', 'up down'],
        ['Up', 'up'],
        ['Down', 'down'],
        ['None', 'none/no/off/inactive'],
      ],
      enough: ['Up', 'Down'],
    },
  }),
  mode('sport', 'sport', 'automatic/snow/manual/neutral/comfort/eco/fine'),
  mode('snow', 'snow', 'automatic/sport/manual/neutral/comfort/eco/fine'),
  mode('sequential', 'manual', 'automatic/sport/snow/neutral/comfort/eco/fine'),
  rule('drivingBehavior.mode', ['vehicle program!', 'drive program!', 'program!'], {
    besides: 'drive vehicle driver',
    around: 'vehicle drive display driver powertrain',
    never: 'gearbox climate request adaptive steering display cruise',
    states: {
      values: Object.entries({ Sport: 'sport', Comfort: 'comfort', Eco: 'eco', Snow: 'snow', Normal: 'fine' }),
      enough: ['Normal', 'Sport'],
      labelled: true,
    },
  }),
  lamp('FuelLevelLow', ['fuel lamp!', 'fuel warning!', 'fuel low!', 'fuel minimum!'], 'low minimum level'),
  lamp('EngineOilPressureFailure', ['oil pressure lamp!', 'oil pressure warning!'], 'pressure low engine'),
  lamp('AddWasherFluid', ['washer level low!', 'washer low!', 'washer warning!', 'washer lamp!'], 'level low'),
  lamp('AbsBrakingSystemFault', ['antilock lamp!', 'antilock warning!', 'antilock fault! lamp'], 'fault'),
  lamp('RiskOfIce', ['ice warning!'], ''),
  rule('maintenance.mileage', ['maintenance! distance/odometer/autonomy/level'], {
    besides: 'distance odometer level display autonomy vehicle',
    around: 'maintenance display distance',
    never: 'request time history',
    number: { covers: [0, 10_000], within: [-1e6, 1e6], usual: [-100_000, 100_000], unitNeeded: true },
  }),
  rule('maintenance.days', ['maintenance! time!', 'maintenance time!'], {
    besides: 'time level display',
    around: 'maintenance display time',
    never: 'request history',
    number: { covers: [0, 300], within: [-10_000, 100_000], usual: [-3000, 3000], unitNeeded: true },
  }),
];
