import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';

let folder: string;
const hash = `scrypt$16384$8$1$c2FsdHNhbHRzYWx0c2E$${'a'.repeat(43)}`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-http-'));
  for (const name of ['cert.pem', 'key.pem', 'ca.pem', 'jwks.json', 'issuer.pem']) {
    writeFileSync(join(folder, name), 'x', { mode: 0o600 });
  }
  writeFileSync(join(folder, 'password'), `${hash}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'plain'), 'secret\n', { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fleet =
  "fleet: [{ name: operator, passwordFile: password, clientId: app, fleets: [f1], certificate: 'CN=fleet' }]";
const user = 'user: { issuer: https://issuer.example, audience: vigie, jwks: jwks.json, subjects: [anna] }';
const withClients = (clients: string, more = '') => user.replace(' }', `${more}, clients: [${clients}] }`);
const tls = 'tls: { cert: cert.pem, key: key.pem, clientCa: ca.pem }';

const tilesAt = (url: string) => ['listen: localhost:1', user, `tiles: { url: "${url}" }`];

const load = (...members: string[]) => loadAs('needed', ...members);

/** Loads like a starting agent if `files` is `awaited`. */
function loadAs(files: 'needed' | 'awaited', ...members: string[]) {
  const file = join(folder, 'vigie.yaml');
  const lines = members.map((member) => `  ${member}\n`).join('');
  writeFileSync(
    file,
    `configuration: 1\nvin: VF30A00000B000042\nprofile: bench\ncan: [{ bus: body, simulated: true }]\n` +
      `mqtt: { url: mqtts://broker.example }\nhttp:\n${lines}`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {}, undefined, files);
  return {
    http: configuration?.http,
    found: diagnostics.map(({ severity, message, fix }) => `${severity}: ${message} (${fix})`),
  };
}

test('a whole section becomes plain data with absolute paths', () => {
  const { http, found } = load(
    'listen: 0.0.0.0:8443',
    'url: https://car.example/',
    "hosts: [car.local, 203.0.113.7, '[2001:db8::7]']",
    "trustedProxies: [127.0.0.1, 10.0.0.0/24, '2001:db8::/64']",
    tls,
    fleet,
    user,
    "tiles: { url: 'https://tiles.example/{z}/{x}/{y}.png?key=a', attribution: © Somebody }",
    'perSecond: 5',
    'maxBodyBytes: 64KiB',
  );
  expect(found).toEqual([]);
  expect(http).toEqual({
    host: '0.0.0.0',
    port: 8443,
    url: 'https://car.example',
    hosts: ['car.local', '203.0.113.7', '[2001:db8::7]'],
    trustedProxies: ['127.0.0.1', '10.0.0.0/24', '2001:db8::/64'],
    tls: { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), clientCa: join(folder, 'ca.pem') },
    fleet: [
      {
        name: 'operator',
        passwordFile: join(folder, 'password'),
        clientId: 'app',
        fleets: ['f1'],
        certificate: 'CN=fleet',
      },
    ],
    user: { issuer: 'https://issuer.example', audience: 'vigie', jwks: join(folder, 'jwks.json'), subjects: ['anna'] },
    vehicle: {},
    tiles: { url: 'https://tiles.example/{z}/{x}/{y}.png?key=a', attribution: '© Somebody' },
    perDay: 86_400,
    perSecond: 5,
    maxBodyBytes: 65_536,
  });
});

test('on loopback addresses, also IPv6, the interface needs no TLS', () => {
  expect(load('listen: "[::1]:8080"', user).found).toEqual([]);
  expect(load('listen: "[::1]:8080"', user).http).toMatchObject({ host: '::1', port: 8080 });
  expect(load('listen: localhost:0', user).found).toEqual([]);
});

test('tiles from a loopback address need no TLS', () => {
  for (const host of ['127.0.0.1:8000', 'localhost', '[::1]:8000']) {
    expect(load(...tilesAt(`http://${host}/{z}/{x}/{y}.png`)).found).toEqual([]);
  }
});

test('a client of the user side can have `energy: list`', () => {
  for (const more of ['', ', clientIds: [old, new]']) {
    const { http, found } = load('listen: localhost:1', withClients('{ clientId: old, energy: list }', more));
    expect(found).toEqual([]);
    expect(http?.user?.clients).toEqual([{ clientId: 'old', energy: 'list' }]);
  }
});

