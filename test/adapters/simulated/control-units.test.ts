/** Reactions of the bench car to the frames of its profile, and injected faults. */
import { describe, expect, test } from 'vitest';
import { FrameActuator } from '../../../adapters/can/actuator.ts';
import type { Scene } from '../../../adapters/simulated/index.ts';
import { loadVehicle } from '../../../assembly/vehicle.ts';
import { database } from './network.ts';
import { startCar } from './recorder.ts';

const vehicle = loadVehicle('bench');
const CHOSEN = { level1: 1, level2: 2, level3: 3, level4: 4, level5: 5 };

async function rigOf(options: Parameters<typeof startCar>[0] = {}) {
  const rig = await startCar({ scenario: 'parked', ...options });
  const actuator = new FrameActuator(vehicle.profile.commands, [{ database }], rig.car, rig.clock);
  return {
    ...rig,
    ask: async (action: string, positions?: readonly (readonly number[])[]) => {
      const done = actuator.actuate(action, positions === undefined ? undefined : { positions });
      await rig.clock.settle(1_000, 10);
      await done;
    },
    shows: (message: string, signal: string) => {
      rig.clock.advance(1_000);
      return rig.seen.findLast((frame) => frame.message === message)?.signals[signal];
    },
  };
}

describe('an action of the profile', () => {
  test.each<[string, string, string, number]>([
    ['doors.lock', 'BODY', 'LockState', 1],
    ['lights.on', 'LIGHTS', 'TurnFL', 1],
    ['lights.on', 'LIGHTS', 'TurnRR', 1],
    ['horn.on', 'BODY', 'HornSounding', 1],
    ['immobilization.on', 'BODY', 'ImmobilizerActive', 1],
    ['charging.stop', 'CHARGING', 'Mode', 0],
    ['charging.stop', 'CHARGING', 'Status', 3],
    ['charging.partial', 'CHARGING', 'Type', 0],
    ['preconditioning.start', 'CLIMATE', 'PreconditioningState', 1],
    ...Object.entries(CHOSEN).map(
      ([level, raw]) => [`charging.${level}`, 'CHARGING', 'PowerLevel', raw] as [string, string, string, number],
    ),
  ])('%s is shown by %s.%s', async (action, message, signal, value) => {
    const { ask, shows, car } = await rigOf();
    expect(shows(message, signal)).not.toBe(action === 'charging.level3' ? undefined : value);
    await ask(action);
    expect(shows(message, signal)).toBe(value);
    expect(car.commands).toEqual({ accepted: 1, rejected: 0 });
  });

  test.each([
    ['doors.lock', 'doors.unlock', 'BODY', 'LockState'],
    ['lights.on', 'lights.off', 'LIGHTS', 'TurnFR'],
    ['horn.on', 'horn.off', 'BODY', 'HornSounding'],
    ['immobilization.on', 'immobilization.off', 'BODY', 'ImmobilizerActive'],
    ['charging.stop', 'charging.start', 'CHARGING', 'Status'],
    ['charging.partial', 'charging.full', 'CHARGING', 'Type'],
    ['preconditioning.start', 'preconditioning.stop', 'CLIMATE', 'PreconditioningState'],
  ])('%s is reversed by %s, shown by %s.%s', async (there, back, message, signal) => {
    const { ask, shows } = await rigOf();
    const before = shows(message, signal);
    await ask(there);
    expect(shows(message, signal)).not.toBe(before);
    await ask(back);
    expect(shows(message, signal)).toBe(before);
  });

  test('for lamps and horn ends without a command', async () => {
    const { ask, shows, clock } = await rigOf();
    await ask('lights.on');
    await ask('horn.on');
    clock.advance(10_000);
    expect(shows('BODY', 'HornSounding')).toBe(0);
    expect(shows('LIGHTS', 'TurnFL')).toBe(1);
    clock.advance(20_000);
    expect(shows('LIGHTS', 'TurnFL')).toBe(0);
  });

  test('for charging is limited by the cable, and a partial charge ends early', async () => {
    const { ask, shows, car } = await rigOf();
    await ask('charging.level2');
    expect(shows('CHARGING', 'Power')).toBeCloseTo(3.7, 6);
    await ask('charging.level4');
    expect(shows('CHARGING', 'Power')).toBeCloseTo(7.4, 6);
    const almost = await rigOf({ restore: { ...car.state(), charge: 9_650 } });
    expect(almost.shows('CHARGING', 'Status')).toBe(1);
    await almost.ask('charging.partial');
    expect(almost.shows('CHARGING', 'Status')).toBe(4);
  });

  test('for charging, locks and the immobilizer has effect also after a restart', async () => {
    const before = await rigOf();
    for (const action of ['charging.level1', 'charging.partial', 'immobilization.on', 'doors.lock']) {
      await before.ask(action);
      before.clock.advance(1_000);
    }
    const { shows } = await rigOf({ restore: JSON.parse(JSON.stringify(before.car.state())) });
    expect(shows('CHARGING', 'PowerLevel')).toBe(1);
    expect(shows('CHARGING', 'Type')).toBe(0);
    expect(shows('BODY', 'ImmobilizerActive')).toBe(1);
    expect(shows('BODY', 'LockState')).toBe(1);
  });

  test('survives only in a complete state: a missing member is refused by name', async () => {
    const { car } = await rigOf();
    const { immobilized: _, ...damaged } = car.state();
    await expect(rigOf({ restore: damaged })).rejects.toThrow('immobilized is not true or false; delete it');
  });

  test('wakes the sleeping network for a minute, unless the network is deaf', async () => {
    const { ask, car, clock, seen } = await rigOf();
    car.inject({ network: 'Asleep' });
    clock.advance(1_000);
    seen.length = 0;
    clock.advance(5_000);
    expect(seen).toEqual([]);
    await ask('wakeUp.wake');
    clock.advance(50_000);
    expect(seen.at(-1)?.at).toBeGreaterThan(clock.now() - 100);
    clock.advance(20_000);
    seen.length = 0;
    car.inject({ deaf: ['Network'] });
    clock.advance(1_000);
    await ask('wakeUp.wake');
    expect(seen).toEqual([]);
  });

  test('is ignored while the car sleeps at night, until a wake-up frame', async () => {
    const { car, clock, seen } = await rigOf({ scenario: 'day' });
    clock.advance(3_600_000);
    const lock = { bus: 'body', id: 0x20, flags: 0, data: new Uint8Array(4) };
    await expect(car.send(lock)).rejects.toMatchObject({ code: 'command.actuation' });
    expect(seen).toEqual([]);
    await car.send({ bus: 'body', id: 0x400, flags: 0, data: Uint8Array.of(1) });
    await car.send(lock);
    clock.advance(1_000);
    expect(seen.length).toBeGreaterThan(100);
    expect(car.state().elapsed).toBe(3_601_000);
    clock.advance(120_000);
    seen.length = 0;
    clock.advance(60_000);
    expect(seen).toEqual([]);
    // The simulated morning comes at its usual time.
    clock.advance(6 * 3_600_000);
    expect(seen.length).toBeGreaterThan(0);
  });

  test('for charging is forgotten when the cable is unplugged', async () => {
    const { ask, shows, car } = await rigOf();
    await ask('charging.stop');
    car.inject({ plugged: false });
    expect(shows('CHARGING', 'Status')).toBe(0);
    car.release();
    expect(shows('CHARGING', 'Status')).toBe(1);
  });

  test('can prevent a start, and the day continues when it allows it again', async () => {
    const { ask, shows, clock, car } = await rigOf({ scenario: 'loop' });
    await ask('immobilization.on');
    clock.advance(60_000);
    expect(shows('POWERTRAIN', 'PowertrainState')).toBe(0);
    expect(shows('MOTION', 'Speed')).toBe(0);
    const waiting = car.state().elapsed;
    clock.advance(60_000);
    expect(car.state().elapsed).toBe(waiting);
    await ask('immobilization.off');
    clock.advance(10_000);
    expect(shows('POWERTRAIN', 'PowertrainState')).toBe(2);
    await ask('immobilization.on');
    // The immobilizer only prevents the next start.
    expect(shows('POWERTRAIN', 'PowertrainState')).toBe(2);
    expect(shows('MOTION', 'Speed')).toBeGreaterThan(0);
  });

  test('for preconditioning warms the cabin, ends automatically, and ends when the driver starts the engine', async () => {
    const { ask, shows, clock, car } = await rigOf();
    const before = shows('CLIMATE', 'CabinTemp') as number;
    await ask('preconditioning.start');
    clock.advance(300_000);
    expect(shows('CLIMATE', 'CabinTemp')).toBeGreaterThan(before + 0.5);
    clock.advance(300_000);
    expect(shows('CLIMATE', 'PreconditioningState')).toBe(2);
    await ask('preconditioning.start');
    expect(shows('CLIMATE', 'PreconditioningState')).toBe(1);
    car.inject({ ignition: 'Start' });
    expect(shows('CLIMATE', 'PreconditioningState')).toBe(0);
  });
});

