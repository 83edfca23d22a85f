import { expect, test } from 'vitest';
import { LiveFeed, type LiveViewer } from '../../../hub/core/live.ts';
import type { ArrivedMessage, NewsListener } from '../../../hub/core/ports.ts';
import { VehicleStatus } from '../../../hub/core/vehicle-status.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE, OTHER, received, trip } from '../messages.ts';

/** A live feed on a table of events. The test sends its notifications. */
function begin() {
  const table: ArrivedMessage[] = [];
  const statuses = new Map<string, VehicleStatus>();
  const listeners = new Set<NewsListener>();
  const timers: (() => void)[] = [];
  const log = new MemoryLog();
  let failures = 0;
  const feed = new LiveFeed({
    news: {
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    reader: {
      arrived: async ({ after, before, limit }) => {
        if (failures-- > 0) throw new Error('away');
        const between = table.filter(({ id }) => id > after && id < before);
        return between.sort((a, b) => b.id - a.id).slice(0, limit);
      },
      status: async (vin) => statuses.get(vin),
    },
    clock: { now: () => NOON },
    after: (_, due) => {
      timers.push(due);
      return () => undefined;
    },
    log,
  });
  const arrive = (id: number, vin = ONE): void => {
    const { message } = received('trip', trip(`a${id}`), { vin });
    table.push({ id, vin, received: NOON, message });
  };
  const tell = (...events: number[]): void => {
    for (const listener of listeners) listener.arrived({ vins: [], events });
  };
  const miss = (): void => {
    for (const listener of listeners) listener.missed();
  };
  const view = async (more: Partial<LiveViewer> & { since?: number } = {}) => {
    const told: (number | string)[] = [];
    const viewer: LiveViewer = {
      visible: async () => undefined,
      event: ({ id }) => told.push(id),
      changed: (slots) => told.push(...slots.map(({ path }) => path)),
      missed: () => told.push('missed'),
      end: () => told.push('end'),
      ...more,
    };
    await feed.open(viewer, more.since);
    return { told, viewer };
  };
  /** Resolves when the feed has read all events so far. Opening a viewer waits for that. */
  const settled = async (): Promise<void> => {
    feed.close((await view({ vin: OTHER })).viewer);
  };
  return {
    feed,
    arrive,
    tell,
    miss,
    view,
    settled,
    statuses,
    log,
    timers,
    fail: (times: number) => {
      failures = times;
    },
  };
}

test('an event committed after one with a higher number is sent too, and each event once', async () => {
  const { arrive, tell, view, settled } = begin();
  arrive(10);
  const { told } = await view();
  arrive(13);
  tell(13);
  await settled();
  arrive(12);
  tell(12, 13);
  await settled();
  expect(told).toEqual([13, 12]);
});

test('after a lost notification every event that was not sent is sent once', async () => {
  const { arrive, tell, miss, view, settled } = begin();
  arrive(10);
  const { told } = await view();
  arrive(12);
  tell(12);
  await settled();
  for (const id of [11, 13, 14]) arrive(id);
  miss();
  await settled();
  expect(told).toEqual([12, 11, 13, 14]);
});

test('a viewer is notified if it missed more events than the hub reads again', async () => {
  const { arrive, view } = begin();
  for (let id = 1; id <= 1_500; id++) arrive(id);
  const { told } = await view({ since: 1 });
  expect([told[0], told[1], told.length]).toEqual(['missed', 501, 1_001]);
});

test('events that could not be read are sent when the database answers again', async () => {
  const { arrive, tell, view, settled, fail, log, timers } = begin();
  const { told } = await view();
  arrive(11);
  fail(1);
  tell(11);
  await settled();
  expect([told, log.lines.map(({ event }) => event)]).toEqual([[], ['hub.live.unread']]);
  for (const due of timers.splice(0)) due();
  await settled();
  expect(told).toEqual([11]);
});

test('a viewer gets only events of cars that it may see at that time, and loses the stream of a car it may no longer see', async () => {
  const { arrive, tell, view, settled, statuses, miss } = begin();
  const status = new VehicleStatus();
  status.apply({ full: true, status: { kinetic: { createdAt: NOON, speed: 3 } } } as never, { boot: 1, seq: 1 });
  statuses.set(ONE, status);
  let visible = new Set([ONE]);
  const all = await view({ visible: async () => visible });
  const car = await view({ vin: ONE, visible: async () => visible });
  expect(car.told).toEqual(['kinetic.speed']);
  arrive(1, ONE);
  arrive(2, OTHER);
  tell(1, 2);
  await settled();
  visible = new Set([OTHER]);
  arrive(3, ONE);
  arrive(4, OTHER);
  miss();
  await settled();
  expect([all.told, car.told]).toEqual([
    [1, 4],
    ['kinetic.speed', 1, 'end'],
  ]);
});

test('a viewer that throws is closed, and the other viewers still get the event', async () => {
  const { arrive, tell, view, settled, log } = begin();
  const failing = await view({
    event: () => {
      throw new TypeError('boom');
    },
  });
  const { told } = await view();
  arrive(11);
  tell(11);
  await settled();
  arrive(12);
  tell(12);
  await settled();
  expect(told).toEqual([11, 12]);
  expect(failing.told).toEqual(['end']);
  expect(log.lines).toEqual([{ level: 'error', event: 'hub.live.failed', fields: { error: 'TypeError: boom' } }]);
});
