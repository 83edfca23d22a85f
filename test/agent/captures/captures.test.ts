import { expect, test } from 'vitest';
import type { CaptureOrder } from '../../../protocol/schema/order.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { type CaptureCar, CRASH, drive, MOTION, PRIVACY, readCaptures, type Sent, startCar } from './car.ts';

const fast = {
  label: 'fast',
  triggerParam: {
    triggers: [{ name: 'fast', data: { data: 'vehicle.kinetic.speed', op: 'greaterThan', value: ['100'] } }],
    boolExp: 'fast',
  },
};
const both = '  monitors: { fast: { before: 5s, after: 2s } }\n';

test('a monitor event has a capture with exactly the logged frames around it', async () => {
  const car = await startCar(both);
  await car.agent.monitors.put('fast', fast);
  await drive(car, 8);
  await drive(car, 8, 120);
  await car.pass(2_000);
  const event = car.published.find(({ kind }) => kind === 'event');
  if (event?.kind !== 'event') throw new Error('the monitor has not fired');
  const captures = readCaptures(car.captures());
  expect(captures).toHaveLength(1);
  const [capture] = captures;
  const { at } = event.body;
  expect(capture?.head).toMatchObject({ cause: 'monitor', of: event.body.id, monitorId: 'fast', at, part: 0 });
  expect(capture?.head.since).toBeUndefined();
  expect(capture?.parts.at(-1)?.last).toBe(true);
  expect(capture?.parts.slice(0, -1).some(({ last }) => last)).toBe(false);
  const around = car.lines.filter(({ sent }) => sent.at >= at - 5_000 && sent.at <= at + 2_000);
  expect(around.length).toBeGreaterThan(1_000);
  expect(capture?.lines).toEqual(around.map(({ line }) => line));
  await car.drop();
});

test('a collision has a capture of the buses and identifiers named in the profile', async () => {
  const car = await startCar('  collision: { before: 3s, after: 1s, buses: [can], identifiers: [0x123, 0x300] }\n');
  await drive(car, 6);
  car.send([{ bus: 'can', id: CRASH, data: [1, 0, 0, 0, 0, 0, 0, 0] }]);
  await car.pass(20);
  await drive(car, 5);
  await car.pass(2_000);
  const collision = car.published.find(({ kind }) => kind === 'collision');
  if (collision?.kind !== 'collision') throw new Error('there is no collision');
  const [capture, ...others] = readCaptures(car.captures());
  expect(others).toEqual([]);
  const { id, createdAt } = collision.body;
  expect(capture?.head).toMatchObject({ cause: 'collision', of: id, at: createdAt });
  const wanted = car.lines.filter(
    ({ sent: { at, bus, id } }) =>
      at >= createdAt - 3_000 && at <= createdAt + 1_000 && bus === 'can' && (id === 0x123 || id === CRASH),
  );
  expect(capture?.lines).toEqual(wanted.map(({ line }) => line));
  expect(capture?.lines.some((line) => line.includes(' 300#01'))).toBe(true);
  await car.drop();
});

test('a capture during Geolocation privacy has only identifiers without positions, per bus', async () => {
  const car = await startCar('  collision: { before: 1m, after: 2s }\n  positionFree: { can: [0x123] }\n');
  const choose = (state: number): Omit<Sent, 'at'> => ({ bus: 'can', id: PRIVACY, data: [state, 0, 0, 0, 0, 0, 0, 0] });
  await drive(car, 4, 50, [choose(0)]);
  const begin = car.clock.now();
  await drive(car, 4, 50, [choose(1)]);
  await drive(car, 4, 50, [choose(2)]);
  const end = car.clock.now();
  await drive(car, 4, 50, [choose(0)]);
  car.send([{ bus: 'can', id: CRASH, data: [1, 0, 0, 0, 0, 0, 0, 0] }]);
  await drive(car, 5);
  const [capture] = readCaptures(car.captures());
  const expected = car.lines.filter(({ sent }) => {
    const isPrivate = sent.at >= begin && sent.at <= end;
    return sent.at <= (capture?.head.to ?? 0) && (!isPrivate || (sent.bus === 'can' && sent.id === 0x123));
  });
  expect(capture?.lines).toEqual(expected.map(({ line }) => line));
  expect(capture?.lines.some((line) => line.includes('body'))).toBe(true);
  await car.drop();
});

