import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { FleetGate, type FleetUser } from '../../../adapters/http/access/fleet.ts';
import {
  hashPassword,
  impossibleHash,
  readPasswordHash,
  verifyPassword,
} from '../../../adapters/http/access/password.ts';
import { noScopes } from '../../../protocol/interface/operations/scopes.ts';
import { Authority } from '../../rig/certificates.ts';
import { hashCheaply } from '../../rig/cheap-password.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { fetchJson, startRig } from './rig.ts';

const clock = new SystemClock();
const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

describe('a password', () => {
  test('is checked against its hash, which does not contain it', async () => {
    const text = await hashPassword('p\u00e4ssword');
    expect(text).not.toContain('ssword');
    const hash = readPasswordHash(text, 'file');
    expect(await verifyPassword('p\u00e4ssword', hash)).toBe(true);
    // The same letters in another Unicode normalization form (NFC).
    expect(await verifyPassword('pa\u0308ssword', hash)).toBe(true);
    expect(await verifyPassword('password', hash)).toBe(false);
    expect(await hashPassword('p\u00e4ssword')).not.toBe(text);
  });

  test('of an unknown user takes as much work as the costliest one of a known user', async () => {
    const costs = [4, 16, 8].map((N) => ({ N, r: 1, p: 1 }));
    const hashes = await Promise.all(
      costs.map(async (cost) => readPasswordHash(await hashPassword('a', cost), 'file')),
    );
    expect(impossibleHash(hashes).cost).toEqual({ N: 16, r: 1, p: 1 });
    expect(impossibleHash([]).cost.N).toBe(2 ** 14);
  });

  test.each(['', 'secret', 'scrypt$1$8$1$c2FsdHNhbHQ$x', `scrypt$1048576$99$1$c2FsdHNhbHQ$${'a'.repeat(43)}`])(
    'hash %j is refused',
    (text) => expect(() => readPasswordHash(text, 'file')).toThrow(/file: /),
  );
});

