/** The page of a car served by `vigie run`: behind access control, with fault codes, captures and map tiles. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../adapters/store/index.ts';
import type { StoredRecord } from '../../agent/ports.ts';
import { packFrames } from '../../protocol/captures/capture.ts';
import type { Capture } from '../../protocol/schema/capture.ts';
import type { FaultRecord } from '../../protocol/schema/fault.ts';
import type { Trip } from '../../protocol/schema/trip.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { VigieProcess } from '../rig/bench.ts';
import { Gates, PASSWORD } from '../rig/interface-gates.ts';
import { MemoryLog } from '../rig/log.ts';
import { describePeer } from '../rig/peers.ts';
import { expectAccessible, launchChromium, VIN } from './browser.ts';

const MINUTE = 60_000;
const BEGIN = Math.floor(Date.now() / 1000) * 1000 - 60 * MINUTE;

const trip: Trip = {
  id: '1a',
  createdAt: BEGIN,
  startedAt: BEGIN,
  stoppedAt: BEGIN + 20 * MINUTE,
  done: true,
  distance: 12.5,
};
const points: readonly Waypoint[] = Array.from({ length: 21 }, (_, minute) => ({
  at: BEGIN + minute * MINUTE,
  latitude: 48.85 + minute / 1_000,
  longitude: 2.29 + minute / 1_000,
  speed: 40 + minute,
  type: 'Acquire',
}));
const fault: FaultRecord = {
  id: '2a',
  createdAt: BEGIN + 5 * MINUTE,
  active: false,
  code: 'P0143',
  unit: '7E8',
  group: 'Powertrain',
  status: ['Stored'],
  firstSeenAt: BEGIN + 5 * MINUTE,
  lastSeenAt: BEGIN + 9 * MINUTE,
  text: 'O2 sensor, low voltage',
};
const capture: Capture = {
  id: '3a',
  part: 0,
  last: true,
  cause: 'collision',
  of: '4a',
  at: BEGIN + 12 * MINUTE,
  from: BEGIN + 12 * MINUTE - 1_000,
  to: BEGIN + 12 * MINUTE + 1_000,
  buses: ['body'],
  ...packFrames(
    {
      count: 1,
      at: new Float64Array([BEGIN + 12 * MINUTE]),
      id: new Uint32Array([0x0a8]),
      flags: new Uint8Array([0]),
      bus: new Uint8Array([0]),
      length: new Uint8Array([2]),
      offset: new Uint32Array([0]),
      data: new Uint8Array([0x12, 0x34]),
    },
    BEGIN,
    (bytes) => deflateRawSync(bytes),
  ),
};

/** Writes the car's records of the last hour to its disk. */
async function record(data: string): Promise<void> {
  const store = await openStore(join(data, 'outbox'), { log: new MemoryLog() });
  const put = (collection: string, record: { readonly id: string }, at: number): void =>
    store.records.put(collection, { id: record.id, at, record } as StoredRecord);
  put('trip', trip, BEGIN);
  put('fault', fault, fault.createdAt);
  put('capture', capture, capture.at);
  store.records.put('waypoint', { id: '5a', at: BEGIN, record: { points } });
  await store.outbox.commit();
  await store.close();
}

