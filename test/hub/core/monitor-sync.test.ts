import { expect, test } from 'vitest';
import type { CommandOrder } from '../../../hub/core/commands.ts';
import { differences, MonitorSync, revisionOf } from '../../../hub/core/monitor-sync.ts';
import type { CarMonitors, DueMonitors, OwnedMonitor } from '../../../hub/core/monitors.ts';
import { defined } from '../../../protocol/defined.ts';
import { compileMonitor } from '../../../protocol/schema/monitor.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { rightBodies } from '../../rig/interface-bodies.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE } from '../messages.ts';

const MINUTE = 60_000;
/** A digest that only has to differ for different texts. */
const digest = (text: string): string =>
  [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1e9, 7).toString(16);

function given(id: string, more: Partial<OwnedMonitor['monitor']> = {}): OwnedMonitor {
  const monitor = compileMonitor(rightBodies.fleetMonitor).parameter;
  const base = { createdAt: NOON, monitorId: id, updatedAt: NOON, status: 'Running' as const, monitor };
  return { owner: { kind: 'fleet', id: 'north' }, monitor: { ...base, ...more } };
}

function reported({ monitor }: OwnedMonitor): CarMonitors['reported'][number] {
  const { monitorId, status } = monitor;
  return { monitorId, status, updatedAt: NOON, revision: revisionOf(monitor, digest) };
}

test('a car gets missing and changed monitors, loses those a hub removed, and keeps its own', () => {
  const [same, paused, changed, absent] = ['same', 'paused', 'changed', 'absent'].map((id) => given(id));
  const wanted = [same, given('paused', { status: 'Paused' }), changed, absent] as OwnedMonitor[];
  const there = [
    reported(same as OwnedMonitor),
    reported(paused as OwnedMonitor),
    { ...reported(changed as OwnedMonitor), revision: 'another' },
    { monitorId: 'left', status: 'Running' as const, updatedAt: NOON, revision: 'any' },
    { monitorId: 'own', status: 'Running' as const, updatedAt: NOON },
  ];
  const orders = differences({ wanted, reported: there }, digest);
  expect(orders.map(({ monitorId, remove, status }) => [monitorId, remove ?? status])).toEqual([
    ['left', true],
    ['paused', 'Paused'],
    ['changed', 'Running'],
    ['absent', 'Running'],
  ]);
  expect(orders.every(({ monitor }) => monitor?.delivery === undefined)).toBe(true);
});

test('a change of the address for events sends nothing to the car', () => {
  const one = given('a');
  const { delivery: _, ...monitor } = one.monitor.monitor;
  const moved = { ...one, monitor: { ...one.monitor, monitor: { ...monitor, delivery: '{"attributes":[]}' } } };
  expect(differences({ wanted: [moved], reported: [reported(one)] }, digest)).toEqual([]);
});

function begin(row: Partial<DueMonitors> = {}, monitors = [given('a')]) {
  const clock = new VirtualClock();
  const sent: { readonly order: CommandOrder; readonly at: number }[] = [];
  const start = clock.now();
  const car = {
    row: { vin: ONE, due: 0, attempts: 0, lastSeen: Number.MAX_SAFE_INTEGER, ...row } as Omit<DueMonitors, 'due'> & {
      due?: number;
    },
    reported: [] as CarMonitors['reported'],
    /** `true` if another hub sends first. */
    taken: false,
    /** `true` if no hub can sign for the car. */
    untrusted: false,
  };
  const sync = new MonitorSync({
    store: {
      dueCars: async (now) => (car.row.due !== undefined && car.row.due <= now ? [car.row as DueMonitors] : []),
      putOffCar: async ({ vin, lastSeen }, { due, attempts }) => {
        car.row = { vin, lastSeen, attempts, ...defined({ due }) };
        return !car.taken;
      },
      carMonitors: async () => ({ wanted: monitors, reported: car.reported }),
      carOnline: async (_vin, at) => {
        if (car.row.due !== undefined) car.row = { ...car.row, due: Math.min(car.row.due, at) };
      },
    },
    commands: {
      submitOwn: async (order) => {
        sent.push({ order, at: clock.now() });
        return !car.untrusted;
      },
    },
    clock,
    after: (delay, due) => clock.after(delay, due),
    wait: (attempts) => MINUTE * 2 ** attempts,
    newId: () => `id${sent.length}`,
    digest,
    log: new MemoryLog(),
  });
  sync.begin();
  return {
    car,
    sync,
    sent,
    minutes: () => sent.map(({ at }) => Math.round((at - start) / MINUTE)),
    pass: async (minutes: number) => {
      for (let step = 0; step < minutes * 12; step++) {
        clock.advance(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test('nothing more is tried at once with a car that trusts no key of the hub', async () => {
  const { car, pass, sent } = begin({}, [given('a'), given('b')]);
  car.untrusted = true;
  await pass(0.5);
  expect(sent).toHaveLength(1);
  car.untrusted = false;
  await pass(10);
  expect(sent.length).toBeGreaterThan(1);
});

test('lost commands are repeated at growing intervals until the car reports the monitor', async () => {
  const { car, pass, minutes, sent } = begin();
  await pass(10);
  expect(minutes()).toEqual([0, 1, 3, 7]);
  expect(new Set(sent.map(({ order }) => JSON.stringify(order.body))).size).toBe(1);
  car.reported = [reported(given('a'))];
  await pass(60);
  expect([minutes(), car.row.due, car.row.attempts]).toEqual([[0, 1, 3, 7], undefined, 0]);
});

test('a car that is away gets all its commands when it subscribes', async () => {
  const { sync, pass, minutes } = begin({ lastSeen: 0 });
  await pass(30);
  expect(minutes()).toEqual([]);
  await sync.online(ONE);
  await pass(0.5);
  expect(minutes()).toEqual([30]);
});

test('only one of two hubs that compare the same car sends commands', async () => {
  const { car, pass, sent } = begin();
  car.taken = true;
  await pass(10);
  expect(sent).toEqual([]);
});

test('a car gets at most as many commands at once as it can remember', async () => {
  const { pass, sent } = begin(
    {},
    Array.from({ length: 50 }, (_, index) => given(`m${index}`)),
  );
  await pass(0.5);
  expect(sent).toHaveLength(32);
});
