import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBody, encodeBody } from '../../../protocol/command.ts';
import { type CollectOrder, collectOrderSchema } from '../../../protocol/schema/collect.ts';
import type { Hello } from '../../../protocol/schema/hello.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { valuesOf as bodiesOf } from '../../protocol/cbor/arbitrary.ts';
import { stride } from '../../rig/runs.ts';
import { receive } from '../signals/car.ts';
import { type CollectingCar, motion, START, startCar } from './car.ts';

const HOUR = 3_600_000;

/** Those of one start of the agent. */
function hellos({ published }: CollectingCar, boot = 1): Hello[] {
  return published.flatMap(({ message }) =>
    message.kind === 'hello' && message.body.boot === boot ? [message.body] : [],
  );
}

function valuesOf(car: CollectingCar, name: string): unknown[] {
  const { readings, unknown } = receive(car.published);
  expect(unknown).toEqual([]);
  return readings.get(name)?.map(([, value]) => value) ?? [];
}

/** Frames of MOTION, one each 500 ms, with these torques. */
async function drive(car: CollectingCar, torques: readonly number[], speed = 0): Promise<void> {
  for (const torque of torques) {
    car.send('can', 0x100, motion(speed, torque));
    await car.pass(500);
  }
}

const torque = (until: number, more: Partial<CollectOrder> = {}): CollectOrder => ({
  ...{ name: 'torque', signals: [{ signal: 'MOTION.Torque' }], until, interval: 0 },
  ...more,
});

test('what is collected without interval and dead-band equals what the frames say, with names and units', async () => {
  const car = await startCar();
  const signals = [{ signal: 'MOTION.*' }, { bus: 'body', signal: 'DOORS.Open', name: 'Vehicle.Doors' }];
  await car.order({ name: 'all', signals, until: START + HOUR, interval: 0 });
  const frames: [at: number, speed: number, torque: number, gear: number, brake: number][] = [];
  for (let i = 0; i < 100; i++) {
    const frame = [i * 1.25, (i % 7) * 20.5 - 90, i % 4, i % 3 === 0 ? 1 : 0] as const;
    frames.push([car.clock.now(), ...frame]);
    car.send('can', 0x100, motion(...frame));
    car.send('body', 0x100, [i]);
    await car.pass(100);
  }
  await car.pass(4_000);
  const { readings, unknown, catalogs } = receive(car.published);
  expect(unknown).toEqual([]);
  const changes = (pick: (frame: (typeof frames)[number]) => unknown): unknown[] =>
    frames
      .map((frame) => [frame[0], pick(frame)])
      .filter(([, value], i) => i === 0 || value !== pick(frames[i - 1] as (typeof frames)[number]));
  expect(readings.get('MOTION.Speed')).toEqual(changes(([, speed]) => speed));
  expect(readings.get('MOTION.Torque')).toEqual(changes(([, , turned]) => turned));
  expect(readings.get('MOTION.Gear')).toEqual(changes(([, , , gear]) => ['Park', 'Drive', 'Reverse'][gear] ?? gear));
  expect(readings.get('MOTION.Brake')).toEqual(changes(([, , , , brake]) => brake === 1));
  expect(readings.get('Vehicle.Doors')).toEqual(frames.map(([at], i) => [at, i]));
  const units = new Map([...catalogs.values()].flat().map(({ name, unit }) => [name, unit]));
  expect([units.get('MOTION.Torque'), units.get('MOTION.Gear')]).toEqual(['Nm', undefined]);
  expect(car.heard.get('can')).toEqual([0x100]);
  await car.drop();
});

test('a collection ends at its time to the millisecond, and hello reports it while it runs', async () => {
  const car = await startCar();
  const until = START + 10_250;
  await car.order(torque(until));
  await drive(
    car,
    Array.from({ length: 40 }, (_, i) => i),
  );
  await car.pass(3_000);
  const { readings } = receive(car.published);
  // The frame at 10,000 ms is the last before the end.
  expect(readings.get('MOTION.Torque')?.at(-1)).toEqual([START + 10_000, 20]);
  expect(readings.get('MOTION.Torque')).toHaveLength(21);
  const told = hellos(car).map(({ collect }) => collect?.running);
  expect(told.at(-2)).toEqual([{ name: 'torque', until, signals: 1 }]);
  expect(told.at(-1)).toBeUndefined();
  expect(car.heard.get('can')).toEqual([]);
  await car.drop();
});

