import { beforeAll, describe, expect, test } from 'vitest';
import { SimulatedCar } from '../../../adapters/simulated/index.ts';
import { transmissions } from '../../../adapters/simulated/messages.ts';
import { Route } from '../../../adapters/simulated/route.ts';
import { distance } from '../../../agent/model/position.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { absent, codec, database, diagnostics, messageOf, signalOf } from './network.ts';
import { type Seen, startCar, transcript } from './recorder.ts';

/** Values of `message.signal` with their times, without those that mean "not available". */
function values(seen: readonly Seen[], message: string, signal: string): { at: number; value: number }[] {
  const described = signalOf(message, signal);
  return seen
    .filter((frame) => frame.message === message)
    .map((frame) => ({ at: frame.at, value: frame.signals[signal] as number }))
    .filter(({ value }) => !absent(described, value));
}

/** Values in order, without repetitions. */
function sequence(seen: readonly Seen[], message: string, signal: string): number[] {
  const all = values(seen, message, signal).map(({ value }) => value);
  return all.filter((value, index) => index === 0 || value !== all[index - 1]);
}

/** Duration in ms of each drive, from the first frame with the ignition on to the first with it off. */
function ignitionTimes(seen: readonly Seen[]): number[] {
  const states = values(seen, 'POWERTRAIN', 'IgnitionState');
  const changes = states.filter(({ value }, index) => index > 0 && (value === 0) !== (states[index - 1]?.value === 0));
  const times: number[] = [];
  for (let i = 0; i + 1 < changes.length; i += 2) {
    times.push(Math.round(((changes[i + 1]?.at as number) - (changes[i]?.at as number)) / 20) * 20);
  }
  return times;
}

