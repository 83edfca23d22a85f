import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SignalNumbers } from '../../../agent/signals/numbers.ts';
import { MessageReader } from '../../../commands/received.ts';
import { encodeMessage } from '../../../protocol/cbor/message.ts';
import type { CustomSignal } from '../../../protocol/profile.ts';
import type { SignalDefinition } from '../../../protocol/schema/catalog.ts';
import { catalogHash } from '../../../protocol/signals/catalog.ts';
import { hexOf } from '../../../protocol/signals/hash.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { KeptMemory } from '../../rig/keeping.ts';
import { MemoryLog } from '../../rig/log.ts';
import { runs, stride } from '../../rig/runs.ts';
import { custom, type Published, receive, run } from './car.ts';

const definition: fc.Arbitrary<SignalDefinition> = fc.record({
  name: fc.constantFrom('Vehicle.A', 'Vehicle.B', 'Vehicle.C', 'Vehicle.D'),
  kind: fc.constant('quantity' as const),
  unit: fc.constantFrom('V', 'mV'),
  resolution: fc.constantFrom(0.1, 0.01),
});
const profiles = fc.array(fc.uniqueArray(definition, { selector: ({ name }) => name, maxLength: 4 }), {
  minLength: 2,
  maxLength: 40,
});

function start(signals: readonly SignalDefinition[], memory: KeptMemory, now?: number): SignalNumbers {
  const numbers = new SignalNumbers(signals, memory, new MemoryLog(), now);
  memory.keep(() => numbers.states());
  memory.commit();
  return numbers;
}

test('a signal number never changes its meaning, whatever profiles follow', () => {
  fc.assert(
    fc.property(profiles, (all) => {
      const memory = new KeptMemory();
      const meanings = new Map<number, string>();
      for (const signals of all) {
        const { numbers } = start(signals, memory);
        expect(new Set(numbers).size).toBe(signals.length);
        for (const [place, number] of numbers.entries()) {
          const meaning = JSON.stringify(signals[place]);
          expect(meanings.get(number) ?? meaning).toBe(meaning);
          meanings.set(number, meaning);
        }
      }
    }),
  );
});

test('a profile gets the same numbers and catalog again after a restart and after another profile', () => {
  const memory = new KeptMemory();
  const first = [custom('Vehicle.A'), custom('Vehicle.B')];
  const a = start(first, memory);
  const again = start(first, memory);
  start([custom('Vehicle.B', { unit: 'V' })], memory);
  const back = start(first, memory);
  expect([again.numbers, back.numbers]).toEqual([a.numbers, a.numbers]);
  expect([hexOf(again.catalog), hexOf(back.catalog)]).toEqual([hexOf(a.catalog), hexOf(a.catalog)]);
});

test('the last sixteen catalogs are stored, and numbers of forgotten ones are not reused', () => {
  const memory = new KeptMemory();
  const used = Array.from({ length: 20 }, (_, i) => {
    const numbers = start([custom(`Vehicle.S${i}`), custom('Vehicle.Same')], memory);
    return { hash: numbers.catalog, entries: numbers.entries };
  });
  const last = start([custom('Vehicle.S19'), custom('Vehicle.Same')], memory);
  for (const { hash, entries } of used.slice(4)) {
    expect(last.entriesOf(hash)).toEqual(entries);
    expect(catalogHash(last.entriesOf(hash) ?? [])).toEqual(hash);
  }
  expect(last.entriesOf(used[3]?.hash as Uint8Array)).toBeUndefined();
  const numbers = used.flatMap(({ entries }) => entries.map(({ number }) => number));
  const { numbers: fresh } = start([custom('Vehicle.S0')], memory);
  expect(numbers).not.toContain(fresh[0]);
});

test('earlier catalogs are announced if waiting telemetry may refer to them', () => {
  const memory = new KeptMemory();
  start([custom('Vehicle.A')], memory, 1_000);
  start([custom('Vehicle.B')], memory, 2_000);
  const last = start([custom('Vehicle.C')], memory, 3_000);
  const names = (oldest: number): string[] => [...last.earlier(oldest)].map(([entry]) => entry?.name ?? '');
  expect(names(1_500)).toEqual(['Vehicle.A', 'Vehicle.B']);
  expect(names(2_500)).toEqual(['Vehicle.B']);
  expect(names(3_500)).toEqual([]);
});

test('after disk damage new numbers start above those that may have been lost', () => {
  const memory = new KeptMemory();
  start([custom('Vehicle.A')], memory);
  const damaged = Object.assign(new KeptMemory(), { damaged: true });
  for (const [key, value] of memory.kept) damaged.kept.set(key, value);
  expect(start([custom('Vehicle.A'), custom('Vehicle.B')], damaged).numbers).toEqual([1, 2 + (1 << 14)]);
});