test('frames that another source delivered before privacy was reported are hidden too', async () => {
  const car = await startCar('  collision: { before: 1m, after: 1s }\n');
  await drive(car, 2);
  const now = car.clock.now();
  car.send([{ bus: 'body', id: 0x55, data: [7] }], now + 5);
  car.send([{ bus: 'can', id: PRIVACY, data: [1, 0, 0, 0, 0, 0, 0, 0] }], now + 2);
  car.send([{ bus: 'can', id: PRIVACY, data: [0, 0, 0, 0, 0, 0, 0, 0] }], now + 8);
  car.send([{ bus: 'body', id: 0x56, data: [7] }], now + 6);
  car.send([{ bus: 'body', id: 0x57, data: [7] }], now + 9);
  await car.pass(100);
  car.send([{ bus: 'can', id: CRASH, data: [1, 0, 0, 0, 0, 0, 0, 0] }]);
  await car.pass(4_000);
  const [capture] = readCaptures(car.captures());
  const found = capture?.lines.filter((line) => / (055|056|057|200)#/.test(line)).map((line) => line.slice(20));
  expect(found).toEqual([expect.stringContaining('057#')]);
  await car.drop();
});

test('a long capture is sent in bounded parts without gaps, frames before the event first', async () => {
  const car = await startCar(both.replace('5s', '1m'), { memory: 4 << 20 });
  await car.agent.monitors.put('fast', fast);
  // Payloads that do not compress.
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 24;
  };
  for (let i = 0; i < 9_000; i++) {
    car.send([{ bus: 'body', id: i % 2_000, data: Array.from({ length: 48 }, random) }]);
    if (i % 5 === 0) await car.pass(5);
  }
  await drive(car, 1, 120);
  await car.pass(8_000);
  const [capture] = readCaptures(car.captures());
  expect(capture?.parts.map(({ part }) => part)).toEqual(capture?.parts.map((_, index) => index));
  expect(capture?.parts.length).toBeGreaterThan(5);
  for (const { frames, columns } of capture?.parts ?? []) {
    expect(frames).toBeLessThanOrEqual(4_096);
    expect(columns.length).toBeLessThanOrEqual(64_000);
  }
  expect(capture?.lines).toEqual(car.lines.map(({ line }) => line));
  await car.drop();
});

test('a capture states when its frames begin, and how many were overwritten before they were written', async () => {
  // Memory for 2,730 frames, which is 18 s of this drive.
  const car = await startCar('  collision: { before: 1m, after: 1s }\n', { memory: 64 * 1024 });
  await car.pass(120_000);
  await drive(car, 30);
  car.send([{ bus: 'can', id: CRASH, data: [1, 0, 0, 0, 0, 0, 0, 0] }]);
  // The crash frame updated Status and started the capture before it was stored itself.
  const since = (car.lines.at(-2_732) as { sent: Sent }).sent.at;
  // These frames overwrite all earlier ones within one second.
  for (let i = 0; i < 4_000; i++) car.send([{ bus: 'body', id: 0x77, data: [i & 0xff, i >> 8] }]);
  await car.pass(4_000);
  const [capture] = readCaptures(car.captures());
  expect(capture?.head.since).toBe(since);
  const lost = capture?.parts.reduce((sum, part) => sum + (part.lost ?? 0), 0);
  // Lost frames out of those stored when the crash arrived.
  expect(lost).toBe(4_001);
  expect(capture?.lines).toEqual(car.lines.slice(-2_730).map(({ line }) => line));
  await car.drop();
});

