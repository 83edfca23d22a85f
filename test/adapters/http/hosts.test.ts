/**
 * Host names under which the server answers: a foreign page must not reach it under its own name (DNS rebinding), and
 * links repeat the name.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { FleetGate } from '../../../adapters/http/access/fleet.ts';
import { readPasswordHash } from '../../../adapters/http/access/password.ts';
import { Hosts } from '../../../adapters/http/hosts.ts';
import { LiveChanges } from '../../../adapters/http/live.ts';
import { Status } from '../../../agent/model/status.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { Authority } from '../../rig/certificates.ts';
import { hashCheaply } from '../../rig/cheap-password.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { echo, fetchJson, handlersOf, startRig } from './rig.ts';

const monitor = '/connectedcar/v3/fleets/f/monitors/m/status';

describe('a request with a host name that is not the server’s', () => {
  const foreign = [
    'page.example',
    'page.example:8080',
    'localhost.page.example',
    'localhost.',
    '10.0.0.1',
    '[fd00::1]',
  ];

  test.each(foreign)('is refused by 421 and changes nothing: %s', async (host) => {
    const carried: string[] = [];
    const replace = (call: Parameters<typeof echo>[0]) => {
      carried.push(call.operation.id);
      return echo(call);
    };
    const rig = await startRig({ handlers: handlersOf(operations, { 'fleet.monitors.setStatus': replace }) });
    const { status, json } = await rig.send('PUT', monitor, { status: 'Paused' }, { host });
    expect(status).toBe(421);
    expect(json).toMatchObject({
      code: 42100,
      message: expect.stringContaining('http.hosts'),
      uuid: expect.any(String),
    });
    const user = await rig.get('/connectedcar/v4/user', { host });
    expect(user.json).toEqual({ code: 42100, debug: expect.any(String), message: expect.any(String) });
    expect(carried).toEqual([]);
  });

  test('is refused despite valid credentials, before they are checked', async () => {
    const password = readPasswordHash(await hashCheaply('s3cret'), 'file');
    const gate = new FleetGate([{ name: 'op', password, clientId: 'app', fleets: ['f'] }], new VirtualClock());
    const rig = await startRig({ gates: { fleet: gate } });
    const authorization = `Basic ${Buffer.from('op:s3cret').toString('base64')}`;
    const path = '/connectedcar/v3/fleets/f?client_id=app';
    expect((await rig.get(path, { authorization })).status).toBe(200);
    expect((await rig.get(path, { authorization, host: 'page.example' })).status).toBe(421);
    expect((await rig.get(path, { host: 'page.example' })).status).toBe(421);
  });

  test('is refused on every path: documents, changes, and unknown routes', async () => {
    const clock = new VirtualClock();
    const openApi = new URL('../../../protocol/generated/openapi.json', import.meta.url).pathname;
    const rig = await startRig({ documents: { openApi }, live: new LiveChanges(new Status(), clock), clock });
    for (const path of ['/openapi.json', '/live', '/connectedcar/v4/live', '/nothing', '/']) {
      expect([path, (await rig.get(path, { host: 'page.example' })).status]).toEqual([path, 421]);
    }
    expect((await rig.get('/openapi.json')).status).toBe(200);
  });

  test('is refused if the absolute request target has it, whatever Host contains', async () => {
    const rig = await startRig();
    const { hostname, port } = new URL(rig.url);
    const ask = async (target: string): Promise<string> => {
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      return text(socket);
    };
    expect(await ask('http://page.example/fleets')).toMatch(/^HTTP\/1.1 421 /);
    const own = await ask('https://localhost/fleets');
    expect(own).toMatch(/^HTTP\/1.1 200 /);
    // The scheme follows the connection: a client cannot make links claim TLS.
    expect(own).toContain('"base":"http://localhost"');
    expect(own).not.toMatch(/Strict-Transport-Security/i);
  });
});

describe('the server answers', () => {
  test('on the loopback address, under every loopback name and at the port that the client uses', async () => {
    const rig = await startRig();
    const { port } = new URL(rig.url);
    const names = ['localhost', `LOCALHOST:${port}`, '127.0.0.1', `[::1]:${port}`, 'localhost:9000'];
    for (const host of names) {
      const { status, json } = await rig.get('/fleets', { host });
      expect([host, status]).toEqual([host, 200]);
      expect((json as { base: string }).base).toBe(new URL(`http://${host}`).origin);
    }
  });

  test('on an IPv6 address, under that address', async () => {
    const rig = await startRig({ host: '::1' });
    const { status, json } = await rig.get('/fleets');
    expect([status, (json as { base: string }).base]).toEqual([200, rig.url]);
    expect((await rig.get('/fleets', { host: '[::2]' })).status).toBe(421);
  });

  test('under the configured names, and under the name of its external address', async () => {
    const rig = await startRig({ hosts: ['car.local', '203.0.113.7'], url: 'https://Car.example:9443/vigie' });
    for (const host of [
      'car.local',
      'CAR.LOCAL:80',
      '203.0.113.7:8443',
      'car.example',
      'car.example:9443',
      'localhost',
    ]) {
      const { status, json } = await rig.get('/fleets', { host });
      expect([host, status, (json as { base: string }).base]).toEqual([host, 200, 'https://Car.example:9443/vigie']);
    }
    expect((await rig.get('/fleets', { host: 'not.car.local' })).status).toBe(421);
  });
});

describe('over TLS', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-hosts-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('the server answers under the names in its certificate', async () => {
    const authority = new Authority(folder);
    const { certFile, keyFile } = authority.issue('server', 2, ['car.example', '*.cars.example']);
    const password = readPasswordHash(await hashCheaply('s3cret'), 'file');
    const gate = new FleetGate([{ name: 'op', password, clientId: 'app', fleets: ['f'] }], new VirtualClock());
    const rig = await startRig({ gates: { fleet: gate }, host: '0.0.0.0', tls: { cert: certFile, key: keyFile } });
    const url = rig.url.replace('0.0.0.0', '127.0.0.1');
    const dispatcher = new Agent({
      connect: { ca: readFileSync(authority.certFile), checkServerIdentity: () => undefined },
    });
    onTestFinished(() => dispatcher.close());
    const authorization = `Basic ${Buffer.from('op:s3cret').toString('base64')}`;
    const ask = (host: string) =>
      fetchJson(`${url}/connectedcar/v3/fleets/f?client_id=app`, { dispatcher, headers: { authorization, host } });
    for (const host of ['car.example:8443', 'seven.cars.example', '127.0.0.1']) {
      const { status, json } = await ask(host);
      expect([host, status]).toEqual([host, 200]);
      expect((json as { base: string }).base).toBe(`https://${host}/connectedcar/v3`);
    }
    // The CN names a person or a machine. Host names are in the list of alternative names (RFC 9525 §6.3).
    for (const host of [
      'page.example',
      'cars.example',
      'a.b.cars.example',
      'server',
      '0.0.0.0',
      '10.0.0.1',
      '[fd00::1]:8443',
    ]) {
      expect([host, (await ask(host)).status]).toEqual([host, 421]);
    }
  });
});

test('a server that listens on all addresses answers under the address that the client used', () => {
  const hosts = new Hosts([]);
  const at = (localAddress: string): Socket => ({ localAddress }) as Socket;
  const told = (address: string, ...names: string[]): boolean[] => names.map((name) => hosts.has(name, at(address)));
  expect(told('192.168.7.2', '192.168.7.2', '192.168.7.2:8443', '192.168.7.3', 'localhost', '127.0.0.1')).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(told('::ffff:192.168.7.2', '192.168.7.2:1', '192.168.7.3')).toEqual([true, false]);
  expect(told('fd00::2', '[fd00::2]:8443', '[fd00:0:0:0::2]', '[fd00::3]')).toEqual([true, true, false]);
  expect(told('::ffff:127.0.0.1', 'localhost', '[::1]', '192.168.7.2')).toEqual([true, true, false]);
});
