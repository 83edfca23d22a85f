import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportPKCS8, exportSPKI, generateKeyPair, importPKCS8, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { LocalGate } from '../../../adapters/http/access/local.ts';
import { keysByAddress, keysOfFiles, keysOfPem, keysOfSet } from '../../../adapters/http/access/token-keys.ts';
import { type UserAccess, UserGate } from '../../../adapters/http/access/user.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { startRig } from './rig.ts';

const clock = new SystemClock();
const ISSUER = 'https://issuer.example';
const AUDIENCE = 'vigie';

interface Issuer {
  readonly access: UserAccess;
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
}

/** An issuer with one key, which the car has as a JWK Set. */
async function issuer(algorithm = 'ES256', rest: Partial<UserAccess> = {}): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: algorithm };
  const now = Math.floor(Date.now() / 1000);
  return {
    access: { issuer: ISSUER, audience: AUDIENCE, keys: keysOfSet(JSON.stringify({ keys: [jwk] }), 'set'), ...rest },
    token: (claims = {}, header = {}) => {
      const all = {
        iss: ISSUER,
        aud: AUDIENCE,
        sub: 'anna',
        exp: now + 600,
        scope: 'data:telemetry data:trip',
        ...claims,
      };
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new SignJWT(kept).setProtectedHeader({ alg: algorithm, kid: 'k1', ...header }).sign(privateKey);
    },
  };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the user side', () => {
  const STATUS = '/connectedcar/v4/user/vehicles/v1/status';

  test.each(['ES256', 'RS256', 'PS256', 'EdDSA', 'ES384'])('admits a token signed with %s', async (algorithm) => {
    const { access, token } = await issuer(algorithm);
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    for (let twice = 0; twice < 2; twice++) {
      const { status, json } = await rig.get(STATUS, bearer(await token()));
      expect(status).toBe(200);
      expect(json).toMatchObject({ caller: { name: 'anna', scopes: ['data:telemetry', 'data:trip'] } });
    }
  });

  test('admits a valid token after any number of invalid ones from its address', async () => {
    const { access, token } = await issuer();
    const stranger = await issuer();
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const wrong = await stranger.token();
    for (let attempt = 0; attempt < 12; attempt++) expect((await rig.get(STATUS, bearer(wrong))).status).toBe(401);
    expect((await rig.get(STATUS, bearer(await token()))).status).toBe(200);
  });

  test('requires one of the scopes of the operation', async () => {
    const { access, token } = await issuer();
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const ask = async (scope: unknown, path = STATUS, claim = 'scope') =>
      (await rig.get(path, bearer(await token({ scope: undefined, [claim]: scope })))).status;
    expect(await ask('data:position')).toBe(200);
    expect(await ask('data:position', STATUS, 'scp')).toBe(200);
    expect(await ask(['data:position'], STATUS, 'scp')).toBe(200);
    expect(await ask('data:trip')).toBe(403);
    expect(await ask(undefined)).toBe(403);
    expect(await ask('data:telemetry', '/user/vehicles/v1/trips')).toBe(403);
    const refused = await rig.get(STATUS, bearer(await token({ scope: 'data:trip' })));
    expect(refused.json).toMatchObject({
      code: 40300,
      debug: expect.any(String),
      message: expect.stringContaining('data:telemetry'),
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ['has expired', { exp: Math.floor(Date.now() / 1000) - 60 }],
    ['never expires', { exp: undefined }],
    ['is of another issuer', { iss: 'https://other.example' }],
    ['is for another audience', { aud: 'others' }],
    ['is not valid yet', { nbf: Math.floor(Date.now() / 1000) + 600 }],
  ])('refuses a token that %s', async (_, claims) => {
    const { access, token } = await issuer();
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const { status, headers, json } = await rig.get(STATUS, bearer(await token(claims)));
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toMatch(/^Bearer /);
    expect(json).toMatchObject({ code: 40100 });
  });

  test('refuses text that is not a token of the issuer', async () => {
    const { access, token } = await issuer();
    const forger = await issuer();
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const good = await token();
    const [head = '', body = '', signature = ''] = good.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
    const more = Buffer.from(JSON.stringify({ ...claims, scope: 'data:position' })).toString('base64url');
    const tries = {
      'signed by another': await forger.token(),
      'another body': `${head}.${more}.${signature}`,
      'no signature': `${head}.${body}.`,
      'alg none': new UnsecuredJWT(claims).encode(),
      'an unknown key': await token({}, { kid: 'k2' }),
      'no JWT': 'abc',
      'three dots': '...',
      'a long one': 'a'.repeat(10_000),
    };
    for (const [name, text] of Object.entries(tries)) {
      expect([name, (await rig.get(STATUS, bearer(text))).status]).toEqual([name, 401]);
    }
    expect((await rig.get(STATUS)).status).toBe(401);
    expect((await rig.get(STATUS, { authorization: 'Basic YW5uYTp4' })).status).toBe(401);
    expect(JSON.stringify(rig.log.lines)).not.toContain(signature);
  });

  test('does not accept a public key as a shared secret', async () => {
    const { publicKey } = await generateKeyPair('RS256', { extractable: true });
    const pem = await exportSPKI(publicKey);
    const access = { issuer: ISSUER, audience: AUDIENCE, keys: keysOfPem([{ pem, where: 'key' }]) };
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const exp = Math.floor(Date.now() / 1000) + 600;
    const forged = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'a', exp, scope: 'data:telemetry' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(pem));
    expect((await rig.get(STATUS, bearer(forged))).status).toBe(401);
  });

  test('accepts several static keys', async () => {
    const pairs = await Promise.all([1, 2].map(() => generateKeyPair('ES256', { extractable: true })));
    const pems = await Promise.all(
      pairs.map(async ({ publicKey }) => ({ pem: await exportSPKI(publicKey), where: 'key' })),
    );
    const access = { issuer: ISSUER, audience: AUDIENCE, keys: keysOfPem(pems) };
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const exp = Math.floor(Date.now() / 1000) + 600;
    const stranger = await generateKeyPair('ES256', { extractable: true });
    const ask = async (key: typeof stranger) => {
      const privateKey = await importPKCS8(await exportPKCS8(key.privateKey), 'ES256');
      const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'a', exp, scope: 'data:telemetry' };
      const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
      return (await rig.get(STATUS, bearer(token))).status;
    };
    for (const pair of pairs) expect(await ask(pair)).toBe(200);
    expect(await ask(stranger)).toBe(401);
  });

  test('refuses private keys and text that is not a key', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const pem = await exportPKCS8(privateKey);
    expect(() => keysOfPem([{ pem, where: 'key.pem' }])).toThrow(/key.pem: /);
    expect(() => keysOfPem([{ pem: 'x', where: 'key.pem' }])).toThrow(/key.pem: /);
    expect(() => keysOfSet('{}', 'set.json')).toThrow(/set.json: /);
    expect(() => keysByAddress('http://issuer.example/keys')).toThrow(/https/);
  });

  test('fetches the keys of the issuer, and again for an unknown key', async () => {
    const [first, second] = await Promise.all([issuer(), issuer()]);
    const keys = createServer((_, response) => {
      asked++;
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: set }));
    });
    let asked = 0;
    const pair = await generateKeyPair('ES256', { extractable: true });
    const set = [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }];
    const address = await listen(keys);
    const access = { issuer: ISSUER, audience: AUDIENCE, keys: keysByAddress(`${address}/keys`) };
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const exp = Math.floor(Date.now() / 1000) + 600;
    const claims = { iss: ISSUER, aud: AUDIENCE, exp, scope: 'data:telemetry' };
    const token = (sub: string) =>
      new SignJWT({ ...claims, sub }).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(pair.privateKey);
    for (const sub of ['anna', 'ben']) expect((await rig.get(STATUS, bearer(await token(sub)))).status).toBe(200);
    expect(asked).toBe(1);
    expect((await rig.get(STATUS, bearer(await first.token()))).status).toBe(401);
    expect((await rig.get(STATUS, bearer(await second.token({}, { kid: 'k9' })))).status).toBe(401);
  });

  test('does not blame the token if the issuer is unreachable', async () => {
    const keys = createServer((_, response) => response.writeHead(503).end());
    const address = await listen(keys);
    const { access, token } = await issuer('ES256', { keys: keysByAddress(`${address}/keys`) });
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    const answer = await rig.get(STATUS, bearer(await token()));
    expect(answer.status).toBe(500);
  });

  test('admits the subjects of this car and the configured clients', async () => {
    const { access, token } = await issuer('ES256', { subjects: ['anna'], clientIds: ['app'] });
    const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
    expect((await rig.get(`${STATUS}?client_id=app`, bearer(await token()))).status).toBe(200);
    expect((await rig.get(`${STATUS}?client_id=app`, bearer(await token({ sub: 'ben' })))).status).toBe(403);
    expect((await rig.get(`${STATUS}?client_id=app`, bearer(await token({ sub: undefined })))).status).toBe(403);
    expect((await rig.get(`${STATUS}?client_id=x`, bearer(await token()))).status).toBe(401);
    expect((await rig.get(STATUS, bearer(await token()))).status).toBe(401);
  });

  test('accepts no token while the time is unknown, and none beyond its validity', async () => {
    const start = Math.floor(Date.now() / 1000) * 1000;
    const virtual = new VirtualClock(start);
    let known = false;
    const { access, token } = await issuer('ES256', { timeKnown: () => known });
    const rig = await startRig({ gates: { user: new UserGate(access, virtual) }, clock: virtual });
    const good = await token({ exp: start / 1000 + 20 });
    expect((await rig.get(STATUS, bearer(good))).status).toBe(401);
    known = true;
    expect((await rig.get(STATUS, bearer(good))).status).toBe(200);
    virtual.advance(49_000);
    expect((await rig.get(STATUS, bearer(good))).status).toBe(200);
    virtual.advance(2_000);
    expect((await rig.get(STATUS, bearer(good))).status).toBe(401);
  });
});