test('an event during a capture starts no second capture, and the first event after it does', async () => {
  const car = await startCar(both);
  await car.agent.monitors.put('fast', fast);
  for (const speed of [50, 120, 50, 120, 50, 50, 50, 50, 120, 50]) await drive(car, 1, speed);
  await car.pass(4_000);
  expect(car.published.filter(({ kind }) => kind === 'event')).toHaveLength(3);
  const captures = readCaptures(car.captures());
  expect(captures).toHaveLength(2);
  expect(new Set(captures.map(({ head }) => head.id)).size).toBe(2);
  expect(car.log.lines.filter(({ event }) => event === 'capture.running')).toHaveLength(1);
  await car.drop();
});

test('after a power cut the receiver has the frames before the event, and a last part that reports missing frames', async () => {
  const car = await startCar(both.replace('2s', '1m'));
  await car.agent.monitors.put('fast', fast);
  await drive(car, 6);
  await drive(car, 3, 120);
  const cut = car.captures();
  await car.drop();
  expect(cut.some(({ last }) => last)).toBe(false);
  const [begun] = readCaptures(cut);
  const before = car.lines.filter(({ sent }) => sent.at <= (begun?.head.at ?? 0) && sent.at >= (begun?.head.from ?? 0));
  expect(begun?.lines.slice(0, before.length)).toEqual(before.map(({ line }) => line));
  const again = await startCar(both, { disk: car.disk, boot: 2, at: car.clock.now() + 10_000 });
  await again.pass(3_000);
  const last = again.captures().filter(({ part }) => part >= cut.length);
  expect(last).toMatchObject([{ id: begun?.head.id, part: cut.length, last: true, broken: true, frames: 0 }]);
  await again.pass(3_000);
  expect(again.captures().filter(({ part }) => part >= cut.length)).toHaveLength(1);
  await again.drop();
});

test('an agent that stops during a capture writes the frames it has', async () => {
  const car = await startCar(both.replace('2s', '1m'));
  await car.agent.monitors.put('fast', fast);
  await drive(car, 2);
  await drive(car, 3, 120);
  await car.agent.stop();
  const [capture] = readCaptures(car.captures());
  expect(capture?.parts.at(-1)).toMatchObject({ last: true, broken: true });
  const begin = capture?.head.from ?? 0;
  expect(capture?.lines).toEqual(car.lines.filter(({ sent }) => sent.at >= begin).map(({ line }) => line));
  expect(capture?.lines.some((line) => line.includes(` ${MOTION.toString(16)}#`))).toBe(true);
  await car.drop();
});

test('a command has a capture with exactly the logged frames around it', async () => {
  const car = await startCar('  command: { before: 5s, after: 2s }\n');
  await drive(car, 8);
  const at = car.clock.now();
  await car.order({ name: 'Ticket-7' });
  await drive(car, 4);
  await car.pass(2_000);
  const [capture, ...others] = readCaptures(car.captures());
  expect(others).toEqual([]);
  expect(capture?.head).toMatchObject({ cause: 'command', of: 'Ticket-7', at });
  expect(capture?.parts.at(-1)?.last).toBe(true);
  const around = car.lines.filter(({ sent }) => sent.at >= at - 5_000 && sent.at <= at + 2_000);
  expect(around.length).toBeGreaterThan(500);
  expect(capture?.lines).toEqual(around.map(({ line }) => line));
  await car.drop();
});

