import { describe, expect, test } from 'vitest';
import { defined } from '../../../protocol/defined.ts';
import { CallbackRig, delivered, failed, fleet, ids, user, vehicle, webhook } from './rig.ts';

const DAY = 86_400_000;

const device = (name: string) =>
  JSON.stringify({ endpoint: `https://push.example/${name}`, keys: { p256dh: 'B'.repeat(87), auth: 'a'.repeat(22) } });

describe('monitors of fleets', () => {
  test('a fleet monitor posts one event at a time to its own webhook, in order', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet());
    const told = [rig.event('a1'), rig.event('a1'), rig.event('a1')];
    await rig.pass(0);
    expect(rig.webhooks.map((request) => request.ids)).toEqual(told.map((id) => [id]));
    expect(rig.webhooks[0]?.url).toBe(webhook.target);
  });

  test.each([
    [{ policy: 'None' }, 1],
    [{ policy: 'Bounded' }, 4],
    [{ policy: 'Bounded', retryNumber: 1, retryDelay: 3 }, 2],
    [undefined, 4],
  ])('with policy %j a notification is tried %i times', async (retryPolicy, tries) => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet(defined({ retryPolicy })));
    rig.answer = () => failed;
    const id = rig.event('a1');
    await rig.pass(120_000);
    expect(ids(rig)).toEqual(Array.from({ length: tries }, () => id));
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ refused: 1, expired: 0 });
    rig.answer = () => delivered;
    const next = rig.event('a1');
    await rig.pass(0);
    expect(ids(rig).at(-1)).toBe(next);
  });

  test('with policy Always an event is retried every retryDelay for three days', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always', retryDelay: 3600 } }));
    rig.answer = () => failed;
    rig.event('a1');
    await rig.pass(4 * DAY, 600_000);
    expect(ids(rig)).toHaveLength(72);
    expect(rig.callbacks.waiting.get('monitor/a1')).toBe(0);
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ refused: 0, expired: 1 });
  });

  test('batchNotify collects events until the batch is full or its window has passed', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ batchNotify: { size: 3, timeWindow: 20 } }));
    const first = [rig.event('a1'), rig.event('a1')];
    await rig.pass(19_000);
    expect(rig.sent).toEqual([]);
    await rig.pass(1_000);
    expect(rig.webhooks.map((request) => request.ids)).toEqual([first]);
    const second = [rig.event('a1'), rig.event('a1'), rig.event('a1'), rig.event('a1')];
    await rig.pass(0);
    expect(rig.webhooks.at(-1)?.ids).toEqual(second.slice(0, 3));
    await rig.pass(20_000);
    expect(rig.webhooks.at(-1)?.ids).toEqual(second.slice(3));
  });

  test('$vin in the query prevents batching', async () => {
    const rig = new CallbackRig();
    const attributes = [{ type: 'Query', key: 'car', value: '$vin' }];
    rig.monitor('a1', fleet({ batchNotify: { size: 3, timeWindow: 20 } }, { attributes }));
    rig.event('a1');
    rig.event('a1');
    await rig.pass(0);
    expect(rig.webhooks.map(({ url }) => url)).toEqual([
      `${webhook.target}?car=${vehicle.vin}`,
      `${webhook.target}?car=${vehicle.vin}`,
    ]);
  });

  test('a failed batch is retried unchanged, and later events go with the next batch', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' }, batchNotify: { size: 5, timeWindow: 5 } }));
    rig.answer = () => failed;
    const first = [rig.event('a1'), rig.event('a1')];
    await rig.pass(5_000);
    const later = rig.event('a1');
    rig.answer = () => delivered;
    await rig.pass(20_000);
    expect(rig.webhooks.map((request) => request.ids)).toEqual([first, first, [later]]);
  });

  test('the window of a batch begins with its own first event', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' }, batchNotify: { size: 5, timeWindow: 20 } }));
    rig.answer = () => failed;
    const first = rig.event('a1');
    await rig.pass(25_000);
    const later = rig.event('a1');
    rig.answer = () => delivered;
    await rig.pass(19_000);
    expect(rig.webhooks.map((request) => request.ids)).toEqual([[first], [first]]);
    await rig.pass(1_000);
    expect(rig.webhooks.at(-1)?.ids).toEqual([later]);
  });

  test('events of a removed monitor are delivered, even after a restart, and then its queue is removed', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.answer = () => failed;
    const id = rig.event('a1');
    await rig.pass(5_000);
    rig.monitors.delete('a1');
    rig.restart();
    rig.answer = () => delivered;
    await rig.pass(10_000);
    expect(ids(rig)).toEqual([id, id]);
    expect(rig.callbacks.waiting.size).toBe(0);
    rig.memory.commit();
    expect([...rig.memory.kept.keys()].filter((key) => key.startsWith('delivery/'))).toEqual([]);
  });

  test('a changed address applies to events that already wait', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }));
    rig.answer = () => failed;
    rig.event('a1');
    await rig.pass(1_000);
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'Always' } }, { target: 'https://other.example/' }));
    await rig.pass(10_000);
    expect(rig.webhooks.map(({ url }) => url)).toEqual([webhook.target, 'https://other.example/']);
  });

  test('an attempt without a network does not count as a try', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet({ retryPolicy: { policy: 'None' } }));
    rig.answer = () => ({ outcome: 'offline', reason: 'no network' });
    const id = rig.event('a1');
    await rig.pass(60_000);
    rig.answer = () => delivered;
    await rig.pass(10_000);
    expect(new Set(ids(rig))).toEqual(new Set([id]));
    expect(rig.callbacks.losses.get('monitor/a1')).toMatchObject({ refused: 0 });
    expect(rig.callbacks.waiting.get('monitor/a1')).toBe(0);
  });

  test('the complement of an event is not sent as an event', async () => {
    const rig = new CallbackRig();
    rig.monitor('a1', fleet());
    rig.event('a1', { complement: true });
    await rig.pass(0);
    expect(rig.sent).toEqual([]);
  });
});

