/** Each of the 20 failure causes, under the condition that docs/commands.md states for it. */
import { describe, expect, test } from 'vitest';
import { failureCauses } from '../../../protocol/errors.ts';
import { CHARGING, carOf, type Setting } from './rig.ts';

type Car = ReturnType<typeof carOf>;
type Kind = Parameters<Car['order']>[0];

interface Case {
  readonly cause: (typeof failureCauses)[number];
  readonly when: string;
  readonly kind: Kind;
  readonly body: object;
  readonly setting?: Setting;
  readonly before?: (car: Car) => unknown;
  readonly states?: readonly string[];
  readonly actuated?: readonly string[];
}

const lock = { kind: 'Doors', body: { state: 'Locked' } } as const;
const unlock = { kind: 'Doors', body: { state: 'Unlocked' } } as const;
const heat = { kind: 'ThermalPreconditioning', body: { airConditioning: { immediate: true } } } as const;
const charge = { kind: 'ElectricBatteryChargingRequest', body: { immediate: true } } as const;
const immobilize = { kind: 'Immobilization', body: { activate: true } } as const;
const wake = { kind: 'WakeUp', body: {} } as const;
const SENT = ['Accepted', 'SentToVehicle'];
const asleep = { awake: () => false, wake: async () => false };
const deaf: Setting = { obeys: false };

