/** Each kind of command: actions for its body, and its states. */
import { describe, expect, test } from 'vitest';
import { CHARGING, carOf, disk } from './rig.ts';

const DONE = ['Accepted', 'SentToVehicle', 'Success'];
const ALREADY = ['Accepted', 'SentToVehicle', 'AlreadyDone'];

describe('actions of each kind', () => {
  test.each([
    ['Doors', { state: 'Locked' }, ['doors.lock']],
    ['Doors', { state: 'Locked', forced: true }, ['doors.lock']],
    ['Lights', { on: true }, ['lights.on']],
    ['Horn', { state: 'Activated' }, ['horn.on']],
    ['Immobilization', { activate: true }, ['immobilization.on']],
    ['Stolen', { immobilization: { activate: true } }, ['immobilization.on']],
    ['ElectricBatteryChargingRequest', { immediate: true }, ['charging.start']],
    [
      'ElectricBatteryChargingRequest',
      { preferences: { level: 'Level3', type: 'Partial' } },
      ['charging.level3', 'charging.partial'],
    ],
    ['ThermalPreconditioning', { airConditioning: { immediate: true } }, ['preconditioning.start']],
  ] as const)('%s %j is carried out once', async (kind, body, expected) => {
    const car = carOf();
    expect(await car.order(kind, body)).toEqual(DONE);
    expect(car.actuated).toEqual(expected);
    car.repeat();
    expect(await car.order(kind, body)).toEqual(ALREADY);
    expect(car.actuated).toEqual(expected);
  });

  test.each([
    ['Lights', { on: false }],
    ['Horn', { state: 'Unactivated' }],
    ['Immobilization', { activate: false }],
    ['ElectricBatteryChargingRequest', { immediate: false }],
    ['ThermalPreconditioning', { airConditioning: { immediate: false } }],
    ['Stolen', { stolen: false }],
    ['WakeUp', {}],
    ['WakeUp', { action: 'WakeUp' }],
  ] as const)('%s %j is AlreadyDone in a parked car', async (kind, body) => {
    const car = carOf();
    expect(await car.order(kind, body)).toEqual(ALREADY);
    expect(car.actuated).toEqual([]);
  });

  test('a route is sent to the navigation with its places, without the state Accepted', async () => {
    const car = carOf();
    const positions = [
      [2.35, 48.85],
      [2.36, 48.86, 40],
    ].map((coordinates) => ({ type: 'Point', coordinates }));
    expect(await car.order('Navigation', { positions, driverApproval: true })).toEqual(['SentToVehicle', 'Success']);
    expect(car.parameters).toEqual([
      {
        positions: [
          [2.35, 48.85],
          [2.36, 48.86, 40],
        ],
      },
    ]);
    car.repeat();
    await car.order('Navigation', { positions });
    expect(car.actuated).toEqual(['navigation.send', 'navigation.send']);
    const without = carOf({ profile: ['doors.lock'] });
    expect(await without.order('Navigation', { positions })).toEqual(['WrongCommand']);
  });

  test('deprecated members have no effect and are reported', async () => {
    const car = carOf();
    await car.order('Doors', { state: 'Locked', forced: true });
    await car.order('ElectricBatteryChargingRequest', { immediate: true, nextDelayedTime: 'whatever' });
    const said = car.log.lines.filter(({ event }) => event === 'command.deprecated');
    expect(said.map(({ fields }) => fields?.['member'])).toEqual(['forced', 'nextDelayedTime']);
    expect(car.value(`${CHARGING}.nextDelayedTime`)).toBeUndefined();
  });
});

describe('wrong commands', () => {
  const program = { slot: 1, enabled: true, start: 'PT7H', occurence: { day: ['Mon'] } };
  const air = (...programs: object[]) => ({ airConditioning: { programs } });
  test.each([
    ['ElectricBatteryChargingRequest', {}],
    ['ElectricBatteryChargingRequest', { schedule: {} }],
    ['ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT7H', programs: [program] } }],
    ['ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: '7 o’clock' } }],
    ['ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT24H' } }],
    ['ElectricBatteryChargingRequest', { immediate: true, preferences: { level: 'Level1' } }],
    ['ElectricBatteryChargingRequest', { schedule: { programs: [] }, preferences: { type: 'Full' } }],
    ['ElectricBatteryChargingRequest', { preferences: {} }],
    ['ElectricBatteryChargingRequest', { schedule: { programs: [program, program] } }],
    ['ElectricBatteryChargingRequest', { schedule: { programs: [{ ...program, end: 'PT7H' }] } }],
    ['ThermalPreconditioning', { airConditioning: {} }],
    ['ThermalPreconditioning', air({ ...program, slot: undefined })],
    ['ThermalPreconditioning', air({ ...program, enabled: undefined })],
    ['ThermalPreconditioning', air({ ...program, start: undefined })],
    ['ThermalPreconditioning', air({ ...program, occurence: undefined })],
    ['ThermalPreconditioning', air({ ...program, occurence: { day: [] } })],
    ['ThermalPreconditioning', air({ ...program, start: 'P1D' })],
    ['ThermalPreconditioning', air(program, { slot: 1, actionsType: 'Delete' })],
    ['ThermalPreconditioning', air({ actionsType: 'Delete' })],
    ['Stolen', {}],
    ['Stolen', { stolen: true, immobilization: { activate: true } }],
    ['Stolen', { trackingPeriod: {} }],
    ['WakeUp', { action: 'Sleep' }],
  ] as const)('%s %j is a WrongCommand', async (kind, body) => {
    const car = carOf();
    expect(await car.order(kind, body)).toEqual(['WrongCommand']);
    expect(car.reports[0]?.detail).toMatch(/must|missing|twice|cannot go together/);
  });
});

describe('theft commands', () => {
  test('a theft is declared once, tracked as ordered, and ends when the car is found', async () => {
    const car = carOf();
    expect(await car.order('Stolen', { stolen: true })).toEqual(DONE);
    expect(car.stolen()?.origin).toBe('Declared');
    expect(await car.order('Stolen', { stolen: true })).toEqual(ALREADY);
    expect(await car.order('Stolen', { trackingPeriod: { running: 5, shutdown: 60 } })).toEqual(DONE);
    expect(await car.order('Stolen', { trackingPeriod: { running: 5, shutdown: 60 } })).toEqual(ALREADY);
    expect(await car.order('Stolen', { trackingPeriod: { shutdown: 90 } })).toEqual(DONE);
    expect(await car.order('Stolen', { stolen: false })).toEqual(DONE);
    await car.remotes.resume();
    expect(car.periods).toEqual([
      { running: 5_000, shutdown: 60_000 },
      { running: 5_000, shutdown: 90_000 },
      undefined,
    ]);
    expect(await car.order('Stolen', { trackingPeriod: { running: 5 } })).toEqual([
      'Accepted',
      'SentToVehicle',
      'NotPossibleDueToVehicleStolenState',
    ]);
  });

  test('a theft that the car detected can still be declared by command', async () => {
    const car = carOf();
    car.steal('Alarm');
    expect(await car.order('Stolen', { stolen: true })).toEqual(DONE);
    expect(car.stolen()?.origin).toBe('Declared');
  });

  test('tracking of a theft continues after a power cut', async () => {
    const car = carOf();
    car.steal('Declared');
    await car.order('Stolen', { trackingPeriod: { running: 10, shutdown: 120 } });
    const after = carOf({ memory: car.memory, document: disk(car.document.data), theft: car.stolen() as never });
    expect(after.periods).toEqual([{ running: 10_000, shutdown: 120_000 }]);
  });
});
