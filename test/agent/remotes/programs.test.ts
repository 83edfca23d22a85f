/** Programs and delayed charging: stored, shown, and carried out once by the car itself. */
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../rig/clock.ts';
import { CHARGING, carOf, disk } from './rig.ts';

const HOUR = 3_600_000;
const PROGRAMS = 'preconditioning.airConditioning.programs';
/** 12:00 in Paris, a Thursday. */
const noon = () => new VirtualClock(Date.UTC(2026, 0, 1, 11));
type Car = ReturnType<typeof carOf>;

const at = (start: string, rest: object = {}) => ({
  airConditioning: { programs: [{ slot: 1, enabled: true, start, occurence: { day: ['Thu', 'Fri'] }, ...rest }] },
});

/** Advances time while the buses send. */
async function pass(car: Car, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    car.repeat();
    await car.clock.settle(Math.min(left, 5_000), 5_000);
  }
  car.repeat();
  await car.clock.settle(4_000, 200);
}

const ends = ({ reports }: Car) =>
  reports
    .filter(({ status }) => status !== 'Accepted' && status !== 'SentToVehicle')
    .map(({ remoteActionId, status, failureCause }) => `${remoteActionId.split('@')[0]} ${failureCause ?? status}`);

describe('preconditioning programs', () => {
  test('a program is shown in Status, runs at its time on its days, is reported like a command, and can be deleted', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    expect((await car.order('ThermalPreconditioning', at('PT13H'))).at(-1)).toBe('Success');
    expect((await car.order('ThermalPreconditioning', at('PT13H'))).at(-1)).toBe('AlreadyDone');
    expect(car.value(PROGRAMS)).toEqual([
      { slot: 1, enabled: true, start: 'PT13H', occurence: { day: ['Thu', 'Fri'] } },
    ]);
    car.reports.length = 0;
    await pass(car, HOUR - 60_000);
    expect(car.actuated).toEqual([]);
    await pass(car, 60_000);
    expect(car.actuated).toEqual(['preconditioning.start']);
    expect(ends(car)).toEqual(['precondition/1 Success']);
    car.see('preconditioning.airConditioning.status', 'Finished');
    await pass(car, 24 * HOUR);
    expect(car.actuated).toHaveLength(2);
    car.see('preconditioning.airConditioning.status', 'Finished');
    // Saturday is not one of its days.
    await pass(car, 24 * HOUR);
    expect(car.actuated).toHaveLength(2);
    const remove = { airConditioning: { programs: [{ slot: 1, actionsType: 'Delete' }] } };
    expect((await car.order('ThermalPreconditioning', remove)).at(-1)).toBe('Success');
    expect(car.value(PROGRAMS)).toBeUndefined();
  }, 30_000);

  test('a program that runs once is disabled afterwards, and a disabled one does not run', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    await car.order('ThermalPreconditioning', at('PT12H30M', { recurrence: 'None' }));
    await car.order('ThermalPreconditioning', at('PT12H20M', { slot: 2, enabled: false }));
    await pass(car, HOUR);
    expect(car.actuated).toEqual(['preconditioning.start']);
    expect(car.value(PROGRAMS)).toMatchObject([
      { slot: 1, enabled: false },
      { slot: 2, enabled: false },
    ]);
  });

  test('a program does not start with an open door or in a stolen car', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    await car.order('ThermalPreconditioning', at('PT12H30M'));
    await car.order('ThermalPreconditioning', at('PT12H40M', { slot: 2 }));
    car.reports.length = 0;
    car.see('doorsState.opening.Driver.state', 'Open');
    await pass(car, HOUR / 2);
    car.steal('Alarm');
    await pass(car, HOUR / 4);
    expect(car.actuated).toEqual([]);
    expect(ends(car)).toEqual(['precondition/1 DoorsOpen', 'precondition/2 NotPossibleDueToVehicleStolenState']);
  });
});

