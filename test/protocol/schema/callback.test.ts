import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { VigieError } from '../../../protocol/errors.ts';
import {
  type Callback,
  type CallbackSide,
  callbackSchema,
  readDelivery,
  readSubscribe,
  shownDelivery,
  shownSubscribe,
} from '../../../protocol/schema/callback.ts';

const webhook = { target: 'https://receiver.example/events', name: 'n' };
const keys = { p256dh: `B${'a'.repeat(86)}`, auth: 'a'.repeat(22) };
const device = JSON.stringify({ endpoint: 'https://push.example/1', keys });

const fleet = (change: Record<string, unknown> = {}): unknown => ({
  callback: { webhook },
  remoteTypes: ['Doors'],
  ...change,
});
const hook = (change: Record<string, unknown>): unknown => ({ callback: { webhook: { ...webhook, ...change } } });
const attribute = (change: Record<string, unknown>): unknown =>
  hook({ attributes: [{ type: 'Header', key: 'x-a', value: 'b', ...change }] });
const push = (devices: unknown): unknown => ({ callback: { pushnotif: { devices } } });

function refusal(read: () => unknown): VigieError {
  try {
    read();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('a callback is refused', () => {
  test.each<[name: string, side: CallbackSide, input: unknown, where: string, rule: RegExp]>([
    ['no object', 'user', 'callback', 'subscribe', /must be an object/],
    ['nothing', 'user', undefined, 'subscribe', /missing/],
    ['no channel', 'user', { callback: {} }, 'subscribe.callback', /exactly one.*none/],
    [
      'two channels',
      'user',
      { callback: { webhook, websocket: { target: 'wss://a.example' } } },
      'subscribe.callback',
      /webhook and websocket/,
    ],
    [
      'a type that does not exist',
      'user',
      { ...(hook({}) as object), type: ['Trip'] },
      'subscribe.type[0]',
      /Monitor, Remote/,
    ],
    ['an invalid label', 'user', { ...(hook({}) as object), label: 7 }, 'subscribe.label', /string/],
    ['an invalid address', 'user', hook({ target: 'receiver' }), 'subscribe.callback.webhook.target', /https:\/\//],
    ['another scheme', 'user', hook({ target: 'file:///etc/passwd' }), 'subscribe.callback.webhook.target', /file:/],
    [
      'a password in the address',
      'user',
      hook({ target: 'https://a:b@c.example' }),
      'subscribe.callback.webhook.target',
      /password/,
    ],
    ['a fragment', 'user', hook({ target: 'https://c.example/#a' }), 'subscribe.callback.webhook.target', /fragment/],
    ['no name', 'user', hook({ name: undefined }), 'subscribe.callback.webhook.name', /missing/],
    ['a secret that is short', 'user', hook({ secret: 'short' }), 'subscribe.callback.webhook.secret', /at least 16/],
    [
      'an attribute elsewhere',
      'user',
      attribute({ type: 'Cookie' }),
      'subscribe.callback.webhook.attributes[0].type',
      /Header, Body, Query/,
    ],
    [
      'no header',
      'user',
      attribute({ key: 'a b' }),
      'subscribe.callback.webhook.attributes[0].key',
      /name of a header/,
    ],
    [
      'a header of the request',
      'user',
      attribute({ key: 'Content-Length' }),
      'subscribe.callback.webhook.attributes[0].key',
      /choose another/,
    ],
    [
      'a header of ours',
      'user',
      attribute({ key: 'vigie-signature' }),
      'subscribe.callback.webhook.attributes[0].key',
      /choose another/,
    ],
    [
      'a line break',
      'user',
      attribute({ value: 'a\r\nb: c' }),
      'subscribe.callback.webhook.attributes[0].value',
      /ASCII/,
    ],
    [
      'a variable without value',
      'user',
      attribute({ value: '$remoteType' }),
      'subscribe.callback.webhook.attributes[0].value',
      /\$Vin, .*\$CallbackID/,
    ],
    [
      'a query over a websocket',
      'user',
      { callback: { websocket: { target: 'wss://a.example', attributes: [{ type: 'Query', key: 'a', value: 'b' }] } } },
      'subscribe.callback.websocket.attributes[0].type',
      /Body/,
    ],
    [
      'a websocket by https',
      'user',
      { callback: { websocket: { target: 'https://a.example' } } },
      'subscribe.callback.websocket.target',
      /wss/,
    ],
    ['no device', 'user', push([]), 'subscribe.callback.pushnotif.devices', /1 to 100/],
    ['a device that is a word', 'user', push(['token']), 'subscribe.callback.pushnotif.devices[0]', /PushSubscription/],
    [
      'a device without its key',
      'user',
      push([{ endpoint: 'https://p.example', keys: { auth: keys.auth } }]),
      'subscribe.callback.pushnotif.devices[0].keys.p256dh',
      /missing/,
    ],
    [
      'a key that is short',
      'user',
      push([{ endpoint: 'https://p.example', keys: { ...keys, auth: 'AA' } }]),
      'subscribe.callback.pushnotif.devices[0].keys.auth',
      /16 bytes/,
    ],
    ['no kinds of commands', 'fleet', fleet({ remoteTypes: undefined }), 'subscribe.remoteTypes', /missing/],
    [
      'a kind that does not exist',
      'fleet',
      fleet({ remoteTypes: ['Doors', 'Roof'] }),
      'subscribe.remoteTypes[1]',
      /Roof/,
    ],
    ['Always', 'fleet', fleet({ retryPolicy: { policy: 'Always' } }), 'subscribe.retryPolicy.policy', /None, Bounded/],
    ['no policy', 'fleet', fleet({ retryPolicy: { retryNumber: 2 } }), 'subscribe.retryPolicy.policy', /missing/],
    [
      'no try',
      'fleet',
      fleet({ retryPolicy: { policy: 'Bounded', retryNumber: 0 } }),
      'subscribe.retryPolicy.retryNumber',
      /1 to/,
    ],
    [
      'no delay',
      'fleet',
      fleet({ retryPolicy: { policy: 'Bounded', retryDelay: 0.5 } }),
      'subscribe.retryPolicy.retryDelay',
      /1 to/,
    ],
    ['an empty batch', 'fleet', fleet({ batchNotify: { size: 0 } }), 'subscribe.batchNotify.size', /1 to/],
    [
      'a window that is short',
      'fleet',
      fleet({ batchNotify: { size: 2, timeWindow: 4 } }),
      'subscribe.batchNotify.timeWindow',
      /5 to/,
    ],
    [
      'push',
      'fleet',
      { ...(push([device]) as object), remoteTypes: ['Doors'] },
      'subscribe.callback.webhook',
      /missing/,
    ],
  ])('%s (%s)', (_, side, input, where, rule) => {
    const error = refusal(() => readSubscribe(side, input));
    expect(error.code).toMatch(/^input\./);
    expect(error.where).toBe(where);
    expect(error.message).toMatch(rule);
  });
});

describe('a callback is accepted', () => {
  const attributes = [
    { type: 'Header', key: 'Authorization', value: 'Bearer $ecret' },
    { type: 'Query', key: 'car', value: '$vin' },
    { type: 'Body', key: 'id', value: '$CallbackID' },
  ];
  const taken: [CallbackSide, unknown, unknown][] = [
    [
      'fleet',
      fleet({ unknown: 1 }),
      {
        callback: { webhook },
        remoteTypes: ['Doors'],
        retryPolicy: { policy: 'Bounded', retryNumber: 3, retryDelay: 10 },
      },
    ],
    [
      'fleet',
      fleet({
        label: 'l',
        retryPolicy: { policy: 'None' },
        batchNotify: { size: 7 },
        remoteTypes: ['Horn', 'Doors', 'Horn'],
      }),
      {
        label: 'l',
        callback: { webhook },
        remoteTypes: ['Horn', 'Doors'],
        retryPolicy: { policy: 'None', retryNumber: 3, retryDelay: 10 },
        batchNotify: { size: 7, timeWindow: 60 },
      },
    ],
    [
      'user',
      { callback: { webhook: { ...webhook, attributes } }, type: ['Remote'] },
      { type: ['Remote'], callback: { webhook: { ...webhook, attributes } } },
    ],
    [
      'user',
      {
        label: null,
        callback: { webhook: null, websocket: { target: 'wss://a.example', attributes: [{ key: 'a', value: 'b' }] } },
      },
      { callback: { websocket: { target: 'wss://a.example/', attributes: [{ type: 'Body', key: 'a', value: 'b' }] } } },
    ],
    [
      'user',
      {
        callback: {
          pushnotif: { devices: [device, JSON.parse(device), device], attributes: [{ key: 'title', value: 'T' }] },
        },
      },
      { callback: { pushnotif: { devices: [device], attributes: [{ type: 'Header', key: 'title', value: 'T' }] } } },
    ],
  ];

  test.each(taken)('%s %j', (side, input, kept) => {
    const subscribe = readSubscribe(side, input);
    expect(subscribe).toEqual(kept);
    expect(readSubscribe(side, subscribe)).toEqual(subscribe);
    const callback: Callback = { createdAt: 1, callbackId: 'ab', updatedAt: 2, status: 'Running', side, subscribe };
    const codec = compile(callbackSchema);
    expect(codec.decode(codec.encode(callback, 3), 3)).toEqual(callback);
  });

  test('without its secret when it is shown', () => {
    const subscribe = readSubscribe('user', hook({ secret: 'sixteen letters!' }));
    expect(subscribe.callback.webhook?.secret).toBe('sixteen letters!');
    expect(shownSubscribe(subscribe)).toEqual({ callback: { webhook } });
  });
});

describe('the delivery part of a monitor', () => {
  test('has defaults', () => {
    const nothing = {
      retryPolicy: { policy: 'Bounded', retryNumber: 3, retryDelay: 10 },
      attributes: [],
      callbackAttributes: {},
    };
    expect(readDelivery(undefined)).toEqual(nothing);
    expect(readDelivery('{}')).toEqual(nothing);
  });

  test('has a webhook on the fleet side', () => {
    const subscribeParam = { retryPolicy: { policy: 'Always' }, batchNotify: { size: 5 }, callback: { webhook } };
    expect(readDelivery(JSON.stringify({ subscribeParam }))).toMatchObject({
      webhook,
      retryPolicy: { policy: 'Always', retryNumber: 3, retryDelay: 10 },
      batchNotify: { size: 5, timeWindow: 60 },
    });
  });

  test('has a callback and attributes on the user side', () => {
    const attributes = [{ type: 'Body', key: 'm', value: '$MonitorLabel' }];
    const subscribeParam = { callbackId: 'ab-1', callbackAttributes: { pushnotif: [{ key: 'title', value: 'T' }] } };
    expect(readDelivery({ attributes, subscribeParam })).toMatchObject({
      callbackId: 'ab-1',
      attributes,
      callbackAttributes: { pushnotif: [{ type: 'Header', key: 'title', value: 'T' }] },
    });
  });

  test('is shown without the secret and the internal id', () => {
    const secret = 'sixteen letters!';
    const text = JSON.stringify({
      subscribeParam: { batchNotify: { size: 5 }, callbackId: 'ab', callback: { webhook: { ...webhook, secret } } },
      attributes: [],
    });
    expect(shownDelivery(text)).toEqual({
      subscribeParam: { batchNotify: { size: 5 }, callback: { webhook } },
      attributes: [],
    });
    expect(shownDelivery('{"subscribeParam":{"callbackId":"ab"}}')).toEqual({});
    expect(shownDelivery(undefined)).toEqual({});
  });

  test.each<[unknown, string]>([
    [{ subscribeParam: { callback: {} } }, 'subscribeParam.callback.webhook'],
    [{ subscribeParam: { callbackId: 'a/b' } }, 'subscribeParam.callbackId'],
    [{ subscribeParam: { retryPolicy: { policy: 'Never' } } }, 'subscribeParam.retryPolicy.policy'],
    [{ attributes: [{ type: 'Body', key: 'a', value: '$remoteType' }] }, 'attributes[0].value'],
    ['{', 'delivery'],
  ])('%j is refused at %s', (input, where) => {
    expect(refusal(() => readDelivery(input as string)).where).toBe(where);
  });
});

test('docs/callbacks.md names every variable', () => {
  const page = readFileSync(new URL('../../../docs/callbacks.md', import.meta.url), 'utf8');
  for (const name of ['vin', 'vid', 'fleetID', 'monitorID', 'MonitorLabel', 'CallbackLabel', 'RemoteStatus']) {
    expect(page).toContain(`$${name}`);
  }
});