test('at whatever moment the power fails, an accepted collection goes on, ends on time, and its readings have one meaning', {
  timeout: 600_000,
}, async () => {
  const first = await startCar();
  const until = START + 12_000;
  await first.order(torque(until));
  const accepted = first.disk.moments;
  await drive(first, [1, 2, 3, 4, 5, 6, 7, 8]);
  await first.drop();
  let cuts = 0;
  for (let moment = accepted; moment <= first.disk.moments; moment += stride(3)) {
    for (const choose of [(): number => 0, (most: number): number => most]) {
      const disk = new RecordedDisk(first.disk.after(moment, choose));
      const second = await startCar({ disk, at: START + 6_000, boot: 2 });
      await drive(
        second,
        Array.from({ length: 20 }, (_, i) => 50 + i),
      );
      await second.pass(3_000);
      await second.drop();
      const known = first.published.filter((one) => one.moment <= moment);
      const { ambiguous, unknown, readings } = receive([...known, ...second.published]);
      expect([ambiguous, unknown], `at moment ${moment}`).toEqual([[], []]);
      const after = (readings.get('MOTION.Torque') ?? []).filter(([at]) => at >= START + 6_000);
      expect(after, `at moment ${moment}`).toEqual(
        Array.from({ length: 12 }, (_, i) => [START + 6_000 + i * 500, 50 + i]),
      );
      expect(hellos(second, 2)[0]?.collect?.running).toEqual([{ name: 'torque', until, signals: 1 }]);
      expect(hellos(second, 2).at(-1)?.collect).toBeUndefined();
      cuts++;
    }
  }
  expect(cuts).toBeGreaterThan(10);
});

test('a collection whose time passed while the unit was off has ended, and what it had gathered is still sent', async () => {
  const first = await startCar();
  await first.order(torque(START + 5_000));
  // Less than a batch, on disk with the next commit.
  await drive(first, [7]);
  first.agent.hello();
  await first.pass(100);
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const second = await startCar({ disk, at: START + HOUR, boot: 2 });
  await drive(second, [8, 9]);
  await second.pass(3_000);
  const { readings, unknown } = receive([...first.published, ...second.published]);
  expect(unknown).toEqual([]);
  expect(readings.get('MOTION.Torque')).toEqual([[START, 7]]);
  expect(second.log.lines).toContainEqual(
    expect.objectContaining({ event: 'collect.ended', fields: { name: 'torque', why: 'its time is over' } }),
  );
  await second.drop();
  const again = await startCar({
    disk: new RecordedDisk(disk.after(disk.moments, (most) => most)),
    boot: 3,
    at: START + 2 * HOUR,
  });
  await again.pass(2_000);
  expect(hellos(again, 3).map(({ collect }) => collect)).toEqual([undefined]);
  await again.drop();
});

test('the catalog of a collection that has ended is announced at each start while its readings wait', async () => {
  const car = await startCar({ connected: false });
  await car.order(torque(START + 2_000));
  await drive(car, [1, 2, 3]);
  await car.pass(6_000);
  await car.drop();
  const catalogs = ({ published }: CollectingCar, boot: number): string[][] =>
    published.flatMap(({ message }) =>
      message.kind === 'catalog' && message.boot === boot ? [message.body.entries.map(({ name }) => name)] : [],
    );
  const restart = (of: CollectingCar, boot: number): Promise<CollectingCar> =>
    startCar({ disk: new RecordedDisk(of.disk.after(of.disk.moments, (most) => most)), at: of.clock.now(), boot });
  const second = await restart(car, 2);
  await second.pass(6_000);
  expect(catalogs(second, 2)).toEqual([['MOTION.Torque']]);
  expect(valuesOf(second, 'MOTION.Torque')).toEqual([1, 2, 3]);
  await second.drop();
  // Nothing waits any more.
  const third = await restart(second, 3);
  await third.pass(6_000);
  expect(catalogs(third, 3)).toEqual([]);
  await third.drop();
});

test('a backlog is read by the catalog of its time, after the collection has ended and another profile came', async () => {
  const first = await startCar({ connected: false });
  await first.order(torque(START + 5_000));
  await drive(first, [1, 2, 3]);
  await first.pass(6_000);
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const second = await startCar({ disk, at: START + HOUR, boot: 2, custom: true });
  second.send('can', 0x400, [0x10, 0x0e, 0, 0, 0, 0, 0, 0]);
  await second.order(torque(START + 2 * HOUR, { name: 'again' }));
  await drive(second, [4]);
  await second.pass(4_000);
  const { readings, unknown, ambiguous } = receive(second.published);
  expect([unknown, ambiguous]).toEqual([[], []]);
  expect(readings.get('MOTION.Torque')?.map(([, value]) => value)).toEqual([1, 2, 3, 4]);
  expect(readings.get('Vehicle.Powertrain.Cell.Max')?.map(([, value]) => value)).toEqual([3.6]);
  await second.drop();
});

