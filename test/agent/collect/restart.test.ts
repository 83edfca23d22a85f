/** Collections and catalogs across restarts, and while the time is not known. */
import { expect, test } from 'vitest';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { stride } from '../../rig/runs.ts';
import { receive } from '../signals/car.ts';
import { type CollectingCar, START, startCar } from './car.ts';
import { drive, HOUR, hellos, torque, valuesOf } from './torque.ts';

test('after a power cut at any time an accepted collection continues, ends on time, and its readings stay unambiguous', {
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

test('a collection that expired while the unit was off ends, and its readings are still sent', async () => {
  const first = await startCar();
  await first.order(torque(START + 5_000));
  // Less than a batch. The next commit writes it to disk.
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

test('the catalog of an ended collection is announced at each start while its readings wait', async () => {
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
  // No readings wait any more.
  const third = await restart(second, 3);
  await third.pass(6_000);
  expect(catalogs(third, 3)).toEqual([]);
  await third.drop();
});

test('a backlog is decoded with the catalog of its time, after the collection ended and the profile changed', async () => {
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

test('nothing is collected while the time is unknown, because the collection may have ended', async () => {
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
  'a constant value is collected when the time becomes known by a step of %d ms',
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
