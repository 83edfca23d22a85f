/** Alert rules for Prometheus: each fires on its fault and only then; some with a real Prometheus and a real hub. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { SqliteDatabase, SqlMonitors, SqlRegistry } from '../../../hub/database/index.ts';
import { hubMetrics } from '../../../hub/http/metrics.ts';
import { databaseFile } from '../../../hub/start/folder.ts';
import { startHub } from '../../../hub/start/hub.ts';
import { compileMonitor } from '../../../protocol/schema/monitor.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { Daemon, withFreePorts } from '../../rig/daemon.ts';
import { rightBodies } from '../../rig/interface-bodies.ts';
import { MemoryLog } from '../../rig/log.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { MqttClient } from '../../rig/mqtt-client.ts';
import { describePeers, findPeer } from '../../rig/peers.ts';
import { NOON, ONE, OTHER, payloadOf, trip } from '../messages.ts';

const file = fileURLToPath(new URL('../../../config/prometheus/vigie-hub.yaml', import.meta.url));
const text = readFileSync(file, 'utf8');
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}
const rules = (parse(text) as { groups: [{ rules: Rule[] }] }).groups[0].rules;

/** For each alert, series that let it fire after `at`, and a change that keeps it silent. Samples are one a minute. */
const faults: Readonly<Record<string, { readonly at: string; readonly fires: object; readonly silent: object }>> = {
  VigieHubDown: { at: '10m', fires: { up: '0x20' }, silent: { up: '1 0 1x20' } },
  VigieHubBrokerAway: {
    at: '10m',
    fires: { vigie_hub_broker_connected: '1 0x20' },
    silent: { vigie_hub_broker_connected: '1 0 1x20' },
  },
  VigieHubNotReceiving: {
    at: '15m',
    fires: { vigie_hub_receiving: '0x20', 'vigie_hub_receiving{instance="b"}': '0x20' },
    silent: { vigie_hub_receiving: '0x20', 'vigie_hub_receiving{instance="b"}': '1x20' },
  },
  VigieHubDatabaseAway: {
    at: '10m',
    fires: { vigie_hub_database_up: '0x20' },
    silent: { vigie_hub_database_up: '1x20' },
  },
  VigieHubCommitsFail: {
    at: '10m',
    fires: { vigie_hub_up: '0x20', vigie_hub_database_up: '1x20' },
    silent: { vigie_hub_up: '0x20', vigie_hub_database_up: '0x20' },
  },
  VigieHubLag: {
    at: '40m',
    fires: { 'vigie_hub_lag_seconds_total{class="1"}': '0+4000x60', 'vigie_hub_messages_total{class="1"}': '0+10x60' },
    silent: { 'vigie_hub_lag_seconds_total{class="1"}': '0+2000x60', 'vigie_hub_messages_total{class="1"}': '0+10x60' },
  },
  VigieHubMissingNumbersGrow: {
    at: '4h',
    fires: { 'vigie_hub_missing_numbers{class="2"}': '0+1x300' },
    silent: { 'vigie_hub_missing_numbers{class="2"}': '40x300' },
  },
  VigieHubMessagesRefused: {
    at: '10m',
    fires: { vigie_hub_refused_total: '0x4 1x20' },
    silent: { vigie_hub_refused_total: '7x20' },
  },
  VigieHubUnregisteredCars: {
    at: '20m',
    fires: { vigie_hub_unregistered_cars: '3x30' },
    silent: { vigie_hub_unregistered_cars: '3x8 0x20' },
  },
  VigieHubUnregisteredDropped: {
    at: '10m',
    fires: { vigie_hub_unregistered_dropped_total: '0x4 5x20' },
    silent: { vigie_hub_unregistered_dropped_total: '5x20' },
  },
  VigieHubDeliveriesLost: {
    at: '10m',
    fires: { 'vigie_hub_deliveries_lost_total{reason="dropped"}': '0x4 2x20' },
    silent: { 'vigie_hub_deliveries_lost_total{reason="dropped"}': '2x20' },
  },
  VigieHubExitBehind: {
    at: '30m',
    fires: { 'vigie_hub_exits_waiting_seconds{exit="influx"}': '0+60x30' },
    silent: { 'vigie_hub_exits_waiting_seconds{exit="influx"}': '60x20 0x20' },
  },
  VigieHubExitLost: {
    at: '10m',
    fires: { 'vigie_hub_exits_lost_total{exit="influx"}': '0x4 9x20' },
    silent: { 'vigie_hub_exits_lost_total{exit="influx"}': '9x20' },
  },
  VigieHubDiskFull: {
    at: '7h',
    fires: { vigie_hub_disk_free_bytes: '4000-1x500', vigie_hub_disk_bytes: '9000x500' },
    silent: { vigie_hub_disk_free_bytes: '4000x500', vigie_hub_disk_bytes: '9000x500' },
  },
};

/** Name of a series with the labels of the scrape. */
function seriesOf(name: string): string {
  const [, metric = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(name) ?? [];
  const own = labels.includes('instance=') ? labels : [labels, 'instance="a"'].filter((one) => one !== '').join(',');
  return `${metric}{job="vigie-hub",${own}}`;
}

/** Sample values without the alert's own labels, which the test does not compare. */
function unitTest(alert: string, series: object, at: string, fires: boolean): object {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: seriesOf(name), values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: at,
        exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  };
}

test('the alert rules use only metrics that a hub exports', () => {
  const exported = ['up', ...hubMetrics.map(({ name }) => name)];
  for (const { alert, expr } of rules) {
    const used = expr.match(/\b(?:up|vigie_hub_\w+)\b/g) ?? [];
    expect([alert, used.length > 0, used.filter((name) => !exported.includes(name))]).toEqual([alert, true, []]);
  }
});

