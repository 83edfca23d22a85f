/** Monitors of a fleet and of a user in real cars, through a hub on any database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { idOf } from '../../assembly/view.ts';
import type { Owner, Registry } from '../../hub/core/registry.ts';
import { issueAccess } from '../../hub/start/access.ts';
import { digestOf } from '../../hub/start/clients.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { openRegistry } from '../../hub/start/registry.ts';
import { scopeNames } from '../../protocol/interface/operations/scopes.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { hubTokenKeys } from '../hub/hub-tokens.ts';
import { rightBodies } from '../rig/interface-bodies.ts';
import { MemoryLog } from '../rig/log.ts';

const [FIRST, LATER] = ['VF3VGEHVBN0000001', 'VF3VGEHVBN0000002'] as const;
const NORTH: Owner = { kind: 'fleet', id: 'north' };
const ADA: Owner = { kind: 'user', id: 'ada' };
const callbacks: NonNullable<HubOptions['callbacks']> = { networks: ['127.0.0.1'], allowHttp: true };

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

/** `database` returns the options that choose the database. */
export function hubCarMonitorsContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`monitors in the cars of a hub on ${name}`, () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-car-monitors-'));
    const log = new MemoryLog();
    const cars = new Map<string, DrivingCar>();
    const tokens: Record<string, string> = {};
    let chosen: Pick<HubOptions, 'database'>;
    let hub: Hub;
    let port = 0;

    const start = async (): Promise<void> => {
      hub = await startHub({ data, ...chosen, callbacks, port, http: 0, clock: new SystemClock(), log });
      port = Number(new URL(hub.broker).port);
    };
    const registered = async (change: (registry: Registry) => Promise<void>): Promise<void> => {
      const { registry, close } = await openRegistry({ data, ...chosen }, log);
      await change(registry);
      await close();
    };
    const carOf = (vin: string): DrivingCar => {
      const known = cars.get(vin);
      if (known !== undefined) return known;
      const mqtt = { url: hub.broker, username: vin, password: vin };
      const car = new DrivingCar({
        vin,
        url: hub.broker,
        mqtt,
        scenario: 'parked',
        trust: hub.trust,
        machineTime: true,
      });
      cars.set(vin, car);
      return car;
    };

    beforeAll(async () => {
      chosen = await database();
      await registered(async (registry) => {
        await registry.add(FIRST, [NORTH, ADA], Date.now());
        await registry.setPassword(FIRST, digestOf(FIRST));
      });
      await start();
      const issued = Date.now();
      for (const [who, grant] of [
        ['fleet', { name: 'ops', fleets: ['north'] }],
        ['user', { name: 'ada' }],
      ] as const) {
        const all = { scopes: [...scopeNames, 'hub:monitor:write'], issued, expires: issued + 600_000, ...grant };
        await registered(async (registry) => {
          tokens[who] = await issueAccess(await hubTokenKeys({ data, ...chosen }), registry, all);
        });
      }
    });

    afterAll(async () => {
      for (const car of cars.values()) await car.remove();
      await hub.stop();
      rmSync(data, { recursive: true, force: true });
    });

    async function ask(who: string, method: string, path: string, body?: object): Promise<Json> {
      const response = await fetch(`${hub.interface.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${tokens[who]}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect(response.status, text).toBeLessThan(300);
      return text === '' ? undefined : JSON.parse(text);
    }

    /** Resolves with the monitors of a car as the hub sees them, once the condition holds. */
    async function until(vin: string, holds: (monitors: Json[]) => boolean, who = 'fleet'): Promise<Json[]> {
      for (;;) {
        const { monitors } = await ask(who, 'GET', `/vigie/v1/vehicles/${vin}/monitors`);
        if (holds(monitors)) return monitors;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }

    const isCurrent =
      (id: string, status = 'Running') =>
      (monitors: Json[]) =>
        monitors.some((one) => one.monitorId === id && one.state === 'current' && one.reported === status);
    const isGone = (id: string) => (monitors: Json[]) => !monitors.some((one) => one.monitorId === id);

    const body = { ...rightBodies.fleetMonitor, label: 'doors', vid: undefined };
    let fleetMonitor: string;

    test('a fleet monitor reaches a car when it reconnects, and is changed, paused and resumed there', async () => {
      // The hub knows a car only after its first message.
      const car = await carOf(FIRST).start();
      await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'hello'));
      await car.stop();
      fleetMonitor = (await ask('fleet', 'POST', '/fleets/north/monitors', body)).monitorId;
      const [waiting] = await until(FIRST, () => true);
      expect(waiting).toMatchObject({ monitorId: fleetMonitor, fleet: 'north', wanted: 'Running', state: 'pending' });
      await car.start();
      await until(FIRST, isCurrent(fleetMonitor));
      await ask('fleet', 'PUT', `/fleets/north/monitors/${fleetMonitor}/status`, { status: 'Paused' });
      await until(FIRST, isCurrent(fleetMonitor, 'Paused'));
      await ask('fleet', 'PUT', `/fleets/north/monitors/${fleetMonitor}/status`, { status: 'Running' });
      await ask('fleet', 'PUT', `/fleets/north/monitors/${fleetMonitor}`, { ...body, label: 'all doors' });
      const [changed] = await until(FIRST, isCurrent(fleetMonitor));
      expect(changed).toMatchObject({ label: 'all doors', reported: 'Running' });
    });

    test('the audit trail has the commands without the address that receives the events', async () => {
      const { remotes } = await ask('fleet', 'GET', `/vigie/v1/vehicles/${FIRST}/remotes`);
      const sent = remotes.filter(({ type }: Json) => type === 'Monitor');
      expect(sent.at(-1)).toMatchObject({ requestedBy: 'hub', body: { monitorId: fleetMonitor, status: 'Running' } });
      expect(JSON.stringify(sent.map(({ body: order }: Json) => order))).not.toContain('127.0.0.1');
    });

    test('a car gets the monitors of a fleet when it joins, and loses them when it leaves', async () => {
      await registered(async (registry) => {
        await registry.add(LATER, [ADA], Date.now());
        await registry.setPassword(LATER, digestOf(LATER));
      });
      const car = await carOf(LATER).start();
      await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'hello'));
      expect(await until(LATER, () => true, 'user')).toEqual([]);
      await registered((registry) => registry.add(LATER, [NORTH], Date.now()));
      await until(LATER, isCurrent(fleetMonitor));
      await registered((registry) => registry.leave(LATER, [NORTH], Date.now()));
      await until(LATER, isGone(fleetMonitor), 'user');
      await until(FIRST, isCurrent(fleetMonitor));
    });

    test('a user monitor is in one car, and leaves it together with its callback', async () => {
      const { callbackId } = await ask('user', 'POST', '/user/callbacks', rightBodies.userCallback);
      const path = `/user/vehicles/${idOf(FIRST)}/callbacks/${callbackId}/monitors`;
      const { monitorId } = await ask('user', 'POST', path, rightBodies.userMonitor);
      await until(FIRST, isCurrent(monitorId), 'user');
      expect(await until(LATER, () => true, 'user')).toEqual([]);
      expect((await until(FIRST, () => true)).some((one) => one.monitorId === monitorId && 'wanted' in one)).toBe(
        false,
      );
      await ask('user', 'DELETE', `/user/callbacks/${callbackId}`);
      await until(FIRST, isGone(monitorId), 'user');
    });

    test('a monitor that changed while hub and car were away is repaired when both are back', async () => {
      const car = carOf(FIRST);
      await car.stop();
      await ask('fleet', 'PUT', `/fleets/north/monitors/${fleetMonitor}`, { ...body, label: 'after the night' });
      await hub.stop();
      await start();
      await car.start();
      const [one] = await until(FIRST, isCurrent(fleetMonitor));
      expect(one).toMatchObject({ label: 'after the night' });
    });

    test('a car with a wiped data directory gets its monitors again', async () => {
      const car = carOf(FIRST);
      await car.wipe();
      const before = car.acknowledged.length;
      await car.start();
      const isThere = (): boolean =>
        car.acknowledged.slice(before).some(({ message: { kind, body: list } }) => {
          return kind === 'monitor' && list.monitors.some((one) => one.monitorId === fleetMonitor);
        });
      await car.until(isThere);
      await until(FIRST, isCurrent(fleetMonitor));
    });

    test('a removed monitor is removed from the cars', async () => {
      await ask('fleet', 'DELETE', `/fleets/north/monitors/${fleetMonitor}`);
      await until(FIRST, isGone(fleetMonitor));
    });
  });
}
