/** Metrics and health of a hub, read by programs. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { HubMeasures } from '../../../hub/core/measures.ts';
import { hubMetrics } from '../../../hub/http/metrics.ts';
import { HUB_SOCKET, serveHealth } from '../../../hub/start/health.ts';
import { startHub } from '../../../hub/start/hub.ts';
import type { Body, BodyKind } from '../../../protocol/schema/message.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { Observer } from '../../rig/car.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE, OTHER, payloadOf, trip } from '../messages.ts';

const unregistered = { totals: async () => ({ cars: 0, messages: 0, bytes: 0 }) };
const disk = { usage: async () => ({ bytes: 5 }) };
const broker = { state: () => ({ connected: true, receiving: false }) };
const status = async () => Promise.reject(new Error('not read'));

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-health-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const clock = new SystemClock();

async function read(where: object, path: string): Promise<{ status: number; body: string }> {
  const asked = request({ ...where, path });
  asked.end();
  const [response] = await once(asked, 'response');
  let body = '';
  for await (const piece of response) body += piece;
  return { status: response.statusCode as number, body };
}

/** Nonzero values by name and labels, parsed like Prometheus does. */
function valuesIn(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const pairs = lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== 0));
}

test('metrics report messages, lag, backlog, missing numbers, gaps, outcomes and refusals for all cars together', async () => {
  const data = join(folder, 'one');
  const hub = await startHub({ data, port: 0, http: 0, metrics: 0, clock, log: new MemoryLog() });
  onTestFinished(() => hub.stop());
  const car = await Observer.connect(hub.broker, 4);
  const at = Date.now() - 60_000;
  const send = <K extends BodyKind>(kind: K, body: Body<K>, seq: number, vin = ONE): Promise<unknown> =>
    car.send(upTopic(vin, kind), Buffer.from(payloadOf(kind, body, { seq, at })));
  const hello = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: NOON };
  const health = { uptime: 1, memory: 1, cpu: 1, outbox: [{ class: 5, count: 40, bytes: 4_000 }] };
  await send('trip', trip('a'), 5);
  await send('trip', trip('a'), 5);
  await send('trip', trip('a'), 2, OTHER);
  await send('hello', { ...hello, health }, 0);
  await send('gap', { class: 4, count: 3, numbers: [[0, 2]] }, 1);
  await send('remote', { remoteActionId: 'x', type: 'Doors', status: 'Accepted' }, 0);
  await send('remote', { remoteActionId: 'x', type: 'Doors', status: 'Success' }, 1);
  await car.send(upTopic(ONE, 'trip'), Buffer.from('no message'));
  await car.close();

  const [host = '', port = ''] = (hub.metrics ?? '').split(':');
  for (const where of [{ socketPath: join(data, HUB_SOCKET) }, { host, port: Number(port) }]) {
    const { status, body } = await read(where, '/metrics');
    expect(status).toBe(200);
    const values = valuesIn(body);
    expect(values).toMatchObject({
      vigie_hub_up: 1,
      vigie_hub_cars: 2,
      vigie_hub_cars_heard: 2,
      'vigie_hub_messages_total{class="0"}': 2,
      'vigie_hub_messages_total{class="2"}': 2,
      'vigie_hub_messages_total{class="3"}': 2,
      'vigie_hub_backlog_messages{class="5"}': 40,
      'vigie_hub_missing_numbers{class="2"}': 7,
      'vigie_hub_missing_cars{class="2"}': 2,
      'vigie_hub_given_up_messages_total{class="4"}': 3,
      'vigie_hub_commands_total{outcome="Success"}': 1,
      vigie_hub_repetitions_total: 1,
      vigie_hub_refused_total: 1,
    });
    expect(values['vigie_hub_lag_seconds_total{class="2"}']).toBeGreaterThanOrEqual(120);
    expect(Object.keys(values).filter((name) => name.includes(ONE))).toEqual([]);
    expect(body).toContain('vigie_hub_missing_numbers{class="0"} 0\n');
    expect(body).not.toContain('vigie_frames_total');
    expect(body).not.toContain('\n\n');
    expect(values).toMatchObject({ vigie_hub_broker_connected: 1, vigie_hub_receiving: 1, vigie_hub_database_up: 1 });
    expect(values['vigie_hub_disk_free_bytes']).toBeLessThan(values['vigie_hub_disk_bytes'] ?? 0);
    expect(await read(where, '/health')).toEqual({ status: 200, body: '{"status":"ok","cars":2}\n' });
    expect((await read(where, '/other')).status).toBe(404);
  }
  const address = new URL(hub.interface.url);
  const open = await read({ host: address.hostname, port: Number(address.port) }, '/health');
  expect(open).toEqual({ status: 200, body: '{"status":"ok"}\n' });
});

