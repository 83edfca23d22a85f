import { expect, test } from 'vitest';
import { type SceneName, sceneNames } from '../../../adapters/simulated/index.ts';
import { absent, signalOf } from './network.ts';
import { type Seen, startCar } from './recorder.ts';

const SECOND = 1_000;

/** All values of `MESSAGE.Signal`, newest last. */
function values(seen: readonly Seen[], path: string): number[] {
  const [message = '', signal = ''] = path.split('.');
  signalOf(message, signal);
  return seen.filter((frame) => frame.message === message).map(({ signals }) => signals[signal] as number);
}

function last(seen: readonly Seen[], path: string): number | undefined {
  return values(seen, path).at(-1);
}

/** Expected values, named as in the bench's DBC. */
const expected: Readonly<Record<SceneName, readonly (readonly [path: string, value: number])[]>> = {
  drive: [['POWERTRAIN.IgnitionState', 2]],
  park: [
    ['POWERTRAIN.IgnitionState', 0],
    ['BODY.LockState', 1],
    ['BODY.DoorFL', 0],
  ],
  charge: [
    ['CHARGING.Plugged', 1],
    ['CHARGING.Mode', 1],
  ],
  crash: [
    ['SAFETY.CollisionSide', 1],
    ['SAFETY.CollisionSeverity', 2],
  ],
  theft: [['ALARM.Trigger', 13]],
  alarm: [
    ['ALARM.Trigger', 9],
    ['ALARM.Activation', 1],
  ],
  'low-battery': [
    ['BATTERY12V.StateOfHealth', 12],
    ['WARNINGS.Battery12V', 1],
  ],
  'door-open': [['BODY.DoorFL', 1]],
  private: [['MODES.Privacy', 1]],
  tunnel: [],
};

test('each scene can be played from rest, and only driving scenes drive', async () => {
  for (const name of sceneNames) {
    const { car, clock, seen } = await startCar({ scenario: 'parked' });
    car.play(name);
    expect(car.played).toBe(name);
    clock.advance(23 * SECOND);
    for (const [path, value] of expected[name]) expect(last(seen, path), `${name}: ${path}`).toBe(value);
    const drove = Math.max(...values(seen, 'MOTION.Speed')) > 10;
    expect(drove, name).toBe(['drive', 'crash', 'theft', 'private', 'tunnel'].includes(name));
    await car.stop();
  }
});

test('a moving car brakes before a stationary scene and drives on through a tunnel, without a jump in speed', async () => {
  const { car, clock, seen } = await startCar();
  clock.advance(30 * SECOND);
  expect(last(seen, 'MOTION.Speed')).toBeGreaterThan(20);
  car.play('park');
  clock.advance(12 * SECOND);
  expect(last(seen, 'MOTION.Speed')).toBe(0);
  car.play('drive');
  clock.advance(20 * SECOND);
  car.play('tunnel');
  const before = seen.length;
  clock.advance(20 * SECOND);
  const through = seen.slice(before);
  expect(Math.min(...values(through, 'MOTION.Speed'))).toBeGreaterThan(5);
  // The difference after 20 ms, km/h, is limited by brakes and engine.
  const speeds = values(seen, 'MOTION.Speed');
  const steps = speeds.slice(1).map((speed, index) => Math.abs(speed - (speeds[index] ?? 0)));
  expect(Math.max(...steps)).toBeLessThan(1);
  const latitude = last(through, 'GNSS.Latitude') ?? 0;
  expect(absent(signalOf('GNSS', 'Latitude'), latitude)).toBe(true);
  await car.stop();
});

test('the odometer continues after a scene, also in the state for the next run', async () => {
  const first = await startCar();
  const fresh = first.car.state().odometer;
  first.car.play('drive');
  first.clock.advance(60 * SECOND);
  const state = first.car.state();
  expect(state.odometer).toBeGreaterThan(fresh + 300);
  expect(state.elapsed).toBe(0);
  const second = await startCar({ restore: state });
  second.clock.advance(SECOND);
  expect(last(second.seen, 'ODOMETER.Mileage')).toBeCloseTo(last(first.seen, 'ODOMETER.Mileage') ?? 0, 2);
  await first.car.stop();
  await second.car.stop();
});
