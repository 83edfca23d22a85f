/** Delivery queues: order, limits, disk, restarts, unreadable entries. */
import { describe, expect, test } from 'vitest';
import { CallbackDesk } from '../../../agent/callbacks/desk.ts';
import type { Receipt } from '../../../agent/callbacks/notifier.ts';
import { CallbackRig, delivered, failed, fleet, ids, settle, user } from './rig.ts';

describe('delivery queues', () => {
  test('a webhook is never removed: it is retried even if its channel reports it as gone', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.answer = () => ({ outcome: 'gone', reason: 'so it says' });
    rig.event('a1');
    await rig.pass(25_000);
    expect(rig.sent).toHaveLength(3);
  });

  test('a channel that throws stops nothing else', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.answer = () => Promise.reject(new Error('a defect'));
    const id = rig.event('a1');
    await rig.pass(5_000);
    rig.answer = () => delivered;
    await rig.pass(5_000);
    expect(ids(rig)).toEqual([id, id]);
  });

  test('an event that cannot be serialized is dropped alone, counted, and logged with its id', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' }, batchParam: { size: 4, timeWindow: 5 } }));
    // A bigint, which JSON cannot represent, stands for a defect in the code that formats events.
    const strange = [{ data: 'vehicle.kinetic.moving' as const, literal: 1n as unknown as string }];
    const [first, unspeakable, last] = [rig.event('a1'), rig.event('a1', { values: strange }), rig.event('a1')];
    await rig.pass(60_000);
    expect(ids(rig)).toEqual([first, last]);
    expect(rig.callbacks.losses.get('monitor/a1')).toEqual({ dropped: 0, refused: 0, expired: 0, damaged: 1 });
    expect(rig.callbacks.waiting.get('monitor/a1')).toBe(0);
    const said = rig.log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields);
    expect(said).toEqual([
      { receiver: 'monitor/a1', error: expect.any(String) },
      { receiver: 'monitor/a1', id: unspeakable },
    ]);
    // It is not tried again after a restart.
    rig.restart();
    await rig.pass(60_000);
    expect(ids(rig)).toEqual([first, last]);
  });

  test('the number of concurrent requests is limited, and the others follow', async () => {
    const rig = new CallbackRig({ requests: 2 });
    const release: ((receipt: Receipt) => void)[] = [];
    rig.answer = () => new Promise((resolve) => release.push(resolve));
    for (const id of ['a1', 'a2', 'a3']) {
      rig.monitor(id, fleet());
      rig.event(id);
    }
    await rig.pass(0);
    expect(rig.sent).toHaveLength(2);
    release[0]?.(delivered);
    await settle();
    expect(rig.sent).toHaveLength(3);
  });

  test('the ids of one request fit into a header', async () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('user', user());
    for (let index = 0; index < 100; index++) {
      const remoteActionId = `${index}`.padStart(60, '0');
      rig.callbacks.setOrigin(remoteActionId, { callbackId });
      rig.callbacks.remote({ remoteActionId, type: 'Doors', status: 'Success' });
    }
    await rig.pass(0);
    expect(ids(rig)).toHaveLength(100);
    expect(rig.webhooks.every((request) => request.ids.join(', ').length <= 4_000)).toBe(true);
    expect(rig.webhooks).toHaveLength(2);
  });

  test('a hanging receiver delays no other', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({}, { target: 'https://slow.example/' }));
    rig.monitor('a2', fleet());
    let release: (receipt: Receipt) => void = () => undefined;
    rig.answer = ({ request }) =>
      request.receiver === 'monitor/a1' ? new Promise((resolve) => (release = resolve)) : delivered;
    const slow = [rig.event('a1'), rig.event('a1')];
    const quick = [rig.event('a2'), rig.event('a2'), rig.event('a2')];
    await rig.pass(0);
    expect(ids(rig)).toEqual([slow[0], ...quick]);
    release(delivered);
    await settle();
    expect(ids(rig).at(-1)).toBe(slow[1]);
    release(delivered);
    await settle();
    expect([...rig.callbacks.waiting.values()]).toEqual([0, 0]);
  });

  test('an event is sent only after it is on disk', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'None' } }));
    rig.disk = false;
    const id = rig.event('a1');
    await rig.pass(30_000);
    expect(rig.sent).toEqual([]);
    rig.disk = true;
    await rig.pass(10_000);
    expect(ids(rig)).toEqual([id]);
  });

  test('a full queue drops and counts its oldest events, except the one being sent', async () => {
    const rig = new CallbackRig({ queueLimit: 3 });
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.answer = () => failed;
    const first = rig.event('a1');
    await rig.pass(0);
    const told = Array.from({ length: 5 }, () => rig.event('a1'));
    rig.answer = () => delivered;
    await rig.pass(10_000);
    expect(ids(rig)).toEqual([first, first, ...told.slice(-2)]);
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ dropped: 3 });
  });

  test('all queues together have a limit, and the longest queue loses events first', async () => {
    const rig = new CallbackRig({ total: 4 });
    rig.answer = () => failed;
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.monitor('a2', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.event('a2');
    for (let i = 0; i < 6; i++) rig.event('a1');
    await rig.pass(0);
    expect(Object.fromEntries(rig.callbacks.waiting)).toEqual({ 'monitor/a2': 1, 'monitor/a1': 3 });
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ dropped: 3 });
  });

  test('tries and waits continue after a restart', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Bounded', retryNumber: 2, retryDelay: 30 } }));
    rig.answer = () => failed;
    rig.event('a1');
    await rig.pass(30_000);
    expect(rig.sent).toHaveLength(2);
    rig.memory.commit();
    rig.restart();
    await rig.pass(29_000);
    expect(rig.sent).toHaveLength(2);
    await rig.pass(60_000);
    expect(rig.sent).toHaveLength(3);
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ refused: 1 });
  });

  test('events from before the clock was set are sent with corrected dates and do not expire', async () => {
    const rig = new CallbackRig();
    rig.clock.step(-rig.clock.now() + 5_000);
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.answer = () => failed;
    const at = rig.clock.now();
    const id = rig.event('a1');
    await rig.pass(1_000);
    const by = Date.UTC(2026, 5, 1) - rig.clock.now();
    rig.clock.step(by);
    rig.answer = () => delivered;
    rig.callbacks.correct(by, 0, rig.clock.now() - by);
    await rig.pass(10_000);
    expect(ids(rig)).toEqual([id, id]);
    expect(rig.bodies[1]).toMatchObject({ events: [{ eventDate: new Date(at + by).toISOString() }] });
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ expired: 0 });
  });

  test('a stored event that cannot be read is skipped and logged', async () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('user', user());
    rig.monitor('a1', { subscribeParam: { callbackId } });
    rig.monitor('a2', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.answer = () => failed;
    rig.event('a1');
    const id = rig.event('a2');
    await rig.pass(0);
    rig.memory.commit();
    rig.memory.kept.set(`callback/${callbackId}`, 7);
    rig.memory.kept.set(`delivery/callback/${callbackId}`, { first: -1 });
    rig.restart();
    rig.answer = () => delivered;
    await rig.pass(10_000);
    expect(rig.callbacks.list()).toEqual([]);
    expect(ids(rig).at(-1)).toBe(id);
    const errors = rig.log.lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ event }) => event)).toEqual(['callbacks.unreadable', 'callbacks.queueUnreadable']);
  });

  test('an event whose record is gone is dropped alone', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet());
    const [first, second] = [rig.event('a1'), rig.event('a1')];
    const get = rig.records.get.bind(rig.records);
    rig.records.get = (collection, id) => (id === first ? undefined : get(collection, id));
    await rig.pass(0);
    expect(ids(rig)).toEqual([second]);
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ damaged: 1 });
  });
});

describe('changes of callbacks', () => {
  test('a change of a callback resolves when it is on disk', async () => {
    const rig = new CallbackRig();
    const desk = new CallbackDesk(rig.callbacks);
    await desk.put('user', 'ab', user());
    expect(rig.memory.kept.get('callback/ab')).toMatchObject({ callback: { status: 'Running' } });
    await desk.setStatus('ab', 'Paused');
    expect(rig.memory.kept.get('callback/ab')).toMatchObject({ callback: { status: 'Paused' } });
    expect(desk.list('user').map(({ callbackId }) => callbackId)).toEqual(['ab']);
    expect(desk.list('fleet')).toEqual([]);
    expect(await desk.remove('ab')).toBe(true);
    expect(rig.memory.kept.has('callback/ab')).toBe(false);
    expect(desk.get('ab')).toBeUndefined();
    rig.disk = false;
    await expect(desk.put('user', 'ab', user())).rejects.toThrow(/disk is full/);
  });
});
