/** `vigie status`, and the docs page about its output. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { metrics } from '../../adapters/service/metrics.ts';
import { serve } from '../../adapters/service/status-server.ts';
import { STATUS_SOCKET, type StatusReport } from '../../assembly/service.ts';
import { describe as lines } from '../../commands/status.ts';
import { vigie } from '../rig/bench.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-status-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const report: StatusReport = {
  version: '1.2.3',
  vin: 'VF3SERVCECAR00001',
  profile: 'bench',
  pid: 4711,
  configuration: { generation: 2, state: 'returned', detail: 'generation 3 was given up: no broker' },
  before: 'it was killed',
  mode: 'normal',
  at: 1_700_000_000_000,
  uptime: 3 * 3_600_000,
  sources: [
    { name: 'body', state: 'running', frames: 12_345, silence: 20, counts: { dropped: 7 } },
    { name: 'receiver', state: 'waiting', reason: 'no such device', frames: 0, counts: {} },
  ],
  frames: 12_345,
  dropped: 7,
  agent: { readings: 99, refused: 1, faults: 0 },
  outbox: [{ class: 5, count: 3, bytes: 40_000, oldest: 1_700_000_000_000 - 600_000 }],
  outboxRefused: 0,
  commands: { Success: 2, DoorsOpen: 1 },
  link: { connected: false, connections: 4, published: 100, sent: 20_480 },
  journal: { written: 1_048_576, flushes: 3, failures: 0, disk: 20 * 2 ** 20, flashed: 2_097_152 },
  process: { privateBytes: 40 * 2 ** 20, residentBytes: 80 * 2 ** 20, heapBytes: 1, cpu: 12_300, busy: 0.02 },
  delay: 3.4,
};

test('text output names the problems', () => {
  const text = lines(report).join('\n');
  for (const part of [
    'vigie 1.2.3, VF3SERVCECAR00001, bench: running',
    'up 3 h, process 4711; before: it was killed',
    'generation 2, returned (generation 3 was given up: no broker)',
    'link: not connected, 4 times, 100 messages, 20 KiB',
    'body                 running, 12345 frames, 7 lost, last 0.0 s ago',
    'receiver             waiting (no such device), 0 frames, nothing yet',
    'telemetry            3 messages, 39 KiB, oldest 10 min',
    'commands: 2 Success, 1 DoorsOpen',
    '40 MiB of memory, 12.3 s of processor, event loop late by at most 3 ms',
  ]) {
    expect(text).toContain(part);
  }
  expect(lines({ ...report, stuck: 'a commit' })[0]).toContain('a commit');
});

test('text output has the state of the link', () => {
  const details = {
    state: 'waiting' as const,
    since: report.at - 90_000,
    reason: 'connection refused',
    broker: 'mqtts://broker.example:8883',
    keepalive: 45,
    certificateExpires: report.at + 40 * 86_400_000,
    counts: { attempts: 6, losses: 3 },
  };
  const said = (more: object) =>
    lines({ ...report, link: { ...report.link, details: { ...details, ...more } } }).join('\n');
  const when = new Date(details.certificateExpires).toISOString().slice(0, 10);
  expect(said({})).toContain(
    `  waiting for 90 s (connection refused), mqtts://broker.example:8883, keep-alive 45 s, 6 attempts, lost 3 times, certificate for 40 days (${when})`,
  );
  const up = said({ state: 'up', protocol: '5', certificateExpires: report.at - 1 });
  expect(up).toContain('  up for 90 s, mqtts://broker.example:8883, MQTT 5, keep-alive 45 s');
  expect(up).toContain('certificate expired (');
});

test('programs get the report as JSON and its state as exit status', async () => {
  let now = report;
  const body = async () => ({ type: 'application/json', body: JSON.stringify(now) });
  const server = await serve({ kind: 'unix', path: join(folder, STATUS_SOCKET) }, { '/status': body });
  const sound = await vigie('status', '--data', folder);
  expect(sound.status).toBe(0);
  expect(JSON.parse(sound.stdout)).toEqual(report);
  now = { ...report, stuck: 'a commit' };
  expect((await vigie('status', '--data', folder)).status).toBe(1);
  await server.close();
});

test('status lists what the agent does without, with the reason', () => {
  const said = (told: StatusReport) => lines(told).filter((line) => /^(interface|trust|callbacks)/.test(line));
  expect(said(report)).toEqual([]);
  expect(said({ ...report, lacking: { interface: 'unit.key: is not PEM' } })).toEqual([
    'interface: not served (unit.key: is not PEM)',
  ]);
  expect(said({ ...report, lacking: { trust: 'no file', callbacks: 'no key' } })).toEqual([
    'trust: no file',
    'callbacks: not all can be sent (no key)',
  ]);
});

test('status has a line for each exit, with what waits and the last failure', () => {
  const counts = { waiting: 0, lost: 0, refused: 0 };
  const exits: StatusReport['exits'] = [
    { ...counts, name: 'topics', kind: 'topics', state: 'running', succeededAt: report.at - 3_000 },
    { name: 'influx', kind: 'influx', state: 'waiting', waiting: 12, lost: 3, refused: 1, error: 'InfluxDB is away' },
  ];
  const said = lines({ ...report, exits });
  expect(said.slice(said.indexOf('exits:') + 1).slice(0, 2)).toEqual([
    '  topics               running, 0 waiting, last 3.0 s ago',
    '  influx               waiting (InfluxDB is away), 12 waiting, 3 lost, 1 refused, nothing sent yet',
  ]);
  expect(lines(report)).not.toContain('exits:');
});

test('status reports that no agent runs', async () => {
  for (const left of [false, true]) {
    if (left) writeFileSync(join(folder, STATUS_SOCKET), '');
    const { status, stdout, stderr } = await vigie('status', '--data', folder);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('no agent runs here');
  }
});

test('the operations page describes every metric with its current text', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  for (const { name, help, labels } of metrics) {
    const by = labels === undefined ? '' : ` by ${labels.join(', ')}`;
    expect(page).toContain(`| \`${name}\`${by} | ${help} |`);
  }
});