describe('an error is', () => {
  test.each([
    ['to be open to the network without TLS', ['listen: 0.0.0.0:8080', user], /add tls, or listen on 127.0.0.1/],
    ['a name of another machine', ['listen: car.example:8080', user], /add tls/],
    ['a missing user', ['listen: 127.0.0.1:8080'], /add fleet or user/],
    ['a proxy that is no address', ['listen: localhost:1', user, 'trustedProxies: [10.0.0.0/40]'], /not a network/],
    ['to trust everybody as a proxy', ['listen: localhost:1', user, 'trustedProxies: [0.0.0.0/0]'], /any address/],
    ['an invalid port', ['listen: 127.0.0.1:99999', user], /not a port/],
    ['an invalid address', ['listen: 8080', user], /must be an address and a port/],
    ['a password in plain text', ['listen: localhost:1', fleet.replace('password,', 'plain,'), tls], /no hash/],
    [
      'a file that is not there',
      ['listen: localhost:1', fleet.replace('password,', 'nowhere,'), tls],
      /cannot be read/,
    ],
    ['a folder', ['listen: localhost:1', fleet.replace('password,', "'.',"), tls], /cannot be read: it is a folder/],
    ['a client certificate without clientCa', ['listen: localhost:1', fleet], /add clientCa/],
    ['two users of one name', ['listen: localhost:1', tls, fleet.replace(/\[(\{.*\})\]/, '[$1, $1]')], /two users/],
    [
      'tiles from another machine without TLS',
      tilesAt('http://tiles.example/{z}/{x}/{y}.png'),
      /use https, or a server/,
    ],
    ['a tile address without x, y or z', tilesAt('https://tiles.example/{z}/{x}.png'), /has no \{y\}/],
    ['tiles at an invalid address', tilesAt('https://tiles:x/{z}/{x}/{y}'), /is not an address/],
    ['tiles whose address changes the policy', tilesAt("https://a;script-src *;'/{z}/{x}/{y}"), /must be an address/],
    ['no keys', ['listen: localhost:1', user.replace(' jwks: jwks.json,', '')], /either jwks or keys/],
    ['keys twice', ['listen: localhost:1', user.replace('jwks:', 'keys: [issuer.pem], jwks:')], /either jwks or keys/],
    ['keys over http', ['listen: localhost:1', user.replace('jwks.json', 'http://issuer.example/keys')], /https/],
    ['a further name with a port', ['listen: localhost:1', user, 'hosts: [car.local:8443]'], /without a port/],
    ['a member that is not known', ['listen: localhost:1', user, 'token: x'], /token/],
    [
      'an unknown form of energy',
      ['listen: localhost:1', withClients('{ clientId: old, energy: array }')],
      /energy.*one of object, list/,
    ],
    ['a client without an id', ['listen: localhost:1', withClients('{ energy: list }')], /"clientId" is missing/],
    [
      'one client twice',
      ['listen: localhost:1', withClients('{ clientId: old, energy: list }, { clientId: old, energy: object }')],
      /two clients have the clientId old/,
    ],
    [
      'a client that clientIds does not permit',
      ['listen: localhost:1', withClients('{ clientId: old, energy: list }', ', clientIds: [new]')],
      /clientIds does not permit old.*add it to clientIds/,
    ],
  ])('%s', (_, members, said) => {
    const { http, found } = load(...members);
    expect(found.filter((line) => line.startsWith('error'))).toEqual([expect.stringMatching(said)]);
    expect(http).toBeUndefined();
  });
});

test.each([
  ['is not there', 'nowhere'],
  ['is a folder', "'.'"],
  ['holds no hash', 'plain'],
])('the agent starts without a password whose file %s, and reports a warning', (_, name) => {
  const { http, found } = loadAs('awaited', 'listen: localhost:1', tls, fleet.replace('password,', `${name},`));
  expect(found).toEqual([expect.stringMatching(/^warning: .*(cannot be read|no hash)/)]);
  expect(http?.fleet).toHaveLength(1);
});

test('a secret that everyone can read, and tokens of any subject, cause warnings', () => {
  chmodSync(join(folder, 'key.pem'), 0o644);
  const { found } = load('listen: localhost:1', tls, user.replace(', subjects: [anna]', ''));
  chmodSync(join(folder, 'key.pem'), 0o600);
  expect(found).toEqual([
    expect.stringMatching(/^warning: .*key.pem is a secret/),
    expect.stringMatching(/^warning: every token/),
  ]);
});

test('keys may come from an https or loopback address', () => {
  for (const address of ['https://issuer.example/keys', 'http://127.0.0.1:8080/keys']) {
    expect(load('listen: localhost:1', user.replace('jwks.json', address)).http?.user?.jwks).toBe(address);
  }
});
