/** Texts of custom signals, with a real agent and a real store. */
import { expect, test } from 'vitest';
import { ObdSource } from '../../../adapters/obd/poll/index.ts';
import type { SourceMapping } from '../../../protocol/profile.ts';
import { Car } from '../../adapters/obd/poll/car.ts';
import { raw, setOf } from '../../adapters/obd/sets.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { custom, type Published, receive, run, text } from './car.ts';

const privacy: SourceMapping = {
  path: 'privacy.state',
  message: 'M',
  signal: 'Privacy',
  scale: 1,
  offset: 0,
  invalid: [],
  priority: 0,
  map: { 0: 'None', 1: 'Geolocation', 2: 'Full' },
};

/** Name, text and time of each published text. */
function told(published: readonly Published[]): [name: string, text: string, at: number][] {
  return published.flatMap(({ message }) =>
    message.kind === 'text'
      ? [[message.body.name, message.body.text, message.body.at] as [string, string, number]]
      : [],
  );
}

test('a text is sent when it changes and once after each start, separately from the number columns', async () => {
  const signals = [custom('Vehicle.Torque')];
  const texts = [text('Vehicle.Part'), text('Vehicle.Other')];
  const car = await run(signals, { texts });
  const start = car.clock.now();
  car.say({ 'Vehicle.Part': '8W0 907 115' });
  car.give({ 'Vehicle.Torque': 7 });
  await car.pass(1_000);
  car.say({ 'Vehicle.Part': '8W0 907 115', 'Vehicle.Other': 'A' });
  await car.pass(1_000);
  car.say({ 'Vehicle.Part': '8W0 907 115 B' });
  await car.pass(3_000);
  expect(told(car.published)).toEqual([
    ['Vehicle.Part', '8W0 907 115', start],
    ['Vehicle.Other', 'A', start + 1_000],
    ['Vehicle.Part', '8W0 907 115 B', start + 2_000],
  ]);
  expect(receive(car.published).readings.get('Vehicle.Torque')).toEqual([[start, 7]]);
  await car.drop();
  const disk = new RecordedDisk(car.disk.after(car.disk.moments, (most) => most));
  const again = await run(signals, { texts, disk, at: car.clock.now(), boot: 2 });
  again.say({ 'Vehicle.Part': '8W0 907 115 B' });
  again.say({ 'Vehicle.Part': '8W0 907 115 B' });
  await again.pass(2_000);
  expect(told(again.published).map(([, value]) => value)).toEqual(['8W0 907 115 B']);
  await again.drop();
});

test('a text hidden by privacy is not sent, but the first reading afterwards is', async () => {
  const texts = [text('Vehicle.Part'), text('Vehicle.Street', { position: true })];
  const car = await run([], { texts, sources: [privacy] });
  const seen: (string | undefined)[][] = [];
  for (const [state, value] of [
    [0, 'a'],
    [1, 'b'],
    [2, 'c'],
    [0, 'c'],
  ] as const) {
    car.give({ Privacy: state });
    car.say({ 'Vehicle.Part': value, 'Vehicle.Street': value });
    const shown = [...(car.agent.signals?.view.all(car.clock.now()) ?? [])];
    seen.push(shown.map((one) => one.value as string | undefined));
    await car.pass(1_000);
  }
  expect(told(car.published).map(([name, value]) => `${name} ${value}`)).toEqual([
    'Vehicle.Part a',
    'Vehicle.Street a',
    'Vehicle.Part b',
    'Vehicle.Part c',
    'Vehicle.Street c',
  ]);
  expect(seen).toEqual([
    ['a', 'a'],
    ['b', undefined],
    [undefined, undefined],
    ['c', 'c'],
  ]);
  await car.drop();
});

test('a car with only text signals publishes no catalog', async () => {
  const car = await run([], { texts: [text('Vehicle.Part')] });
  car.say({ 'Vehicle.Part': 'a' });
  await car.pass(2_000);
  expect(car.published.map(({ message }) => message.kind)).not.toContain('catalog');
  expect(told(car.published)).toHaveLength(1);
  await car.drop();
});

test('a part number read by UDS service 22 becomes a message', async () => {
  const texts = [text('Vehicle.Part', { bus: 'obd', message: 'OBD', signal: 'PART' })];
  const car = await run([], { texts });
  const set = setOf({ cmd: { '22': 'F187' }, freq: 1, signals: [raw('PART', { len: 88, unit: 'ascii' })] });
  // F187 is the spare part number of the manufacturer (ISO 14229-1 Annex C.1).
  const unit = new Car(car.clock, (payload) =>
    payload === '22F187' ? { [0x7e8]: `62F187${Buffer.from('8W0907115\0\xff', 'latin1').toString('hex')}` } : undefined,
  );
  const source = new ObdSource({ clock: car.clock, requester: unit, sets: [set], bus: 'obd' });
  await source.start(car.agent.wanted, car.agent.sink());
  await car.pass(5_000);
  expect(told(car.published).map(([name, value]) => [name, value])).toEqual([['Vehicle.Part', '8W0907115']]);
  expect(unit.times('22F187').length).toBeGreaterThan(2);
  await Promise.all([source.stop(), car.pass(100)]);
  await car.drop();
});