test('unreadable stored numbers are logged and never reused', () => {
  const memory = new KeptMemory();
  start([custom('Vehicle.A')], memory);
  memory.kept.set('signals', { next: 'much' });
  const log = new MemoryLog();
  // Catalogs that are no longer stored may have had higher numbers.
  expect(new SignalNumbers([custom('Vehicle.B')], memory, log).numbers).toEqual([2 + (1 << 14)]);
  expect(log.lines.some(({ event }) => event === 'signals.numbers')).toBe(true);
});

/** Each position in a stored value, as the path of members to it. */
function* placesIn(value: unknown, at: readonly string[] = []): Generator<readonly string[]> {
  if (at.length > 0) yield at;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* placesIn(inner, [...at, key]);
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const inner = (value as Readonly<Record<string, unknown>>)[key];
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = replaced(inner, rest, by);
  return copy;
}

test('damage of any stored entry is logged, and no number changes its meaning', () => {
  const memory = new KeptMemory();
  const names = [{ count: 0, name: 'Off' }];
  const mode: SignalDefinition = { name: 'Vehicle.Mode', kind: 'enumeration', names };
  const a: SignalDefinition = { name: 'Vehicle.A', kind: 'quantity', unit: 'V' };
  const b: SignalDefinition = { name: 'Vehicle.B', kind: 'quantity', resolution: 0.5 };
  start([a, mode], memory, 1_000);
  start([a, b], memory, 2_000);
  const given = new Map([
    [1, 'Vehicle.A'],
    [2, 'Vehicle.Mode'],
    [3, 'Vehicle.B'],
  ]);
  const wrong = [undefined, null, 7.5, -1, 1, 2 ** 53, 'x', 'Vehicle.B', true, [], {}, [null], [{}]];
  let tried = 0;
  for (const key of ['signals', 'signals/definitions']) {
    const whole = memory.kept.get(key);
    for (const place of placesIn(whole)) {
      for (const value of wrong) {
        const damaged = new KeptMemory();
        for (const [other, kept] of memory.kept) damaged.kept.set(other, kept);
        const now = replaced(whole, place, value);
        if (JSON.stringify(now) === JSON.stringify(whole)) continue;
        damaged.kept.set(key, now);
        const log = new MemoryLog();
        const what = `${key} ${place.join('.')} = ${JSON.stringify(value)}`;
        const numbers = new SignalNumbers([b, { ...b, name: 'Vehicle.C' }, mode], damaged, log, 3_000);
        for (const entry of numbers.entries) {
          expect([what, entry.number, entry.name]).toEqual([what, entry.number, given.get(entry.number) ?? entry.name]);
        }
        expect([what, new Set(numbers.numbers).size]).toEqual([what, 3]);
        // The time when a catalog went out of use may be any time.
        if (place.at(-1) === 'until' && (value === undefined || typeof value === 'number')) continue;
        expect([what, log.lines.map(({ level, event }) => `${level} ${event}`)]).toEqual([
          what,
          ['error signals.numbers'],
        ]);
        tried++;
      }
    }
  }
  expect(tried).toBeGreaterThan(300);
});

/** A profile before and after a change: one signal stays, one changes its resolution, one is removed and one added. */
const before = [custom('Vehicle.Same'), custom('Vehicle.Finer', { resolution: 0.5 }), custom('Vehicle.Gone')];
const after = [custom('Vehicle.Finer', { resolution: 0.25 }), custom('Vehicle.New'), custom('Vehicle.Same')];

async function drive(car: Awaited<ReturnType<typeof run>>, names: readonly string[], seconds: number): Promise<void> {
  for (let i = 1; i <= seconds * 2; i++) {
    car.give(Object.fromEntries(names.map((name) => [name, i])));
    await car.pass(500);
  }
}

test('a backlog of an earlier profile is decoded with the catalog of its recording', async () => {
  const old = await run(before, { connected: false });
  await drive(old, ['Vehicle.Same', 'Vehicle.Finer', 'Vehicle.Gone'], 20);
  await old.pass(4_000);
  await old.drop();
  const files = old.disk.after(old.disk.moments, (most) => most);
  const now = await run(after, { disk: new RecordedDisk(files), at: old.clock.now(), boot: 2 });
  await drive(now, ['Vehicle.Same', 'Vehicle.Finer', 'Vehicle.New'], 10);
  await now.pass(4_000);
  const { readings, unknown, ambiguous, catalogs } = receive(now.published);
  expect(unknown).toEqual([]);
  expect(ambiguous).toEqual([]);
  expect(catalogs.size).toBe(2);
  const values = (name: string) => readings.get(name)?.map(([, value]) => value);
  const counted = (to: number, step: number) => Array.from({ length: to }, (_, i) => (i + 1) * step);
  expect(values('Vehicle.Gone')).toEqual(counted(40, 1));
  expect(values('Vehicle.New')).toEqual(counted(20, 1));
  expect(values('Vehicle.Finer')).toEqual([...counted(40, 0.5), ...counted(20, 0.25)]);
  expect(values('Vehicle.Same')).toEqual([...counted(40, 1), ...counted(20, 1)]);
  // Each catalog was sent before the first telemetry that refers to it.
  const seen = new Set<number>();
  for (const { message } of now.published) {
    if (message.kind === 'catalog') for (const { number } of message.body.entries) seen.add(number);
    if (message.kind === 'telemetry' && message.body.signals !== undefined) expect(seen.size).toBeGreaterThan(0);
  }
  await now.drop();
});

