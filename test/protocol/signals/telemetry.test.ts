import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { decodeMessage, encodeMessage, messageBounds } from '../../../protocol/cbor/message.ts';
import { type CatalogEntry, catalogSchema } from '../../../protocol/schema/catalog.ts';
import { count } from '../../../protocol/schema/count.ts';
import { bytes, instant, optional, record, required } from '../../../protocol/schema/fields.ts';
import { readingsFromTelemetry, telemetryJson, timeResolutions } from '../../../protocol/schema/telemetry.ts';
import { Catalogs, catalogHash, catalogParts } from '../../../protocol/signals/catalog.ts';
import { Fnv, hexOf } from '../../../protocol/signals/hash.ts';
import {
  type SignalReading,
  signalSeries,
  signalsJson,
  telemetryFromSignals,
} from '../../../protocol/signals/telemetry.ts';
import { valuesOf } from '../../../protocol/signals/values.ts';

const envelope = { version: 1, seq: 0, boot: 1, at: 1_750_000_000_000, clock: 'gnss' } as const;
const reach = 2 ** 51;

const readings: fc.Arbitrary<SignalReading[]> = fc
  .array(fc.integer({ min: 1, max: 1 << 20 }), { minLength: 1, maxLength: 12 })
  .chain((numbers) =>
    fc.array(
      fc.record({
        number: fc.constantFrom(...numbers),
        count: fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -reach, max: reach })),
        at: fc.integer({ min: 1_750_000_000_000 - 100_000, max: 1_750_000_000_000 }),
      }),
      { maxLength: 200 },
    ),
  );

test('readings are read back in order, with times rounded to the resolution', () => {
  const catalog = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]);
  fc.assert(
    fc.property(readings, fc.constantFrom(...timeResolutions), (all, coarse) => {
      const resolution = (number: number) => (number % 2 === 0 ? coarse : 1);
      const body = telemetryFromSignals(all, { catalog, resolution });
      const message = decodeMessage(encodeMessage({ ...envelope, kind: 'telemetry', body }));
      if (message.kind !== 'telemetry') throw new Error(message.kind);
      expect(message.body.signals?.catalog ?? catalog).toEqual(catalog);
      const expected = new Map<number, [number, number][]>();
      for (const { number, count: value, at } of all) {
        const step = resolution(number);
        const series = expected.get(number) ?? [];
        expected.set(number, series);
        series.push([Math.round(at / step) * step, value]);
      }
      const found = signalSeries(message.body).map(({ slot, times, values }) => [
        slot,
        times.map((at, i) => [at, values[i]]),
      ]);
      expect(found).toEqual([...expected].sort(([a], [b]) => a - b));
      // A receiver without custom signals finds no readings.
      expect(readingsFromTelemetry(message.body)).toEqual([]);
      expect(telemetryJson(message.body)).toEqual({ series: [] });
    }),
  );
});

test('an older receiver reads telemetry with custom signals as telemetry without readings', () => {
  const before = compile(
    record('Telemetry', 'x', {
      start: required(1, instant('x')),
      size: required(2, count('x')),
      columns: required(3, bytes('x')),
    }),
  );
  const now = compile(
    record('Telemetry', 'x', {
      start: required(1, instant('x')),
      size: required(2, count('x')),
      columns: required(3, bytes('x')),
      signals: optional(4, record('S', 'x', { catalog: required(1, bytes('x')) })),
    }),
  );
  const reading = { number: 1, count: 5, at: envelope.at };
  const body = telemetryFromSignals([reading], { catalog: new Uint8Array(8), resolution: () => 1 });
  const { signals: _, ...known } = body;
  expect(before.decode(now.encode(body, envelope.at), envelope.at)).toEqual(known);
});

test('too many readings, and integers beyond 2^51, are refused', () => {
  const options = { catalog: new Uint8Array(8), resolution: () => 1 as const };
  const many = Array.from({ length: 10_001 }, (_, i) => ({ number: 1, count: i, at: i }));
  expect(() => telemetryFromSignals(many, options)).toThrow('10001 readings; at most 10000 allowed');
  expect(() => telemetryFromSignals([{ number: 3, count: reach * 2, at: 0 }], options)).toThrow(
    'signal 3 cannot be telemetry',
  );
});

test('the numbers of series are stored as increments', () => {
  const options = {
    catalog: new Uint8Array(8),
    resolution: () => 1 as const,
    deflate: (columns: Uint8Array) => columns,
  };
  const body = telemetryFromSignals(
    [
      { number: 2, count: 5, at: 0 },
      { number: 3, count: 5, at: 0 },
    ],
    options,
  );
  const raw = body.signals?.columns as Uint8Array;
  // resolution, series, interval, times, then the numbers: 2, and 1 more.
  expect([...raw.subarray(0, 6)]).toEqual([1, 2, 0, expect.any(Number), 2, 1]);
});