describe('an injected condition', () => {
  test.each<[string, Partial<Scene>, string, string, number]>([
    ['preconditioning.start', { driverDoorOpen: true }, 'CLIMATE', 'FailureCause', 2],
    ['preconditioning.start', { rolling: 5 }, 'CLIMATE', 'FailureCause', 8],
    ['preconditioning.start', { climateFault: 'HoodOpened' }, 'CLIMATE', 'FailureCause', 7],
    ['charging.level1', { chargingFault: 'NoPower' }, 'CHARGING', 'Status', 0],
    ['charging.level1', { chargingFault: 'Failure' }, 'CHARGING', 'Status', 2],
    ['doors.lock', { deaf: ['Lock'] }, 'BODY', 'LockState', 0],
    ['navigation.send', { deaf: ['Navigation'] }, 'NAVIGATION', 'Transfer', 1],
    ['doors.lock', { rolling: 3.5 }, 'MOTION', 'Speed', 3.5],
    ['doors.lock', { battery12V: 12 }, 'BATTERY12V', 'StateOfHealth', 12],
    ['doors.lock', { privacy: 'Full' }, 'MODES', 'Privacy', 2],
    ['doors.lock', { driverDoorOpen: true }, 'BODY', 'DoorFL', 1],
    ['doors.lock', { keyPresent: false }, 'BODY', 'KeyPresent', 0],
  ])('%s with %j: %s.%s is %d', async (action, changes, message, signal, value) => {
    const { ask, shows, car, clock } = await rigOf();
    expect(shows(message, signal)).not.toBe(action === 'doors.lock' && signal === 'LockState' ? 1 : value);
    car.inject(changes);
    clock.advance(20);
    await ask(action, action === 'navigation.send' ? [[2, 48]] : undefined);
    expect(shows(message, signal)).toBe(value);
  });

  test('can delay a control unit or silence a message', async () => {
    const { ask, shows, car, clock, seen } = await rigOf();
    car.inject({ late: 3_000, silent: ['STEERING'] });
    clock.advance(20);
    seen.length = 0;
    await ask('doors.lock');
    expect(shows('BODY', 'LockState')).toBe(0);
    clock.advance(2_000);
    expect(shows('BODY', 'LockState')).toBe(1);
    expect(seen.filter(({ message }) => message === 'STEERING')).toEqual([]);
    car.release();
    expect(shows('STEERING', 'SteeringAngle')).toBe(0);
  });

  test('can take effect only after a control unit is addressed', async () => {
    const { ask, shows, car, clock } = await rigOf();
    car.inject({ driverDoorOpen: true }, { asked: 'Lock', after: 2_000 });
    clock.advance(60_000);
    await ask('horn.on');
    expect(shows('BODY', 'DoorFL')).toBe(0);
    await ask('doors.lock');
    expect(shows('BODY', 'DoorFL')).toBe(0);
    clock.advance(1_000);
    expect(shows('BODY', 'DoorFL')).toBe(1);
  });

  test('cannot start an immobilized car', async () => {
    const { ask, shows, car } = await rigOf();
    await ask('immobilization.on');
    car.inject({ ignition: 'Start', powertrain: 'Running' });
    expect(shows('POWERTRAIN', 'IgnitionState')).toBe(1);
    expect(shows('POWERTRAIN', 'PowertrainState')).toBe(0);
  });

  test('yields the same frames when repeated in the same order', async () => {
    const run = async () => {
      const { ask, car, clock, seen } = await rigOf({ seed: 3 });
      car.inject({ late: 100 });
      car.inject({ passengerDoorOpen: true }, { asked: 'Climate', after: 300 });
      for (const action of ['preconditioning.start', 'charging.level2', 'lights.on']) await ask(action);
      clock.advance(2_000);
      return seen.map(({ at, id, data }) => `${at} ${id} ${Buffer.from(data).toString('hex')}`);
    };
    expect(await run()).toEqual(await run());
  });
});