/** Number of signals in a profile, enough for catalogs of several parts. */
const MANY = runs(2_000, 5_000);

/** The same names in three profiles with different units, steps or kinds. */
const fleet = (more: (i: number) => Partial<CustomSignal>): CustomSignal[] =>
  Array.from({ length: MANY }, (_, i) => custom(`Vehicle.S${i}`, more(i)));
const names = ['Off', 'On', 'Fault', 'None'].map((name, count) => ({ count, name }));
const profilesOfOneCar = [
  fleet(() => ({ unit: 'V' })),
  fleet((i) => (i % 2 === 0 ? { unit: 'V' } : { unit: 'mV', resolution: 0.25, offset: -40 })),
  fleet((i) => (i % 5 === 0 ? { kind: 'enumeration', names } : { unit: 'kV', resolution: 0.5 })).reverse(),
];

test('thousands of signals whose profile changes twice offline are decoded with the names and units of their time', {
  timeout: 600_000,
}, async () => {
  let car = await run(profilesOfOneCar[0] as CustomSignal[], { connected: false });
  const expected = new Map<string, [unit: string | undefined, value: unknown][]>();
  for (const [place, signals] of profilesOfOneCar.entries()) {
    const last = place === profilesOfOneCar.length - 1;
    if (place > 0) {
      const disk = new RecordedDisk(car.disk.after(car.disk.moments, (most) => most));
      car = await run(signals, { disk, at: car.clock.now(), boot: place + 1, connected: last });
    }
    for (let step = 0; step < 3; step++) {
      car.give(Object.fromEntries(signals.map(({ name }, i) => [name, (i + step) % 4])));
      for (const [i, { name, kind, unit, resolution = 1, offset = 0 }] of signals.entries()) {
        const count = (i + step) % 4;
        const value = kind === 'enumeration' ? names[count]?.name : count * resolution + offset;
        expected.set(name, [...(expected.get(name) ?? []), [unit, value]]);
      }
      await car.pass(1_000);
    }
    await car.pass(4_000);
    await car.drop();
  }

  // Reads the messages in the order of arrival, like `vigie watch`.
  const reader = new MessageReader((catalog) => expect.fail(`catalog ${catalog} has not come`));
  const found = new Map<string, [unit: string | undefined, value: unknown][]>();
  const catalogs = new Set<string>();
  for (const { topic, message } of car.published) {
    const { body } = reader.line(topic, encodeMessage(message));
    if (message.kind === 'catalog') expect(message.body.parts).toBeGreaterThan(1);
    const { catalog, signals } = body as { catalog: string; signals?: { name: string; unit?: string; values: [] }[] };
    for (const { name, unit, values } of signals ?? []) {
      catalogs.add(catalog);
      const series = found.get(name) ?? [];
      found.set(name, series);
      for (const value of values) series.push([unit, value]);
    }
  }
  expect(catalogs.size).toBe(3);
  expect(found.size).toBe(MANY);
  expect(found).toEqual(expected);
});

test('after a power cut at any time no published number changes its meaning', {
  timeout: 600_000,
}, async () => {
  const first = await run(before);
  await drive(first, ['Vehicle.Same', 'Vehicle.Finer', 'Vehicle.Gone'], 5);
  await first.drop();
  const { disk } = first;
  let cuts = 0;
  for (let moment = 0; moment <= disk.moments; moment += stride(3)) {
    for (const choose of [(): number => 0, (most: number): number => most]) {
      const cut = new RecordedDisk(disk.after(moment, choose));
      const second = await run(after, { disk: cut, at: first.clock.now(), boot: 2 });
      await drive(second, ['Vehicle.Same', 'Vehicle.Finer', 'Vehicle.New'], 3);
      await second.pass(3_000);
      await second.drop();
      const known: Published[] = first.published.filter((one) => one.moment <= moment);
      const { ambiguous, unknown, readings } = receive([...known, ...second.published]);
      expect([ambiguous, unknown], `at moment ${moment}`).toEqual([[], []]);
      expect(readings.get('Vehicle.New')?.map(([, value]) => value)).toEqual([1, 2, 3, 4, 5, 6]);
      cuts++;
    }
  }
  expect(cuts).toBeGreaterThan(20);
});
