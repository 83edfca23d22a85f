/** Live data for users, from whichever hub receives it. */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { IssuedToken } from '../../hub/core/registry.ts';
import { signToken } from '../../hub/http/access.ts';
import { digestOf } from '../../hub/start/clients.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { openRegistry } from '../../hub/start/registry.ts';
import { defined } from '../../protocol/defined.ts';
import { scopeNames } from '../../protocol/interface/operations/scopes.ts';
import type { Alert } from '../../protocol/schema/alert.ts';
import type { Body, BodyKind } from '../../protocol/schema/message.ts';
import type { StatusMessage } from '../../protocol/schema/status-message.ts';
import { upTopic } from '../../protocol/topics.ts';
import { groupSecretIn, hubTokenKeys } from '../hub/hub-tokens.ts';
import { NOON, payloadOf } from '../hub/messages.ts';
import { EventClient, type ServerEvent } from '../rig/event-stream.ts';
import { MemoryLog } from '../rig/log.ts';
import { MqttClient } from '../rig/mqtt-client.ts';

const VIN = 'VF3VGEHVBL0000001';

export interface LiveHubs {
  /** Options of each hub that choose the shared database. */
  readonly databases: readonly Pick<HubOptions, 'database'>[];
  /** Interrupts notifications between the hubs. The result restores them. Omit it if nothing can be interrupted. */
  readonly silence?: (() => Promise<() => Promise<void>>) | undefined;
}