const cases: readonly Case[] = [
  {
    cause: 'GeneralError',
    when: 'the disk refuses',
    ...lock,
    before: (car) => car.refuse(),
    states: [],
  },
  {
    cause: 'VehicleError',
    when: 'the car does not confirm it',
    ...lock,
    setting: deaf,
    states: SENT,
    actuated: ['doors.lock'],
  },
  {
    cause: 'VehicleError',
    when: 'the frames cannot be sent',
    ...lock,
    setting: { actuate: async () => Promise.reject(new Error('bus off')) },
    states: SENT,
  },
  { cause: 'WrongCommand', when: 'the profile has no such action', ...lock, setting: { profile: [] } },
  { cause: 'VehicleConnectionTimeout', when: 'the time is unknown', ...lock, setting: { quality: 'none' } },
  {
    cause: 'VehicleConnectionTimeout',
    when: 'the car does not wake up',
    ...lock,
    setting: { power: asleep },
    states: ['Accepted', 'WakingUpVehicle'],
  },
  { cause: 'MissingRights', when: 'the key lacks the right', ...lock, setting: { without: ['Doors'] } },
  {
    cause: 'NotPossibleDueToVehicleBatteryLevel',
    when: 'the 12 V battery is low',
    ...lock,
    before: (car) => car.see('battery.voltage', 19.9),
  },
  {
    cause: 'NotPossibleDueToVehicleBatteryLevel',
    when: 'the traction battery is low and no cable is plugged in',
    ...heat,
    before: (car) => {
      car.see('energies.Electric.level', 19);
      car.see(`${CHARGING}.plugged`, false);
    },
    states: SENT,
  },
  {
    cause: 'NotPossibleDueToVehiclePrivacyLevel',
    when: 'Full privacy is chosen',
    ...lock,
    before: (car) => car.see('privacy.state', 'Full'),
  },
  {
    cause: 'NotPossibleDueToVehiclePrivacyLevel',
    when: 'a car that hides its position is to be tracked',
    kind: 'Stolen',
    body: { trackingPeriod: { running: 5 } },
    before: (car) => {
      car.steal('Alarm');
      car.see('privacy.state', 'Geolocation');
    },
    states: SENT,
  },
  {
    cause: 'TooManyWakeUpsOverMonth',
    when: 'it was woken too often',
    ...wake,
    setting: { power: { awake: () => false, wake: async () => true }, limits: { wakeUps: 2 } },
    before: async (car) => {
      await car.order('WakeUp', {});
      await car.order('WakeUp', {});
    },
  },
  {
    cause: 'TooManyRequestInShortTime',
    when: 'commands of one kind come too fast',
    ...wake,
    setting: { limits: { burst: 2 } },
    before: async (car) => {
      await car.order('WakeUp', {});
      await car.order('WakeUp', {});
    },
  },
  {
    cause: 'TooManyRequestSent',
    when: 'too many come in a day',
    ...wake,
    setting: { limits: { daily: 2 } },
    before: async (car) => {
      await car.order('Stolen', { stolen: false });
      await car.order('Lights', { on: false });
    },
  },
  {
    cause: 'NotPossibleDueToVehicleStolenState',
    when: 'the car is stolen',
    ...unlock,
    before: (car) => car.steal('Declared'),
  },
  {
    cause: 'VehicleInUse',
    when: 'the engine runs',
    ...immobilize,
    before: (car) => car.see('ignition.type', 'Start'),
    states: SENT,
  },
  {
    cause: 'VehicleInUse',
    when: 'the engine stands still at a traffic light',
    ...immobilize,
    before: (car) => {
      car.see('ignition.type', 'Start');
      car.see('powertrain.status', 'Stopped');
    },
    states: SENT,
  },
  {
    cause: 'VehicleInUse',
    when: 'the engine runs on without the ignition',
    ...immobilize,
    before: (car) => car.see('powertrain.status', 'Running'),
    states: SENT,
  },
  {
    cause: 'VehicleInUse',
    when: 'the car drives, whatever its profile allows',
    ...immobilize,
    setting: {
      requires: { 'immobilization.on': [{ path: 'kinetic.speed', atMost: 300, cause: 'VehicleInUse' }] },
    },
    before: (car) => car.see('kinetic.speed', 50),
    states: SENT,
  },
  {
    cause: 'VehicleInUse',
    when: 'the car rolls',
    ...immobilize,
    before: (car) => car.see('kinetic.speed', 0.1),
    states: SENT,
  },
  {
    cause: 'VehicleInUse',
    when: 'the car drives and the horn is commanded',
    kind: 'Horn',
    body: { state: 'Activated' },
    before: (car) => car.see('kinetic.speed', 30),
    states: SENT,
  },
  {
    cause: 'VehicleInUse',
    when: 'the car drives and the lights are commanded',
    kind: 'Lights',
    body: { on: true },
    before: (car) => car.clock.advance(6_000),
    states: SENT,
  },
  {
    cause: 'DoorsOpen',
    when: 'a door is open',
    ...heat,
    before: (car) => car.see('doorsState.opening.Passenger.state', 'Open'),
    states: SENT,
  },
  {
    cause: 'DoorsOpen',
    when: 'a mapped window is unknown',
    ...heat,
    setting: { feeds: ['doorsState.opening.RoofWindow.state'] },
    states: SENT,
  },
  {
    cause: 'DoorsOpen',
    when: 'the car reports it',
    ...heat,
    setting: deaf,
    before: (car) => {
      car.clock.after(1_000, () => car.see('preconditioning.airConditioning.failureCause', 'HoodOpened'));
    },
    states: SENT,
    actuated: ['preconditioning.start'],
  },
  {
    cause: 'DoorsOpen',
    when: 'the locks do not close because of an open door',
    ...lock,
    setting: deaf,
    before: (car) => car.see('doorsState.opening.Driver.state', 'Open'),
    states: SENT,
    actuated: ['doors.lock'],
  },
  {
    cause: 'CidInside',
    when: 'the locks do not close because of a key in the car',
    ...lock,
    setting: { ...deaf, feeds: ['key.present'] },
    before: (car) => car.say('key.present', true),
    states: SENT,
    actuated: ['doors.lock'],
  },
  {
    cause: 'VehicleErrorOrCidInside',
    when: 'the locks do not close and no key is reported',
    ...lock,
    setting: { ...deaf, feeds: ['key.present'] },
    states: SENT,
    actuated: ['doors.lock'],
  },
  {
    cause: 'ExternalChargingSystemError',
    when: 'no cable is plugged in',
    ...charge,
    before: (car) => car.see(`${CHARGING}.plugged`, false),
    states: SENT,
  },
  {
    cause: 'ExternalChargingSystemError',
    when: 'the cable gives no power',
    ...charge,
    setting: deaf,
    before: (car) => {
      car.clock.after(500, () => car.see(`${CHARGING}.status`, 'Disconnected'));
    },
    states: SENT,
    actuated: ['charging.start'],
  },
  {
    cause: 'VehicleChargingSystemError',
    when: 'the car reports a failure',
    ...charge,
    setting: deaf,
    before: (car) => {
      car.clock.after(500, () => car.see(`${CHARGING}.status`, 'Failure'));
    },
    states: SENT,
    actuated: ['charging.start'],
  },
  {
    cause: 'VehicleChargingSystemError',
    when: 'the car had reported a failure before',
    ...charge,
    setting: deaf,
    before: (car) => car.see(`${CHARGING}.status`, 'Failure'),
    states: SENT,
    actuated: ['charging.start'],
  },
  {
    cause: 'VehicleIsNotLocked',
    when: 'the profile requires it',
    ...heat,
    setting: {
      requires: {
        'preconditioning.start': [{ path: 'doorsState.lockedStates', includes: 'Locked', cause: 'VehicleIsNotLocked' }],
      },
    },
    states: SENT,
  },
  {
    cause: 'CanceledByDriver',
    when: 'a door is opened while it locks',
    ...lock,
    setting: deaf,
    before: (car) => {
      car.clock.after(500, () => car.see('doorsState.opening.Driver.state', 'Open'));
    },
    states: SENT,
    actuated: ['doors.lock'],
  },
  {
    cause: 'CanceledByDriver',
    when: 'the cable is pulled out',
    ...charge,
    setting: deaf,
    before: (car) => {
      car.clock.after(500, () => car.see(`${CHARGING}.plugged`, false));
    },
    states: SENT,
    actuated: ['charging.start'],
  },
  {
    cause: 'SameActionInProgress',
    when: 'the same action is in progress for another kind',
    kind: 'Stolen',
    body: { immobilization: { activate: true } },
    setting: deaf,
    before: (car) => {
      void car.order('Immobilization', { activate: true });
    },
  },
];

