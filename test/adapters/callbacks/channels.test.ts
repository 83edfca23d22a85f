import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callbackChannels, type VapidKeys } from '../../../adapters/callbacks/index.ts';
import type { Receipt } from '../../../agent/callbacks/notifier.ts';
import { Authority } from '../../rig/certificates.ts';
import { PushService, vapidKeys } from './push-service.ts';
import { HttpReceiver } from './servers.ts';
import { WebsocketReceiver } from './websocket-receiver.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const bench = { networks: ['127.0.0.0/8'], allowHttp: true, now: () => 0 };

test('webhook, WebSocket and push channels work with one configuration', async () => {
  const [http, socket] = [await new HttpReceiver().open(), await new WebsocketReceiver().open()];
  const channels = callbackChannels({ ...bench, vapid: vapidKeys });
  open.push(http, socket, channels);
  const outgoing = { receiver: 'r', headers: {}, ids: ['1'], body: '{}' };
  const taken: Receipt = { outcome: 'delivered' };
  expect(await channels.webhook?.deliver({ ...outgoing, url: http.url })).toEqual(taken);
  const message = { id: '1', content: {} };
  expect(await channels.websocket?.deliver({ receiver: 'r', url: socket.url, messages: [message] })).toEqual(taken);
  const gone = new Promise((resolve) => socket.clients[0]?.once('close', resolve));
  channels.websocket?.release?.('r');
  await gone;
  expect(() => channels.pushnotif?.check('https://10.0.0.1/', 'subscribe')).toThrow(
    /10\.0\.0\.1 is not a public address/,
  );
});

test('without keys there is no push channel, and unused channels close without error', async () => {
  const channels = callbackChannels(bench);
  expect(channels.pushnotif).toBeUndefined();
  await channels.close();
});

test('an invalid configuration is refused', () => {
  expect(() => callbackChannels({ now: () => 0, networks: ['home'] })).toThrow(RangeError);
});

test('push stays offline while its keys or authorities are unusable, and delivers once they are repaired', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-channels-'));
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
  const channels = callbackChannels({ ...bench, vapid: () => read(files.vapid), ca: () => read(files.ca) });
  open.push(service, channels);
  const outgoing = {
    receiver: 'r',
    device: service.subscribe('one'),
    payload: '{}',
    urgency: 'high',
    ttl: 60,
  } as const;
  for (const [damage, named] of [
    [{ vapid: new Error('no key') }, /no key/],
    [{ vapid: { ...vapid, publicKey: vapidKeys().publicKey } }, /callbacks\.push\.publicKey/],
    [{ ca: new Error('no file') }, /no file/],
    [{ ca: 'no certificate' }, /callbacks\.ca/],
  ] as const) {
    files = { vapid, ca: sound, ...damage };
    expect(() => channels.inspect()).toThrow(named);
    const receipt = await channels.pushnotif?.deliver(outgoing);
    expect(receipt).toEqual({ outcome: 'offline', reason: expect.stringMatching(named) });
  }
  // Other channels need no keys, but they do need authorities.
  const post = { receiver: 'r', url: 'http://127.0.0.1:1/', headers: {}, ids: [], body: '' };
  expect(await channels.webhook?.deliver(post)).toMatchObject({
    outcome: 'offline',
    reason: expect.stringMatching(/callbacks\.ca/),
  });
  files = { vapid: new Error('no key'), ca: sound };
  expect(await channels.webhook?.deliver(post)).toMatchObject({ outcome: 'failed' });
  files = { vapid, ca: sound };
  channels.inspect();
  expect(await channels.pushnotif?.deliver(outgoing)).toEqual({ outcome: 'delivered' });
});