test('each side has its own gate', async () => {
  const { access, token } = await issuer();
  const rig = await startRig({ gates: { fleet: new LocalGate(), user: new UserGate(access, clock) } });
  expect((await rig.get('/fleets')).status).toBe(200);
  expect((await rig.get('/user')).status).toBe(401);
  expect((await rig.get('/user', bearer(await token({ scope: 'x' })))).status).not.toBe(401);
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('keys in files', () => {
  const header = (kid: string) => ({ alg: 'ES256', kid });
  const token = { payload: '', signature: '' };

  async function files() {
    const make = async (kid: string) => {
      const { publicKey } = await generateKeyPair('ES256', { extractable: true });
      return { ...(await exportJWK(publicKey)), kid, alg: 'ES256' };
    };
    const [one, two] = [await make('one'), await make('two')];
    const state = { text: '', reads: 0 };
    const set = (...keys: object[]): void => {
      state.text = JSON.stringify({ keys });
    };
    set(one);
    const virtual = new VirtualClock();
    const log = new MemoryLog();
    const keys = keysOfFiles({
      read: () => {
        state.reads++;
        return [state.text];
      },
      make: ([text]) => keysOfSet(text ?? '', 'keys.json'),
      clock: virtual,
      log,
    });
    return { one, two, set, state, clock: virtual, log, find: (kid: string) => keys(header(kid), token) };
  }

  test('are read again for an unknown key, but not for every token', async () => {
    const { one, two, set, state, clock: virtual, find } = await files();
    await find('one');
    set(one, two);
    await expect(find('two')).rejects.toThrow();
    virtual.advance(1_000);
    await find('two');
    for (let i = 0; i < 100; i++) await expect(find(`none${i}`)).rejects.toThrow();
    expect(state.reads).toBe(2);
  });

  test('that were withdrawn are accepted for at most ten seconds', async () => {
    const { two, set, clock: virtual, find } = await files();
    set(two);
    virtual.advance(9_999);
    await find('one');
    virtual.advance(1);
    await expect(find('one')).rejects.toThrow();
    await find('two');
  });

  test('remain valid while their file is damaged, which is reported', async () => {
    const { state, clock: virtual, log, find } = await files();
    state.text = '{';
    virtual.advance(10_000);
    await find('one');
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { error: expect.stringContaining('keys.json') } }]);
  });
});
