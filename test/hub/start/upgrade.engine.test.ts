/** Hubs on one PostgreSQL and one broker, replaced one after the other, as in an upgrade without downtime. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { VigieProcess } from '../../rig/bench.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { MqttClient } from '../../rig/mqtt-client.ts';
import { NatsRig } from '../../rig/nats.ts';
import { describePeers } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { shippedBounds } from '../../rig/shipped-brokers.ts';
import { groupSecretIn } from '../hub-tokens.ts';
import { NOON, payloadOf, trip, OTHER as VIN } from '../messages.ts';

const NAMES = ['one', 'two'] as const;
const PAGE_SIZE = 20;
/** Messages that the car sends for each page that the client reads. */
const MESSAGES_PER_PAGE = 5;

interface RunningHub {
  readonly process: VigieProcess;
  readonly url: string;
}

/** The hubs of one group, and a car at their broker. */
class Group {
  readonly hubs = new Map<string, RunningHub>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-upgrade-'));
  readonly #secretFile = groupSecretIn(this.#folder);
  readonly #broker: string;
  readonly #database: string;
  /** Number of messages that the broker has acknowledged. */
  sent = 0;
  #car: MqttClient | undefined;

  constructor(broker: string, database: string) {
    this.#broker = broker;
    this.#database = database;
  }

  async start(): Promise<this> {
    for (const name of NAMES) await this.begin(name);
    this.#car = await MqttClient.connect(this.#broker, { clientId: VIN });
    return this;
  }

  async begin(name: string): Promise<void> {
    const data = join(this.#folder, name);
    mkdirSync(data, { recursive: true });
    const file = join(data, 'hub.yaml');
    writeFileSync(
      file,
      `hub: 1
name: ${name}
data: ${data}
broker: { url: '${this.#broker}', group: upgrade }
database: { url: '${this.#database}', secretFile: '${this.#secretFile}' }
http: { listen: '127.0.0.1:0' }
`,
    );
    const process = new VigieProcess(['hub', '-c', file]);
    await process.says('Ctrl-C ends');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(process.output)?.[0] ?? '';
    expect((await fetch(`${url}/health`)).status).toBe(200);
    this.hubs.set(name, { process, url });
  }

  async publish(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const at = NOON + this.sent;
      const payload = payloadOf('trip', trip(idAt(this.sent), { createdAt: at, startedAt: at }), {
        vin: VIN,
        seq: this.sent,
      });
      expect(await this.#car?.publish(upTopic(VIN, 'trip'), payload)).toBe('acknowledged');
      this.sent++;
    }
  }

  async remove(): Promise<void> {
    await this.#car?.end();
    for (const { process } of this.hubs.values()) await process.end('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const idAt = (seq: number): string => seq.toString(16);

/** Reads the trips of the car page by page, each at any hub, and starts again after the last page. */
class PagingClient {
  /** Ids of the present walk. */
  seen: string[] = [];
  pages = 0;
  #next: string = firstPage;

  /** Reads one page. @returns true after the last page of a walk */
  async read(hub: string): Promise<boolean> {
    if (this.#next === firstPage) this.seen = [];
    const response = await fetch(`${hub}${this.#next}`);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    const { _embedded, _links } = JSON.parse(text);
    this.pages++;
    this.seen.push(..._embedded.trips.map(({ id }: { id: string }) => id));
    expect(new Set(this.seen).size).toBe(this.seen.length);
    const href: string | undefined = _links.next?.href;
    this.#next = href === undefined ? firstPage : href.slice(new URL(href).origin.length);
    return href === undefined;
  }

  async walk(hub: string): Promise<readonly string[]> {
    this.#next = firstPage;
    while (!(await this.read(hub)));
    return this.seen;
  }
}

const trips = `/fleets/local/vehicles/${idOf(VIN)}/trips`;
const firstPage = `${trips}?pageSize=${PAGE_SIZE}`;

describePeers(['mosquitto', 'nats-server', 'initdb'], 'an upgrade of hubs one after the other', () => {
  const server = new PostgresRig();
  const brokers = {
    Mosquitto: new MosquittoRig({ settings: shippedBounds('mosquitto.conf') }),
    NATS: new NatsRig(shippedBounds('nats.conf')),
  };
  beforeAll(async () => {
    await Promise.all([server.start(), ...Object.values(brokers).map((broker) => broker.start())]);
  });
  afterAll(async () => {
    for (const broker of Object.values(brokers)) await broker.remove();
    await server.remove();
  });

  test.each(Object.entries(brokers))(
    'at %s no message is lost or stored twice, and the other hub answers every request',
    async (_name, broker) => {
      const database = await server.create();
      const group = new Group(broker.url, database);
      try {
        await group.start();
        await group.publish(PAGE_SIZE + 1);
        const [{ url: first }] = [...group.hubs.values()] as [RunningHub];
        const totalAt = async (hub: string) =>
          ((await (await fetch(`${hub}${trips}`)).json()) as { total: number }).total;
        await expect.poll(() => totalAt(first), { timeout: 20_000 }).toBe(group.sent);

        const client = new PagingClient();
        for (const [name, remaining] of [
          ['one', 'two'],
          ['two', 'one'],
        ] as const) {
          const [before, { url }] = [client.pages, group.hubs.get(remaining) as RunningHub];
          let replaced = false;
          const replace = async (): Promise<void> => {
            expect(await group.hubs.get(name)?.process.end('SIGTERM')).toBe(0);
            await group.begin(name);
          };
          const replacing = replace().finally(() => {
            replaced = true;
          });
          const work = async (): Promise<void> => {
            while (!replaced) {
              await group.publish(MESSAGES_PER_PAGE);
              await client.read(url);
            }
          };
          await Promise.all([replacing, work()]);
          expect(client.pages).toBeGreaterThan(before);
        }

        for (const { url } of group.hubs.values()) {
          await expect.poll(() => totalAt(url), { timeout: 60_000 }).toBe(group.sent);
        }
        const all = Array.from({ length: group.sent }, (_, seq) => idAt(seq));
        for (const { url } of group.hubs.values()) expect(await client.walk(url)).toEqual(all);
        const kept = await server.execute(database, 'SELECT seq FROM messages ORDER BY seq');
        expect(kept.map(({ seq }) => Number(seq))).toEqual(all.map((_, seq) => seq));
      } finally {
        await group.remove();
      }
    },
    120_000,
  );
});