describe('the fleet side', () => {
  let operator: FleetUser;
  let other: FleetUser;
  beforeAll(async () => {
    const password = readPasswordHash(await hashCheaply('s3cret'), 'file');
    operator = { name: 'operator', password, clientId: 'app-1', fleets: ['f1', 'f2'] };
    other = {
      name: 'other',
      password: readPasswordHash(await hashCheaply('0ther'), 'file'),
      clientId: 'app-2',
      fleets: ['f3'],
    };
  });
  const start = () => startRig({ gates: { fleet: new FleetGate([operator, other], clock) } });

  test('admits a user with name, password and client_id to their own fleets', async () => {
    const rig = await start();
    const { status, json } = await rig.get('/fleets/f1?client_id=app-1', basic('operator', 's3cret'));
    expect(status).toBe(200);
    expect(json).toMatchObject({ caller: { name: 'operator', fleets: ['f1', 'f2'] }, self: '/fleets/f1' });
    const forbidden = await rig.get('/fleets/f3?client_id=app-1', basic('operator', 's3cret'));
    expect(forbidden.status).toBe(403);
    expect(forbidden.json).toMatchObject({ code: 40300 });
    expect((await rig.get('/fleets/f3?client_id=app-2', basic('other', '0ther'))).status).toBe(200);
  });

  test.each([
    ['nothing', '?client_id=app-1', {}],
    ['a wrong password', '?client_id=app-1', basic('operator', 'wrong')],
    ['a right password before a wrong one', '?client_id=app-1', basic('operator', 's3cret2')],
    ['an unknown name', '?client_id=app-1', basic('nobody', 's3cret')],
    ['another’s password', '?client_id=app-1', basic('operator', '0ther')],
    ['no client_id', '', basic('operator', 's3cret')],
    ['a wrong client_id', '?client_id=app-2', basic('operator', 's3cret')],
    ['two client_ids', '?client_id=app-1&client_id=app-2', basic('operator', 's3cret')],
    ['no Basic', '?client_id=app-1', { authorization: 'Bearer abc' }],
    ['no colon', '?client_id=app-1', { authorization: `Basic ${Buffer.from('operator').toString('base64')}` }],
    ['garbage', '?client_id=app-1', { authorization: 'Basic !!!' }],
  ])('refuses %s', async (_, query, headers) => {
    const rig = await start();
    // A previous valid login must not help other credentials.
    expect((await rig.get('/fleets?client_id=app-1', basic('operator', 's3cret'))).status).toBe(200);
    const answer = await rig.get(`/fleets${query}`, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    expect(answer.json).toMatchObject({ code: 40100 });
    expect(answer.text).not.toContain('s3cret');
    expect(JSON.stringify(rig.log.lines)).not.toMatch(/s3cret|0ther|app-1|Basic [A-Za-z0-9]/);
  });

  test('admits a client that starts with many simultaneous requests', async () => {
    const rig = await start();
    const asked = Array.from({ length: 32 }, () => rig.get('/fleets?client_id=app-1', basic('operator', 's3cret')));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(new Array(32).fill(200));
  });

  test('checks only a few passwords at a time', async () => {
    const gate = new FleetGate([operator], clock);
    const guesses = Array.from({ length: 5 }, (_, n) => {
      const presented = { remote: '127.0.0.1', clientIds: ['app-1'], ...basic('operator', `g${n}`) };
      return gate.admit(presented, { operation: { scopes: noScopes }, path: {} });
    });
    const ended = await Promise.allSettled(guesses);
    const codes = ended.map((one) => one.status === 'rejected' && (one.reason as { code: string }).code);
    expect(codes).toEqual([...new Array(4).fill('request.unauthenticated'), 'request.rate']);
  });

  const ask = (gate: FleetGate, remote: string, name: string, password: string, more = {}) =>
    gate
      .admit(
        { remote, clientIds: ['app-1'], ...basic(name, password), ...more },
        { operation: { scopes: noScopes }, path: {} },
      )
      .then(
        () => 'in',
        (error: { code: string }) => error.code,
      );

  test('delays a name at an address after too many wrong passwords, and no other name', async () => {
    const virtual = new VirtualClock();
    const users = [operator, { ...other, clientId: 'app-1' }];
    const rig = await startRig({ gates: { fleet: new FleetGate(users, virtual) }, clock: virtual });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt++) {
      statuses.push((await rig.get('/fleets?client_id=app-1', basic('operator', 'guess'))).status);
    }
    expect(statuses).toEqual([...new Array(10).fill(401), 429]);
    const waiting = await rig.get('/fleets?client_id=app-1', basic('operator', 's3cret'));
    expect(waiting.status).toBe(429);
    expect(waiting.headers['retry-after']).toBe('60');
    expect((await rig.get('/fleets?client_id=app-1', basic('other', '0ther'))).status).toBe(200);
    virtual.advance(60_000);
    expect((await rig.get('/fleets?client_id=app-1', basic('operator', 's3cret'))).status).toBe(200);
  });

  test('does not lock out the clients of a trusted proxy because of one of them', async () => {
    const gates = { fleet: new FleetGate([operator], clock) };
    const rig = await startRig({ gates, trustedProxies: ['127.0.0.1'] });
    const from = (address: string, password: string) =>
      rig.get('/fleets?client_id=app-1', { ...basic('operator', password), 'x-forwarded-for': address });
    for (let attempt = 0; attempt < 10; attempt++) await from('192.0.2.66', 'guess');
    expect((await from('192.0.2.66', 's3cret')).status).toBe(429);
    expect((await from('192.0.2.1', 's3cret')).status).toBe(200);
  });

  test('admits a right password from an address without failures while many names are guessed from many addresses', async () => {
    const gate = new FleetGate([operator], new VirtualClock());
    const outcomes: string[] = [];
    for (let guess = 0; guess < 110; guess++)
      outcomes.push(await ask(gate, `192.0.2.${guess % 5}`, `name${guess}`, 'x'));
    expect(outcomes.slice(0, 100)).toEqual(new Array(100).fill('request.unauthenticated'));
    // These addresses have failures, and the shared budget for them is spent.
    expect(outcomes.slice(100)).toEqual(new Array(10).fill('request.rate'));
    expect(await ask(gate, '192.0.2.1', 'operator', 's3cret')).toBe('request.rate');
    const flood = Array.from({ length: 50 }, (_, n) => ask(gate, `2001:db8:0:${n}::1`, `name${n}`, 'x'));
    const right = ask(gate, '198.51.100.1', 'operator', 's3cret');
    expect(await right).toBe('in');
    // One check runs for a network of 65,536 addresses. The server refuses the others without work.
    const ended = await Promise.all(flood);
    expect(ended.filter((one) => one === 'request.rate').length).toBe(49);
  });

  test('admits a user again while others spend the budget for failures', async () => {
    const gate = new FleetGate([operator], new VirtualClock());
    expect(await ask(gate, '192.0.2.1', 'operator', 's3cret')).toBe('in');
    for (let guess = 0; guess < 101; guess++) await ask(gate, '192.0.2.1', `name${guess}`, 'x');
    expect(await ask(gate, '192.0.2.1', 'name', 'x')).toBe('request.rate');
    expect(await ask(gate, '192.0.2.1', 'operator', 's3cret')).toBe('in');
  });

  test('counts simultaneous guesses before they are checked', async () => {
    const gate = new FleetGate([operator], clock);
    expect(await ask(gate, '192.0.2.1', 'operator', 's3cret')).toBe('in');
    const guesses = Array.from({ length: 40 }, (_, n) => ask(gate, '192.0.2.1', 'operator', `guess${n}`));
    const right = ask(gate, '192.0.2.1', 'operator', 's3cret');
    const ended = await Promise.all(guesses);
    expect(ended.filter((one) => one === 'request.unauthenticated').length).toBeLessThanOrEqual(10);
    // An answer would reveal which of more than ten guesses is right.
    expect(await right).toBe('request.rate');
  });

  test('does not delay the holder of a certificate because of failures without it', async () => {
    const gate = new FleetGate([{ ...operator, certificate: 'CN=fleet-7' }], clock);
    for (let attempt = 0; attempt < 11; attempt++) await ask(gate, '192.0.2.1', 'operator', 'guess');
    expect(await ask(gate, '192.0.2.1', 'operator', 's3cret')).toBe('request.rate');
    expect(await ask(gate, '192.0.2.1', 'operator', 's3cret', { certificate: 'CN=fleet-7' })).toBe('in');
  });
});