describe('callbacks of users', () => {
  test('a user callback gets events of its own monitors only', async () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('user', user());
    rig.monitor('a1', { subscribeParam: { callbackId } });
    rig.monitor('a2', { subscribeParam: { callbackId: 'ffff' } });
    rig.monitor('a3', {});
    const id = rig.event('a1');
    rig.event('a2');
    rig.event('a3');
    await rig.pass(0);
    expect(ids(rig)).toEqual([id]);
    expect(rig.bodies).toMatchObject([{ callbackId, type: 'Monitor' }]);
  });

  test('a user callback is retried every 10 s, then gets up to 100 events together, for 72 hours', async () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('user', user());
    rig.monitor('a1', { subscribeParam: { callbackId } });
    rig.answer = () => failed;
    rig.event('a1');
    await rig.pass(1_000);
    for (let i = 0; i < 250; i++) rig.event('a1');
    await rig.pass(29_000);
    expect(rig.sent).toHaveLength(4);
    rig.answer = () => delivered;
    await rig.pass(10_000);
    expect(rig.webhooks.slice(4).map((request) => request.ids.length)).toEqual([1, 100, 100, 50]);
    expect(rig.bodies.slice(4).map((body) => Array.isArray(body))).toEqual([false, true, true, true]);
    rig.answer = () => failed;
    rig.event('a1');
    await rig.pass(3 * DAY + 20_000, 3_600_000);
    expect(rig.callbacks.losses.get(`callback/${callbackId}`)).toMatchObject({ expired: 1, refused: 0 });
  });

  test('events wait while a callback is paused and are sent when it runs again', async () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('user', user());
    rig.monitor('a1', { subscribeParam: { callbackId } });
    rig.callbacks.setStatus(callbackId, 'Paused');
    const told = [rig.event('a1'), rig.event('a1')];
    await rig.pass(60_000);
    rig.restart();
    await rig.pass(60_000);
    expect(rig.sent).toEqual([]);
    rig.callbacks.setStatus(callbackId, 'Running');
    await rig.pass(0);
    expect(ids(rig)).toEqual(told);
  });

  test('a callback gets events of monitors, states of commands, or both, as it asks', async () => {
    const rig = new CallbackRig();
    const monitors = rig.callbacks.add('user', user({ webhook }, { type: ['Monitor'] })).callbackId;
    const remotes = rig.callbacks.add('user', user({ webhook }, { type: ['Remote'] })).callbackId;
    rig.monitor('a1', { subscribeParam: { callbackId: monitors } });
    rig.monitor('a2', { subscribeParam: { callbackId: remotes } });
    rig.callbacks.setOrigin('r1', { callbackId: monitors });
    rig.callbacks.setOrigin('r2', { callbackId: remotes });
    const id = rig.event('a1');
    rig.event('a2');
    rig.callbacks.remote({ remoteActionId: 'r1', type: 'Doors', status: 'Accepted' });
    rig.callbacks.remote({ remoteActionId: 'r2', type: 'Doors', status: 'Accepted' });
    await rig.pass(0);
    expect(ids(rig).sort()).toEqual([id, 'r2.Accepted']);
  });

  test('removing a callback removes its monitors', () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('user', user());
    rig.monitor('a1', { subscribeParam: { callbackId } });
    rig.monitor('a2', fleet());
    expect(rig.callbacks.remove(callbackId)).toBe(true);
    expect([...rig.monitors.keys()]).toEqual(['a2']);
    expect(rig.callbacks.remove(callbackId)).toBe(false);
    expect(rig.callbacks.list()).toEqual([]);
  });

  test('a callback rewritten without its secret keeps it, unless its address changes', () => {
    const rig = new CallbackRig();
    const secret = 'sixteen letters!';
    const { callbackId } = rig.callbacks.add('user', user({ webhook: { ...webhook, secret } }));
    const secretOf = () => rig.callbacks.get(callbackId)?.subscribe.callback.webhook?.secret;
    rig.callbacks.put('user', callbackId, user());
    expect(secretOf()).toBe(secret);
    rig.callbacks.put('user', callbackId, user({ webhook: { ...webhook, target: 'https://other.example' } }));
    expect(secretOf()).toBeUndefined();
  });

  test('a callback is refused for a forbidden address and for an id of the other side', () => {
    const rig = new CallbackRig();
    expect(() =>
      rig.callbacks.add('user', user({ webhook: { ...webhook, target: 'https://private.example' } })),
    ).toThrow(/subscribe\.callback\.webhook\.target: is private/);
    const { callbackId } = rig.callbacks.add('user', user());
    expect(() => rig.callbacks.put('fleet', callbackId, { callback: { webhook }, remoteTypes: ['Doors'] })).toThrow(
      /there is no callback/,
    );
    expect(() => rig.callbacks.setStatus('ffff', 'Paused')).toThrow(/there is no callback ffff/);
  });

  test('a monitor is refused without a webhook, or under an unknown callback', () => {
    const rig = new CallbackRig();
    expect(() => rig.callbacks.checkMonitor('fleet', {})).toThrow(/subscribeParam\.callback\.webhook: is missing/);
    expect(() => rig.callbacks.checkMonitor('user', { subscribeParam: { callbackId: 'ff' } })).toThrow(
      /no callback ff/,
    );
    expect(() => rig.callbacks.checkMonitor('fleet', fleet({}, { target: 'https://private.example' }))).toThrow(
      /private/,
    );
    rig.callbacks.checkMonitor('fleet', fleet());
  });
});

