import { expect, test } from 'vitest';
import type { CommandOrder } from '../../../hub/core/commands.ts';
import type { DueNumbers, KeptCommand } from '../../../hub/core/ports.ts';
import { ResendRequests } from '../../../hub/core/resend.ts';
import type { Run } from '../../../protocol/runs.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { ONE, OTHER } from '../messages.ts';

const MINUTE = 60_000;

function begin(...rows: Partial<DueNumbers>[]) {
  const clock = new VirtualClock();
  const log = new MemoryLog();
  const due: DueNumbers[] = rows.map((row) => ({
    vin: ONE,
    class: 2,
    missing: [[3, 5]] as readonly Run[],
    due: clock.now(),
    attempts: 0,
    requested: 0,
    lastSeen: Number.MAX_SAFE_INTEGER,
    ...row,
  }));
  const given: { readonly order: CommandOrder; readonly at: number }[] = [];
  const store = {
    /** `true` if another hub sends first. */
    taken: false,
    broken: false,
    /** Cars for which no hub can sign. */
    untrusted: new Set<string>(),
    dueNumbers: async (now: number, limit: number) => {
      if (store.broken) throw new Error('no database');
      return due.filter((one) => one.missing.length > 0 && one.due <= now).slice(0, limit);
    },
    putOff: async (one: DueNumbers, next: Pick<DueNumbers, 'due' | 'attempts' | 'requested'>) => {
      const index = due.findIndex(({ vin, class: priority }) => vin === one.vin && priority === one.class);
      due[index] = { ...one, ...next };
      return !store.taken;
    },
    numbers: async (vin: string) =>
      vin === ONE
        ? due.map((one) => ({ class: one.class, arrived: [], givenUp: [], missing: one.missing }))
        : undefined,
  };
  const requests = new ResendRequests({
    store,
    commands: {
      submit: async (order) => {
        given.push({ order, at: clock.now() });
        return order as unknown as KeptCommand;
      },
      submitOwn: async (order) => {
        if (store.untrusted.has(order.vin)) return false;
        given.push({ order, at: clock.now() });
        return true;
      },
    },
    clock,
    after: (delay, then) => clock.after(delay, then),
    wait: (attempts) => MINUTE * 2 ** attempts,
    newId: () => `id${given.length}`,
    log,
  });
  const start = clock.now();
  requests.begin();
  return {
    due,
    store,
    requests,
    log,
    clock,
    /** Minutes after the start of the test at which the hub has sent resend commands so far. */
    minutes: () => given.map(({ at }) => Math.round((at - start) / MINUTE)),
    orders: () => given.map(({ order }) => order),
    /** Advances time minute by minute, and waits for all work that each step begins. */
    pass: async (minutes: number) => {
      for (let step = 0; step < minutes * 12; step++) {
        clock.advance(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test('missing messages are requested after a wait, and then at growing intervals', async () => {
  const { pass, minutes, orders } = begin({});
  await pass(40);
  expect(minutes()).toEqual([1, 3, 7, 15, 31]);
  expect(orders()[0]).toEqual({
    id: 'id0',
    vin: ONE,
    type: 'Resend',
    caller: 'hub',
    body: { class: 2, numbers: [[3, 5]] },
  });
});

test('messages that arrive during the first wait are not requested', async () => {
  const { due, pass, orders } = begin({});
  await pass(0.5);
  due[0] = { ...(due[0] as DueNumbers), missing: [] };
  await pass(10);
  expect(orders()).toEqual([]);
});

test('after part of the missing messages arrives, the rest is requested without a longer wait', async () => {
  const { due, pass, minutes } = begin({});
  await pass(2);
  for (const last of [4, 3]) {
    due[0] = { ...(due[0] as DueNumbers), missing: [[3, last]] };
    await pass(2);
  }
  expect(minutes()).toEqual([1, 3, 5]);
});

test('a car that is away is asked only after it has been heard again', async () => {
  const { due, clock, pass, minutes } = begin({ lastSeen: 0 });
  await pass(10);
  expect(minutes()).toEqual([]);
  due[0] = { ...(due[0] as DueNumbers), lastSeen: clock.now() };
  await pass(2);
  expect(minutes()).toHaveLength(1);
});

test('a car that trusts no key of the hub keeps no other car from being asked', async () => {
  const { store, pass, orders, log } = begin({}, { vin: OTHER });
  store.untrusted.add(ONE);
  await pass(2);
  expect(orders().map(({ vin }) => vin)).toEqual([OTHER]);
  expect(log.lines.map(({ event, fields }) => [event, fields?.['vin']])).toEqual([['hub.resend.requested', OTHER]]);
});

test('one command requests the first 256 runs of missing numbers', async () => {
  const missing = Array.from({ length: 300 }, (_, index): Run => [index * 2, index * 2]);
  const { pass, orders } = begin({ missing });
  await pass(2);
  expect(orders()).toMatchObject([{ body: { class: 2, numbers: missing.slice(0, 256) } }]);
});

test('only one of several hubs sends the request', async () => {
  const { store, pass, orders } = begin({});
  store.taken = true;
  await pass(10);
  expect(orders()).toEqual([]);
});

test('cars that all lost messages at the same time are asked in small batches', async () => {
  const rows = Array.from({ length: 250 }, (_, priority) => ({ class: priority, attempts: 1 }));
  const { pass, orders } = begin(...rows);
  await pass(1 / 12);
  expect(orders()).toHaveLength(100);
  await pass(2 / 12);
  expect(orders()).toHaveLength(250);
});

test('a failed query is repeated at the next poll', async () => {
  const { store, log, pass, orders } = begin({});
  store.broken = true;
  await pass(2);
  expect(log.lines.map(({ event }) => event)).toContain('hub.resend.failed');
  store.broken = false;
  await pass(2);
  expect(orders()).toHaveLength(1);
});

test('a request by a user sends one command at once for each class with missing messages', async () => {
  const { requests, orders } = begin({}, { class: 3, missing: [] }, { class: 5, missing: [[0, 0]] });
  expect(await requests.ask(OTHER, 'somebody')).toBeUndefined();
  expect(await requests.ask(ONE, 'somebody')).toHaveLength(2);
  expect(orders()).toMatchObject([
    { caller: 'somebody', body: { class: 2 } },
    { caller: 'somebody', body: { class: 5 } },
  ]);
});

test('nothing is requested after stop', async () => {
  const { requests, pass, orders } = begin({});
  await requests.stop();
  await pass(10);
  expect(orders()).toEqual([]);
});
