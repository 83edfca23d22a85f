import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PushRequest } from '../../../adapters/callbacks/channel.ts';
import { PUSH_PAYLOAD } from '../../../adapters/callbacks/channel.ts';
import { PushChannel } from '../../../adapters/callbacks/push.ts';
import { checkPair, type VapidKeys } from '../../../adapters/callbacks/vapid.ts';
import { defined } from '../../../protocol/defined.ts';
import { Authority } from '../../rig/certificates.ts';
import { PushService, vapidKeys } from './push-service.ts';
import { loopback } from './servers.ts';

let folder: string;
let service: PushService;
let channel: PushChannel;
let vapid: VapidKeys;
let ca: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-push-'));
  const authority = new Authority(folder);
  ca = Buffer.from(authority.cert).toString();
  vapid = vapidKeys();
  service = await new PushService(authority.issue('push'), vapid.publicKey).open();
  channel = new PushChannel({ addresses: loopback, now: () => 0, ca, vapid });
});

beforeEach(() => {
  service.behaviour = () => undefined;
  service.pushed.splice(0);
  service.faults.splice(0);
});

afterAll(async () => {
  await channel.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

function outgoing(name: string, rest: Partial<PushRequest> = {}): PushRequest {
  const device = service.subscribe(name);
  return { receiver: 'r', device, payload: '{"id":"é"}', urgency: 'high', ttl: 60, ...rest };
}

test('a push uses HTTP/2, proves its sender, and is encrypted for the device', async () => {
  expect(await channel.deliver(outgoing('one'))).toEqual({ outcome: 'delivered' });
  expect(service.faults).toEqual([]);
  expect(service.pushed).toEqual([
    { device: 'one', ttl: 60, urgency: 'high', payload: '{"id":"é"}', httpVersion: '2.0' },
  ]);
});

test('the largest payload stays within the size that every push service must accept', async () => {
  const payload = 'x'.repeat(PUSH_PAYLOAD);
  expect(await channel.deliver(outgoing('large', { payload }))).toEqual({ outcome: 'delivered' });
  const digest = (text: string | undefined) =>
    createHash('sha256')
      .update(text ?? '')
      .digest('hex');
  expect(digest(service.pushed[0]?.payload)).toBe(digest(payload));
});

test.each([404, 410])('%i: the subscription has ended', async (status) => {
  service.behaviour = () => ({ status });
  expect(await channel.deliver(outgoing('gone'))).toMatchObject({ outcome: 'gone' });
});

test.each([
  [429, '7', 7000],
  [503, '120', 120_000],
  [500, undefined, undefined],
  [413, undefined, undefined],
])('%i with retry-after %s is retried', async (status, wait, after) => {
  service.behaviour = () => ({ status, ...(wait === undefined ? {} : { headers: { 'retry-after': wait } }) });
  expect(await channel.deliver(outgoing('busy'))).toEqual({
    outcome: 'failed',
    reason: `the push service answered ${status}`,
    ...defined({ after }),
  });
});

test('without an answer from the push service the delivery fails', async () => {
  const hasty = new PushChannel({ addresses: loopback, now: () => 0, ca, vapid, timeout: 100 });
  service.behaviour = () => 'hang';
  expect(await hasty.deliver(outgoing('silent'))).toEqual({ outcome: 'failed', reason: 'no answer within 100 ms' });
  await hasty.close();
});

test('a push service refuses a key other than the one that the app subscribed with', async () => {
  const stranger = new PushChannel({ addresses: loopback, now: () => 0, ca, vapid: vapidKeys() });
  expect(await stranger.deliver(outgoing('mine'))).toMatchObject({ outcome: 'failed' });
  expect(service.faults).toEqual(['another key than that of the subscription']);
  await stranger.close();
});

test('a device whose key is not a point on the curve is removed', async () => {
  const { device, ...rest } = outgoing('broken');
  const broken = { ...device, keys: { ...device.keys, p256dh: `B${'A'.repeat(86)}` } };
  expect(await channel.deliver({ ...rest, device: broken })).toMatchObject({ outcome: 'gone' });
});

test('a public and a private key that do not match are a configuration error', () => {
  const { publicKey } = vapidKeys();
  expect(() => checkPair({ ...vapid, publicKey })).toThrow(/callbacks\.push\.publicKey/);
  expect(() => checkPair({ ...vapid, privateKey: 'A' })).toThrow(/callbacks\.push/);
  checkPair(vapid);
});

test('an endpoint in a private network is refused', async () => {
  const { device, ...rest } = outgoing('inside');
  const inside = { ...device, endpoint: 'https://192.168.0.1/push' };
  expect(await channel.deliver({ ...rest, device: inside })).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/not a public address/),
  });
});

test('the next push succeeds after the service was unreachable', async () => {
  await service.close();
  expect(await channel.deliver(outgoing('back'))).toMatchObject({ outcome: 'failed' });
  await service.open();
  const again = outgoing('back');
  const first = await channel.deliver(again);
  expect(first.outcome === 'delivered' ? first : await channel.deliver(again)).toEqual({ outcome: 'delivered' });
});