test('a command of the same name takes the place of a collection, one of another name is added, and an empty list ends one', async () => {
  const car = await startCar();
  await car.order(torque(START + HOUR));
  await drive(car, [1, 2]);
  await car.order(torque(START + HOUR, { signals: [{ signal: 'MOTION.Gear' }] }));
  await car.order({ name: 'doors', signals: [{ signal: 'DOORS.Open' }], until: START + HOUR, interval: 0 });
  car.send('body', 0x100, [1]);
  await drive(car, [3, 4]);
  expect(
    hellos(car)
      .at(-1)
      ?.collect?.running.map(({ name }) => name),
  ).toEqual(['torque', 'doors']);
  await car.order({ name: 'torque', signals: [] });
  await car.order({ name: 'nobody', signals: [] });
  car.send('can', 0x100, motion(0, 0, 2));
  car.send('body', 0x100, [2]);
  await car.pass(4_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1, 2]);
  expect(valuesOf(car, 'MOTION.Gear')).toEqual(['Park']);
  expect(valuesOf(car, 'DOORS.Open')).toEqual([1, 2]);
  expect(
    hellos(car)
      .at(-1)
      ?.collect?.running.map(({ name }) => name),
  ).toEqual(['doors']);
  await car.drop();
});

test('a collection with a condition records while Status shows it', async () => {
  const car = await startCar();
  await car.order(torque(START + HOUR, { while: { path: 'kinetic.speed', atLeast: 10 } }));
  await drive(car, [1, 2]);
  await drive(car, [3, 4], 50);
  await drive(car, [5, 6], 0);
  await car.pass(4_000);
  // 2 is how it stood when the car began to drive.
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([2, 3, 4]);
  await car.drop();
});

test('a condition counts for each reading, also where one batch of frames has the begin and the end of it', async () => {
  // Speed and torque of a frame each 100 ms.
  const frames = [
    ...[
      [0, 1],
      [50, 2],
      [50, 3],
      [0, 4],
      [0, 5],
      [9.99, 6],
      [10, 7],
      [50, 8],
      [0, 9],
    ],
    ...[
      [50, 10],
      [0, 11],
      [50, 12],
    ],
  ] as const;
  const collected = async (size: number): Promise<unknown> => {
    const car = await startCar();
    await car.order(torque(START + HOUR, { while: { path: 'kinetic.speed', atLeast: 10 } }));
    const sent = frames.map(([speed = 0, turned = 0], i) => {
      return { at: START + 100 * i, id: 0x100, bytes: motion(speed, turned) };
    });
    await car.pass(100 * frames.length);
    for (let i = 0; i < sent.length; i += size) car.sendAll('can', sent.slice(i, i + size));
    await car.pass(4_000);
    const readings = receive(car.published).readings.get('MOTION.Torque');
    await car.drop();
    return readings?.map(([at, value]) => [at - START, value]);
  };
  const each = await collected(1);
  // As it stood when the car began to drive, and each change until it stood.
  expect(each).toEqual([
    ...[
      [100, 1],
      [100, 2],
      [200, 3],
      [600, 6],
      [600, 7],
      [700, 8],
    ],
    ...[
      [900, 9],
      [900, 10],
      [1100, 11],
      [1100, 12],
    ],
  ]);
  for (const size of [2, 3, 5, frames.length]) expect([size, await collected(size)]).toEqual([size, each]);
});

test('a signal of the profile keeps its name and number, and is recorded as often as the command says', async () => {
  const car = await startCar({ custom: true });
  await car.order({ name: 'cells', signals: [{ signal: 'CELLS.Max', bus: 'can' }], until: START + HOUR, interval: 0 });
  for (const raw of [3_600, 3_601, 3_602]) {
    car.send('can', 0x400, [raw & 0xff, raw >> 8, 0, 0, 0, 0, 0, 0]);
    await car.pass(500);
  }
  await car.pass(3_000);
  const { catalogs } = receive(car.published);
  // The same signal alone is the same catalog.
  expect([...catalogs.values()].map((entries) => entries.map(({ number, name }) => [number, name]))).toEqual([
    [[1, 'Vehicle.Powertrain.Cell.Max']],
  ]);
  expect(new Set(valuesOf(car, 'Vehicle.Powertrain.Cell.Max'))).toEqual(new Set([3.6, 3.601, 3.602]));
  await car.drop();
});

