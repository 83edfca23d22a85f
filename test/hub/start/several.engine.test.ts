/**
 * Hubs on one PostgreSQL behind a load balancer, of which some are killed and others start. The broker is NATS, where another
 * hub receives at once; Mosquitto holds back the share of a killed hub until it returns.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { issueAccess } from '../../../hub/start/access.ts';
import { openRegistry } from '../../../hub/start/registry.ts';
import type { Alert } from '../../../protocol/schema/alert.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { VigieProcess } from '../../rig/bench.ts';
import { EventClient, type ServerEvent } from '../../rig/event-stream.ts';
import { MemoryLog } from '../../rig/log.ts';
import { MqttClient } from '../../rig/mqtt-client.ts';
import { NatsRig } from '../../rig/nats.ts';
import { describePeers } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { shippedBounds } from '../../rig/shipped-brokers.ts';
import { DrivingCar } from '../driving-car.ts';
import { groupSecretIn, hubTokenKeys } from '../hub-tokens.ts';
import { NOON, payloadOf, trip } from '../messages.ts';

/** The car that obeys, and the car whose records and alerts the client reads. */
const [OBEYING, TELLING] = ['VF3VGEHVBG0000001', 'VF3VGEHVBG0000002'] as const;
const TRIPS = 24;
const PAGE_SIZE = 2;
const LOCKED = { door: { state: 'Locked' } };
const UNLOCKED = { door: { state: 'Unlocked' } };

