import { afterEach, expect, test } from 'vitest';
import { callbackCouriers } from '../../../adapters/callbacks/index.ts';
import type { Receipt } from '../../../agent/callbacks/courier.ts';
import { vapidKeys } from './push-service.ts';
import { HttpReceiver } from './servers.ts';
import { WebsocketReceiver } from './websocket-receiver.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const bench = { networks: ['127.0.0.0/8'], plain: true, now: () => 0 };

test('all channels of one configuration', async () => {
  const [http, socket] = [await new HttpReceiver().open(), await new WebsocketReceiver().open()];
  const couriers = callbackCouriers({ ...bench, vapid: vapidKeys() });
  open.push(http, socket, couriers);
  const parcel = { receiver: 'r', headers: {}, ids: ['1'], body: '{}' };
  const taken: Receipt = { outcome: 'delivered' };
  expect(await couriers.webhook?.deliver({ ...parcel, url: http.url })).toEqual(taken);
  const message = { id: '1', content: {} };
  expect(await couriers.websocket?.deliver({ receiver: 'r', url: socket.url, messages: [message] })).toEqual(taken);
  const gone = new Promise((resolve) => socket.clients[0]?.once('close', resolve));
  couriers.websocket?.release?.('r');
  await gone;
  expect(() => couriers.pushnotif?.check('https://10.0.0.1/', 'subscribe')).toThrow(/10\.0\.0\.1 is no public address/);
});

test('without keys there is no push; nothing that was never used needs to be closed', async () => {
  const couriers = callbackCouriers(bench);
  expect(couriers.pushnotif).toBeUndefined();
  await couriers.close();
});

test('a configuration that is none is refused', () => {
  expect(() => callbackCouriers({ now: () => 0, networks: ['home'] })).toThrow(RangeError);
  const { publicKey } = vapidKeys();
  expect(() => callbackCouriers({ now: () => 0, vapid: { ...vapidKeys(), publicKey } })).toThrow(/callbacks\.push/);
});
