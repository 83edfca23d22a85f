import { describe, expect, test } from 'vitest';
import { LocalGate } from '../../../adapters/http/access/local.ts';
import { TrustedProxies } from '../../../adapters/http/proxies.ts';
import { startRig } from './rig.ts';

const proxies = new TrustedProxies(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);

describe('without a trusted proxy', () => {
  test('forwarded addresses are ignored', () => {
    const none = new TrustedProxies([]);
    expect(none.clientOf('127.0.0.1', { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' })).toBe(
      '127.0.0.1',
    );
    expect(proxies.clientOf('203.0.113.9', { 'x-forwarded-for': '192.0.2.1' })).toBe('203.0.113.9');
  });
});

describe('behind trusted proxies the client is the rightmost untrusted address', () => {
  test.each<[string, Record<string, string>, string]>([
    ['nothing forwarded', {}, '127.0.0.1'],
    ['one address', { 'x-forwarded-for': '192.0.2.1' }, '192.0.2.1'],
    ['a forged address before it', { 'x-forwarded-for': '127.0.0.1, 198.51.100.7, 192.0.2.1' }, '192.0.2.1'],
    ['two proxies', { 'x-forwarded-for': '198.51.100.7, 192.0.2.1, 10.1.2.3' }, '192.0.2.1'],
    ['proxies only', { 'x-forwarded-for': '10.9.9.9, 10.1.2.3' }, '10.9.9.9'],
    ['a port', { 'x-forwarded-for': '192.0.2.1:4711' }, '192.0.2.1'],
    ['IPv4 in IPv6', { 'x-forwarded-for': '::ffff:192.0.2.1' }, '192.0.2.1'],
    ['IPv6 with a port', { 'x-forwarded-for': '[2001:db8::7]:4711' }, '2001:db8::7'],
    ['IPv6', { 'x-forwarded-for': '2001:db8::7, fd00::1' }, '2001:db8::7'],
    ['Forwarded', { forwarded: 'for=192.0.2.1;proto=https;by=10.0.0.1' }, '192.0.2.1'],
    [
      'Forwarded by several',
      { forwarded: 'for=127.0.0.1, For="[2001:db8::7]:4711";host=a, for=10.1.2.3' },
      '2001:db8::7',
    ],
    ['Forwarded with commas in quotes', { forwarded: 'for=192.0.2.1;host="a, for=127.0.0.1"' }, '192.0.2.1'],
    ['a hidden client (RFC 7239, 6.3)', { forwarded: 'for="_hidden.1"' }, '_hidden.1'],
    ['both headers that agree', { forwarded: 'for=192.0.2.1', 'x-forwarded-for': '192.0.2.1' }, '192.0.2.1'],
  ])('%s', (_, headers, client) => expect(proxies.clientOf('127.0.0.1', headers)).toBe(client));

  // Most proxies write one of the two headers and pass on the other from the client.
  test.each<[string, Record<string, string>]>([
    ['both headers that differ', { forwarded: 'for=127.0.0.1', 'x-forwarded-for': '192.0.2.1' }],
    ['unknown', { forwarded: 'for=unknown' }],
    ['an element without an address', { forwarded: 'for=127.0.0.1, proto=https' }],
    ['no address', { 'x-forwarded-for': '127.0.0.1, somewhere' }],
    ['an empty element', { 'x-forwarded-for': '127.0.0.1, ' }],
    ['an unfinished quote', { forwarded: 'for="127.0.0.1' }],
    ['a long name', { forwarded: `for=_${'a'.repeat(200)}` }],
  ])('the client is unknown, and never the proxy itself, with %s', (_, headers) =>
    expect(proxies.clientOf('127.0.0.1', headers)).toBe('unknown'),
  );
});

test('a client behind a trusted proxy on this machine does not count as the machine itself', async () => {
  const gate = new LocalGate();
  const rig = await startRig({ gates: { fleet: gate, user: gate }, trustedProxies: ['127.0.0.1'] });
  expect((await rig.get('/fleets/f1')).status).toBe(200);
  expect((await rig.get('/fleets/f1', { 'x-forwarded-for': '192.0.2.1' })).status).toBe(403);
  expect((await rig.get('/fleets/f1', { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=127.0.0.1' })).status).toBe(
    403,
  );
});