describe('charging programs', () => {
  test('charging starts once at a time of day, which Status shows until then', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    await car.order('ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT12H30M' } });
    expect(car.value(`${CHARGING}.nextDelayedTime`)).toBe('PT12H30M');
    await pass(car, HOUR);
    expect(car.actuated).toEqual(['charging.start']);
    expect(car.value(`${CHARGING}.nextDelayedTime`)).toBeUndefined();
  });

  test('charging can start at a future time, and a past one is refused', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    const schedule = { nextDelayedTime: '2026-01-01T12:15:00+01:00' };
    expect((await car.order('ElectricBatteryChargingRequest', { immediate: false, schedule })).at(-1)).toBe('Success');
    await pass(car, HOUR / 2);
    expect(car.actuated).toEqual(['charging.start']);
    expect((await car.order('ElectricBatteryChargingRequest', { schedule })).at(-1)).toBe('WrongCommand');
  });

  test('charging follows programs with start and end, and a new list replaces all', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    const programs = [{ start: 'PT12H30M', end: 'PT13H', enabled: true }];
    await car.order('ElectricBatteryChargingRequest', { schedule: { programs } });
    expect(car.value(`${CHARGING}.schedule.programs`)).toEqual([
      { slot: 1, enabled: true, start: 'PT12H30M', end: 'PT13H' },
    ]);
    await pass(car, HOUR + 60_000);
    expect(car.actuated).toEqual(['charging.start', 'charging.stop']);
    await car.order('ElectricBatteryChargingRequest', { schedule: { programs: [] } });
    expect(car.value(`${CHARGING}.schedule.programs`)).toBeUndefined();
    await pass(car, 25 * HOUR);
    expect(car.actuated).toHaveLength(2);
  }, 30_000);

  test('a charging end at night is on the day after the start', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    const programs = [{ start: 'PT23H', end: 'PT1H', occurence: { day: ['Thu'] } }];
    await car.order('ElectricBatteryChargingRequest', { schedule: { programs } });
    await pass(car, 12 * HOUR);
    expect(car.actuated).toEqual(['charging.start']);
    await pass(car, 2 * HOUR);
    expect(car.actuated).toEqual(['charging.start', 'charging.stop']);
  }, 30_000);
});

describe('missed programs', () => {
  test.each([
    ['within its window is carried out late', 10 * 60_000, ['preconditioning.start'], 'Success'],
    ['beyond its window is reported as VehicleConnectionTimeout', 20 * 60_000, [], 'VehicleConnectionTimeout'],
  ] as const)('a missed program %s', async (_name, late, actuated, end) => {
    const clock = noon();
    const before = carOf({ clock });
    await before.order('ThermalPreconditioning', at('PT13H'));
    before.remotes.stop();
    clock.advance(HOUR + late);
    const car = carOf({ clock, memory: before.memory, document: disk(before.document.data) });
    await car.remotes.resume();
    car.repeat();
    await clock.settle(5_000, 500);
    expect(car.actuated).toEqual(actuated);
    expect(ends(car)).toEqual([`precondition/1 ${end}`]);
    expect(car.value(PROGRAMS)).toMatchObject([{ slot: 1, start: 'PT13H' }]);
    car.remotes.stop();
    // A third start has nothing left to do.
    const next = carOf({ clock, memory: car.memory, document: disk(car.document.data) });
    await next.remotes.resume();
    await clock.settle(5_000, 500);
    expect(next.actuated).toEqual([]);
    expect(next.reports).toEqual([]);
  });

  test('while the time is unknown no program runs and none is lost', async () => {
    const clock = noon();
    const before = carOf({ clock });
    await before.order('ThermalPreconditioning', at('PT13H'));
    before.remotes.stop();
    const car = carOf({ clock, memory: before.memory, document: disk(before.document.data), quality: 'none' });
    await car.remotes.resume();
    await pass(car, HOUR + 60_000);
    expect(car.actuated).toEqual([]);
    car.know('gnss');
    await pass(car, 20_000);
    expect(car.actuated).toEqual(['preconditioning.start']);
  });

  test('a clock that steps over a program runs it, and one that steps back does not repeat it', async () => {
    const car = carOf({ clock: noon() });
    await car.remotes.resume();
    await car.order('ThermalPreconditioning', at('PT13H'));
    car.clock.step(HOUR + 60_000);
    await pass(car, 20_000);
    expect(car.actuated).toHaveLength(1);
    car.see('preconditioning.airConditioning.status', 'Finished');
    car.clock.step(-HOUR / 4);
    await pass(car, HOUR / 2);
    expect(car.actuated).toHaveLength(1);
  });
});

test('a sleeping process is woken for the next program', async () => {
  const moments: number[] = [];
  const car = carOf({ clock: noon(), waker: (moment) => void moments.push(moment) });
  await car.remotes.resume();
  await car.order('ThermalPreconditioning', at('PT13H'));
  await pass(car, 20_000);
  expect(new Set(moments)).toEqual(new Set([Date.UTC(2026, 0, 1, 12)]));
});
