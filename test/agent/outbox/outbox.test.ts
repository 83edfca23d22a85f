import { describe, expect, test } from 'vitest';
import { memoryOutboxStore } from '../../../adapters/store/memory.ts';
import { Outbox } from '../../../agent/outbox/outbox.ts';
import type { OutboxOptions } from '../../../agent/outbox/outbox-options.ts';
import type { Memory, OutboxStore } from '../../../agent/ports.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { classOf } from '../../../protocol/classes.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { Body, Kind } from '../../../protocol/schema/message.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { committingStore } from '../../rig/committing-store.ts';
import { WireLink } from '../../rig/link.ts';
import { MemoryLog } from '../../rig/log.ts';

const VIN = 'VF3VGEBENCH000001';
const status = (full: boolean): Body<'status'> => ({ full, status: {} });
const waypoint = (at: number): Body<'waypoint'> => ({
  points: [{ at, latitude: 48.8, longitude: 2.3, type: 'Acquire' }],
});
const remote = (id: string): Body<'remote'> => ({ remoteActionId: id, type: 'Doors', status: 'Accepted' });

/** A store whose commits end when the test says so, like those of a slow or failing disk. */
function gatedStore(inner = memoryOutboxStore()) {
  const gates: { open: () => void; fail: (error: Error) => void }[] = [];
  const commit = () => new Promise<void>((resolve, reject) => gates.push({ open: resolve, fail: reject }));
  const store = committingStore(commit, inner);
  return { store, gates };
}

function setUp(store: OutboxStore = memoryOutboxStore(), options: Partial<OutboxOptions> = {}, memory?: Memory) {
  const link = new WireLink();
  const clock = new VirtualClock();
  const log = new MemoryLog();
  const defaults: OutboxOptions = { vin: VIN, boot: 1, quality: () => 'ntp', window: () => 3, limit: 1 << 20 };
  const outbox = new Outbox(store, link, clock, log, { ...defaults, ...options }, memory);
  const sent = () =>
    link.published.map(({ payload }) => decodeMessage(payload)).map(({ kind, seq }) => `${kind} ${seq}`);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { outbox, link, clock, log, sent, turn, store };
}