test('while the database is away, health and vigie_hub_up report it, and the counters remain', async () => {
  const measures = new HubMeasures(clock);
  const silent = async (): Promise<never> => {
    throw new Error('no database');
  };
  const served = await serveHealth({
    data: folder,
    port: 0,
    measures,
    intake: { waiting: 7 },
    broker,
    status,
    exits: async () => [],
    clock,
    log: new MemoryLog(),
    database: {
      overviewReader: { countVehicles: silent },
      reader: { missingNumbers: silent },
      deliveries: { totals: silent },
      unregistered,
      disk,
    },
  });
  onTestFinished(() => served.close());
  const where = { socketPath: join(folder, HUB_SOCKET) };
  const values = valuesIn((await read(where, '/metrics')).body);
  expect(values['vigie_hub_up']).toBeUndefined();
  expect(values['vigie_hub_waiting_messages']).toBe(7);
  expect(values).toMatchObject({ vigie_hub_broker_connected: 1 });
  expect(values['vigie_hub_receiving'] ?? values['vigie_hub_database_up']).toBeUndefined();
  expect(await read(where, '/health')).toEqual({ status: 500, body: 'no database\n' });
});

test('health is bad after a failed commit until one succeeds', async () => {
  const data = mkdtempSync(join(folder, 'failing-'));
  const measures = new HubMeasures(clock);
  const database = {
    overviewReader: { countVehicles: async () => 3 },
    reader: { missingNumbers: async () => [] },
    deliveries: { totals: async () => ({ waiting: 0, receivers: 0 }) },
    unregistered,
    disk,
  };
  const exits = async () => [];
  const parts = {
    data,
    measures,
    intake: { waiting: 0 },
    broker,
    status,
    exits,
    database,
    clock,
    log: new MemoryLog(),
  };
  const served = await serveHealth(parts);
  onTestFinished(() => served.close());
  const where = { socketPath: join(data, HUB_SOCKET) };
  measures.commitFailed();
  expect((await read(where, '/health')).status).toBe(500);
  measures.committed(0, [], 0, 1);
  expect((await read(where, '/health')).status).toBe(200);
});

test('docs list exactly the metrics that the hub exports', () => {
  const page = readFileSync(new URL('../../../docs/hub-reference.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| `(vigie_hub_\w+)`(?: by (\w+))? \| (.*) \|$/gm)].map(
    ([, name, label, help]) => [name, label, help],
  );
  expect(listed).toEqual(hubMetrics.map(({ name, labels, help }) => [name, labels?.[0], help]));
});

test('sums of seconds have at most millisecond digits', () => {
  const counted = { ...new HubMeasures(clock).snapshot(), lag: [18] };
  const lag = hubMetrics.find(({ name }) => name === 'vigie_hub_lag_seconds_total');
  expect(lag?.values({ counted, uptime: 0, now: 0, waiting: 0, broker: broker.state(), kept: undefined })).toEqual([
    [0.018, { class: '0' }],
  ]);
});
