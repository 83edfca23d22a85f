import { expect, test } from 'vitest';
import { withPackage } from '../../protocol/missing-package.ts';
import { CarDecoder, decode, encodeMessage, type Kind, slotByPath } from '../../protocol/receiver.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { catalogHash, catalogParts } from '../../protocol/signals/catalog.ts';
import { telemetryFromSignals } from '../../protocol/signals/telemetry.ts';

const at = Date.UTC(2026, 0, 1);
const encode = (kind: Kind, body: object): Uint8Array =>
  encodeMessage({ version: 1, kind, seq: 7, boot: 1, at, clock: 'gnss', body });

test('a Status has names, and the unit of each number by its path', () => {
  const battery = { createdAt: at, type: 'Electric', level: 80 };
  const status = { kinetic: { createdAt: at, speed: 42 }, energies: [battery] };
  const { kind, seq, body, units } = decode(encode('status', { full: true, status }));
  expect([kind, seq]).toEqual(['status', 7]);
  expect(body).toEqual({ full: true, status });
  expect(units).toEqual({ 'status.kinetic.speed': 'km/h', 'status.energies[].level': '%' });
});

test('telemetry is series with paths, units, times and physical values', () => {
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

test('a decoder of a car names custom signals as soon as their catalog has come', () => {
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

test('the error for a package that is not installed names what to install, with its scope', async () => {
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
  // A module of the program's own that is missing is a defect, not a package to install.
  const own = missing("Cannot find module './gone.js' imported from /car/vigie.js");
  await expect(withPackage(() => own)).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
});
