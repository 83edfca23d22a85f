import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callbackCouriers, type VapidKeys } from '../../../adapters/callbacks/index.ts';
import type { Receipt } from '../../../agent/callbacks/courier.ts';
import { Authority } from '../../rig/certificates.ts';
import { PushService, vapidKeys } from './push-service.ts';
import { HttpReceiver } from './servers.ts';
import { WebsocketReceiver } from './websocket-receiver.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const bench = { networks: ['127.0.0.0/8'], plain: true, now: () => 0 };

test('all channels of one configuration', async () => {
  const [http, socket] = [await new HttpReceiver().open(), await new WebsocketReceiver().open()];
  const couriers = callbackCouriers({ ...bench, vapid: vapidKeys });
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
});

test('as long as keys or authorities cannot be used the car has no way out, and has one when they are mended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-couriers-'));
  const authority = new Authority(folder);
  const vapid = vapidKeys();
  const service = await new PushService(authority.issue('push'), vapid.publicKey).open();
  const sound = Buffer.from(authority.cert).toString();
  rmSync(folder, { recursive: true });
  let files: { readonly vapid: VapidKeys | Error; readonly ca: string | Error } = { vapid, ca: sound };
  const read = <T>(what: T | Error): T => {
    if (what instanceof Error) throw what;
    return what;
  };
  const couriers = callbackCouriers({ ...bench, vapid: () => read(files.vapid), ca: () => read(files.ca) });
  open.push(service, couriers);
  const parcel = { receiver: 'r', device: service.subscribe('one'), payload: '{}', urgency: 'high', ttl: 60 } as const;
  for (const [damage, named] of [
    [{ vapid: new Error('no key') }, /no key/],
    [{ vapid: { ...vapid, publicKey: vapidKeys().publicKey } }, /callbacks\.push\.publicKey/],
    [{ ca: new Error('no file') }, /no file/],
    [{ ca: 'no certificate' }, /callbacks\.ca/],
  ] as const) {
    files = { vapid, ca: sound, ...damage };
    expect(() => couriers.inspect()).toThrow(named);
    const receipt = await couriers.pushnotif?.deliver(parcel);
    expect(receipt).toEqual({ outcome: 'offline', reason: expect.stringMatching(named) });
  }
  // Other channels need no keys, but they do need authorities.
  const post = { receiver: 'r', url: 'http://127.0.0.1:1/', headers: {}, ids: [], body: '' };
  expect(await couriers.webhook?.deliver(post)).toMatchObject({
    outcome: 'offline',
    reason: expect.stringMatching(/callbacks\.ca/),
  });
  files = { vapid: new Error('no key'), ca: sound };
  expect(await couriers.webhook?.deliver(post)).toMatchObject({ outcome: 'failed' });
  files = { vapid, ca: sound };
  couriers.inspect();
  expect(await couriers.pushnotif?.deliver(parcel)).toEqual({ outcome: 'delivered' });
});
