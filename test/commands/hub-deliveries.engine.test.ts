/** `vigie hub` on PostgreSQL, killed while events wait for slow or dead receivers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf } from '../../assembly/view.ts';
import { bases } from '../../protocol/interface/operation.ts';
import { upTopic } from '../../protocol/topics.ts';
import { HttpReceiver } from '../adapters/callbacks/servers.ts';
import { NOON, ONE, payloadOf } from '../hub/messages.ts';
import { VigieProcess } from '../rig/bench.ts';
import { MqttClient } from '../rig/mqtt-client.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';

/** Number of events per receiver. */
const EVENTS = 40;

describePeer('initdb', 'a hub with events that wait', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-waiting-'));
  const server = new PostgresRig();
  const [alive, slow, dead] = [new HttpReceiver(), new HttpReceiver(), new HttpReceiver()] as const;
  const begun: VigieProcess[] = [];

  beforeAll(async () => {
    await server.start();
    for (const one of [alive, slow, dead]) await one.open();
  });

  afterAll(async () => {
    for (const hub of begun) await hub.end('SIGKILL');
    for (const one of [alive, slow, dead]) await one.close();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(file: string) {
    const process = new VigieProcess(['hub', '-c', file]);
    begun.push(process);
    await process.says('Ctrl-C ends');
    const [broker = ''] = /mqtt:\/\/127\.0\.0\.1:\d+/.exec(process.output) ?? [];
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(process.output) ?? [];
    return { process, broker, url };
  }

  async function monitor(url: string, target: string): Promise<string> {
    const subscribeParam = {
      refreshEvent: 120,
      retryPolicy: { policy: 'Always', retryDelay: 1 },
      callback: { webhook: { target, name: 'n' } },
    };
    const trigger = { name: 'cold', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } };
    const triggerParam = { triggers: [trigger], boolExp: 'cold' };
    const response = await fetch(`${url}${bases.fleet}/fleets/local/monitors`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ label: 'cold', subscribeParam, triggerParam }),
    });
    const text = await response.text();
    expect(response.status, text).toBeLessThan(300);
    return (JSON.parse(text) as { monitorId: string }).monitorId;
  }

  const delivered = (one: HttpReceiver): Set<string> =>
    new Set(one.received.flatMap(({ headers }) => String(headers['vigie-event-id']).split(', ')));

  async function untilDelivered(one: HttpReceiver, ids: readonly string[]): Promise<void> {
    for (;;) {
      const next = one.next();
      const known = delivered(one);
      if (ids.every((id) => known.has(id))) return;
      await next;
    }
  }

  test('slow and dead receivers do not delay others, and their events survive a killed hub', async () => {
    const file = join(folder, 'hub.yaml');
    writeFileSync(
      file,
      [
        'hub: 1',
        `data: ${join(folder, 'data')}`,
        `database: { url: '${await server.create()}' }`,
        "broker: { listen: '127.0.0.1:0' }",
        "http: { listen: '127.0.0.1:0' }",
        'callbacks: { networks: [127.0.0.1], allowHttp: true }',
      ].join('\n'),
    );
    const first = await start(file);
    const receivers = [slow, dead, alive];
    slow.behaviour = () => undefined;
    dead.behaviour = (_request, _response, socket) => socket.destroy();
    const monitors: string[] = [];
    for (const one of receivers) monitors.push(await monitor(first.url, one.url));

    const client = await MqttClient.connect(first.broker, { clientId: ONE });
    const ids: string[][] = [[], [], []];
    const values = [{ data: 'environment.air.temp' as const, literal: '2' }];
    const results: Promise<string>[] = [];
    for (let seq = 0; seq < EVENTS * 3; seq++) {
      const id = (seq + 1).toString(16);
      const monitorId = monitors[seq % 3] ?? '';
      ids[seq % 3]?.push(`${idOf(ONE)}-${id}`);
      const payload = payloadOf('event', { id, monitorId, at: NOON, refresh: false, values }, { vin: ONE, seq });
      results.push(client.publish(upTopic(ONE, 'event'), payload));
      if (results.length % 15 === 0) await Promise.all(results);
    }
    expect(new Set(await Promise.all(results))).toEqual(new Set(['acknowledged']));
    const [forSlow = [], forDead = [], forAlive = []] = ids;
    // The other receivers have accepted nothing yet.
    await untilDelivered(alive, forAlive);
    for (const one of [slow, dead]) while (one.received.length === 0) await one.next();
    await first.process.end('SIGKILL');

    slow.behaviour = (_request, response) => response.writeHead(204).end();
    dead.behaviour = slow.behaviour;
    await start(file);
    for (const one of [slow, dead]) one.received.length = 0;
    // Requests in flight when the hub was killed are sent again.
    await Promise.all([untilDelivered(slow, forSlow), untilDelivered(dead, forDead)]);
  });
});
