/** `vigie hub status` at a running hub: by its socket, and over HTTP with a token. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hubStatusText } from '../../commands/hub-status.ts';
import { SqliteDatabase, SqlUnregistered } from '../../hub/database/index.ts';
import { databaseFile } from '../../hub/start/folder.ts';
import type { HubStatus } from '../../protocol/interface/own/hub-status.ts';
import { upTopic } from '../../protocol/topics.ts';
import { payloadOf, trip } from '../hub/messages.ts';
import { NORTH, RegisteredHub } from '../hub/registered-hub.ts';
import { vigie } from '../rig/bench.ts';
import { Authority } from '../rig/certificates.ts';

const STRANGER = 'VF3VGEHVBZ0000009';
const rig = new RegisteredHub();
beforeAll(async () => {
  await rig.start({ retention: { telemetry: 90 } });
  await rig.publish(NORTH, ['trip', trip('a'), { seq: 3, at: Date.now() - 1_000 }]);
  const database = await SqliteDatabase.open(databaseFile(rig.data));
  const kept = { topic: upTopic(STRANGER, 'trip'), payload: payloadOf('trip', trip('b')), retained: false };
  const bounds = { carMessages: 9, carBytes: 9_999, messages: 9, bytes: 9_999, cars: 9 };
  await new SqlUnregistered(database, '', bounds).keep([{ vin: STRANGER, ...kept, received: Date.now() }]);
  database.close();
});
afterAll(() => rig.remove());

test('the socket of a hub reports broker, database, lag, cars, missing numbers, unregistered cars, disk and retention', async () => {
  const { status, stdout } = await vigie('hub', 'status', '--data', rig.data, '--json');
  const state = JSON.parse(stdout) as HubStatus;
  expect([status, state]).toEqual([
    0,
    expect.objectContaining({
      broker: { url: rig.hub.broker, connected: true, receiving: true },
      database: { kind: 'sqlite', answers: true },
      commits: { waiting: 0, failed: 0, failing: false },
      lag: [{ class: 2, messages: 1, mean: expect.any(Number) }],
      refused: { unreadable: 0, unregistered: 0, removed: 0, forgotten: 0 },
    }),
  ]);
  expect(state.stored).toMatchObject({
    cars: { total: 1, ages: { minute: 1, hour: 0, day: 0, older: 0 } },
    missing: [{ class: 2, numbers: 3, cars: 1 }],
    unregistered: { cars: 1, messages: 1, newest: [{ vin: STRANGER, messages: 1, dropped: 0 }] },
    deliveries: { waiting: 0, receivers: 0 },
    retention: { days: { telemetry: 90 }, paused: false },
  });
  expect(state.stored?.disk.free).toBeGreaterThan(0);
  expect(state.stored?.disk.days).toBeUndefined();
});

test('people get a line for each subject, and an unknown forecast is called unknown', async () => {
  const { stdout } = await vigie('hub', 'status', '--data', rig.data, '--format', 'text');
  expect(stdout).toMatch(/^vigie \S+, hub: working, up /);
  expect(stdout).toContain('heard within a minute 1, an hour 0');
  expect(stdout).toMatch(/missing numbers:\n {2}records +3 of 1 car\n/);
  expect(stdout).toMatch(new RegExp(`not registered: 1 car, 1 message, .*\n {2}${STRANGER} {2}1 message, 0 dropped`));
  expect(stdout).toMatch(/disk: .* free; full in: unknown \(observed for .* of 1 h\)/);
  expect(stdout).toContain('retention: days: telemetry 90\n');
});

test('over HTTP a token needs the scope hub:status:read', async () => {
  const { url } = rig.hub.interface;
  const [, allowed = ''] = (await rig.bearer({ fleets: ['north'], scopes: ['hub:status:read'] })).split(' ');
  const [, other = ''] = (await rig.bearer({ fleets: ['north'], scopes: ['data:telemetry'] })).split(' ');
  const refused = await withToken(other, () => vigie('hub', 'status', '--url', url));
  expect([refused.status, refused.stderr]).toEqual([
    2,
    expect.stringContaining('hub:status:read: name its file with --token-file'),
  ]);
  const answered = await withToken(allowed, () => vigie('hub', 'status', '--url', url, '--json'));
  expect([answered.status, JSON.parse(answered.stdout)]).toMatchObject([0, { database: { answers: true } }]);
  const few = await rig.ask('/vigie/v1/status?unregistered=0', `Bearer ${allowed}`);
  expect(few.body.stored.unregistered).toMatchObject({ cars: 1, newest: [] });
});

test('a hub with a certificate of its own authority is read with --ca and --token-file', async () => {
  const authority = new Authority(rig.data);
  const { cert, key } = authority.issue('127.0.0.1');
  const port = Number(new URL(rig.hub.interface.url).port);
  const proxy = createServer({ cert: Buffer.from(cert), key: Buffer.from(key) }, (socket) => {
    const hub = connect(port, '127.0.0.1');
    socket.pipe(hub).pipe(socket);
    for (const one of [socket, hub]) one.on('error', () => socket.destroy() && hub.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const token = join(rig.data, 'token');
  const scopes = ['hub:status:read', 'data:telemetry', 'data:position'];
  writeFileSync(token, (await rig.bearer({ fleets: ['north'], scopes })).replace('Bearer ', ''));
  const words = ['--token-file', token, '--ca', authority.certFile];
  const status = await vigie('hub', 'status', '--url', url, '--json', ...words);
  expect([status.status, status.stderr]).toEqual([0, '']);
  const unknown = await vigie('hub', 'status', '--url', url, '--token-file', token);
  expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('--ca')]);
  const output = join(rig.data, 'exported.csv');
  const exported = await vigie('export', NORTH, '--hub', url, '-o', output, ...words);
  expect([exported.status, exported.stderr]).toEqual([
    0,
    expect.stringContaining('no message of the period is missing'),
  ]);
  proxy.close();
});

test('--token-file and --ca without --url are refused', async () => {
  const { status, stderr } = await vigie('hub', 'status', '--data', rig.data, '--ca', 'authority.pem');
  expect([status, stderr]).toEqual([2, expect.stringContaining('add --url URL')]);
});

test('without a running hub the command says what to name, with status 2', async () => {
  const { status, stderr } = await vigie('hub', 'status', '--data', `${rig.data}-none`);
  expect([status, stderr]).toEqual([2, expect.stringContaining('no hub runs here: name its directory')]);
});

test('a hub without broker or database is failing, with the reason', () => {
  const text = hubStatusText({
    at: 0,
    version: '1',
    uptime: 60_000,
    broker: { url: 'mqtts://broker.example', connected: false, receiving: false },
    database: { kind: 'postgresql', answers: false, reason: 'connection refused' },
    commits: { waiting: 4, failed: 2, failing: true },
    lag: [],
    refused: { unreadable: 0, unregistered: 0, removed: 0, forgotten: 0 },
    sent: { delivered: 0, failed: 0, lost: { dropped: 3, refused: 0, expired: 0, damaged: 0 } },
  });
  expect(text[0]).toContain('hub: failing');
  expect(text).toEqual(
    expect.arrayContaining([
      'broker: mqtts://broker.example, not connected',
      'database: postgresql, does not answer (connection refused)',
      'commits: 4 messages waiting, 2 failed, the last one too',
      'delivered: 0, 0 failed requests, 3 dropped',
    ]),
  );
});

async function withToken<T>(token: string, work: () => Promise<T>): Promise<T> {
  process.env['VIGIE_TOKEN'] = token;
  try {
    return await work();
  } finally {
    delete process.env['VIGIE_TOKEN'];
  }
}