test('a command can capture less than the profile allows, and nothing else', async () => {
  const car = await startCar('  command: { before: 5s, after: 2s, identifiers: [0x100, 0x123] }\n');
  await drive(car, 4);
  const at = car.clock.now();
  await car.order({ name: 'less', before: 1_000, after: 0, buses: ['can'], identifiers: [0x123] });
  await drive(car, 2);
  const [capture] = readCaptures(car.captures());
  const wanted = car.lines.filter(
    ({ sent }) => sent.at >= at - 1_000 && sent.at <= at && sent.bus === 'can' && sent.id === 0x123,
  );
  expect(wanted.length).toBeGreaterThan(40);
  expect(capture?.lines).toEqual(wanted.map(({ line }) => line));
  for (const [more, message] of [
    [{ before: 5_001 }, /at most 5000 ms before, not 5001$/],
    [{ after: 2_001 }, /at most 2000 ms after, not 2001$/],
    [{ buses: ['radio'] }, /buses can, body, not radio$/],
    [{ identifiers: [0x123, 0x200] }, /0x200 is none of them$/],
    [{ identifiers: [0x18fef100] }, /0x18FEF100 is none of them$/],
  ] as const) {
    await expect(car.order({ name: 'more', ...more } as CaptureOrder)).rejects.toThrow(
      expect.objectContaining({ code: 'input.malformed', message: expect.stringMatching(message) }),
    );
  }
  await car.drop();
});

test('commands capture one at a time and a limited number of times a day, also across a restart', async () => {
  const first = await startCar('  command: { before: 1s, after: 1s }\n', { perDay: 2, at: Date.UTC(2026, 0, 1, 12) });
  await drive(first, 2);
  await first.order({ name: 'a' });
  await expect(first.order({ name: 'b' })).rejects.toThrow(expect.objectContaining({ code: 'command.busy' }));
  await drive(first, 4);
  await first.order({ name: 'c' });
  await drive(first, 4);
  await first.pass(2_000);
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const start = { disk, boot: 2, perDay: 2 };
  const second = await startCar('  command: { before: 1s, after: 1s }\n', {
    ...start,
    at: Date.UTC(2026, 0, 1, 23, 59, 50),
  });
  await expect(second.order({ name: 'd' })).rejects.toThrow(expect.objectContaining({ code: 'command.tooMany' }));
  expect(second.log.lines.map(({ event }) => event)).toContain('capture.bound');
  await second.pass(11_000);
  await second.order({ name: 'e' });
  await second.drop();
});

test('after the daily byte limit collisions have no capture until the next day, with a log entry, also across a restart', async () => {
  const rules = '  collision: { before: 1s, after: 1s }\n  command: { before: 1s, after: 1s }\n';
  const options = { bytesPerDay: 200 };
  const crash = async (car: CaptureCar): Promise<void> => {
    for (const hit of [0, 1]) {
      await drive(car, 1);
      car.send([{ bus: 'can', id: CRASH, data: [hit, 0, 0, 0, 0, 0, 0, 0] }]);
    }
    await drive(car, 4);
    await car.pass(1_000);
  };
  const full = ({ log }: CaptureCar) => log.lines.filter(({ event }) => event === 'capture.full');
  const first = await startCar(rules, { ...options, at: Date.UTC(2026, 0, 1, 12) });
  await crash(first);
  const bytes = first.captures().reduce((sum, { columns }) => sum + columns.length, 0);
  expect(bytes).toBeGreaterThan(100);
  await crash(first);
  expect(readCaptures(first.captures())).toHaveLength(1);
  expect(full(first).map(({ level, fields }) => [level, fields?.['cause'], fields?.['bytesPerDay']])).toEqual([
    ['error', 'collision', 200],
  ]);
  // The limit of commands is their number, not their bytes.
  await first.order({ name: 'asked' });
  await drive(first, 4);
  expect(readCaptures(first.captures()).map(({ head }) => head.cause)).toEqual(['collision', 'command']);
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const second = await startCar(rules, { ...options, disk, boot: 2, at: Date.UTC(2026, 0, 1, 23, 59, 40) });
  await crash(second);
  expect(second.captures().filter(({ cause }) => cause === 'collision')).toEqual([]);
  expect(full(second)).toHaveLength(1);
  await second.pass(20_000);
  await crash(second);
  expect(readCaptures(second.captures()).map(({ head }) => head.cause)).toContain('collision');
  await second.drop();
});
