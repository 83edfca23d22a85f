/** Rules for movement, distance, gear, ignition and engine. */
import type { LabelRule, NumberRule, Rule } from '../rule.ts';
import { rule, twoStates } from '../rule.ts';

const temperature = (low: number, high: number): NumberRule => {
  return { covers: [0, high], within: [-100, 400], usual: [low, high + 60] };
};

const gears: readonly LabelRule[] = Object.entries({
  Reverse: 'reverse',
  Neutral: 'neutral',
  Ratio1: 'digit1',
  Ratio2: 'digit2',
  Ratio3: 'digit3',
  Ratio4: 'digit4',
  Ratio5: 'digit5',
  Ratio6: 'digit6',
  Ratio7: 'digit7',
  Ratio8: 'digit8',
});

const runs: readonly LabelRule[] = Object.entries({
  Stopping: 'stopping',
  Starting: 'starting/start',
  Running: 'running/run',
  Stopped: 'stopped',
  NotRunning: 'off/cut/lock/standing/inactive/not-running/no',
});

export const motion: readonly Rule[] = [
  rule('kinetic.speed', ['vehicle speed!', 'vehicle speed! wheel', 'speed!'], {
    besides: 'vehicle stability display engine inertial',
    around: 'vehicle moving wheel engine stability brake antilock gearbox powertrain display motor inertial',
    never: 'request wiper fan lead adaptive trailer steering climate',
    number: { covers: [0, 120], within: [-100, 4000], usual: [-5, 300], unitNeeded: true },
  }),
  rule('kinetic.acceleration', ['longitudinal acceleration!', 'acceleration! vehicle', 'acceleration!'], {
    besides: 'longitudinal vehicle stability wheel',
    around: 'vehicle moving wheel engine stability brake antilock',
    never: 'request lead adaptive pedal inertial parkingbrake',
    number: { covers: [-5, 5], within: [-200, 200], usual: [-15, 15], unitNeeded: true },
  }),
  rule('kinetic.moving', ['vehicle moving!', 'moving!', 'vehicle standing!', 'standing!', 'vehicle stopped!'], {
    besides: 'vehicle stability active',
    around: 'vehicle wheel engine stability brake antilock speed moving',
    never: 'request lead adaptive',
    strict: true,
    states: {
      ...twoStates({ false: 'standing/no/stopped/not-moving', true: 'moving/yes/not-standing' }, ['false', 'true']),
      turnedBy: 'standing stopped',
    },
  }),
  rule('odometer.mileage', ['odometer!', 'total distance! vehicle', 'total distance!'], {
    besides: 'vehicle distance display total odometer',
    around: 'display vehicle total distance time maintenance fuel',
    never: 'request',
    number: { covers: [0, 99_000], within: [0, 30_000_000], usual: [0, 2_000_000], rises: true },
  }),
  rule(
    'transmission.gearbox.ratio',
    ['gear!', 'gearbox gear', 'gear ratio!', 'gearbox lever!', 'gear lever!', 'lever!', 'gearbox!'],
    {
      besides: 'gearbox ratio lever display engine drive automatic engaged',
      around: 'gear gearbox lever engine display powertrain drive vehicle',
      never: 'advice',
      states: {
        values: gears,
        enough: ['Reverse'],
        // Lever position 3 allows the first three gears, so it does not determine which gear is engaged.
        only: { when: 'lever', unless: 'gear', values: ['Reverse', 'Neutral'] },
      },
      note: 'P and D are not ratios and are left out',
    },
  ),
  rule('ignition.type', ['ignition!', 'contact!', 'ignition contact!', 'ignition start'], {
    besides: 'contact ignition lock vehicle on start switch',
    around: 'vehicle power time voltage start',
    never: 'request',
    states: {
      values: Object.entries({
        Start: 'running',
        Stop: 'off/lock/stopped',
        StartUp: 'accessory/on/run/contact/start/starting/yes',
      }),
      enough: ['Stop'],
      bit: ['Stop', 'StartUp'],
      bitNeeds: 'ignition',
    },
    alone: {
      path: 'powertrain.status',
      note: 'Start means that the engine runs; no signal tells it, so "on" is Start here, by which trips begin',
      states: {
        values: Object.entries({
          Start: 'running/run/on/contact/yes',
          Stop: 'off/lock/stopped/no',
          StartUp: 'accessory/start/starting',
        }),
        enough: ['Stop', 'Start'],
        bit: ['Stop', 'Start'],
        bitNeeds: 'ignition',
      },
    },
  }),
  rule('powertrain.status', ['engine running/run!', 'engine powertrain', 'engine!', 'powertrain!', 'running!'], {
    besides: 'engine running run powertrain vehicle motor',
    around: 'engine powertrain vehicle motor rotation speed',
    never: 'request coolant oil',
    states: {
      values: runs,
      enough: ['Running'],
      bit: ['NotRunning', 'Running'],
      bitNeeds: 'running run',
      labelled: true,
    },
  }),
  rule('engines.Thermic.speed', ['engine speed!', 'engine rotation!', 'rotation!'], {
    besides: 'engine rotation speed display',
    around: 'engine speed torque temperature powertrain vehicle gas pedal display',
    never: 'request gearbox turbine fan pump compressor wheel',
    number: { covers: [500, 3500], within: [-35_000, 35_000], usual: [0, 12_000] },
  }),
  rule('engines.Thermic.extension.thermic.coolant.temp', ['coolant temperature', 'engine temperature!'], {
    besides: 'engine motor',
    around: 'engine temperature powertrain vehicle oil',
    never: 'battery traction charger request',
    number: temperature(-45, 115),
  }),
  rule('engines.Thermic.extension.thermic.oil.temp', ['oil temperature'], {
    besides: 'engine motor',
    around: 'engine temperature level powertrain vehicle coolant',
    never: 'gearbox axle request',
    number: temperature(-45, 130),
  }),
  rule('engines.Thermic.extension.thermic.oil.level', ['oil level'], {
    besides: 'engine',
    around: 'engine level vehicle',
    never: 'gearbox request',
    number: { covers: [0, 100], within: [0, 300], usual: [0, 130] },
  }),
  rule('engines.Thermic.extension.thermic.coolant.level', ['coolant level!'], {
    besides: 'engine',
    around: 'engine level vehicle',
    never: 'request',
    number: { covers: [0, 100], within: [0, 130], usual: [0, 100] },
  }),
  rule('engines.Thermic.extension.thermic.air.temp', ['intake temperature', 'intake air temperature'], {
    besides: 'engine air motor',
    around: 'engine temperature powertrain vehicle air',
    never: 'battery traction climate request',
    number: temperature(-45, 60),
  }),
  rule('engines.Electric.speed', ['motor! rotation', 'motor! speed', 'traction motor rotation'], {
    besides: 'motor rotation speed traction front rear',
    around: 'motor powertrain vehicle torque',
    never: 'request fan pump compressor wiper steering coolant',
    number: { covers: [0, 9000], within: [-35_000, 35_000], usual: [-25_000, 25_000] },
  }),
  rule('environment.air.temp', ['outside temperature', 'outside air temperature'], {
    besides: 'air vehicle',
    around: 'vehicle outside climate temperature display air',
    never: 'request',
    number: { covers: [-20, 45], within: [-100, 250], usual: [-50, 60] },
  }),
  rule('environment.luminosity.day', ['day!', 'night!'], {
    besides: 'display outside',
    around: 'headlight outside lamp display',
    never: 'time request maintenance',
    states: { ...twoStates({ false: 'night', true: 'day' }), labelled: true },
  }),
];