describe('outbox', () => {
  test('a message is sent only after it is on disk', async () => {
    const { store, gates } = gatedStore();
    const { outbox, link, sent, turn } = setUp(store);
    link.connected = true;
    const secured = outbox.secure('remote', remote('a'));
    await turn();
    expect(sent()).toEqual([]);
    gates[0]?.open();
    await secured;
    expect(sent()).toEqual(['remote 0']);
  });

  test('a durable message is never sent from memory: its number is reported as a gap, and the rest is sent', async () => {
    const { store, gates } = gatedStore();
    const { outbox, link, clock, sent, turn } = setUp(store);
    link.connected = true;
    const secured = [outbox.secure('remote', remote('a'), { durable: true }), outbox.secure('remote', remote('b'))];
    const settled = Promise.allSettled(secured);
    for (const gate of gates) gate.fail(new VigieError('store.failed', 'no space left'));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(sent()).toEqual(['remote 1']);
    clock.advance(5_000);
    gates.at(-1)?.open();
    await turn();
    const gap = link.published.map(({ payload }) => decodeMessage(payload)).find(({ kind }) => kind === 'gap');
    expect(gap?.body).toMatchObject({ lost: 'remote', count: 1, numbers: [[0, 0]] });
    expect(store.reference(classOf('remote'), 0)).toBeUndefined();
  });

  test('settled waits for a message that is still being written', async () => {
    const { store, gates } = gatedStore();
    const { outbox, link, clock, turn } = setUp(store);
    link.connected = true;
    outbox.put('waypoint', waypoint(1));
    clock.advance(100);
    expect(gates).toHaveLength(1);
    expect(outbox.waiting).toBe(1);
    let isSettled = false;
    const settled = outbox.settled().then(() => {
      isSettled = true;
    });
    await turn();
    expect(isSettled).toBe(false);
    gates[0]?.open();
    await turn();
    link.acknowledge(1);
    await settled;
    expect(outbox.waiting).toBe(0);
  });

  test('messages that are not urgent share a commit after 100 ms', async () => {
    const { store, gates } = gatedStore();
    const { outbox, clock } = setUp(store);
    for (let i = 0; i < 10; i++) outbox.put('waypoint', waypoint(i));
    clock.advance(99);
    expect(gates).toHaveLength(0);
    clock.advance(1);
    expect(gates).toHaveLength(1);
  });

  test('a message is removed only when it is acknowledged, and keeps its number when it is repeated', async () => {
    const { outbox, link, sent, turn, store } = setUp();
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    expect([...store.entries()]).toHaveLength(1);
    link.lose();
    await turn();
    link.connected = true;
    outbox.linkUp();
    expect(sent()).toEqual(['remote 0', 'remote 0']);
    expect(link.published[0]?.payload).toEqual(link.published[1]?.payload);
    link.acknowledge();
    await turn();
    expect([...store.entries()]).toHaveLength(0);
    expect(outbox.waiting).toBe(0);
  });

  test('after an outage the newest status is sent first, then class by class, within the window', async () => {
    const { outbox, link, sent, turn } = setUp();
    for (const at of [1, 2]) await outbox.secure('waypoint', waypoint(at));
    await outbox.secure('status', status(false));
    await outbox.secure('remote', remote('a'));
    await outbox.secure('status', status(true), { first: true, retain: true });
    link.connected = true;
    outbox.linkUp();
    expect(link.inFlight).toBe(3);
    expect(sent()).toEqual(['status 1', 'remote 0', 'status 0']);
    link.acknowledge();
    await turn();
    expect(sent().slice(3)).toEqual(['waypoint 0', 'waypoint 1']);
    expect(link.published[0]?.retain).toBe(true);
    expect(link.published[1]?.retain).toBe(false);
  });

  test('a new event overtakes the backlog after at most one window', async () => {
    const { outbox, link, sent, turn } = setUp();
    for (let at = 0; at < 50; at++) outbox.put('waypoint', waypoint(at));
    await outbox.secure('waypoint', waypoint(50));
    link.connected = true;
    outbox.linkUp();
    await outbox.secure('remote', remote('now'));
    link.acknowledge(1);
    await turn();
    expect(sent()).toEqual(['waypoint 0', 'waypoint 1', 'waypoint 2', 'remote 0']);
  });

  test('messages and numbers of an earlier run continue', async () => {
    const store = memoryOutboxStore();
    const before = setUp(store);
    await before.outbox.secure('remote', remote('a'));
    await before.outbox.secure('waypoint', waypoint(1));
    const { outbox, link, sent } = setUp(store);
    await outbox.secure('remote', remote('b'));
    link.connected = true;
    outbox.linkUp();
    expect(sent()).toEqual(['remote 0', 'remote 1', 'waypoint 0']);
  });

  test('a message that the broker can never accept does not block the others', async () => {
    const { outbox, link, sent, turn, log, store } = setUp(undefined, { window: () => 1 });
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    await outbox.secure('remote', remote('b'));
    link.refuse();
    await turn();
    expect(sent()).toEqual(['remote 0', 'remote 1']);
    expect([...store.entries()].map(({ kind, seq }) => `${kind} ${seq}`)).toEqual(['remote 1', 'gap 0']);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    link.acknowledge();
    await turn();
    const gap = decodeMessage(link.published[2]!.payload);
    expect(gap.body).toMatchObject({ class: 0, lost: 'remote', count: 1, numbers: [[0, 0]] });
  });

  test('a temporary refusal by the broker is retried', async () => {
    const { outbox, link, clock, sent, turn } = setUp();
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    link.refuse(new VigieError('link.refused', 'quota'));
    await turn();
    clock.advance(5_000);
    expect(sent()).toEqual(['remote 0', 'remote 0']);
  });

  test('a temporarily refused message is repeated after a pause, not at each acknowledgement', async () => {
    const { outbox, link, clock, sent, turn } = setUp();
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    link.refuse(new VigieError('link.refused', 'quota'));
    await turn();
    for (let at = 0; at < 10; at++) {
      await outbox.secure('waypoint', waypoint(at));
      link.acknowledge();
      await turn();
    }
    expect(sent().slice(1)).toEqual(Array.from({ length: 10 }, (_, seq) => `waypoint ${seq}`));
    clock.advance(5_000);
    expect(sent().slice(11)).toEqual(['remote 0']);
    link.acknowledge();
    await turn();
    expect(outbox.waiting).toBe(0);
  });

  test.each([1, 3, 20])('refusals of one class do not stop the other classes, window %i', async (window) => {
    const { outbox, link, clock, turn } = setUp(undefined, { window: () => window });
    for (let i = 0; i < 50; i++) outbox.put('remote', remote(`${i}`));
    for (let at = 0; at < 50; at++) outbox.put('waypoint', waypoint(at));
    clock.advance(100);
    await turn();
    link.connected = true;
    outbox.linkUp();
    const came = new Set<string>();
    let looked = 0;
    const answer = async (refuses: boolean): Promise<void> => {
      for (; looked < link.published.length; looked++) {
        const { kind, seq } = decodeMessage(link.published[looked]!.payload);
        if (refuses && kind === 'remote') link.refuse(new VigieError('link.refused', 'not authorized'));
        else link.acknowledge(1);
        if (!refuses || kind !== 'remote') came.add(`${kind} ${seq}`);
        await turn();
      }
    };
    for (let pause = 0; pause < 100 && came.size < 50; pause++) {
      const before = link.published.length;
      await answer(true);
      // Refused messages cost at most two windows per pause.
      const refused = link.published.slice(before).filter(({ topic }) => topic.endsWith('/remote'));
      expect(refused.length).toBeLessThanOrEqual(2 * window + 2);
      clock.advance(5_000);
      await turn();
    }
    expect(came.size).toBe(50);
    // Finally the broker accepts them.
    for (let pause = 0; pause < 100 && outbox.waiting > 0; pause++) {
      await answer(false);
      clock.advance(5_000);
      await turn();
    }
    expect(came.size).toBe(100);
  });

  test.each([1, 2, 3, 20])(
    'a broker that refuses everything gets two windows less one message per pause, window %i',
    async (window) => {
      const { outbox, link, clock, turn } = setUp(undefined, { window: () => window });
      for (let i = 0; i < 200; i++) outbox.put('remote', remote(`${i}`));
      clock.advance(100);
      await turn();
      link.connected = true;
      outbox.linkUp();
      const half = Math.ceil(window / 2);
      const published = new Set<number>();
      for (let pause = 0; pause < 4; pause++) {
        const before = link.published.length;
        while (link.inFlight > 0) {
          link.refuse(new VigieError('link.refused', 'not authorized'));
          await turn();
        }
        const first = pause === 0 ? 0 : before - window;
        const numbers = link.published.slice(Math.max(0, first)).map(({ payload }) => decodeMessage(payload).seq);
        expect(numbers).toHaveLength(2 * half + window - 1);
        expect(numbers.filter((seq) => published.has(seq))).toHaveLength(pause === 0 ? 0 : half);
        for (const seq of numbers) published.add(seq);
        clock.advance(5_000);
      }
    },
  );

  test('refused messages are sent at once on the next connection', async () => {
    const { outbox, link, sent, turn } = setUp();
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    link.refuse(new VigieError('link.refused', 'quota'));
    await turn();
    link.lose();
    link.connected = true;
    outbox.linkUp();
    expect(sent()).toEqual(['remote 0', 'remote 0']);
  });

  test('a full outbox drops the oldest messages of the lowest class and logs it', async () => {
    const { outbox, link, log, sent, turn, clock } = setUp(undefined, { limit: 20_000, window: () => 1_000 });
    await outbox.secure('remote', remote('a'));
    for (let at = 0; at < 1_000; at++) {
      outbox.put('waypoint', waypoint(at));
      clock.advance(200);
      await turn();
    }
    link.connected = true;
    outbox.linkUp();
    await turn();
    const messages = link.published.map(({ payload }) => decodeMessage(payload));
    expect(sent()[0]).toBe('remote 0');
    const gaps = messages.flatMap((message) => (message.kind === 'gap' ? [message.body] : []));
    const kept = messages.flatMap((message) => (message.kind === 'waypoint' ? [message.seq] : []));
    const lost = gaps.reduce((sum, gap) => sum + gap.count, 0);
    expect(gaps.every((gap) => gap.lost === 'waypoint' && gap.class === 4)).toBe(true);
    expect(lost + kept.length).toBe(1_000);
    expect(lost).toBeGreaterThan(0);
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => lost + i));
    const said = log.lines.filter(({ level, event }) => level === 'warn' && event === 'outbox.full');
    const dropped = said.map(({ fields }) => fields?.['dropped'] as { readonly waypoint: number });
    expect(dropped.reduce((sum, { waypoint: count }) => sum + count, 0)).toBe(lost);
  });

  test('a full outbox with nothing to drop accepts messages and logs no drop', () => {
    const { outbox, link, log, store } = setUp(undefined, { limit: 10, window: () => 1_000 });
    link.connected = true;
    outbox.linkUp();
    for (let at = 0; at < 5; at++) outbox.put('waypoint', waypoint(at));
    expect([[...store.entries()].length, log.lines]).toEqual([5, []]);
  });

  test('dropped messages of a long outage are reported in one gap message after reconnection', async () => {
    const { outbox, link, turn, clock, store } = setUp(undefined, { limit: 5_000 });
    for (let at = 0; at < 2_000; at++) outbox.put('waypoint', waypoint(at));
    clock.advance(200);
    expect([...store.entries()].map(({ kind }) => kind)).not.toContain('gap');
    link.connected = true;
    outbox.linkUp();
    while (link.inFlight > 0) {
      link.acknowledge();
      await turn();
    }
    const messages = link.published.map(({ payload }) => decodeMessage(payload));
    const gaps = messages.flatMap((message) => (message.kind === 'gap' ? [message.body] : []));
    const [gap] = gaps;
    expect(gaps).toHaveLength(1);
    expect(gap?.numbers).toEqual([[0, (gap?.count ?? 0) - 1]]);
    expect((gap?.count ?? 0) + messages.length - 1).toBe(2_000);
    expect(outbox.waiting).toBe(0);
  });

  test('messages sent without acknowledgement are not dropped, because the broker may have them', async () => {
    const { outbox, link, turn, clock } = setUp(undefined, { limit: 2_000 });
    link.connected = true;
    outbox.linkUp();
    for (let at = 0; at < 3; at++) outbox.put('waypoint', waypoint(at));
    link.lose();
    await turn();
    for (let at = 3; at < 200; at++) outbox.put('waypoint', waypoint(at));
    clock.advance(200);
    link.connected = true;
    outbox.linkUp();
    const again = link.published.slice(3, 6).map(({ payload }) => decodeMessage(payload));
    expect(again.map(({ kind, seq }) => `${kind} ${seq}`)).toEqual(['gap 0', 'waypoint 0', 'waypoint 1']);
    expect(again[0]?.body).toMatchObject({ numbers: [[3, expect.any(Number)]] });
  });

  test('a broker that refuses everything gets gap messages only after pauses', async () => {
    const { outbox, link, turn, clock } = setUp();
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    const refused = async () => {
      while (link.inFlight > 0) {
        link.refuse();
        await turn();
      }
      return link.published.length;
    };
    expect(await refused()).toBe(2);
    clock.advance(4_999);
    expect(await refused()).toBe(2);
    clock.advance(1);
    // One copy each of the message and of the gap message that was refused.
    expect(await refused()).toBe(4);
    link.connected = false;
    link.connected = true;
    outbox.linkUp();
    const told = link.published.slice(4).map(({ payload }) => decodeMessage(payload));
    link.acknowledge();
    await turn();
    expect(told.map(({ body }) => body)).toMatchObject([
      { lost: 'remote', count: 1, numbers: [[0, 0]] },
      { lost: 'gap', count: 3, numbers: [[0, 2]] },
    ]);
    expect(outbox.waiting).toBe(0);
  });

  test('unreadable stored gaps are logged, and the start succeeds', () => {
    const { log } = setUp(undefined, {}, { recall: () => 'nonsense', keep: () => undefined });
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
  });

  test('if the disk fails, recording stops, sending continues, and writing is retried', async () => {
    const { store, gates } = gatedStore();
    const { outbox, link, clock, sent, log } = setUp(store);
    link.connected = true;
    const secured = outbox.secure('remote', remote('a'));
    gates[0]?.fail(new VigieError('store.failed', 'no space'));
    await expect(secured).rejects.toThrow('no space');
    expect(sent()).toEqual(['remote 0']);
    expect(log.lines.some(({ level }) => level === 'error')).toBe(true);
    clock.advance(5_000);
    expect(gates).toHaveLength(2);
  });

  test('a message damaged on disk is dropped, and a gap message reports it', async () => {
    const inner = memoryOutboxStore();
    const store: OutboxStore = Object.create(inner, {
      load: {
        value: (priority: number, seq: number) => (priority === 4 && seq === 1 ? undefined : inner.load(priority, seq)),
      },
    });
    const { outbox, link, sent, turn, clock } = setUp(store);
    for (const at of [1, 2, 3]) {
      clock.advance(1_000);
      await outbox.secure('waypoint', waypoint(at));
    }
    const damaged = store.reference(4, 1);
    link.connected = true;
    outbox.linkUp();
    link.acknowledge();
    await turn();
    link.acknowledge();
    await turn();
    expect(sent().filter((line) => line.startsWith('waypoint'))).toEqual(['waypoint 0', 'waypoint 2']);
    const [gap] = link.published.map(({ payload }) => decodeMessage(payload)).filter(({ kind }) => kind === 'gap');
    const { at, bytes } = damaged as { at: number; bytes: number };
    expect(gap?.body).toEqual({ lost: 'waypoint', class: 4, count: 1, bytes, from: at, to: at, numbers: [[1, 1]] });
    expect([outbox.waiting, [...store.entries()].length]).toEqual([0, 0]);
  });

  test('a message that the disk cannot read is retried, and others are sent meanwhile', async () => {
    const inner = memoryOutboxStore();
    let broken = true;
    const store: OutboxStore = Object.create(inner, {
      load: {
        value: (priority: number, seq: number) => {
          if (broken && seq === 0) throw new VigieError('store.failed', 'EIO');
          return inner.load(priority, seq);
        },
      },
    });
    const { outbox, link, sent, clock, log } = setUp(store);
    for (const at of [1, 2]) await outbox.secure('waypoint', waypoint(at));
    link.connected = true;
    outbox.linkUp();
    expect(sent()).toEqual(['waypoint 1']);
    expect(outbox.waiting).toBe(2);
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
    broken = false;
    clock.advance(5_000);
    expect(sent()).toEqual(['waypoint 1', 'waypoint 0']);
  });

  test('a message that cannot be encoded is logged and uses no number', async () => {
    const { outbox, link, sent, log } = setUp();
    link.connected = true;
    outbox.put('waypoint', { points: [{ ...waypoint(1).points[0], latitude: 91 } as never] });
    await outbox.secure('waypoint', waypoint(2));
    expect(sent()).toEqual(['waypoint 0']);
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
    await expect(outbox.secure('remote', { ...remote('a'), status: 'Done' } as never)).rejects.toThrow(VigieError);
  });

  test('settled waits for the last acknowledgement, but not while the broker is away', async () => {
    const { outbox, link, turn } = setUp();
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    let settled = false;
    const waiting = outbox.settled().then(() => {
      settled = true;
    });
    await turn();
    expect(settled).toBe(false);
    link.acknowledge();
    await waiting;
    await outbox.secure('remote', remote('b'));
    const lost = outbox.settled();
    link.lose();
    await lost;
    expect(outbox.waiting).toBe(1);
  });

  test('a checkpoint is one commit after 100 ms, shared with messages of that time', async () => {
    const { store, gates } = gatedStore();
    const { outbox, clock, turn } = setUp(store);
    outbox.checkpoint();
    outbox.checkpoint();
    outbox.put('status', status(true));
    clock.advance(99);
    expect(gates).toHaveLength(0);
    clock.advance(1);
    expect([gates.length, clock.pending]).toEqual([1, 0]);
    gates[0]?.open();
    await turn();
    outbox.checkpoint();
    clock.advance(100);
    expect(gates).toHaveLength(2);
  });

  test('without a disk no message waits for one', async () => {
    const inner = memoryOutboxStore();
    const commit = (): Promise<void> => Promise.reject(new Error('there is no disk to ask'));
    const store: OutboxStore = Object.create(inner, { commit: { value: commit } });
    const { outbox, link, clock, sent, log, turn } = setUp(store);
    link.connected = true;
    outbox.checkpoint();
    outbox.put('status', status(true));
    await outbox.secure('remote', remote('a'));
    expect([sent(), clock.pending]).toEqual([['status 0', 'remote 0'], 0]);
    link.refuse();
    await turn();
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
    expect([...store.entries()].map(({ kind }) => kind)).not.toContain('status');
  });

  test('a closed outbox sends and writes nothing more and leaves no timer', async () => {
    const { store, gates } = gatedStore();
    const { outbox, link, clock, sent } = setUp(store);
    outbox.put('status', status(true));
    expect(clock.pending).toBe(1);
    outbox.close();
    expect(clock.pending).toBe(0);
    outbox.put('status', status(true));
    outbox.checkpoint();
    await expect(outbox.secure('remote', remote('a'))).rejects.toMatchObject({ code: 'store.failed' });
    link.connected = true;
    outbox.linkUp();
    gates[0]?.open();
    clock.advance(10_000);
    expect([sent(), clock.pending, [...store.entries()].length]).toEqual([[], 0, 1]);
  });

  test('an outbox closed while it waits to retry the disk does not retry', async () => {
    const { store, gates } = gatedStore();
    const { outbox, clock } = setUp(store);
    const secured = outbox.secure('remote', remote('a'));
    gates[0]?.fail(new VigieError('store.failed', 'no space'));
    await expect(secured).rejects.toThrow('no space');
    expect(clock.pending).toBe(1);
    outbox.close();
    clock.advance(10_000);
    expect([gates.length, clock.pending]).toEqual([1, 0]);
  });

  test('a commit that fails after closing starts no timer', async () => {
    const { store, gates } = gatedStore();
    const { outbox, clock } = setUp(store);
    const secured = outbox.secure('remote', remote('a'));
    outbox.close();
    gates[0]?.fail(new VigieError('store.failed', 'no space'));
    await expect(secured).rejects.toThrow('no space');
    expect(clock.pending).toBe(0);
  });

  test('a gap that cannot be reported is stored and reported later', async () => {
    const inner = memoryOutboxStore();
    let broken = true;
    const append: OutboxStore['append'] = (entry) => {
      if (broken && entry.kind === 'gap') throw new VigieError('store.failed', 'EIO');
      inner.append(entry);
    };
    const store: OutboxStore = Object.create(inner, { append: { value: append } });
    const { outbox, link, clock, sent, turn, log } = setUp(store);
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    link.refuse();
    await turn();
    expect(log.lines.map(({ event }) => event)).toContain('outbox.gapUnsent');
    const failures = log.lines.length;
    await outbox.secure('remote', remote('b'));
    expect([log.lines.length, outbox.waiting]).toEqual([failures, 2]);
    broken = false;
    await clock.settle(5_200, 100);
    expect(sent()).toEqual(['remote 0', 'remote 1', 'gap 0']);
    const { body } = decodeMessage(link.published[2]!.payload);
    expect(body).toMatchObject({ class: 0, lost: 'remote', count: 1, numbers: [[0, 0]] });
  });

  test('a message is sent with the correlation of its request, and retained if requested', async () => {
    const { outbox, link } = setUp();
    const correlation = new Uint8Array([1, 2]);
    link.connected = true;
    await outbox.secure('status', status(true), { retain: true });
    await outbox.secure('remote', remote('a'), { correlation });
    expect(link.published.map(({ retain, correlation: its }) => [retain, its])).toEqual([
      [true, undefined],
      [false, correlation],
    ]);
  });

  test('a retained message expires at the broker as its class defines', async () => {
    const { outbox, link } = setUp();
    link.connected = true;
    await outbox.secure('remote', remote('a'));
    await outbox.secure('waypoint', waypoint(1));
    expect(link.published.map(({ expiry }) => expiry)).toEqual([3 * 86_400, 60 * 86_400]);
  });

  test('created messages are counted, command states separately', async () => {
    const { outbox } = setUp();
    await outbox.secure('remote', remote('a'));
    for (const at of [1, 2]) outbox.put('waypoint', waypoint(at));
    expect(outbox.made).toEqual({ remote: 1, other: 2 });
  });

  test('when the link returns, messages not yet on disk are written at once', async () => {
    const { store, gates } = gatedStore();
    const { outbox, link, sent, turn, clock } = setUp(store);
    outbox.put('status', status(true), { first: true });
    link.connected = true;
    outbox.linkUp();
    expect([gates.length, clock.pending, sent()]).toEqual([1, 0, []]);
    gates[0]?.open();
    await turn();
    expect(sent()).toEqual(['status 0']);
    outbox.linkUp();
    expect(gates).toHaveLength(1);
  });

  test('settled resolves at once if nothing waits or nothing can be sent', async () => {
    const { outbox, link } = setUp();
    link.connected = true;
    await outbox.settled();
    link.connected = false;
    await outbox.secure('remote', remote('a'));
    await outbox.settled();
    expect(outbox.waiting).toBe(1);
  });

  test('a message that an earlier run abandoned but could not remove is removed and not sent', async () => {
    const store = memoryOutboxStore();
    const earlier = setUp(store);
    for (const at of [1, 2]) await earlier.outbox.secure('waypoint', waypoint(at));
    const { kind, at, bytes } = store.reference(4, 0) as { kind: Kind; at: number; bytes: number };
    const untold = [{ class: 4, lost: kind, count: 1, bytes, from: at, to: at, numbers: [[0, 0]] }];
    const memory: Memory = { recall: () => ({ unreported: untold, reports: [] }), keep: () => undefined };
    const { outbox, link, sent, log } = setUp(store, {}, memory);
    link.connected = true;
    outbox.linkUp();
    expect([sent().toSorted(), log.lines]).toEqual([['gap 0', 'waypoint 1'], []]);
    link.acknowledge();
    await outbox.settled();
    expect([...store.entries()]).toEqual([]);
  });

  test('an arrived gap message of an earlier run is removed from the stored state', async () => {
    const store = memoryOutboxStore();
    const gap = { class: 4, lost: 'waypoint', count: 1, bytes: 9, from: 1, to: 1, numbers: [[7, 7]] };
    // The earlier run sent one gap message, number 0. It was acknowledged meanwhile and no longer waits.
    const memory: Memory = { recall: () => ({ unreported: [], reports: [[0, gap]] }), keep: () => undefined };
    const states: unknown[] = [];
    const keep: Memory['keep'] = (entries) => states.push(...[...entries()].map(([, state]) => state));
    setUp(store, {}, { ...memory, keep });
    expect(states).toEqual([undefined]);
  });

  test('settled waits for each of several acknowledgements', async () => {
    const { outbox, link, turn } = setUp();
    link.connected = true;
    for (const id of ['a', 'b']) await outbox.secure('remote', remote(id));
    let settled = false;
    const waiting = outbox.settled().then(() => {
      settled = true;
    });
    link.acknowledge(1);
    await turn();
    expect([settled, outbox.waiting]).toEqual([false, 1]);
    link.acknowledge();
    await waiting;
  });

  test('a waiting gap message is never dropped to make room', () => {
    const { outbox, link, store } = setUp(undefined, { limit: 4_000, window: () => 0 });
    link.connected = true;
    for (let n = 0; n < 200; n++) outbox.put('status', status(true));
    const entries = [...store.entries()];
    expect(entries.filter(({ kind }) => kind === 'gap').map(({ seq }) => seq)).toHaveLength(1);
    const gap = entries.find(({ kind }) => kind === 'gap')?.seq ?? Number.NaN;
    for (let n = 0; n < 200; n++) outbox.put('status', status(true));
    expect([...store.entries()].filter(({ kind }) => kind === 'gap').map(({ seq }) => seq)).toEqual([gap]);
  });

  test('after a start, messages of an earlier run are dropped like any other', () => {
    const store = memoryOutboxStore();
    const earlier = setUp(store);
    for (let n = 0; n < 20; n++) earlier.outbox.put('waypoint', waypoint(n));
    const full = store.bytes;
    const { outbox } = setUp(store, { limit: full });
    for (let n = 0; n < 20; n++) outbox.put('waypoint', waypoint(n));
    expect(store.bytes).toBeLessThanOrEqual(full);
    expect([...store.entries()].map(({ seq }) => seq)).not.toContain(0);
  });

  test('after a start, the newest message marked as retained is sent retained, whatever follows it', async () => {
    const store = memoryOutboxStore();
    const earlier = setUp(store);
    for (const retain of [true, true, false]) await earlier.outbox.secure('status', status(true), { retain });
    const { outbox, link } = setUp(store);
    link.connected = true;
    outbox.linkUp();
    expect(link.published.map(({ retain }) => retain)).toEqual([false, true, false]);
  });
});