describe('one loop of the bench car', () => {
  let seen: Seen[];
  let batches: number[];
  let period: number;

  beforeAll(async () => {
    const rig = await startCar();
    period = rig.car.period;
    rig.clock.advance(period);
    seen = rig.seen;
    batches = rig.batches;
  });

  test('every message of the DBC is sent with its cycle time, lowest identifier first', () => {
    expect(diagnostics).toEqual([]);
    for (const { name, cycleTime: cycle } of database.messages) {
      if (cycle === undefined) continue;
      const sent = transmissions.find((one) => one.message === name);
      expect(sent?.cycle, name).toBe(cycle);
      const times = seen.filter((frame) => frame.message === name).map((frame) => frame.at);
      const drives = sent?.while === 'Ignition' ? ignitionTimes(seen) : [period];
      const during = drives.reduce((sum, time) => sum + time, 0);
      expect(times.length, name).toBeCloseTo(during / cycle, sent?.while === 'Ignition' ? -1 : 6);
      let pauses = 0;
      for (let i = 1; i < times.length; i++) {
        const gap = (times[i] as number) - (times[i - 1] as number);
        if (gap > 20_000) pauses++;
        else expect(Math.abs(gap - cycle), `${name} after ${gap} ms`).toBeLessThan(10);
      }
      expect(pauses, name).toBe(drives.length - 1);
    }
    expect(transmissions.map((one) => messageOf(one.message).id)).toEqual(
      transmissions.map((one) => messageOf(one.message).id).sort((a, b) => a - b),
    );
  });

  test('frames occupy the bus one after another, and each batch spans one tick', () => {
    for (let i = 1; i < seen.length; i++) {
      const gap = (seen[i] as Seen).at - (seen[i - 1] as Seen).at;
      expect(gap).toBeGreaterThan((44 + 8 * (seen[i] as Seen).data.length) / 500 - 1e-3);
    }
    expect(batches.length).toBe(period / 20);
  });

  test('every value is within its range or means "not available"', () => {
    for (const frame of seen) {
      const described = messageOf(frame.message);
      expect(frame.data.length).toBe(described.length);
      for (const signal of described.signals) {
        const value = frame.signals[signal.name];
        if (value === undefined) {
          expect(signal.selection, `${frame.message}.${signal.name}`).toBeDefined();
          continue;
        }
        if (absent(signal, value)) continue;
        const [minimum, maximum] = signal.range ?? [Number.NaN, Number.NaN];
        if (!(value >= minimum && value <= maximum)) expect.fail(`${frame.message}.${signal.name} = ${value}`);
      }
    }
  });

  test('counters increment and checksums match', () => {
    for (const { name, signals } of database.messages) {
      if (!signals.some((signal) => signal.name === 'Checksum')) continue;
      const frames = seen.filter((frame) => frame.message === name);
      frames.forEach((frame, index) => {
        expect(frame.data.reduce((sum, byte) => sum ^ byte, 0)).toBe(0);
        expect(frame.signals['Counter']).toBe(index % 16);
      });
      expect(frames.length > 0, name).toBe(!name.endsWith('_COMMAND'));
    }
  });

  test('speed, odometer and positions yield the same distance within 1 %', () => {
    const speeds = values(seen, 'MOTION', 'Speed');
    let integrated = 0;
    for (let i = 1; i < speeds.length; i++) {
      const [a, b] = [speeds[i - 1], speeds[i]] as [{ at: number; value: number }, { at: number; value: number }];
      integrated += ((a.value + b.value) / 2 / 3.6) * ((b.at - a.at) / 1000);
    }
    const mileage = values(seen, 'ODOMETER', 'Mileage').map(({ value }) => value * 1000);
    const odometer = (mileage.at(-1) as number) - (mileage[0] as number);
    const latitudes = values(seen, 'GNSS', 'Latitude');
    const longitudes = values(seen, 'GNSS', 'Longitude');
    const line = latitudes.map(({ value }, i) => ({ latitude: value, longitude: longitudes[i]?.value as number }));
    let travelled = 0;
    for (let i = 1; i < line.length; i++) {
      travelled += distance(line[i - 1] as (typeof line)[0], line[i] as (typeof line)[0]);
    }
    expect(odometer).toBeGreaterThan(2_900);
    expect(odometer).toBeLessThan(4_000);
    expect(Math.abs(integrated / odometer - 1)).toBeLessThan(0.01);
    expect(Math.abs(travelled / odometer - 1)).toBeLessThan(0.01);
    expect(distance(line[0] as (typeof line)[0], line.at(-1) as (typeof line)[0])).toBeLessThan(1);
  });

  test('acceleration is at most 2 m/s², and matches the change of speed', () => {
    const speeds = values(seen, 'MOTION', 'Speed');
    const accelerations = values(seen, 'MOTION', 'Acceleration');
    for (let i = 25; i < speeds.length; i++) {
      const change = ((speeds[i]?.value as number) - (speeds[i - 25]?.value as number)) / 3.6 / 0.5;
      expect(Math.abs(accelerations[i]?.value as number)).toBeLessThanOrEqual(2);
      expect(Math.abs(change)).toBeLessThanOrEqual(2.02);
      const window = accelerations.slice(i - 25, i).map(({ value }) => value);
      expect(change).toBeGreaterThan(Math.min(...window) - 0.1);
      expect(change).toBeLessThan(Math.max(...window) + 0.1);
    }
  });

  test('the heading equals the direction of movement', () => {
    const headings = values(seen, 'GNSS_FIX', 'Heading');
    const latitudes = values(seen, 'GNSS', 'Latitude');
    const longitudes = values(seen, 'GNSS', 'Longitude');
    let compared = 0;
    for (let i = 1; i < headings.length; i++) {
      const north = (latitudes[i]?.value as number) - (latitudes[i - 1]?.value as number);
      const scale = Math.cos(((latitudes[i]?.value as number) * Math.PI) / 180);
      const east = ((longitudes[i]?.value as number) - (longitudes[i - 1]?.value as number)) * scale;
      if (Math.hypot(north, east) < 5e-6) continue;
      const moved = (Math.atan2(east, north) * 180) / Math.PI;
      const off = (((((headings[i]?.value as number) - moved) % 360) + 540) % 360) - 180;
      expect(Math.abs(off)).toBeLessThan(16);
      compared++;
    }
    expect(compared).toBeGreaterThan(900);
  });

  test('doors, charging, ignition, lights and warnings change in the expected order', () => {
    expect(sequence(seen, 'BODY', 'DoorFL')).toEqual([0, 1, 0, 1, 0, 1, 0]);
    expect(sequence(seen, 'BODY', 'DoorFR')).toEqual([0, 1, 0]);
    expect(sequence(seen, 'CHARGING', 'Plugged')).toEqual([1, 0, 1]);
    expect(sequence(seen, 'CHARGING', 'Status')).toEqual([1, 3, 0, 3, 1]);
    expect(sequence(seen, 'SAFETY', 'DriverBuckle')).toEqual([0, 1, 0, 1, 0]);
    expect(sequence(seen, 'POWERTRAIN', 'IgnitionState')).toEqual([0, 1, 2, 0, 1, 2, 0]);
    expect(sequence(seen, 'POWERTRAIN', 'PowertrainState')).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0]);
    expect(sequence(seen, 'MOTION', 'Moving')).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0]);
    expect(sequence(seen, 'WIPERS', 'FrontWiper')).toEqual([0, 1, 2, 0]);
    expect(sequence(seen, 'LIGHTS', 'Daylight')).toEqual([1, 0]);
    expect(sequence(seen, 'WARNINGS', 'AddWasherFluid')).toEqual([0, 1]);
    expect(sequence(seen, 'BODY', 'LockState')).toEqual([0]);
    const firstDoor = values(seen, 'BODY', 'DoorFL').find(({ value }) => value === 1)?.at as number;
    expect(firstDoor - (seen[0] as Seen).at).toBeLessThan(10_000);
  });

  test('the engine starts above 45 km/h, and the drive uses more than was charged', () => {
    const speeds = values(seen, 'MOTION', 'Speed');
    const started = values(seen, 'ENGINE', 'Speed').find(({ value }) => value > 0)?.at as number;
    const then = speeds.filter(({ at }) => at <= started).at(-1)?.value as number;
    expect(then).toBeGreaterThanOrEqual(45);
    expect(then).toBeLessThan(46);
    const levels = values(seen, 'TRACTION_BATTERY', 'Residual').map(({ value }) => value);
    expect(levels.at(-1)).toBeLessThan(levels[0] as number);
  });

  test('the first fix takes a second; until then positions are "not available"', () => {
    const frames = seen.filter((frame) => frame.message === 'GNSS');
    expect(frames.slice(0, 5).map((frame) => Buffer.from(frame.data).toString('hex'))).toEqual(
      new Array(5).fill('8000000080000000'),
    );
    expect(frames[5]?.signals['Latitude']).toBeCloseTo(48.85628, 6);
    expect(seen.find((frame) => frame.message === 'GNSS_FIX')?.signals['Fix']).toBe(0);
  });
});