/** A server of single-coloured tiles. `enough` is called when some were loaded. */
async function serveTiles(asked: string[], enough: () => void): Promise<Server> {
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (asked.length === 4) enough();
    response.setHeader('Content-Type', 'image/png').end(pixel);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describePeer('chromium', 'the page of a car that runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-page-run-'));
  const tilesAsked: string[] = [];
  let enough: () => void;
  const tilesLoaded = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const requests: string[] = [];
  let gates: Gates;
  let tiles: Server;
  let car: VigieProcess;
  let context: BrowserContext;
  let [url, tilesUrl] = ['', ''];

  beforeAll(async () => {
    gates = await Gates.make();
    tiles = await serveTiles(tilesAsked, enough);
    tilesUrl = `http://127.0.0.1:${(tiles.address() as AddressInfo).port}`;
    await record(join(folder, 'records'));
    const vehicle = fileURLToPath(new URL('../../config/vehicles/bench/', import.meta.url));
    copyFileSync(join(vehicle, 'bench.dbc'), join(folder, 'bench.dbc'));
    const profile = readFileSync(join(vehicle, 'profile.yaml'), 'utf8').replace(
      'constants:',
      '  - { name: port, obd: { signalsets: [set.json], poll: { signals: { OBD.VehicleSpeed: { interval: 10m } } } } }\n' +
        'captures:\n  collision: { before: 1s, after: 1s }\nconstants:',
    );
    writeFileSync(join(folder, 'profile.yaml'), profile);
    copyFileSync(join(vehicle, '../generic-obd2/sae-j1979.json'), join(folder, 'set.json'));
    const [operator] = gates.http.fleet ?? [];
    const { issuer, audience, keys } = gates.http.user ?? {};
    const configuration = {
      configuration: 1,
      vin: VIN,
      profile: './profile.yaml',
      data: './records',
      can: [{ bus: 'body', simulated: true }],
      // An address without an adapter.
      obd: { elm327: 'tcp://127.0.0.1:9' },
      faults: { every: '10m' },
      mqtt: { url: 'mqtt://127.0.0.1:9' },
      http: {
        listen: '127.0.0.1:0',
        fleet: [operator],
        user: { issuer, audience, keys },
        tiles: { url: `${tilesUrl}/{z}/{x}/{y}.png`, attribution: 'Map by a test' },
      },
    };
    // JSON is valid YAML.
    writeFileSync(join(folder, 'vigie.yaml'), JSON.stringify(configuration));
    car = new VigieProcess(['run', '-c', join(folder, 'vigie.yaml')]);
    await car.says('"http.ready"');
    url = `http://127.0.0.1:${/"http\.ready".*?"port":(\d+)/.exec(car.output)?.[1]}`;
    context = await launchChromium(join(folder, 'browser'));
    context.on('request', (request) => requests.push(new URL(request.url()).origin));
  });
  afterEach(async () => {
    for (const page of context.pages().slice(1)) await page.close();
  });
  afterAll(async () => {
    await context?.close();
    await car?.end('SIGTERM');
    tiles?.closeAllConnections();
    tiles?.close();
    gates?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The car begins another trip during these tests, which the page then shows first. */
  const chooseTrip = (page: Page) => page.getByRole('radio', { name: /12.50 km/ }).click();
  const openWithToken = async (hash: string, ...granted: Parameters<Gates['user']>): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${url}/${hash}`);
    await page.getByRole('button', { name: 'Use a token' }).click();
    await enterToken(page, ...granted);
    return page;
  };

  const enterToken = async (page: Page, ...granted: Parameters<Gates['user']>): Promise<void> => {
    const { headers } = await gates.user(...granted);
    await page.getByRole('textbox', { name: 'Token' }).fill(headers['authorization']?.replace('Bearer ', '') ?? '');
    await page.keyboard.press('Enter');
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
  };

  test('the page asks for a sign-in, refuses a wrong password, and shows the car to a fleet user', async () => {
    const page = await context.newPage();
    await page.goto(`${url}/`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    const fill = async (password: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Name' }).fill('operator');
      await page.getByRole('textbox', { name: 'Password' }).fill(password);
      await page.getByRole('textbox', { name: 'Client' }).fill('app-1');
      await page.getByRole('button', { name: 'Show the car' }).click();
    };
    await fill('not the password');
    await page.getByRole('alert').getByText('The car did not admit you.').waitFor();
    await fill(PASSWORD);
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    await page.getByRole('treeitem', { name: /^speed/ }).waitFor();
    // The credentials are sent with every request, and appear nowhere else.
    await page.getByRole('tab', { name: 'Commands' }).click();
    await page.getByRole('heading', { name: 'History' }).or(page.getByText('This car takes no commands.')).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a token opens the views within its scopes, and the page names the missing scopes', async () => {
    const page = await openWithToken('#journey', ['data:telemetry', 'data:trip', 'data:alert']);
    await page.getByText(/You may not read captures: .*data:position/).waitFor();
    await chooseTrip(page);
    await page.getByRole('listitem').filter({ hasText: 'P0143' }).waitFor();
    expect(await page.getByRole('button', { name: 'Save frames' }).count()).toBe(0);
  });

  test('an expired token ends the sign-in, and a new one continues in the same view', async () => {
    // The car accepts tokens for 30 s longer, because clocks differ.
    const page = await openWithToken('#commands', undefined, new Date(Date.now() - 26_000));
    await page.getByRole('alert').getByText('Your sign-in has ended.').waitFor();
    await page.getByTestId('connection').getByText('Signed out', { exact: true }).waitFor();
    expect(await page.getByText('did not admit you').count()).toBe(0);
    // The page asks for a token again, because its reader used one.
    await enterToken(page);
    await page.getByRole('heading', { name: 'History' }).or(page.getByText('This car takes no commands.')).waitFor();
  });

  test('the time line shows faults and captures, opens them, and saves the frames', async () => {
    const page = await openWithToken('#journey');
    await chooseTrip(page);
    const moment = page.getByTestId('moment Position');
    const code = page.getByRole('listitem').filter({ hasText: 'P0143: O2 sensor, low voltage (control unit 7E8)' });
    expect(await code.textContent()).toMatch(/Fault, 4 min/);
    await code.getByRole('button').press('Enter');
    await moment.getByText('48.85500, 2.29500').waitFor();
    const captured = page.getByRole('listitem').filter({ hasText: 'Captured 1 frames around a collision' });
    await captured.getByRole('button').first().click();
    await moment.getByText(/^48\.86198/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      captured.getByRole('button', { name: 'Save frames' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('capture-3a.log');
    expect(readFileSync(await download.path(), 'utf8')).toMatch(/^\(\d+\.\d{6}\) body 0A8#1234\n$/);
    await expectAccessible(page);
  });

  test('the map has tiles of the configured server, and the browser requests nothing from other hosts', async () => {
    const page = await openWithToken('#journey');
    await chooseTrip(page);
    await page.getByRole('img', { name: /Track .* 21 points/ }).waitFor();
    await page.getByText('Map by a test').waitFor();
    await tilesLoaded;
    for (const path of tilesAsked) expect(path).toMatch(/^\/\d+\/\d+\/\d+\.png$/);
    // The north-west corner of the first tile, near the track.
    const [zoom = 0, column = 0, row = 0] = (tilesAsked[0] ?? '').match(/\d+/g)?.map(Number) ?? [];
    const longitude = (column / 2 ** zoom) * 360 - 180;
    const latitude = (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / 2 ** zoom))) * 180) / Math.PI;
    expect(Math.abs(longitude - 2.3)).toBeLessThan(0.1);
    expect(Math.abs(latitude - 48.86)).toBeLessThan(0.1);
    const policy = (await fetch(url)).headers.get('content-security-policy');
    expect(policy).toContain(`img-src 'self' ${tilesUrl};`);
    expect([...new Set(requests)].sort()).toEqual([url, tilesUrl].sort());
  });
});