/** Published test vectors for 64-bit FNV-1a. */
test.each([
  ['', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c'],
  ['foobar', '85944171f73967e8'],
])('the hash of %j equals the published vector', (text, hash) => {
  const fnv = new Fnv();
  fnv.add(new TextEncoder().encode(text));
  expect(hexOf(fnv.hash)).toBe(hash);
});

const entriesOf = (size: number): CatalogEntry[] =>
  Array.from({ length: size }, (_, i) => ({
    number: i * 3 + 1,
    name: `Vehicle.Powertrain.TractionBattery.Cell${i}.Voltage`,
    kind: 'quantity',
    unit: 'V',
    resolution: 0.001,
    offset: -i,
  }));

test('a long catalog is sent in parts, which may arrive in any order and repeatedly', () => {
  const entries = entriesOf(5_000);
  const parts = catalogParts(entries);
  expect(parts.length).toBeGreaterThan(2);
  const catalogs = new Catalogs();
  for (const part of [...parts].reverse().concat(parts)) {
    const payload = encodeMessage({ ...envelope, kind: 'catalog', body: part });
    expect(payload.length).toBeLessThan(messageBounds.maximumBytes / 16);
    const message = decodeMessage(payload);
    if (message.kind !== 'catalog') throw new Error(message.kind);
    expect(message.body).toEqual(part);
    catalogs.add(message.body);
  }
  const catalog = catalogHash(entries);
  for (const { number, ...definition } of entries)
    expect(catalogs.signal(catalog, number)?.definition).toEqual(definition);
});

test('catalogs with any difference have different hashes', () => {
  const [first, second] = entriesOf(2) as [CatalogEntry, CatalogEntry];
  const hashes = [
    [first, second],
    [first],
    [first, { ...second, number: 5 }],
    [first, { ...second, unit: 'mV' }],
    [first, { ...second, resolution: 0.01 }],
    [{ ...first, kind: 'enumeration' as const, names: [{ count: 1, name: 'On' }] }, second],
    [{ ...first, kind: 'enumeration' as const, names: [{ count: 1, name: 'Off' }] }, second],
  ].map((entries) => hexOf(catalogHash(entries)));
  expect(new Set(hashes).size).toBe(hashes.length);
});

test('an entry of an unknown kind is omitted, and the others are read', () => {
  const codec = compile(catalogSchema);
  const entries = entriesOf(2);
  const encoded = codec.encode({ catalog: catalogHash(entries), part: 0, parts: 1, entries }, 0);
  // Member 3 of the first entry, its kind, gets an unassigned value. Member 4 follows.
  const place = encoded.findIndex((byte, i) => byte === 3 && encoded[i + 1] === 0 && encoded[i + 2] === 4);
  encoded[place + 1] = 9;
  expect(codec.decode(encoded, 0).entries).toEqual(entries.slice(1));
});

test('values are exact decimals', () => {
  const value = (resolution: number, offset: number, counted: number) =>
    valuesOf({ name: 'x', kind: 'quantity', resolution, offset })(counted);
  expect(value(0.1, 0, 3)).toBe(0.3);
  expect(value(0.001, -40, 69_570)).toBe(29.57);
  expect(value(-0.1, 0, 0)).toBe(0);
  expect(value(1, 0, 2 ** 50)).toBe(2 ** 50);
  const named = valuesOf({ name: 'x', kind: 'enumeration', names: [{ count: 1, name: 'On' }] });
  expect([named(1), named(2)]).toEqual(['On', 2]);
  expect(valuesOf({ name: 'x', kind: 'flag' })(1)).toBe(true);
});

test('until the catalog arrives, numbers serve as the names of signals', () => {
  const catalogs = new Catalogs();
  const [entry] = entriesOf(1) as [CatalogEntry];
  const [part] = catalogParts([entry]);
  const body = telemetryFromSignals([{ number: 1, count: 3700, at: 5 }], {
    catalog: catalogHash([entry]),
    resolution: () => 1,
  });
  const hash = hexOf(catalogHash([entry]));
  expect(signalsJson(body, catalogs)).toEqual({ catalog: hash, signals: [{ name: '#1', at: [5], values: [3700] }] });
  if (part !== undefined) catalogs.add(part);
  expect(signalsJson(body, catalogs)).toEqual({
    catalog: hash,
    signals: [{ name: entry.name, unit: 'V', at: [5], values: [3.7] }],
  });
});