describe('TLS', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-http-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('requests a client certificate from users who have one configured', async () => {
    const authority = new Authority(folder);
    const strangers = new Authority(folder, 'strangers');
    const server = authority.issue('server');
    const password = readPasswordHash(await hashCheaply('s3cret'), 'file');
    const user = { password, clientId: 'app', fleets: ['f1'] };
    const gate = new FleetGate(
      [
        { ...user, name: 'with', certificate: 'CN=fleet-7' },
        { ...user, name: 'without' },
      ],
      clock,
    );
    const rig = await startRig({
      gates: { fleet: gate },
      host: '0.0.0.0',
      tls: { cert: server.certFile, key: server.keyFile, clientCa: authority.certFile },
    });
    const url = rig.url.replace('0.0.0.0', '127.0.0.1');
    const ask = async (name: string, shown?: { cert: Uint8Array; key: Uint8Array }) => {
      const pem = shown === undefined ? {} : { cert: Buffer.from(shown.cert), key: Buffer.from(shown.key) };
      const dispatcher = new Agent({ connect: { ca: Buffer.from(authority.cert), ...pem } });
      onTestFinished(() => dispatcher.close());
      return fetchJson(`${url}/connectedcar/v3/fleets?client_id=app`, { headers: basic(name, 's3cret'), dispatcher });
    };
    const answer = await ask('with', authority.issue('fleet-7'));
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ base: `${url}/connectedcar/v3` });
    expect(answer.headers['strict-transport-security']).toMatch(/max-age/);
    expect((await ask('with', authority.issue('fleet-8'))).status).toBe(401);
    expect((await ask('with', strangers.issue('fleet-7'))).status).toBe(401);
    expect((await ask('with')).status).toBe(401);
    expect((await ask('without')).status).toBe(200);
  });

  test('uses renewed certificates, and refuses broken ones', async () => {
    const { copyFileSync, writeFileSync, utimesSync } = await import('node:fs');
    const [old, renewed] = [new Authority(folder, 'old'), new Authority(folder, 'renewed')];
    const [first, second] = [old.issue('first'), renewed.issue('second')];
    const tls = { cert: join(folder, 'live.pem'), key: join(folder, 'live.key') };
    const put = ({ certFile, keyFile }: { certFile: string; keyFile: string }, age: number) => {
      copyFileSync(certFile, tls.cert);
      copyFileSync(keyFile, tls.key);
      for (const file of Object.values(tls)) utimesSync(file, age, age);
    };
    put(first, 1_000);
    const virtual = new VirtualClock();
    const rig = await startRig({ tls, clock: virtual });
    const trusts = async (authority: Authority) => {
      const dispatcher = new Agent({ connect: { ca: Buffer.from(authority.cert) } });
      onTestFinished(() => dispatcher.close());
      const answer = await fetchJson(`${rig.url}/fleets`, { dispatcher }).catch(() => undefined);
      return answer?.status === 200;
    };
    expect([await trusts(old), await trusts(renewed)]).toEqual([true, false]);
    writeFileSync(tls.cert, 'half a file');
    virtual.advance(60_000);
    expect(await trusts(old)).toBe(true);
    expect(rig.log.lines.some(({ level, event }) => level === 'error' && event === 'http.certificates.kept')).toBe(
      true,
    );
    put(second, 2_000);
    virtual.advance(60_000);
    expect([await trusts(old), await trusts(renewed)]).toEqual([false, true]);
  });
});
