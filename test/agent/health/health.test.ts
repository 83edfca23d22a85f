/** Health report of the agent. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryOutboxStore } from '../../../adapters/store/index.ts';
import { compact, Health } from '../../../agent/health/health.ts';
import { MeteredStore } from '../../../agent/health/metered-store.ts';
import { Pulse } from '../../../agent/health/pulse.ts';
import type { FrameBatch, OutboxStore } from '../../../agent/ports.ts';
import { decodeMessage, encodeMessage } from '../../../protocol/cbor/message.ts';
import type { Message } from '../../../protocol/schema/message.ts';
import type { RemoteReport } from '../../../protocol/schema/remote.ts';
import { VirtualClock } from '../../rig/clock.ts';

const vitals = () => ({
  privateBytes: 40 * 2 ** 20,
  residentBytes: 80 * 2 ** 20,
  heapBytes: 9,
  cpu: 1_500,
  busy: 0.01,
});
const entry = (priority: number, seq: number, bytes: number, at: number) => ({
  class: priority,
  seq,
  kind: 'telemetry',
  at,
  retain: false,
  payload: new Uint8Array(bytes),
});

test('property: the outbox counters equal the content of the outbox', () => {
  const step = fc.oneof(
    fc.record({ put: fc.nat(2), bytes: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ done: fc.nat(2), pick: fc.nat(20) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.array(fc.nat(2), { maxLength: 5 }), (steps, before) => {
      const store = memoryOutboxStore();
      let at = 0;
      for (const priority of before) store.append(entry(priority, store.nextSeq(priority), 10, at++));
      const metered = new MeteredStore(store, new VirtualClock());
      for (const action of steps) {
        if ('put' in action) metered.append(entry(action.put, metered.nextSeq(action.put), action.bytes, at++));
        else metered.acknowledge(action.done, action.pick);
        const expected = [0, 1, 2].flatMap((priority) => {
          const there = [...store.entries()].filter((reference) => reference.class === priority);
          if (there.length === 0) return [];
          const bytes = there.reduce((sum, reference) => sum + reference.bytes, 0);
          return [{ class: priority, count: there.length, bytes, oldest: there[0]?.at }];
        });
        expect(metered.waiting).toEqual(expected);
      }
    }),
  );
});

test('commands are counted by outcome when their answer is stored', () => {
  const metered = new MeteredStore(memoryOutboxStore(), new VirtualClock());
  const report = (body: RemoteReport): void => {
    const seq = metered.nextSeq(0);
    const envelope = { version: 1, seq, boot: 1, at: 1, clock: 'ntp' } as const;
    const payload = encodeMessage({ ...envelope, kind: 'remote', body });
    metered.append({ class: 0, seq, kind: 'remote', at: 1, retain: false, payload });
  };
  const command = { remoteActionId: 'x', type: 'Doors' } as const;
  report({ ...command, status: 'Accepted' });
  report({ ...command, status: 'Success' });
  report({ ...command, status: 'Success' });
  report({ ...command, status: 'Failed', failureCause: 'DoorsOpen' });
  expect(Object.fromEntries(metered.outcomes)).toEqual({ Success: 2, DoorsOpen: 1 });
});

test('a refused commit is finished, and a commit without a result is still waited for', async () => {
  const clock = new VirtualClock();
  let settle: (error?: Error) => void = () => undefined;
  const memory = memoryOutboxStore();
  const slow: OutboxStore = {
    ...memory,
    commit: () =>
      new Promise((resolve, reject) => (settle = (error) => (error === undefined ? resolve() : reject(error)))),
  };
  const metered = new MeteredStore(slow, clock);
  const commit = metered.commit();
  clock.advance(7_000);
  expect(metered.commitWait).toBe(7_000);
  settle(new Error('full'));
  await expect(commit).rejects.toThrow('full');
  expect([metered.commitWait, metered.refused]).toEqual([0, 1]);
});

test('the delay is the longest of the last minutes, and ticks that are meant to be far apart are no delay', () => {
  const clock = new VirtualClock();
  const pulse = new Pulse(clock, { commitWait: () => 0, stuckSource: () => undefined });
  const tick = (after: number): void => {
    clock.advance(after);
    pulse.ticked();
  };
  tick(1_000);
  tick(1_250);
  expect(pulse.delay).toBe(250);
  for (let i = 0; i < 150; i++) tick(1_000);
  expect(pulse.delay).toBe(0);
  pulse.expectEvery(600_000);
  clock.advance(600_000);
  expect(pulse.stuck()).toBeUndefined();
  pulse.ticked();
  expect(pulse.delay).toBe(0);
  pulse.expectEvery(1_000);
  tick(1_000);
  clock.advance(20_000);
  expect(pulse.stuck()).toContain('has not looked around');
});

test('times in a snapshot are whole milliseconds, whatever the clocks return', async () => {
  const clock = new VirtualClock();
  const health = new Health({ clock, process: () => ({ ...vitals(), cpu: 3139.533, busy: 0.058707591462850116 }) });
  let deliver = (): void => undefined;
  const start = async (receive: (batch: FrameBatch) => void): Promise<void> => {
    deliver = () => receive({ count: 1 } as FrameBatch);
  };
  await health.frames('body', { buses: ['body'], start, stop: async () => undefined }).start(() => undefined);
  deliver();
  clock.advance(1_000.186606999996);
  const { uptime, sources, delay, process } = health.snapshot();
  expect([uptime, sources[0]?.silence, delay, process.cpu, process.busy]).toEqual([1_000, 1_000, 0, 3_140, 0.0587]);
});

test('a hello with all fields can be sent, and that of a quiet agent is small', () => {
  const clock = new VirtualClock();
  const health = new Health({ clock, process: vitals });
  const envelope = { version: 1, kind: 'hello', seq: 1, boot: 1, at: 1_700_000_000_000, clock: 'ntp' } as const;
  const hello = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: 1_700_000_000_000 };
  const bare = encodeMessage({ ...envelope, body: hello }).length;
  const quiet: Message<'hello'> = { ...envelope, body: { ...hello, health: health.hello() } };
  expect(decodeMessage(encodeMessage(quiet))).toEqual(quiet);
  expect(encodeMessage(quiet).length - bare).toBeLessThan(24);

  // A link without problems adds little, most of it the address.
  const details = {
    state: 'up' as const,
    since: clock.now(),
    broker: 'mqtts://broker.example:8883',
    protocol: '5' as const,
    keepalive: 60,
    certificateExpires: 1_900_000_000_000,
    counts: { attempts: 1, losses: 0 },
  };
  health.events({ up: () => undefined, down: () => undefined, message: () => undefined }, () => details);
  const linked: Message<'hello'> = { ...envelope, body: { ...hello, health: health.hello() } };
  const { broker, protocol, keepalive, certificateExpires } = details;
  expect(linked.body.health?.link).toEqual({ broker, protocol, keepalive, certificateExpires });
  expect(decodeMessage(encodeMessage(linked))).toEqual(linked);
  expect(encodeMessage(linked).length - bare).toBeLessThan(75);

  const snapshot = health.snapshot();
  const lost = { ...details, state: 'waiting' as const, counts: { attempts: 9, losses: 4 } };
  expect(compact({ ...snapshot, link: { ...snapshot.link, details: lost } }).link).toMatchObject({
    state: 'waiting',
    losses: 4,
  });
  const busy = compact({
    ...snapshot,
    stuck: 'x'.repeat(500),
    frames: 5,
    sources: Array.from({ length: 40 }, (_, i) => ({
      name: `bus ${i}`,
      state: 'waiting' as const,
      reason: 'y'.repeat(300),
      frames: 1,
      silence: 1_234,
      counts: { dropped: 3, interfaceDropped: 2, malformed: 1 },
    })),
    outbox: [{ class: 5, count: 2, bytes: 300, oldest: snapshot.at - 60_000 }],
    commands: { Success: 3, DoorsOpen: 1 },
    delay: 12.4,
  });
  expect(busy.sources?.[0]).toMatchObject({ silence: 1, dropped: 6 });
  expect(busy.outbox).toEqual([{ class: 5, count: 2, bytes: 300, oldest: 60 }]);
  const full: Message<'hello'> = { ...envelope, body: { ...hello, mode: 'minimal', reason: 'x', health: busy } };
  expect(decodeMessage(encodeMessage(full))).toEqual(full);
});

test('measuring an outbox does not change it', async () => {
  const metered = new MeteredStore(memoryOutboxStore(), new VirtualClock());
  expect(metered.volatile).toBe(true);
  metered.append(entry(2, 0, 3, 5));
  expect([...metered.entries()]).toEqual([{ class: 2, seq: 0, kind: 'telemetry', at: 5, retain: false, bytes: 3 }]);
  expect(metered.load(2, 0)?.payload).toHaveLength(3);
  await metered.commit();
});