describe('repeatability', () => {
  test('the same seed yields the same frames, and another seed yields others', async () => {
    const record = async (seed: number) => {
      const rig = await startCar({ seed });
      rig.clock.advance(20_000);
      return transcript(rig.seen);
    };
    const first = await record(7);
    expect(await record(7)).toEqual(first);
    expect(await record(8)).not.toEqual(first);
  });

  test('a car restored in mid-drive continues like one that never stopped', async () => {
    const whole = await startCar();
    whole.clock.advance(110_000);
    const before = await startCar();
    before.clock.advance(70_000);
    const after = await startCar({ restore: JSON.parse(JSON.stringify(before.car.state())) });
    after.clock.advance(40_000);
    expect(after.car.state()).toEqual(whole.car.state());
    const last = (rig: typeof whole, message: string) => rig.seen.filter((f) => f.message === message).at(-1)?.signals;
    for (const message of ['GNSS', 'GNSS_FIX', 'FUEL', 'TRACTION_BATTERY', 'BODY', 'ENGINE']) {
      const { Counter: _, Checksum: __, ...signals } = last(after, message) ?? {};
      expect(last(whole, message), message).toMatchObject(signals);
    }
    expect(last(after, 'ODOMETER')?.['Mileage']).toBe(last(whole, 'ODOMETER')?.['Mileage']);
  });

  test('over several loops the odometer matches the route, the battery keeps its reserve, and no fuel is lost', async () => {
    const clock = new VirtualClock();
    const car = new SimulatedCar({ clock, codec, restore: { ...(await startCar()).car.state(), charge: 2_600 } });
    const start = car.state();
    await car.start(() => undefined);
    clock.advance(4 * car.period);
    const end = car.state();
    expect(end.elapsed).toBe(0);
    expect((end.odometer - start.odometer) / 4).toBeCloseTo(new Route().length, 6);
    expect(end.charge / 12_028).toBeGreaterThan(0.17);
    expect(end.burnt + end.fuel).toBeCloseTo(start.burnt + start.fuel, 9);
  });

  test.each([
    ['nothing', null],
    ['another version', { version: 2 }],
    ['a member of the wrong type', { ...state(), charge: '9000' }],
    ['a member out of range', { ...state(), fuel: -1 }],
    ['not a number', { ...state(), odometer: Number.NaN }],
    ['no flag', { ...state(), locked: 1 }],
  ])('%s cannot be restored', (_, restore) => {
    expect(() => new SimulatedCar({ clock: new VirtualClock(), codec, restore })).toThrow(
      expect.objectContaining({ code: 'input.malformed' }),
    );
  });
});