describe('commands', () => {
  test('states of a command go to the callback that sent it, for the kinds that it asks for', async () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('fleet', { callback: { webhook }, remoteTypes: ['Doors'] });
    rig.callbacks.setOrigin('r1', { callbackId });
    rig.callbacks.setOrigin('r2', { callbackId });
    rig.callbacks.remote({ remoteActionId: 'r1', type: 'Doors', status: 'Accepted' });
    rig.callbacks.remote({ remoteActionId: 'r2', type: 'Horn', status: 'Accepted' });
    rig.callbacks.remote({ remoteActionId: 'r3', type: 'Doors', status: 'Accepted' });
    await rig.pass(0);
    rig.restart();
    rig.callbacks.remote({ remoteActionId: 'r1', type: 'Doors', status: 'Failed', failureCause: 'DoorsOpen' });
    await rig.pass(0);
    expect(ids(rig)).toEqual(['r1.Accepted', 'r1.Failed']);
    expect(rig.bodies[1]).toMatchObject({
      callbackId,
      events: [{ eventStatus: { type: 'Done', status: 'Failed', failureCause: 'DoorsOpen' } }],
    });
    rig.callbacks.remote({ remoteActionId: 'r1', type: 'Doors', status: 'Success' });
    await rig.pass(0);
    expect(rig.sent).toHaveLength(2);
  });

  test('a command through an unknown callback is refused', () => {
    expect(() => new CallbackRig().callbacks.setOrigin('r', { callbackId: 'ff' })).toThrow(/no callback ff/);
  });
});

test('connections to a receiver are closed when its callback changes address, but not when it is renamed', async () => {
  const rig = new CallbackRig();
  const socket = { websocket: { target: 'wss://receiver.example/one' } };
  const { callbackId } = rig.callbacks.add('user', user(socket));
  rig.callbacks.put('user', callbackId, { ...user(socket), label: 'renamed' });
  rig.callbacks.setStatus(callbackId, 'Running');
  expect(rig.released).toEqual([]);
  rig.callbacks.put('user', callbackId, user({ websocket: { target: 'wss://receiver.example/two' } }));
  expect(rig.released).toContain(`websocket callback/${callbackId}`);
  rig.released.length = 0;
  rig.callbacks.put('user', callbackId, user({ webhook }));
  expect(rig.released).toContain(`websocket callback/${callbackId}`);
});

describe('push', () => {
  test('each push device has its own queue; the last device that is gone takes its callback and monitors along', async () => {
    const rig = new CallbackRig();
    const { callbackId } = rig.callbacks.add('user', user({ pushnotif: { devices: [device('x'), device('y')] } }));
    rig.monitor('a1', { subscribeParam: { callbackId } });
    const gone = new Set(['https://push.example/x']);
    const pushed: string[] = [];
    rig.answer = ({ channel, request }) => {
      if (channel !== 'pushnotif') return failed;
      pushed.push(request.device.endpoint);
      return gone.has(request.device.endpoint) ? { outcome: 'gone', reason: '410' } : delivered;
    };
    rig.event('a1');
    await rig.pass(0);
    expect(pushed.sort()).toEqual(['https://push.example/x', 'https://push.example/y']);
    expect(rig.callbacks.get(callbackId)?.subscribe.callback.pushnotif?.devices).toHaveLength(1);
    expect(rig.released).toContain(`pushnotif callback/${callbackId}/device0`);
    rig.restart();
    gone.add('https://push.example/y');
    rig.event('a1');
    await rig.pass(0);
    expect(pushed).toHaveLength(3);
    expect(rig.callbacks.get(callbackId)).toBeUndefined();
    expect(rig.monitors.size).toBe(0);
    rig.memory.commit();
    expect([...rig.memory.kept.keys()].sort()).toEqual(['callbacks', 'delivery']);
  });
});