test('privacy hides what is collected as it hides custom signals; what the profile maps to a position is one', async () => {
  const car = await startCar();
  const signals = [
    { signal: 'MOTION.Torque' },
    { signal: 'PLACE.Latitude', name: 'Vehicle.North' },
    { signal: 'PLACE.Height', position: true },
  ];
  await car.order({ name: 'places', signals, until: START + HOUR, interval: 0 });
  for (const [state, value] of [
    [0, 1],
    [1, 2],
    [2, 3],
    [0, 4],
  ] as const) {
    car.send('can', 0x200, [state, 0, 0, 0, 0, 0, 0, 0]);
    car.send('can', 0x100, motion(0, value));
    car.send('can', 0x300, [value, 0, 0, 0, value, 0, 0, 0]);
    await car.pass(2_000);
  }
  await car.pass(3_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1, 2, 4]);
  expect(valuesOf(car, 'Vehicle.North')).toEqual([0.000001, 0.000004]);
  expect(valuesOf(car, 'PLACE.Height')).toEqual([1, 4]);
  await car.drop();
});

test('the bound on bytes per day ends the collecting of that day, loudly, also after a restart, and the next day it goes on', async () => {
  const day = START + 12 * HOUR;
  const first = await startCar({ bytesPerDay: 1_024 });
  await first.order(torque(START + 48 * HOUR));
  const drives = 200;
  await drive(
    first,
    Array.from({ length: drives }, (_, i) => i),
  );
  await first.pass(3_000);
  const collected = valuesOf(first, 'MOTION.Torque').length;
  expect(collected).toBeGreaterThan(10);
  expect(collected).toBeLessThan(drives);
  expect(first.log.lines.filter(({ event }) => event === 'collect.bound')).toHaveLength(1);
  const told = hellos(first).at(-1)?.collect;
  expect(told?.bytesToday).toBeGreaterThanOrEqual(1_024);
  expect(told?.boundReachedAt).toBeGreaterThan(START);
  expect(told?.running).toHaveLength(1);
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const second = await startCar({ disk, at: day - 5_000, boot: 2, bytesPerDay: 1_024 });
  await drive(second, [-1, -2]);
  expect(valuesOf(second, 'MOTION.Torque')).toEqual([]);
  expect(hellos(second, 2)[0]?.collect?.boundReachedAt).toBe(told?.boundReachedAt);
  await second.pass(6_000);
  await drive(second, [-3]);
  await second.pass(4_000);
  // As it stood when the day began, and what came then.
  expect(valuesOf(second, 'MOTION.Torque')).toEqual([-2, -3]);
  await second.drop();
});

test('while the car does not know the time nothing is collected: nobody can say whether the collection has ended', async () => {
  const first = await startCar();
  await first.order(torque(START + 10_000));
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const second = await startCar({ disk, boot: 2, quality: 'none' });
  await drive(second, [1, 2]);
  second.quality = 'gnss';
  await second.pass(1_000);
  await drive(second, [3]);
  await second.pass(4_000);
  expect(valuesOf(second, 'MOTION.Torque')).toEqual([2, 3]);
  await second.drop();
});

test.each([-3 * HOUR, 3 * HOUR])(
  'a value that stays the same is collected when the time becomes known by a step of %d ms',
  async (by) => {
    const first = await startCar();
    await first.order(torque(START + 12 * HOUR));
    await first.drop();
    const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
    const second = await startCar({ disk, at: START + HOUR - by, boot: 2, quality: 'none' });
    await drive(second, [5, 5, 5]);
    second.quality = 'gnss';
    second.clock.step(by);
    await drive(second, [5, 5, 5, 5]);
    await second.pass(4_000);
    const readings = receive(second.published).readings.get('MOTION.Torque') ?? [];
    expect(readings.map(([, value]) => value)).toEqual([5]);
    expect(Math.abs((readings[0]?.[0] ?? 0) - START - HOUR)).toBeLessThan(4_000);
    await second.drop();
  },
);