describe('timing', () => {
  test('a late timer is made up for tick by tick, but not a long sleep', async () => {
    const rig = await startCar();
    rig.clock.advance(1_000);
    rig.seen.length = 0;
    rig.batches.length = 0;
    rig.clock.stall(200);
    expect(rig.batches.length).toBe(10);
    const motion = rig.seen.filter((frame) => frame.message === 'MOTION').map((frame) => frame.at);
    for (let i = 1; i < motion.length; i++) {
      expect(Math.abs((motion[i] as number) - (motion[i - 1] as number) - 20)).toBeLessThan(10);
    }
    rig.batches.length = 0;
    rig.clock.stall(3_600_000);
    expect(rig.batches.length).toBe(1);
    expect(rig.seen.at(-1)?.at).toBeGreaterThan(rig.clock.now() - 20);
  });

  test('a stopped car sends nothing, has no timer, and continues from its state when restarted', async () => {
    const rig = await startCar();
    rig.clock.advance(500);
    await rig.car.stop();
    const count = rig.seen.length;
    expect(rig.clock.pending).toBe(0);
    rig.clock.advance(10_000);
    expect(rig.seen.length).toBe(count);
    await rig.car.start(() => undefined);
    rig.clock.advance(500);
    expect(rig.car.state().elapsed).toBe(1_000);
    await expect(rig.car.start(() => undefined)).rejects.toMatchObject({ code: 'usage.wrong' });
  });

  test('an exception in the receiver does not stop the bus', async () => {
    const clock = new VirtualClock();
    const car = new SimulatedCar({ clock, codec });
    let batches = 0;
    await car.start(() => {
      if (++batches === 3) throw new Error('receiver');
    });
    expect(() => clock.advance(1_000)).toThrow('receiver');
    clock.advance(1_000);
    expect(batches).toBeGreaterThan(50);
    expect(() => new SimulatedCar({ clock, codec, startAt: -1 })).toThrow(
      expect.objectContaining({ code: 'usage.wrong' }),
    );
  });

  test('a parked car does not move, and charges', async () => {
    const rig = await startCar({ scenario: 'parked' });
    const before = rig.car.state();
    rig.clock.advance(60_000);
    const after = rig.car.state();
    expect(after.odometer).toBe(before.odometer);
    expect(after.elapsed).toBe(before.elapsed);
    expect(after.charge).toBeGreaterThan(before.charge + 100);
    expect(sequence(rig.seen, 'MOTION', 'Speed')).toEqual([0]);
    expect(sequence(rig.seen, 'POWERTRAIN', 'IgnitionState')).toEqual([0]);
  });
});

function state() {
  return new SimulatedCar({ clock: new VirtualClock(), codec }).state();
}
