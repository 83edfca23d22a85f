/**
 * Queries of the Grafana dashboards, on a real PostgreSQL with the data of a real hub, and on a real Prometheus that reads
 * that hub. Grafana itself does not run: its macros are replaced as its documentation says.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { type Hub, startHub } from '../../../hub/start/hub.ts';
import { telemetryFromReadings } from '../../../protocol/schema/telemetry.ts';
import { slotAt } from '../../../protocol/slots.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { Daemon, withFreePorts } from '../../rig/daemon.ts';
import { MemoryLog } from '../../rig/log.ts';
import { MqttClient } from '../../rig/mqtt-client.ts';
import { describePeers } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { ONE, payloadOf, trip } from '../messages.ts';

interface Target {
  readonly rawSql?: string;
  readonly expr?: string;
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly query: string }[] };
  readonly panels: readonly {
    readonly title: string;
    readonly datasource: { readonly uid: string };
    readonly targets: readonly Target[];
  }[];
}

const folder = fileURLToPath(new URL('../../../config/grafana/', import.meta.url));
const dashboards = readdirSync(join(folder, 'dashboards')).map(
  (name) => JSON.parse(readFileSync(join(folder, 'dashboards', name), 'utf8')) as Dashboard,
);
const panels = dashboards.flatMap((one) => one.panels);
const targetsOf = (kind: keyof Target) =>
  panels.flatMap(({ title, targets }) =>
    targets.flatMap((target) => (target[kind] === undefined ? [] : [[title, target[kind]] as const])),
  );

/** Interval of a chart, in seconds. */
const INTERVAL = 30;

/** Macros and variables of a query (grafana.com/docs, PostgreSQL data source, "Macros"). */
function expanded(sql: string, from: number, to: number): string {
  const [begin, end] = [from, to].map((at) => `'${new Date(at).toISOString()}'`);
  const made = sql
    .replaceAll('$vin', ONE)
    .replaceAll('$__interval', `${INTERVAL}s`)
    .replaceAll(/\$__timeFilter\(([a-z_]+)\)/g, (_, column) => `${column} BETWEEN ${begin} AND ${end}`)
    .replaceAll(
      /\$__timeGroup\(([a-z_]+), (\d+)s\)/g,
      (_, column, seconds) => `floor(extract(epoch from ${column})/${seconds})*${seconds}`,
    );
  expect(made).not.toContain('$');
  return made;
}

describePeers(['initdb', 'promtool'], 'the dashboards for Grafana', () => {
  const server = new PostgresRig();
  const data = mkdtempSync(join(tmpdir(), 'vigie-grafana-'));
  const now = Date.now();
  let [database, prometheus, seq] = ['', '', 0];
  let hub: Hub;
  let car: MqttClient;
  let daemon: Daemon;

  /** Sends a reading of each path that a chart shows. */
  async function drive(): Promise<void> {
    const readings = [
      'kinetic.speed',
      'energies.Electric.level',
      'lastPosition.latitude',
      'lastPosition.longitude',
    ].map((path, place) => ({ slot: slotAt(path), value: 40 + place, at: now - 60_000 + seq }));
    const payload = payloadOf('telemetry', telemetryFromReadings(readings), { seq: seq++, at: now });
    expect(await car.publish(upTopic(ONE, 'telemetry'), payload)).toBe('acknowledged');
  }

  beforeAll(async () => {
    await server.start();
    database = await server.create();
    const clock = new SystemClock();
    hub = await startHub({ data, database, readings: 30, port: 0, http: 0, metrics: 0, clock, log: new MemoryLog() });
    car = await MqttClient.connect(hub.broker, { clientId: ONE });
    await drive();
    const lastPosition = {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [2.5, 48.5] },
      properties: { createdAt: now },
    };
    const status = { full: true, status: { kinetic: { createdAt: now, speed: 40 }, lastPosition } } as never;
    await car.publish(upTopic(ONE, 'status'), payloadOf('status', status, { at: now }));
    const times = { createdAt: now - 900_000, startedAt: now - 900_000 };
    const body = trip('0123456789abcdef01234567', { ...times, done: true, distance: 7, duration: 600 });
    await car.publish(upTopic(ONE, 'trip'), payloadOf('trip', body, { at: now }));

    const { host } = new URL(`http://${(hub.metrics ?? '').replace(/^https?:\/\//, '')}`);
    const scrape = [{ job_name: 'vigie-hub', static_configs: [{ targets: [host] }] }];
    const configuration = { global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: scrape };
    writeFileSync(join(data, 'prometheus.yml'), JSON.stringify(configuration));
    await withFreePorts(1, async ([port = 0]) => {
      prometheus = `http://127.0.0.1:${port}`;
      daemon = await Daemon.start({
        program: 'prometheus',
        arguments: [
          `--config.file=${join(data, 'prometheus.yml')}`,
          `--storage.tsdb.path=${join(data, 'tsdb')}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
        ready: /ready to receive web requests/,
      });
    });
  }, 120_000);
  afterAll(async () => {
    await daemon.end('SIGKILL');
    await car.end();
    await hub.stop();
    await server.remove();
    rmSync(data, { recursive: true, force: true });
  });

  test('each variable and each query on PostgreSQL returns rows', async () => {
    const variables = dashboards.flatMap(({ templating }) =>
      templating.list.map(({ query }) => ['variable', query] as const),
    );
    const queries = [...variables, ...targetsOf('rawSql')];
    expect(queries.length).toBeGreaterThan(5);
    const empty: string[] = [];
    for (const [title, sql] of queries) {
      const rows = await server.execute(database, expanded(sql, now - 3_600_000, now + 60_000));
      if (rows.length === 0) empty.push(title);
    }
    expect(empty).toEqual([]);
  });

  test('each query on Prometheus returns series with a value', async () => {
    const queries = targetsOf('expr');
    expect(queries.length).toBeGreaterThan(5);
    for (const [title, expr] of queries) {
      const query = expr.replaceAll('$__rate_interval', '30s');
      expect(query).not.toContain('$');
      const values = async (): Promise<readonly string[]> => {
        await drive();
        const answer = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query })}`);
        const { status, data: found } = (await answer.json()) as {
          readonly status: string;
          readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
        };
        expect([title, status]).toEqual([title, 'success']);
        return found.result.map(({ value }) => value[1]).filter((value) => value !== 'NaN');
      };
      // Rates need two samples.
      await expect.poll(async () => (await values()).length, { timeout: 60_000, message: title }).toBeGreaterThan(0);
    }
  }, 180_000);

  test('each panel names a data source that is provisioned', () => {
    const file = readFileSync(join(folder, 'provisioning', 'datasources', 'vigie.yaml'), 'utf8');
    const { datasources } = parse(file) as { readonly datasources: readonly { readonly uid: string }[] };
    const known = new Set(datasources.map(({ uid }) => uid));
    expect(panels.filter(({ datasource }) => !known.has(datasource.uid)).map(({ title }) => title)).toEqual([]);
  });
});
