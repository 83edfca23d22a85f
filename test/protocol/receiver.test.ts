import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packFrames } from '../../protocol/captures/capture.ts';
import { compile } from '../../protocol/cbor/codec.ts';
import { portableDeflate } from '../../protocol/columns/deflate.ts';
import { withPackage } from '../../protocol/missing-package.ts';
import { CarDecoder, decode, encodeMessage, type Kind, kinds, slotByPath } from '../../protocol/receiver.ts';
import { bodies, messageSchema } from '../../protocol/schema/message.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { catalogHash, catalogParts } from '../../protocol/signals/catalog.ts';
import { telemetryFromSignals } from '../../protocol/signals/telemetry.ts';
import { valuesOf } from './cbor/arbitrary.ts';
import { at, readings, twoFrames, withRealColumns } from './real-columns.ts';

const encode = (kind: Kind, body: object): Uint8Array =>
  encodeMessage({ version: 1, kind, seq: 7, boot: 1, at, clock: 'gnss', body });

test('a decoded Status has member names, and the unit of each number by its path', () => {
  const battery = { createdAt: at, type: 'Electric', level: 80 };
  const status = { kinetic: { createdAt: at, speed: 42 }, energies: [battery] };
  const { kind, seq, body, units } = decode(encode('status', { full: true, status }));
  expect([kind, seq]).toEqual(['status', 7]);
  expect(body).toEqual({ full: true, status });
  expect(units).toEqual({ 'status.kinetic.speed': 'km/h', 'status.energies[].level': '%' });
});

test('decoded telemetry is series with paths, units, times and physical values', () => {
  const speed = slotByPath.get('kinetic.speed')!;
  const moving = slotByPath.get('kinetic.moving')!;
  const readings = [
    { slot: speed, value: 42, at },
    { slot: speed, value: 43, at: at + 1_000 },
    { slot: moving, value: true, at },
  ];
  expect(decode(encode('telemetry', telemetryFromReadings(readings))).body).toEqual({
    series: [
      { path: 'kinetic.speed', unit: 'km/h', at: [at, at + 1_000], values: [42, 43] },
      { path: 'kinetic.moving', at: [at], values: [true] },
    ],
  });
});

test('the decoder of a car names custom signals once their catalog has arrived', () => {
  const entries = [{ number: 1, name: 'Oil', kind: 'quantity' as const, unit: 'bar', resolution: 0.1 }];
  const catalog = catalogHash(entries);
  const telemetry = telemetryFromSignals([{ number: 1, count: 23, at }], { catalog, resolution: () => 1 });
  const decoder = new CarDecoder();
  const payload = encode('telemetry', telemetry);
  expect(decoder.decode(payload).body).toMatchObject({ signals: [{ name: '#1', values: [23] }] });
  for (const part of catalogParts(entries)) decoder.decode(encode('catalog', part));
  expect(decoder.decode(payload).body).toMatchObject({
    signals: [{ name: 'Oil', unit: 'bar', at: [at], values: [2.3] }],
  });
});

test('the error for a missing package names the package to install, with its scope', async () => {
  const missing = async (text: string): Promise<never> => {
    throw Object.assign(new Error(text), { code: 'ERR_MODULE_NOT_FOUND' });
  };
  for (const [imported, name] of [
    ['koffi', 'koffi'],
    ['@hono/node-server', '@hono/node-server'],
    ['cbor-x/index-no-eval', 'cbor-x'],
  ]) {
    const refused = withPackage(() => missing(`Cannot find package '${imported}' imported from /car/vigie.js`));
    await expect(refused).rejects.toMatchObject({
      code: 'package.missing',
      message: expect.stringContaining(`npm install ${name}`),
    });
  }
  // A missing module of the program itself is a defect, not a package to install.
  const own = missing("Cannot find module './gone.js' imported from /car/vigie.js");
  await expect(withPackage(() => own)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
});

describe('a message of any kind', () => {
  const document = JSON.parse(
    readFileSync(new URL('../../protocol/generated/asyncapi.json', import.meta.url), 'utf8'),
  ) as { readonly channels: Record<string, { readonly messages: Record<string, { readonly payload: Documented }> }> };

  for (const kind of kinds) {
    const channel = document.channels[`up${kind[0]!.toUpperCase()}${kind.slice(1)}`]!;
    const documented = channel.messages[kind]!.payload.properties!['body']!;
    test(`has every unit of the published description, and no bytes: ${kind}`, () => {
      fc.assert(
        fc.property(valuesOf(bodies[kind]) as fc.Arbitrary<object>, (made) => {
          const message = { version: 1, kind, seq: 7, boot: 1, at, clock: 'gnss', body: withRealColumns(made) };
          const packed = decode(encode(kind, message.body));
          expect(decode(compile(messageSchema(kind)).encode(message as never, at))).toEqual(packed);
          const { body, units } = packed;
          const found: Record<string, string> = {};
          unitsOf(documented, body, '', found);
          expect(units).toEqual(found);
          expect(bytesIn(body)).toBe(false);
          expect(JSON.stringify(body)).not.toContain('"columns"');
        }),
        { numRuns: 20 },
      );
    });
  }

  interface Documented {
    readonly properties?: Record<string, Documented>;
    readonly items?: Documented | readonly Documented[];
    readonly 'x-unit'?: string;
    readonly 'x-instant'?: boolean;
  }

  function unitsOf(schema: Documented | undefined, value: unknown, path: string, found: Record<string, string>): void {
    if (typeof value === 'number' && schema?.['x-unit'] !== undefined) {
      if (schema['x-instant'] !== true && schema['x-unit'] !== '1') found[path] = schema['x-unit'];
    } else if (Array.isArray(value)) {
      const of = schema?.items;
      for (const [index, item] of value.entries()) {
        if (Array.isArray(of)) unitsOf(of[index], item, `${path}[${index}]`, found);
        else unitsOf(of as Documented | undefined, item, `${path}[]`, found);
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value))
        unitsOf(schema?.properties?.[name], member, path === '' ? name : `${path}.${name}`, found);
    }
  }
});