export function hubLiveContract(name: string, create: () => Promise<LiveHubs>, breaks: boolean): void {
  describe(`live streams of a hub on ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-live-'));
    const hubs: { readonly hub: Hub; readonly log: MemoryLog }[] = [];
    /** The same for all hubs. */
    const secretFile = groupSecretIn(folder);
    let under: LiveHubs;
    let seq = 0;

    beforeAll(async () => {
      under = await create();
      for (const [index, database] of under.databases.entries()) {
        const log = new MemoryLog();
        const data = join(folder, `hub${index}`);
        const options = { data, secretFile, ...database, port: 0, http: 0, clock: new SystemClock(), log };
        hubs.push({ log, hub: await startHub(options) });
      }
      await send('status', speed(3));
    });
    afterAll(async () => {
      for (const { hub } of hubs) await hub.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const first = (): Hub => (hubs[0] as { hub: Hub }).hub;
    const last = (): { readonly hub: Hub; readonly log: MemoryLog } => hubs.at(-1) as (typeof hubs)[number];
    const speed = (kmh: number): StatusMessage =>
      ({ full: true, status: { kinetic: { createdAt: NOON + seq, speed: kmh } } }) as StatusMessage;
    const alert = (id: string): Alert => ({ id, createdAt: NOON, startedAt: NOON, type: 'AdBlueFault', active: true });
    const isEvent =
      (id: string) =>
      ({ name: event, data }: ServerEvent): boolean =>
        event === 'event' && data.body.id === id;
    const isSpeed =
      (kmh: number) =>
      ({ name: event, data }: ServerEvent): boolean =>
        event === 'change' && data.path === 'kinetic.speed' && data.value === kmh;
    const ofCar = `/vigie/v1/vehicles/${VIN}/live`;
    const open = (path: string, since?: string): Promise<EventClient> =>
      EventClient.open(`${last().hub.interface.url}${path}`, defined({ 'last-event-id': since }));

    /** Sends a message to the first hub, and repeats it until it is acknowledged, like a car. */
    async function send<K extends BodyKind>(kind: K, body: Body<K>): Promise<void> {
      const payload = payloadOf(kind, body, { seq: seq++ });
      for (let answer = ''; answer !== 'acknowledged'; ) {
        const car = await MqttClient.connect(first().broker, { clientId: VIN });
        answer = await car.publish(upTopic(VIN, kind), payload);
        await car.end();
      }
    }

    test('values, events and command states that one hub receives reach clients of another', async () => {
      const [car, all] = [await open(ofCar), await open('/vigie/v1/live')];
      await car.until(isSpeed(3));
      await send('status', speed(50));
      await car.until(isSpeed(50));
      await send('alert', alert('ab'));
      for (const client of [car, all]) {
        expect((await client.until(isEvent('ab'))).data).toMatchObject({ vin: VIN, kind: 'alert' });
      }
      const order = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const asked = await fetch(`${last().hub.interface.url}/vigie/v1/vehicles/${VIN}/remotes`, {
        ...order,
        body: JSON.stringify({ door: { state: 'Locked' } }),
      });
      const { remoteActionId } = (await asked.json()) as { remoteActionId: string };
      const states = ['Accepted', 'Success'] as const;
      for (const status of states) await send('remote', { remoteActionId, type: 'Doors', status } as never);
      for (const status of states) {
        const isState = ({ name: event, data }: ServerEvent): boolean =>
          event === 'event' && data.body.status === status;
        expect((await all.until(isState)).data.body).toMatchObject({ remoteActionId });
      }
      // The stream of all cars has no values.
      expect(new Set(all.events.map((one) => one.name))).toEqual(new Set(['event']));
      await send('status', { full: true, status: {} } as StatusMessage);
      await car.until(({ name: event, data }) => event === 'removed' && data.path === 'kinetic.speed');
      await Promise.all([car.close(), all.close()]);
    });

    test('a client that reconnects gets the events after the one that it names', async () => {
      const before = await open('/vigie/v1/live');
      await send('alert', alert('ba'));
      const { id } = await before.until(isEvent('ba'));
      await before.close();
      await send('alert', alert('bb'));
      const again = await open('/vigie/v1/live', id as string);
      await again.until(isEvent('bb'));
      await again.close();
      const fresh = await open('/vigie/v1/live');
      await send('alert', alert('bc'));
      await fresh.until(isEvent('bc'));
      expect(fresh.events.map(({ data }) => data.body.id)).toEqual(['bc']);
      await fresh.close();
    });

    // Notifications within one process cannot be lost.
    if (breaks) {
      test('messages that one hub receives while notifications are lost appear at the other once they return', async () => {
        const [car, all] = [await open(ofCar), await open('/vigie/v1/live')];
        const restore = await under.silence?.();
        await expect
          .poll(() => last().log.lines.some(({ event }) => event === 'hub.news.lost'), { timeout: 60_000 })
          .toBe(true);
        await send('status', speed(77));
        await send('alert', alert('cc'));
        await restore?.();
        await car.until(isSpeed(77));
        for (const client of [car, all]) await client.until(isEvent('cc'));
        await send('alert', alert('cd'));
        await all.until(isEvent('cd'));
        // Earlier events are not repeated.
        expect(all.events.map(({ data }) => data.body.id)).toEqual(['cc', 'cd']);
        await Promise.all([car.close(), all.close()]);
      });
    }

    test('streams refuse unknown cars, HEAD requests and clients that want JSON', async () => {
      const { url } = last().hub.interface;
      const status = async (path: string, options: RequestInit = {}) => (await fetch(`${url}${path}`, options)).status;
      expect(await status('/vigie/v1/vehicles/VF3VGEHVBL0000009/live')).toBe(404);
      expect(await status('/vigie/v1/live', { method: 'HEAD' })).toBe(405);
      expect(await status('/vigie/v1/live', { headers: { accept: 'application/json' } })).toBe(406);
      expect(await status('/vigie/v1/live', { headers: { 'last-event-id': 'x' } })).toBe(400);
    });

    // This is the last test because the registry stays in use from here on.
    test('streams of a withdrawn token end at every hub, and streams of others continue', async () => {
      const place = { data: join(folder, 'hub0'), secretFile, ...under.databases[0] };
      const { registry, close } = await openRegistry(place, new MemoryLog());
      await registry.add(VIN, [{ kind: 'fleet', id: 'north' }], Date.now());
      await registry.setPassword(VIN, digestOf('secret'));
      const grant = { name: 'ops', fleets: ['north'], scopes: [...scopeNames], issued: Date.now() };
      const tokenOf = (id: string): IssuedToken => ({ id, ...grant, expires: Date.now() + 600_000 });
      const [lost, kept] = [tokenOf(randomUUID()), tokenOf(randomUUID())];
      for (const token of [lost, kept]) await registry.addToken(token);
      const signer = await (await hubTokenKeys(place)).signer();
      const paths = ['/vigie/v1/live', ofCar];
      const streams = async (token: IssuedToken) => {
        const headers = { authorization: `Bearer ${await signToken(signer, token)}` };
        const urls = hubs.flatMap(({ hub }) => paths.map((path) => `${hub.interface.url}${path}`));
        return Promise.all(urls.map((url) => EventClient.open(url, headers)));
      };
      const [ofLost, ofKept] = [await streams(lost), await streams(kept)];
      expect(await registry.withdrawToken(lost.id, Date.now())).toBe(true);
      for (const stream of ofLost) await stream.ended();
      await expect(streams(lost)).rejects.toThrow('answered 401');
      const car = await MqttClient.connect(first().broker, { clientId: VIN, username: VIN, password: 'secret' });
      await car.publish(upTopic(VIN, 'alert'), payloadOf('alert', alert('d1'), { seq: seq++ }));
      for (const stream of ofKept) await stream.until(isEvent('d1'));
      await Promise.all([...ofKept.map((stream) => stream.close()), car.end()]);
      await close();
    });
  });
}