test.each<[why: string, order: CollectOrder, code: string, message: RegExp]>([
  ['no end', { name: 'a', signals: [{ signal: 'MOTION.Torque' }] }, 'input.malformed', /^`until` is missing/],
  ['until in the past', torque(START - 1), 'input.malformed', /^until is in the past: 2026-01-01T11:59:59/],
  ['until too late', torque(START + 32 * 24 * HOUR), 'input.malformed', /at most 31 days/],
  [
    'an unknown signal',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torqe' }] }),
    'input.unknown',
    /^message MOTION has no signal Torqe \(did you mean Torque/,
  ],
  [
    'an unknown message',
    torque(START + 1, { signals: [{ signal: 'MOTIN.*' }] }),
    'input.unknown',
    /no network description has a message MOTIN \(did you mean MOTION/,
  ],
  [
    'an unknown bus',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', bus: 'cam' }] }),
    'input.unknown',
    /no DBC of the profile describes a bus cam \(.*can/,
  ],
  [
    'a message of two buses',
    torque(START + 1, { signals: [{ signal: 'CELLS.Max' }] }),
    'input.malformed',
    /buses can and body have such a message; add `bus`/,
  ],
  [
    'another unit',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', unit: 'kN' }] }),
    'input.malformed',
    /^MOTION\.Torque has the unit Nm, not kN$/,
  ],
  [
    'a unit where there is none',
    torque(START + 1, { signals: [{ signal: 'MOTION.Gear', unit: 'V' }] }),
    'input.malformed',
    /^MOTION\.Gear has no unit, not V$/,
  ],
  [
    'a number without a step',
    torque(START + 1, { signals: [{ signal: 'CELLS.Exact', bus: 'can' }] }),
    'input.malformed',
    /floating-point number.*add resolution/,
  ],
  [
    'a resolution of 0',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', resolution: 0 }] }),
    'input.malformed',
    /resolution must be more than 0/,
  ],
  [
    'a name twice',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque' }, { signal: 'MOTION.Torque' }] }),
    'input.malformed',
    /MOTION\.Torque is a signal already/,
  ],
  [
    'the name of another signal of the profile',
    torque(START + 1, { signals: [{ signal: 'MOTION.Torque', name: 'Vehicle.Powertrain.Cell.Max' }] }),
    'input.malformed',
    /^the profile calls CELLS\.Max Vehicle\.Powertrain\.Cell\.Max: give MOTION\.Torque another name$/,
  ],
  [
    'a name that is no wildcard',
    torque(START + 1, { signals: [{ signal: 'MOTION.*', name: 'Vehicle.Motion' }] }),
    'input.malformed',
    /a name ends with \.\* when the signal does/,
  ],
  [
    'a condition on a path without a value',
    torque(START + 1, { while: { path: 'kinetic.moving', equals: 'true' } }),
    'input.malformed',
    /^while: nothing under status gives kinetic\.moving a value/,
  ],
  [
    'a condition on no path of Status',
    torque(START + 1, { while: { path: 'kinetic.sped', atLeast: 1 } }),
    'input.malformed',
    /^while: Status has no path "kinetic\.sped"/,
  ],
  [
    'a condition that says nothing',
    torque(START + 1, { while: { path: 'kinetic.speed' } }),
    'input.malformed',
    /^while: exactly one of/,
  ],
])('a command with %s is refused, and what runs goes on', async (_, order, code, message) => {
  const car = await startCar({ custom: true });
  await car.order(torque(START + HOUR));
  await expect(car.order({ ...order, name: 'torque' })).rejects.toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
  await drive(car, [1]);
  await car.pass(3_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1]);
  await car.drop();
});

test('a seventeenth collection is refused', async () => {
  const car = await startCar();
  for (let i = 0; i < 16; i++) await car.order(torque(START + HOUR, { name: `c${i}` }));
  await expect(car.order(torque(START + HOUR, { name: 'more' }))).rejects.toThrow(
    expect.objectContaining({ code: 'input.malformed', message: expect.stringMatching(/^16 collections are running/) }),
  );
  await car.order(torque(START + HOUR, { name: 'c3', interval: 100 }));
  await car.drop();
});

test('a disk that refuses a command leaves the collection as it was', async () => {
  const car = await startCar();
  await car.order(torque(START + HOUR));
  car.disk.failAfter(0);
  await expect(car.order(torque(START + HOUR, { signals: [{ signal: 'MOTION.Gear' }] }))).rejects.toThrow(
    expect.objectContaining({ code: 'store.failed' }),
  );
  await drive(car, [1]);
  await car.pass(10_000);
  expect(valuesOf(car, 'MOTION.Torque')).toEqual([1]);
  expect(valuesOf(car, 'MOTION.Gear')).toEqual([]);
  await car.drop();
});

test('each command that its schema allows is read as it was written', () => {
  fc.assert(
    fc.property(bodiesOf(collectOrderSchema), (order) => {
      expect(decodeBody('Collect', encodeBody('Collect', order))).toEqual(order);
    }),
  );
});
