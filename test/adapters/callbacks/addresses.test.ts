import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Addresses, type Resolve } from '../../../adapters/callbacks/addresses.ts';
import { isPublic } from '../../../adapters/callbacks/networks.ts';
import { WebhookChannel } from '../../../adapters/callbacks/webhook.ts';

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.1',
  '192.167.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4007:80e::200e',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
])('%s is public', (address) => expect(isPublic(address)).toBe(true));

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
])('%s is not public', (address) => expect(isPublic(address)).toBe(false));

test('an IPv4 address is public exactly if its IPv6 forms are', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
      for (const form of [`::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${hex}`]) {
        expect(isPublic(form)).toBe(isPublic(address));
      }
    }),
  );
});

describe('an address is refused', () => {
  const rules = new Addresses();
  test.each([
    ['http://example.com/', /must begin with https/],
    ['ws://example.com/', /must begin with wss/],
    ['https://127.0.0.1/', /127\.0\.0\.1 is not a public address/],
    ['https://2130706433/', /127\.0\.0\.1 is not a public/],
    ['https://0x7f.1/', /127\.0\.0\.1 is not a public/],
    ['https://[::1]:8443/', /::1 is not a public/],
    ['https://[::ffff:10.0.0.1]/', /is not a public/],
    ['https://localhost/', /localhost is not a public/],
    ['https://a.localhost./', /is not a public/],
  ])('%s', (url, reason) => {
    expect(() => rules.check(url, 'x')).toThrow(reason);
  });

  test('unless its network is configured', () => {
    const wider = new Addresses({
      networks: ['127.0.0.0/8', '10.1.0.0/16', 'fd00::/8', '192.168.7.7'],
      allowHttp: true,
    });
    for (const host of ['127.0.0.1', '10.1.2.3', '[fd00::1]', '[::ffff:10.1.2.3]', 'localhost', '192.168.7.7']) {
      wider.check(`http://${host}/`, 'x');
    }
    expect(() => wider.check('http://10.2.0.1/', 'x')).toThrow(/not a public/);
    expect(() => wider.check('http://192.168.7.8/', 'x')).toThrow(/not a public/);
  });

  test('with an error of its own if a configured network is invalid', () => {
    for (const entry of ['10.0.0.0/33', 'fd00::/129', 'home', '10.0.0.0/x', '10.0.0.0/']) {
      expect(() => new Addresses({ networks: [entry] })).toThrow(RangeError);
    }
  });
});

describe('a host name', () => {
  /** A resolver that answers with each list in turn, and repeats the last one. */
  const answers =
    (...lists: string[][]): Resolve =>
    (_, __, done) => {
      const addresses = (lists.length > 1 ? lists.shift() : lists[0]) ?? [];
      done(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };

  test('that resolves to a private address is refused at every lookup', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    const outgoing = { receiver: 'r', url: `http://rebinding.example:${port}/`, headers: {}, ids: ['1'], body: '{}' };
    // The second answer is the attack. The channel must check it like the first.
    const addresses = new Addresses({ allowHttp: true }, answers(['127.0.0.1'], ['127.0.0.1', '::1']));
    const channel = new WebhookChannel({ addresses, now: () => 0 });
    for (const shown of ['127.0.0.1', '127.0.0.1, ::1']) {
      expect(await channel.deliver(outgoing)).toEqual({
        outcome: 'failed',
        reason: `rebinding.example (${shown}) is not a public address`,
      });
    }
    expect(connections).toBe(0);
    // The same name is reachable once its network is configured: only the rule prevented the connection.
    const wider = new Addresses({ allowHttp: true, networks: ['127.0.0.1'] }, answers(['10.0.0.1', '127.0.0.1']));
    const second = new WebhookChannel({ addresses: wider, now: () => 0 });
    await second.deliver(outgoing);
    expect(connections).toBe(1);
    await Promise.all([channel.close(), second.close()]);
    await new Promise((done) => server.close(done));
  });

  test('resolves only to permitted addresses', async () => {
    const addresses = new Addresses({}, answers(['10.0.0.1', '8.8.8.8', 'fe80::1', '2606:4700::1']));
    const found = await new Promise((done) => addresses.lookup('x', { all: true }, (_, list) => done(list)));
    expect(found).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
    const one = await new Promise((done) => addresses.lookup('x', {}, (_, address, family) => done([address, family])));
    expect(one).toEqual(['8.8.8.8', 4]);
  });
});
