/** Rules for doors, locks, belts, lamps, wipers and alarm. */
import type { Rule } from '../rule.ts';
import { rule, twoStates } from '../rule.ts';

const sides = {
  Driver: { names: ['door driver', 'door frontleft', 'door front left'], besides: 'driver front left frontleft' },
  Passenger: {
    names: ['door passenger', 'door frontright', 'door front right'],
    besides: 'passenger front right frontright',
  },
  RearLeft: { names: ['door rearleft', 'door rear left'], besides: 'rear left rearleft' },
  RearRight: { names: ['door rearright', 'door rear right'], besides: 'rear right rearright' },
  Trunk: { names: ['trunk!', 'door trunk!'], besides: 'rear' },
  RearWindow: { names: ['rearwindow!', 'rear window!'], besides: 'rear' },
  RoofWindow: { names: ['roof!'], besides: 'window' },
} as const;

const LEFT_HAND = 'taken for a car with the steering wheel on the left';

const handed: ReadonlySet<string> = new Set(['Driver', 'Passenger']);

const openings: readonly Rule[] = Object.entries(sides).map(([side, { names, besides }]) =>
  rule(`doorsState.opening.${side}.state`, names, {
    besides: `${besides} door open closed contact switch`,
    around: 'door trunk hood roof window lock open closed seat belt lamp headlight parkingbrake',
    never: 'request',
    states: {
      ...twoStates({ Open: 'open/folded/not-closed', Closed: 'closed/not-open' }, ['Closed', 'Open']),
      ...(side.endsWith('Window') ? { bitNeeds: 'open closed contact' } : {}),
      turnedBy: 'closed',
    },
    ...(handed.has(side) ? { note: LEFT_HAND, when: 'frontleft frontright front left right' } : {}),
  }),
);

/** Only the driver's buckle: an open buckle at another seat may mean an empty seat. */
const belts: readonly Rule[] = [
  rule('safety.beltStatus.Driver.belt', ['belt driver', 'belt frontleft', 'belt front left'], {
    besides: 'warning forgotten unfastened fastened lamp seat front switch contact',
    around: 'seat belt door airbag lamp warning display driver passenger',
    never: 'request',
    states: {
      ...twoStates(
        {
          Omission: 'unfastened/not-fastened/forgotten/open/warning/on/unlock',
          Normal: 'fastened/fine/closed/none/off/not-warning/no/lock',
        },
        ['Normal', 'Omission'],
      ),
      bitNeeds: 'warning forgotten unfastened fastened lamp',
      turnedBy: 'fastened',
    },
    note: LEFT_HAND,
    when: 'frontleft left',
  }),
  rule('safety.beltStatus.Passenger.belt', ['belt passenger', 'belt frontright', 'belt front right'], {
    besides: 'warning forgotten lamp seat front switch',
    around: 'seat belt door airbag lamp warning display driver passenger',
    never: 'request',
    states: {
      ...twoStates({ Omission: 'forgotten/warning/on', Normal: 'fine/none/off/not-warning/no' }, [
        'Normal',
        'Omission',
      ]),
      bitNeeds: 'warning forgotten lamp',
    },
    note: LEFT_HAND,
    when: 'frontright right',
  }),
];

const lamps = ['Left', 'Right'].flatMap((side) => ['Front', 'Rear'].map((end) => ({ side, end })));

const turns: readonly Rule[] = lamps.map(({ side, end }) => {
  const [here, there] = side === 'Left' ? ['left', 'right'] : ['right', 'left'];
  const corner = `${end}${side}`.toLowerCase();
  return rule(`lightingSystem.turn.${side}${end}.status`, [`turn! ${corner}`, `turn! ${here}`, 'turn!'], {
    besides: `${here} ${corner} ${end.toLowerCase()} lamp active outside on`,
    around: 'turn lamp headlight lever switch display driver wiper speed cruise steering',
    never: 'fault trailer',
    states: {
      values: [
        ['On', `${here}/both/hazard`],
        ['Off', there],
        ['Off', 'none/off/no/inactive/not-active'],
      ],
      enough: ['On', 'Off'],
      bit: ['Off', 'On'],
      bitNeeds: `${here} ${corner}`,
      labelled: true,
    },
  });
});

const fogs: readonly Rule[] = lamps.map(({ side, end }) => {
  const here = side.toLowerCase();
  const front = end === 'Front';
  return rule(
    `lightingSystem.fog.${side}${end}.status`,
    [`fog! ${end.toLowerCase()}${here}`, `fog! ${end.toLowerCase()}`, front ? 'frontfog!' : 'rearfog!'],
    {
      besides: `lamp ${here} ${end.toLowerCase()} headlight active on ${front ? 'frontfog' : 'rearfog'}`,
      around: 'fog lamp headlight display front rear',
      never: 'fault trailer',
      states: twoStates({ Off: 'off/no/inactive/none/not-active', On: 'on/active/yes' }, ['Off', 'On']),
    },
  );
});

export const body: readonly Rule[] = [
  rule('doorsState.lockedStates', ['door lock!', 'door unlock!', 'lock!'], {
    besides: 'door vehicle unlock lock locked unlocked',
    around: 'door vehicle lock speed ignition',
    never: 'steering charging charger request seat belt flap ignition trunk climate',
    states: {
      values: Object.entries({
        SuperLocked: 'superlock',
        DriverDoorUnlocked: 'unlock driver',
        Unlocked: 'unlock/open/not-lock',
        Locked: 'lock/closed/not-unlock',
      }),
      enough: ['Locked', 'Unlocked'],
      bit: ['Unlocked', 'Locked'],
      bitNeeds: 'locked unlocked',
      turnedBy: 'unlocked',
    },
  }),
  ...openings,
  ...belts,
  ...turns,
  ...fogs,
  rule('wipingBlades.active', ['wiper! front', 'wiper!'], {
    besides: 'front active on',
    around: 'wiper washer lever switch driver display vehicle headlight lamp turn',
    never: 'rear request',
    states: {
      ...twoStates({ false: 'off/no/none/inactive/not-active/stopped', true: 'on/active/wiper/low/high/instant' }, [
        'false',
        'true',
      ]),
    },
  }),
  rule('wipingBlades.speed', ['wiper! front speed', 'wiper! front', 'wiper! speed', 'wiper!'], {
    besides: 'front speed active',
    around: 'wiper washer lever switch driver display vehicle headlight lamp turn',
    never: 'rear request',
    states: { ...twoStates({ Low: 'low', High: 'high' }), labelled: true },
  }),
  rule('privacy.state', ['privacy!'], {
    around: 'vehicle',
    states: {
      values: Object.entries({ Geolocation: 'location', Full: 'everything', None: 'none/off' }),
      enough: ['Full'],
    },
  }),
  rule('alarm.status.activation', ['alarm!'], {
    besides: 'vehicle active',
    around: 'lock door vehicle',
    never: 'time request',
    states: { ...twoStates({ Inactive: 'disarmed/not-armed', Active: 'armed' }), labelled: true },
  }),
];