describePeers(['nats-server', 'initdb'], 'several hubs on one PostgreSQL', () => {
  const server = new PostgresRig();
  const broker = new NatsRig(shippedBounds('nats.conf'));
  const folder = mkdtempSync(join(tmpdir(), 'vigie-several-'));
  const secretFile = groupSecretIn(folder);
  const hubs = new Map<string, { readonly process: VigieProcess; readonly url: string }>();
  let database: string;
  let car: DrivingCar;
  let told: MqttClient;
  let authorization: string;

  beforeAll(async () => {
    await Promise.all([server.start(), broker.start()]);
    database = await server.create();
    const place = { data: join(folder, 'one'), database, secretFile };
    const { registry, close } = await openRegistry(place, new MemoryLog());
    for (const vin of [OBEYING, TELLING]) await registry.add(vin, [{ kind: 'fleet', id: 'north' }], Date.now());
    const scopes = ['data:telemetry', 'data:trip', 'data:alert', 'remote:door:write'];
    const times = { issued: Date.now(), expires: Date.now() + 600_000 };
    const grant = { name: 'ops', fleets: ['north'], scopes, ...times };
    authorization = `Bearer ${await issueAccess(await hubTokenKeys(place), registry, grant)}`;
    await close();
    await Promise.all([begin('one'), begin('two')]);
    const trust = join(folder, 'one', 'keys', 'trust.json');
    car = await new DrivingCar({ vin: OBEYING, url: broker.url, scenario: 'parked', trust, machineTime: true }).start();
    told = await MqttClient.connect(broker.url, { clientId: TELLING });
  });
  afterAll(async () => {
    await told?.end();
    await car?.remove();
    for (const { process } of hubs.values()) await process.end('SIGKILL');
    await broker.remove();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function begin(name: string): Promise<void> {
    const data = join(folder, name);
    mkdirSync(data, { recursive: true });
    const file = join(data, 'hub.yaml');
    writeFileSync(
      file,
      `hub: 1
name: ${name}
data: ${data}
broker: { url: '${broker.url}', group: several }
database: { url: '${database}', secretFile: '${secretFile}' }
http: { listen: '127.0.0.1:0' }
`,
    );
    const process = new VigieProcess(['hub', '-c', file]);
    await process.says('Ctrl-C ends');
    hubs.set(name, { process, url: /http:\/\/127\.0\.0\.1:\d+/.exec(process.output)?.[0] ?? '' });
  }

  async function kill(name: string): Promise<void> {
    await hubs.get(name)?.process.end('SIGKILL');
    // The load balancer notices it by the refused connection.
  }

  let turn = 0;
  /** Calls `use` with the address of the next hub; a broken connection is tried again at the hub after that. */
  async function balanced<T>(use: (url: string) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      const all = [...hubs.values()];
      const { url } = all[turn++ % all.length] as { url: string };
      try {
        return await use(url);
      } catch (error) {
        if (!(error instanceof TypeError) || tries > 20) throw error;
      }
    }
  }

  /** Every answer of any hub must have this status. */
  function ask(path: string, status: number, body?: object, key?: string) {
    const headers = {
      authorization,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    };
    return balanced(async (url) => {
      const response = await fetch(`${url}${path}`, {
        headers,
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect([path, response.status, text]).toEqual([path, status, expect.anything()]);
      // biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
      return JSON.parse(text) as any;
    });
  }

  /** Follows the stream of all cars; takes it up again at the next hub when it breaks. */
  class Follower {
    readonly events: ServerEvent[] = [];
    #stream: EventClient | undefined;
    #breaks = 0;

    get breaks(): number {
      return this.#breaks;
    }

    async open(): Promise<void> {
      const last = this.events.findLast(({ id }) => id !== undefined)?.id;
      const headers = { authorization, ...(last && { 'last-event-id': last }) };
      this.#stream = await balanced((url) => EventClient.open(`${url}/vigie/v1/live`, headers));
    }

    async until(matches: (event: ServerEvent) => boolean): Promise<void> {
      for (;;) {
        const stream = this.#stream as EventClient;
        const found = await stream.until(matches).catch(() => undefined);
        this.events.push(...stream.events.splice(0));
        if (found !== undefined) return;
        this.#breaks++;
        await this.open();
      }
    }

    close(): Promise<void> | undefined {
      return this.#stream?.close();
    }
  }

  test('a client pages, follows a stream and gives commands without an error while hubs are killed and added', async () => {
    let seq = 0;
    const tell = async (kind: 'trip' | 'alert', body: object): Promise<void> => {
      const payload = payloadOf(kind, body as never, { vin: TELLING, seq: seq++ });
      expect(await told.publish(upTopic(TELLING, kind), payload)).toBe('acknowledged');
    };
    const trips = `/fleets/north/vehicles/${idOf(TELLING)}/trips`;
    for (let n = 0; n < TRIPS; n++) await tell('trip', trip(`a${n}`, { createdAt: NOON + n, startedAt: NOON + n }));
    await expect.poll(async () => (await ask(trips, 200)).total, { timeout: 20_000 }).toBe(TRIPS);
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'status'));

    const follower = new Follower();
    await follower.open();
    const commands: string[] = [];
    const seen: string[] = [];
    let next: string | undefined = `${trips}?pageSize=${PAGE_SIZE}`;
    let alerts = 0;
    /** Two pages, an alert of the stream, and a command with its outcome. */
    const round = async (): Promise<void> => {
      for (let pages = 0; pages < 2 && next !== undefined; pages++) {
        const page = await ask(next, 200);
        seen.push(...page._embedded.trips.map(({ id }: { id: string }) => id));
        const href: string | undefined = page._links.next?.href;
        next = href?.slice(new URL(href).origin.length);
      }
      const id = `d${alerts++}`;
      const alert: Alert = { id, createdAt: NOON, startedAt: NOON, type: 'AdBlueFault', active: true };
      await tell('alert', alert);
      await follower.until(({ name, data }) => name === 'event' && data.body.id === id);
      const remotes = `/vigie/v1/vehicles/${OBEYING}/remotes`;
      const body = commands.length % 2 === 0 ? LOCKED : UNLOCKED;
      const key = randomUUID();
      const { remoteActionId } = await ask(remotes, 202, body, key);
      // A client that did not get the answer asks again, at another hub.
      expect((await ask(remotes, 202, body, key)).remoteActionId).toBe(remoteActionId);
      commands.push(remoteActionId);
      await follower.until(
        ({ name, data }) =>
          name === 'event' && data.body.remoteActionId === remoteActionId && data.body.status === 'Success',
      );
    };

    await round();
    // Each change of the hubs happens while the client works.
    for (const change of [
      () => kill('one'),
      () => begin('three'),
      () => kill('two'),
      () => begin('one'),
      () => begin('two'),
    ]) {
      await Promise.all([change(), round()]);
    }
    while (next !== undefined) await round();
    await follower.close();

    expect(seen).toEqual(Array.from({ length: TRIPS }, (_, n) => `a${n}`));
    expect(follower.breaks).toBeGreaterThan(0);
    const received = new Set(follower.events.flatMap(({ data }) => data?.body?.id ?? []));
    for (let n = 0; n < alerts; n++) expect(received).toContain(`d${n}`);
    expect(follower.events.filter(({ name }) => name === 'missed')).toEqual([]);
    const outcomes = car.acknowledged.flatMap(({ message }) =>
      message.kind === 'remote' && message.body.status === 'Success' ? [message.body.remoteActionId] : [],
    );
    expect(outcomes.sort()).toEqual([...commands].sort());
  }, 90_000);

  test('every hub refuses a command to a car that trusts none of their keys', async () => {
    const hello = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: NOON, keys: [] };
    const payload = payloadOf('hello', hello, { vin: TELLING, seq: 0 });
    expect(await told.publish(upTopic(TELLING, 'hello'), payload)).toBe('acknowledged');
    for (const { url } of hubs.values()) {
      const refusal = async () => {
        const headers = { authorization, 'content-type': 'application/json' };
        const path = `${url}/vigie/v1/vehicles/${TELLING}/remotes`;
        const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(LOCKED) });
        return [response.status, ((await response.json()) as { message?: string }).message];
      };
      const message = expect.stringContaining('the car trusts no key for Doors');
      await expect.poll(refusal, { timeout: 20_000 }).toEqual([400, message]);
    }
  });
});