function bytesIn(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ArrayBuffer.isView(value) || Object.values(value).some(bytesIn);
}

const series = [{ path: 'kinetic.speed', unit: 'km/h', at: [at], values: [42] }];

test('a decoded capture has its frames with bus, identifier and payload', () => {
  const part = { id: 'c1', part: 0, last: true, cause: 'collision', of: 'c2', at, from: at, to: at, buses: ['a', 'b'] };
  const { body } = decode(encode('capture', { ...part, ...packFrames(twoFrames, at, portableDeflate) }));
  expect(body).toEqual({
    ...part,
    frames: 2,
    rawFrames: [
      { at: at + 0.125, bus: 'b', id: 0xa8, data: '1068', fd: true, sent: true },
      { at: at + 1.5, bus: 'a', id: 0x123, data: '', extended: true, remote: true },
    ],
  });
});

test('a decoded event and its collision have readings as series, and custom signals with names', () => {
  const entries = [{ number: 1, name: 'Oil', kind: 'quantity' as const, unit: 'bar', resolution: 0.1 }];
  const catalog = catalogHash(entries);
  const telemetry = telemetryFromSignals([{ number: 1, count: 23, at }], { catalog, resolution: () => 1 });
  const decoder = new CarDecoder();
  for (const part of catalogParts(entries)) decoder.decode(encode('catalog', part));
  const collision = { createdAt: at, id: 'c1', updatedAt: at, active: false, readings };
  const event = {
    id: 'e1',
    monitorId: 'm1',
    at,
    refresh: false,
    values: [{ data: 'vehicle.collision.side', collision }],
    extensions: [{ type: 'vehicle.collisions', collision }],
    telemetry,
  };
  const { body } = decoder.decode(encode('event', event));
  expect(body).toMatchObject({
    values: [{ collision: { id: 'c1', readings: { series } } }],
    extensions: [{ collision: { id: 'c1', readings: { series } } }],
    telemetry: { series: [], signals: [{ name: 'Oil', unit: 'bar', at: [at], values: [2.3] }] },
  });
});

test('a decoded Status has the paths of stale slots', () => {
  const stale = [slotByPath.get('kinetic.speed')!.id, 0o7777];
  const { body } = decode(encode('status', { full: false, status: {}, stale }));
  expect(body).toEqual({ full: false, status: {}, stale: ['kinetic.speed', `#${0o7777}`] });
});

test('each coordinate of a position has its own unit', () => {
  const point = { type: 'Point', coordinates: [2.25, 48.5, 35] };
  const lastPosition = { type: 'Feature', geometry: point, properties: { createdAt: at } };
  expect(decode(encode('status', { full: false, status: { lastPosition } })).units).toEqual({
    'status.lastPosition.geometry.coordinates[0]': 'deg',
    'status.lastPosition.geometry.coordinates[1]': 'deg',
    'status.lastPosition.geometry.coordinates[2]': 'm',
  });
});

test('a text instead of bytes is refused with the expected type', () => {
  const text = 'online' as unknown as Uint8Array;
  for (const read of [() => decode(text), () => new CarDecoder().decode(text)]) {
    expect(read).toThrowError(
      expect.objectContaining({ code: 'usage.wrong', message: expect.stringContaining('Uint8Array') }),
    );
  }
});
