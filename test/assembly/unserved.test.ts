/** An interface that cannot be served is retried until its cause is repaired, and the car is recorded meanwhile. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Car, startCar } from '../../assembly/car.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import type { LogEvent } from '../../protocol/log-events.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { Authority, type Certificate } from '../rig/certificates.ts';
import { hashCheaply } from '../rig/cheap-password.ts';
import { ImpatientClock } from '../rig/impatient-clock.ts';

let folder: string;
let certificate: Certificate;
let car: Car | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-unserved-'));
  certificate = new Authority(folder).issue('interface');
  writeFileSync(join(folder, 'password'), await hashCheaply('secret'));
});
afterEach(() => car?.stop());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function carWith(key: string, port: number, note: (event: LogEvent, fields?: Record<string, unknown>) => void) {
  return startCar({
    vin: 'VF3VGEBENCH000001',
    vehicle: loadVehicle('bench'),
    data: mkdtempSync(join(folder, 'records-')),
    sources: [],
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    settings: agentSettings({ outbox: { limit: 2 ** 20 } }),
    http: {
      host: '127.0.0.1',
      port,
      tls: { cert: certificate.certFile, key },
      fleet: [{ name: 'rig', passwordFile: join(folder, 'password'), clientId: 'rig', fleets: ['local'] }],
      vehicle: {},
      perDay: 1_000,
      perSecond: 10,
      maxBodyBytes: 1_000,
    },
    log: { info: note, warn: note, error: note },
    clock: new ImpatientClock(),
  });
}

interface Said {
  readonly event: LogEvent;
  readonly fields: Record<string, unknown> | undefined;
}

test.each([
  ['a missing key', undefined, /unit\.key/],
  ['a damaged key', 'no key', /unit\.key/],
])('the interface is served once its cause is repaired: %s', async (_, before, named) => {
  const key = join(folder, 'unit.key');
  rmSync(key, { force: true });
  if (before !== undefined) writeFileSync(key, before);
  const events = new Arrivals<Said>();
  car = await carWith(key, 0, (event, fields) => events.push({ event, fields }));
  expect(car.interface).toBeUndefined();
  const { fields } = await events.take(({ event }) => event === 'http.unavailable');
  expect(String(fields?.['error'])).toMatch(named);
  writeFileSync(key, certificate.key);
  await events.take(({ event }) => event === 'http.ready');
  // The failure was logged once, however often it was retried.
  expect(events.all.filter(({ event }) => event === 'http.unavailable')).toHaveLength(1);
});

test('an occupied port is retried until it is free', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const key = join(folder, 'unit.key');
  writeFileSync(key, certificate.key);
  const events = new Arrivals<Said>();
  car = await carWith(key, port, (event, fields) => events.push({ event, fields }));
  expect(car.interface).toBeUndefined();
  const { fields } = await events.take(({ event }) => event === 'http.unavailable');
  expect(String(fields?.['error'])).toContain('another program listens on this port');
  await new Promise((resolve) => taken.close(resolve));
  await events.take(({ event }) => event === 'http.ready');
});