describe('the navigation unit', () => {
  test.each([1, 2, 10])('accepts %d positions', async (count) => {
    const { ask, shows, car } = await rigOf();
    expect(shows('NAVIGATION', 'Transfer')).toBe(0);
    const way = Array.from({ length: count }, (_, i) => [-179.99999 + 39 * i, 89.99999 - 19 * i] as const);
    await ask('navigation.send', way);
    expect(shows('NAVIGATION', 'Transfer')).toBe(2);
    expect(shows('NAVIGATION', 'Positions')).toBe(count);
    for (const [i, { longitude, latitude }] of car.destination.entries()) {
      expect(longitude).toBeCloseTo(way[i]?.[0] as number, 5);
      expect(latitude).toBeCloseTo(way[i]?.[1] as number, 5);
    }
    expect(car.commands).toEqual({ accepted: 1, rejected: 0 });
  });

  test('reports the transfer, and then the new destination', async () => {
    const { ask, shows, car, seen } = await rigOf();
    await ask('navigation.send', [[2, 48]]);
    expect(shows('NAVIGATION', 'Transfer')).toBe(2);
    seen.length = 0;
    await ask('navigation.send', [[3, 49]]);
    expect(shows('NAVIGATION', 'Transfer')).toBe(2);
    const states = seen.filter(({ message }) => message === 'NAVIGATION').map(({ signals }) => signals['Transfer']);
    expect(new Set(states)).toEqual(new Set([1, 2]));
    expect(states[0]).toBe(1);
    expect(car.destination.map(({ longitude }) => Math.round(longitude * 1e5))).toEqual([300_000]);
  });

  test.each<[string, (frames: Uint8Array[]) => Uint8Array[]]>([
    ['a position is missing', ([first, , third]) => [first as Uint8Array, third as Uint8Array]],
    ['they come in another order', ([first, second, third]) => [first, third, second] as Uint8Array[]],
    [
      'a bit is wrong',
      ([first, second, third]) =>
        [first, (second as Uint8Array).map((byte, i) => (i === 3 ? byte ^ 1 : byte)), third] as Uint8Array[],
    ],
    ['the first is missing', ([, second, third]) => [second, third] as Uint8Array[]],
    ['the last is missing', ([first, second]) => [first, second] as Uint8Array[]],
  ])('refuses a route if %s', async (_, spoilt) => {
    const recorded: Uint8Array[] = [];
    const { car, clock, shows } = await rigOf();
    const sender = { send: async ({ data }: { data: Uint8Array }) => void recorded.push(data) };
    const actuator = new FrameActuator(vehicle.profile.commands, [{ database }], sender, clock);
    const done = actuator.actuate('navigation.send', {
      positions: [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    });
    await clock.settle(100, 10);
    await done;
    for (const data of spoilt(recorded)) await car.send({ bus: 'body', id: 0x26, flags: 0, data });
    expect(shows('NAVIGATION', 'Transfer')).not.toBe(2);
    expect(car.commands.accepted).toBe(0);
  });

  test('refuses positions that come too far apart', async () => {
    const recorded: Uint8Array[] = [];
    const { car, clock, shows } = await rigOf();
    const sender = { send: async ({ data }: { data: Uint8Array }) => void recorded.push(data) };
    const actuator = new FrameActuator(vehicle.profile.commands, [{ database }], sender, clock);
    const done = actuator.actuate('navigation.send', {
      positions: [
        [1, 1],
        [2, 2],
      ],
    });
    await clock.settle(100, 10);
    await done;
    for (const data of recorded) {
      await car.send({ bus: 'body', id: 0x26, flags: 0, data });
      clock.advance(1_100);
    }
    expect(shows('NAVIGATION', 'Transfer')).toBe(3);
  });
});

describe('parameters of actions', () => {
  test.each<[string, string, Readonly<Record<string, unknown>> | undefined, RegExp]>([
    ['positions that the profile has no place for', 'doors.lock', { positions: [[1, 2]] }, /which signals carry/],
    ['no positions where they are needed', 'navigation.send', undefined, /1 to 10 positions/],
    ['none at all', 'navigation.send', { positions: [] }, /1 to 10 positions/],
    ['too many', 'navigation.send', { positions: new Array(11).fill([1, 2]) }, /1 to 10 positions/],
    ['something else', 'navigation.send', { positions: [['1', '2']] }, /1 to 10 positions/],
  ])('%s are refused', async (_, action, parameters, message) => {
    const { car, clock } = await startCar({ scenario: 'parked' });
    const actuator = new FrameActuator(vehicle.profile.commands, [{ database }], car, clock);
    await expect(actuator.actuate(action, parameters)).rejects.toMatchObject({
      code: 'command.unsupported',
      message: expect.stringMatching(message),
    });
  });
});
