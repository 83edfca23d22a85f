import { expect, test } from 'vitest';
import { Viewers } from '../../../hub/core/viewers.ts';
import { downTopic } from '../../../protocol/topics.ts';
import { decodeWatch } from '../../../protocol/watch.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE, OTHER } from '../messages.ts';

test('a car with viewers gets a lease once a minute, each car separately', () => {
  let now = NOON;
  const told: [string, number][] = [];
  const viewers = new Viewers({
    clock: { now: () => now },
    log: new MemoryLog(),
    publish: async (topic, payload) => void told.push([topic, decodeWatch(payload).until - now]),
  });
  viewers.look(ONE);
  now += 30_000;
  viewers.look(ONE);
  viewers.look(OTHER);
  now += 30_000;
  viewers.look(ONE);
  viewers.look(OTHER);
  expect(told).toEqual([
    [downTopic(ONE, 'watch'), 180_000],
    [downTopic(OTHER, 'watch'), 180_000],
    [downTopic(ONE, 'watch'), 180_000],
  ]);
});

test('a lease that the broker refuses is logged, and the viewer still gets values', async () => {
  const log = new MemoryLog();
  const viewers = new Viewers({
    clock: { now: () => NOON },
    log,
    publish: () => Promise.reject(new Error('the broker is away')),
  });
  viewers.look(ONE);
  await new Promise(setImmediate);
  expect(log.lines).toMatchObject([{ event: 'hub.watch.unsent', fields: { vin: ONE, error: 'the broker is away' } }]);
});
