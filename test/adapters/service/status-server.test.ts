/** Health for other programs: Prometheus text and JSON, over a Unix socket and the loopback interface. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { metrics, metricsPage } from '../../../adapters/service/metrics.ts';
import { privateBytesIn, processVitals } from '../../../adapters/service/process.ts';
import { type StatusServer, serve } from '../../../adapters/service/status-server.ts';
import { Health, type HealthSnapshot } from '../../../agent/health/health.ts';
import { VirtualClock } from '../../rig/clock.ts';

let folder: string;
let servers: StatusServer[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-server-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(...args: Parameters<typeof serve>): Promise<StatusServer> {
  const server = await serve(...args);
  servers.push(server);
  return server;
}

async function get(where: object, path: string, method = 'GET') {
  const asked = request({ ...where, path, method });
  asked.end();
  const [response] = await once(asked, 'response');
  let body = '';
  for await (const piece of response) body += piece;
  return { status: response.statusCode as number, type: response.headers['content-type'] as string, body };
}

function snapshot(more: Partial<HealthSnapshot> = {}): HealthSnapshot {
  const health = new Health({ clock: new VirtualClock(), process: processVitals() });
  return { ...health.snapshot(), ...more };
}

test('metrics show the current values on the Unix socket and on the TCP port', async () => {
  let now = snapshot({
    sources: [{ name: 'body "1"', state: 'running', frames: 12, silence: 1_500, counts: { dropped: 2 } }],
    outbox: [{ class: 3, count: 2, bytes: 90, oldest: Date.UTC(2026, 0, 1, 11, 59) }],
    commands: { Success: 4 },
    agent: { readings: 100, refused: 3, faults: 0 },
    link: {
      connected: true,
      connections: 2,
      published: 7,
      sent: 9,
      details: {
        state: 'up',
        since: 0,
        broker: 'mqtts://b:8883',
        protocol: '5',
        keepalive: 45,
        certificateExpires: 1_900_000_000_000,
        counts: { attempts: 3, losses: 1 },
      },
    },
  });
  const pages = { '/metrics': metricsPage(() => now) };
  const path = join(folder, 'metrics.sock');
  await open({ kind: 'unix', path }, pages);
  const { address } = await open({ kind: 'loopback', host: '127.0.0.1', port: 0 }, pages);
  const { status, type, body } = await get({ socketPath: path }, '/metrics');
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  for (const line of [
    'vigie_up 1',
    'vigie_frames_total{source="body \\"1\\""} 12',
    'vigie_frames_dropped_total{source="body \\"1\\""} 2',
    'vigie_source_silence_seconds{source="body \\"1\\""} 1.5',
    'vigie_outbox_messages{class="3"} 2',
    'vigie_outbox_oldest_seconds{class="3"} 60',
    'vigie_commands_total{outcome="Success"} 4',
    'vigie_decode_errors_total 3',
    'vigie_link_state{state="up"} 1',
    'vigie_link_state{state="waiting"} 0',
    'vigie_link_info{broker="mqtts://b:8883",protocol="5"} 1',
    'vigie_link_attempts_total 3',
    'vigie_link_losses_total 1',
    'vigie_link_keepalive_seconds 45',
    'vigie_link_certificate_expiry_seconds 1900000000',
  ]) {
    expect(body.split('\n')).toContain(line);
  }
  // Every metric has a description, and each sample belongs to a known metric.
  const samples = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of samples) expect(line).toMatch(/^vigie_[a-z_]+(\{[^}]*\})? -?[0-9.e+-]+$/);
  for (const { name } of metrics) expect(body).toContain(`# HELP ${name} `);

  now = snapshot({ stuck: 'a commit', frames: 0 });
  const port = Number(address.split(':').at(-1));
  const later = await get({ host: '127.0.0.1', port }, '/metrics?x=1');
  expect(later.body).toContain('vigie_up 0');
  // A value that no longer exists is not reported.
  expect(later.body).not.toContain('vigie_outbox_messages{');
});

test('only owner and group may access the socket, and only existing pages are served', async () => {
  const path = join(folder, 'agent.sock');
  await open({ kind: 'unix', path }, { '/status': async () => ({ type: 'application/json', body: '{}' }) });
  expect(statSync(path).mode & 0o777).toBe(0o660);
  expect((await get({ socketPath: path }, '/')).status).toBe(404);
  expect((await get({ socketPath: path }, '/__proto__')).status).toBe(404);
  expect((await get({ socketPath: path }, '/status', 'POST')).status).toBe(405);
  expect(await get({ socketPath: path }, '/status', 'HEAD')).toMatchObject({ status: 200, body: '' });
});

test('a failing page returns an error with its message', async () => {
  const path = join(folder, 'agent.sock');
  await open({ kind: 'unix', path }, { '/status': () => Promise.reject(new Error('not now')) });
  expect(await get({ socketPath: path }, '/status')).toMatchObject({ status: 500, body: 'not now\n' });
});

test('a stale socket file is replaced, while a socket or port in use is refused', async () => {
  const path = join(folder, 'agent.sock');
  writeFileSync(path, '');
  await open({ kind: 'unix', path }, {});
  await expect(open({ kind: 'unix', path }, {})).rejects.toMatchObject({ code: 'input.unreadable', where: path });
  expect((await get({ socketPath: path }, '/')).status).toBe(404);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  await expect(open({ kind: 'loopback', host: '127.0.0.1', port }, {})).rejects.toThrow(/EADDRINUSE/);
  other.close();
});

test("private memory is the sum of the kernel's private values", () => {
  const text = 'Rss: 99 kB\nPrivate_Clean:      12 kB\nPrivate_Dirty:   30 kB\nPrivate_Hugetlb: 7 kB\n';
  expect(privateBytesIn(text)).toBe(42 * 1024);
  const { residentBytes, privateBytes = residentBytes, cpu } = processVitals()();
  expect(privateBytes).toBeGreaterThan(2 ** 20);
  expect(privateBytes).toBeLessThanOrEqual(residentBytes * 1.5);
  expect(cpu).toBeGreaterThan(0);
});

test('a silent client is disconnected', async () => {
  const path = join(folder, 'agent.sock');
  await open({ kind: 'unix', path }, {});
  const silent = connect(path);
  await once(silent, 'connect');
  await once(silent, 'close');
  expect(silent.bytesRead).toBe(0);
});

test('the process survives a connection that cannot be accepted', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  await open({ kind: 'loopback', host: '127.0.0.1', port: 0 }, {});
  const server = listen.mock.contexts[0] as Server;
  listen.mockRestore();
  // The error that node:net emits when accept(2) fails. Without a listener, Node would throw it.
  for (let n = 0; n < 2; n++) server.emit('error', new Error('accept ENOMEM'));
  expect(server.listening).toBe(true);
});
