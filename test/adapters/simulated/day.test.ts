import { describe, expect, test } from 'vitest';
import { type DayStep, day } from '../../../adapters/simulated/day.ts';
import { Day, timeOfDay } from '../../../adapters/simulated/day-scenario.ts';
import { Drive } from '../../../adapters/simulated/drive.ts';
import { Route } from '../../../adapters/simulated/route.ts';
import { type Seen, startCar, transcript } from './recorder.ts';

const route = new Route();

/** The car of the day from `at` on, with a clock that starts at midnight of an arbitrary day. */
const carAt = (at: string) => startCar({ scenario: 'day', startAt: timeOfDay(at) });

const messages = (seen: readonly Seen[]): string[] => [...new Set(seen.map(({ message }) => message))].sort();

describe('a drive', () => {
  test('of several laps takes the requested time, and passes every light on each lap', () => {
    const once = new Drive(route);
    const thrice = new Drive(route, { from: 500, way: 3 * route.length });
    expect(thrice.length).toBeCloseTo(3 * route.length, 9);
    expect(thrice.at(thrice.duration).distance).toBeCloseTo(3 * route.length, 9);
    let standing = 0;
    for (let time = 1; time < thrice.duration - 1; time += 0.01) if (thrice.at(time).speed === 0) standing += 0.01;
    expect(standing).toBeCloseTo(15, 0);
    expect(new Drive(route, { red: 20 }).duration - once.duration).toBeCloseTo(35, 6);
  });

  test('with a collision loses all its speed in the pulse, without a jump in position', () => {
    const drive = new Drive(route, { way: 300, crash: true });
    const { at = 0, speed = 0 } = drive.impact ?? {};
    expect(speed).toBeGreaterThan(10);
    let [change, way] = [0, 0];
    const step = 1e-5;
    for (let time = at; time < drive.duration; time += step) {
      change += drive.at(time + step / 2).acceleration * step;
      way += drive.at(time + step / 2).speed * step;
    }
    expect(change).toBeCloseTo(-speed, 3);
    expect(drive.length - drive.at(at).distance).toBeCloseTo(way, 3);
    expect(drive.at(drive.duration)).toEqual({ distance: drive.length, speed: 0, acceleration: 0 });
  });
});

describe('the script of the day', () => {
  const at = (index: number): DayStep => day[index] as DayStep;

  test.each([
    ['out of order', [at(0), at(2), at(1)]],
    ['at no time of day', [{ ...at(0), at: '24:00:00' }]],
    [
      'a drive that has not arrived when the ignition is off',
      day.map((step) => (step.at === '06:53:00' ? { ...step, at: '06:50:30' } : step)),
    ],
    [
      'a day that does not end at home',
      day.map((step) => (step.drive?.way === 'home' ? { ...step, drive: { way: 700 } } : step)),
    ],
  ])('%s is refused', (_, steps) => {
    expect(() => new Day(route, steps)).toThrow(expect.objectContaining({ code: 'input.malformed' }));
  });

  test('consists of whole laps', () => {
    const { way, journeys } = new Day(route, day);
    expect(way / route.length).toBeCloseTo(Math.round(way / route.length), 9);
    expect(journeys).toHaveLength(6);
  });
});

describe('the car of the day', () => {
  test('sleeps without frames and with one timer, wakes on time, and keeps its state', async () => {
    const rig = await carAt('00:00:00');
    rig.clock.advance(timeOfDay('06:44:59'));
    expect(rig.seen).toEqual([]);
    expect(rig.clock.pending).toBe(1);
    expect(rig.car.state().elapsed).toBe(0);
    await expect(rig.car.send({ bus: 'body', id: 32, flags: 0, data: new Uint8Array(4) })).rejects.toMatchObject({
      code: 'command.actuation',
    });
    const woken = rig.clock.now() + 1_000;
    rig.clock.advance(1_100);
    expect(rig.seen[0]?.at).toBeGreaterThan(woken);
    expect(rig.seen[0]?.at).toBeLessThan(woken + 1);
    expect(rig.batches.length).toBe(5);
  });

  test('charges with part of its network awake, and fast', async () => {
    const rig = await carAt('12:05:31');
    const before = rig.car.state().charge;
    rig.clock.advance(60_000);
    expect(messages(rig.seen)).toEqual(['BATTERY12V', 'CHARGING', 'TRACTION_BATTERY']);
    expect(rig.car.state().charge - before).toBeCloseTo((40_000 * 0.92) / 60, 0);
    expect(rig.seen.find(({ message }) => message === 'CHARGING')?.signals['Mode']).toBe(2);
  });

  test('reports acceleration every 10 ms with the ignition on, and not before', async () => {
    const rig = await carAt('06:45:10');
    rig.clock.advance(2_000);
    expect(messages(rig.seen)).not.toContain('ACCELEROMETER');
    rig.clock.advance(10_000);
    const times = rig.seen.filter(({ message }) => message === 'ACCELEROMETER').map(({ at }) => at);
    expect(times.length).toBeGreaterThan(950);
    for (let i = 1; i < times.length; i++) {
      expect(Math.abs((times[i] as number) - (times[i - 1] as number) - 10)).toBeLessThan(5);
    }
  });

  test('stops its engine at a red light with the ignition on', async () => {
    const rig = await carAt('06:45:13');
    rig.clock.advance(240_000);
    const states = rig.seen.filter(({ message }) => message === 'POWERTRAIN');
    const stopped = states.filter(({ signals }) => signals['PowertrainState'] === 4);
    expect(stopped.length * 40).toBeGreaterThan(19_000);
    for (const { signals } of stopped) expect(signals['IgnitionState']).toBe(2);
    expect(states.at(-1)?.signals['PowertrainState']).toBe(2);
  });

  test('continues after a restart in mid-drive', async () => {
    const whole = await carAt('19:31:00');
    whole.clock.advance(20_000);
    const before = await carAt('19:31:00');
    before.clock.advance(10_000);
    const after = await startCar({ scenario: 'day', restore: JSON.parse(JSON.stringify(before.car.state())) });
    after.clock.advance(10_000);
    expect(after.car.state()).toEqual(whole.car.state());
  });

  test('repeats the same minute exactly', async () => {
    const live = async () => {
      const rig = await carAt('18:01:00');
      rig.clock.advance(60_000);
      return transcript(rig.seen);
    };
    expect(await live()).toEqual(await live());
  });
});