test.each(cases)('$cause when $when', async ({ cause, kind, body, setting, before, states = [], actuated = [] }) => {
  const car = carOf(setting);
  await before?.(car);
  const from = car.reports.length;
  await car.order(kind, body);
  const told = car.reports.slice(from).filter(({ type }) => type === kind);
  expect(told.map(({ status, failureCause }) => failureCause ?? status)).toEqual([...states, cause]);
  // The action already in progress belongs to another command.
  if (cause !== 'SameActionInProgress') expect(car.actuated).toEqual(actuated);
});

test('the cases cover every cause of the interface', () => {
  expect(new Set(cases.map(({ cause }) => cause))).toEqual(new Set(failureCauses));
});

describe('order of the checks', () => {
  const worst: readonly [string, (car: Car) => void][] = [
    ['MissingRights', () => undefined],
    ['NotPossibleDueToVehicleStolenState', (car) => car.steal('Alarm')],
    ['NotPossibleDueToVehiclePrivacyLevel', (car) => car.see('privacy.state', 'Full')],
    ['TooManyWakeUpsOverMonth', () => undefined],
    ['NotPossibleDueToVehicleBatteryLevel', (car) => car.see('battery.voltage', 1)],
  ];
  test.each(worst.map(([cause], index) => [cause, index] as const))(
    '%s comes before what follows',
    async (cause, from) => {
      const spent = from <= 3 ? { limits: { wakeUps: 0 } } : {};
      const car = carOf({ power: asleep, without: from === 0 ? ['Lights'] : [], ...spent });
      for (const [, make] of worst.slice(from)) make(car);
      expect(await car.order('Lights', { on: true })).toEqual([cause]);
      expect(car.actuated).toEqual([]);
    },
  );
});

describe('commands to a sleeping car', () => {
  const sleeping = () => {
    let awake = false;
    let woken = 0;
    const power = {
      awake: () => awake,
      wake: async () => {
        woken++;
        awake = true;
        return true;
      },
    };
    return { power, woken: () => woken };
  };

  test('a sleeping car is woken, the agent waits for its buses, and then the command is sent', async () => {
    const { power, woken } = sleeping();
    const car = carOf({ power });
    car.clock.advance(60_000);
    car.clock.after(700, () => car.repeat());
    const states = await car.order('Lights', { on: true });
    expect(states).toEqual(['Accepted', 'WakingUpVehicle', 'CheckingVehicle', 'SentToVehicle', 'Success']);
    expect(woken()).toBe(1);
    expect(car.document.data.wakeUps).toHaveLength(1);
  });

  test('a car that stays silent after waking gets no command', async () => {
    const { power } = sleeping();
    const car = carOf({ power, limits: { settling: 1_000 } });
    car.clock.advance(60_000);
    expect((await car.order('Lights', { on: true })).at(-1)).toBe('VehicleInUse');
    expect(car.actuated).toEqual([]);
  });

  test('WakeUp succeeds by waking the car', async () => {
    const { power } = sleeping();
    const car = carOf({ power });
    expect(await car.order('WakeUp', {})).toEqual(['Accepted', 'WakingUpVehicle', 'SentToVehicle', 'Success']);
    expect(await car.order('WakeUp', {})).toEqual(['Accepted', 'SentToVehicle', 'AlreadyDone']);
  });
});