describePeers(['promtool', 'mosquitto'], 'alert rules', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-alerts-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('each alert fires on its fault, and is silent without it', () => {
    expect(Object.keys(faults)).toEqual(rules.map(({ alert }) => alert));
    const tests = Object.entries(faults).flatMap(([alert, { at, fires, silent }]) => [
      unitTest(alert, fires, at, true),
      unitTest(alert, silent, at, false),
    ]);
    const place = join(folder, 'tests.json');
    writeFileSync(place, JSON.stringify({ rule_files: [file], evaluation_interval: '1m', tests }));
    const promtool = findPeer('promtool') ?? '';
    expect(execFileSync(promtool, ['check', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
    expect(execFileSync(promtool, ['test', 'rules', place], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  test('with a real Prometheus, alerts of a real hub fire and clear again', async () => {
    const broker = new MosquittoRig();
    await broker.start();
    onTestFinished(() => broker.remove());
    const data = join(folder, 'hub');
    const database = await prepared(data);
    onTestFinished(() => database.close());
    const hub = await startHub({
      data,
      broker: { address: { url: broker.url }, group: 'alerts', receiveMaximum: 100 },
      callbacks: { networks: ['127.0.0.1'], allowHttp: true, queueLimit: 1 },
      ...{ port: 0, http: 0, metrics: 0, clock: new SystemClock(), log: new MemoryLog() },
    });
    onTestFinished(() => hub.stop());
    const alerts = await prometheus(hub.metrics ?? '');

    let car = await MqttClient.connect(broker.url, { clientId: 'cars' });
    await car.publish(upTopic(ONE, 'trip'), Uint8Array.of(1));
    await alerts.until('VigieHubMessagesRefused', true);
    await alerts.until('VigieHubMessagesRefused', false);

    await car.publish(upTopic(OTHER, 'trip'), payloadOf('trip', trip('a'), { vin: OTHER }));
    await alerts.until('VigieHubUnregisteredCars', true);
    await new SqlRegistry(database).add(OTHER, [{ kind: 'fleet', id: 'north' }], Date.now());
    await alerts.until('VigieHubUnregisteredCars', false);

    for (const seq of [0, 1, 2]) {
      const event = { id: `e${seq}`, monitorId: 'cold', at: Date.now(), refresh: false };
      await car.publish(upTopic(ONE, 'event'), payloadOf('event', event, { vin: ONE, seq }));
    }
    await alerts.until('VigieHubDeliveriesLost', true);
    await alerts.until('VigieHubDeliveriesLost', false);
    await car.end();

    await broker.kill();
    await alerts.until('VigieHubBrokerAway', true);
    await broker.start();
    await alerts.until('VigieHubBrokerAway', false);
    car = await MqttClient.connect(broker.url, { clientId: 'cars' });
    await car.end();
  });

  /** A database with a registry of one car and a monitor whose receiver does not exist. */
  async function prepared(data: string): Promise<SqliteDatabase> {
    const { makeHubDirectory } = await import('../../../hub/start/folder.ts');
    makeHubDirectory(data, new MemoryLog());
    const database = await SqliteDatabase.open(databaseFile(data));
    const owner = { kind: 'fleet', id: 'north' } as const;
    await new SqlRegistry(database).add(ONE, [owner], Date.now());
    const callback = { webhook: { target: 'http://127.0.0.1:9/', name: 'n' } };
    const subscribeParam = { retryPolicy: { policy: 'Always' }, callback };
    const { parameter } = compileMonitor({ ...rightBodies.fleetMonitor, subscribeParam });
    const running = { createdAt: NOON, updatedAt: NOON, status: 'Running' } as const;
    await new SqlMonitors(database).putMonitor({
      owner,
      monitor: { ...running, monitorId: 'cold', monitor: parameter },
    });
    return database;
  }

  /** Starts a Prometheus that scrapes the hub, with the waits and ranges of the rules shortened to seconds. */
  async function prometheus(target: string) {
    const quick = text.replaceAll(/for: \w+/g, 'for: 0s').replaceAll(/\[15m\]/g, '[10s]');
    writeFileSync(join(folder, 'quick.yaml'), quick);
    const scrape = [{ job_name: 'vigie-hub', static_configs: [{ targets: [target] }] }];
    const timing = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' };
    const configuration = { global: timing, rule_files: ['quick.yaml'], scrape_configs: scrape };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
    let url = '';
    await withFreePorts(1, async ([port = 0]) => {
      url = `http://127.0.0.1:${port}`;
      const daemon = await Daemon.start({
        program: 'prometheus',
        arguments: [
          `--config.file=${join(folder, 'prometheus.yml')}`,
          `--storage.tsdb.path=${join(folder, 'tsdb')}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
        ready: /ready to receive web requests/,
      });
      onTestFinished(() => daemon.end('SIGKILL'));
    });
    const poll = async (isDone: () => Promise<boolean>): Promise<void> => {
      while (!(await isDone())) await new Promise<void>((resolve) => new SystemClock().after(100, resolve));
    };
    // The increase of a counter is only seen from the second scrape on.
    await poll(async () =>
      (await (await fetch(`${url}/api/v1/query?query=vigie_hub_refused_total`)).text()).includes('"0"'),
    );
    const firing = async (): Promise<readonly string[]> => {
      const answer = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
        readonly data: { readonly alerts: readonly { readonly labels: { readonly alertname: string } }[] };
      };
      return answer.data.alerts.map(({ labels }) => labels.alertname);
    };
    return {
      until: (alert: string, isFiring: boolean) => poll(async () => (await firing()).includes(alert) === isFiring),
    };
  }
});
