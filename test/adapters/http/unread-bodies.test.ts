/** Refusals before the body was read, over real sockets: the client must receive the refusal. */
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../protocol/interface/operations.ts';
import { type echo, handlersOf, type Rig, startRig } from './rig.ts';

const LIMIT = 1_000;
const path = '/connectedcar/v3/fleets/f/monitors/m/status';
const good = JSON.stringify({ status: 'Paused' });

function dial(rig: Rig): Socket {
  const { hostname, port } = new URL(rig.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  return socket;
}

function head(length: number | 'chunked', headers: Readonly<Record<string, string>> = {}, method = 'PUT'): string {
  const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  const all = { Host: 'localhost', 'Content-Type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}${framing}\r\n\r\n`;
}

/** Resolves with the received text as soon as it matches. */
function hears(socket: Socket, pattern: RegExp): Promise<string> {
  let heard = '';
  return new Promise((resolve, reject) => {
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString();
      if (pattern.test(heard)) resolve(heard);
    });
    socket.once('error', reject).once('close', () => reject(new Error(`the connection closed after ${heard}`)));
  });
}

describe('a client that asks before it sends its body (Expect: 100-continue)', () => {
  const expecting = { Expect: '100-continue' };

  test.each([
    [413, head(LIMIT + 1, expecting), 'at most 1000 bytes'],
    [415, head(10, { ...expecting, 'Content-Type': 'text/plain' }), 'application/json'],
    [405, head(10, expecting, 'PATCH'), 'PUT'],
    [421, head(10, { ...expecting, Host: 'page.example' }), 'Host'],
  ])('gets refusal %d without being asked for the body', async (status, request, word) => {
    const rig = await startRig({ maxBodyBytes: LIMIT });
    const socket = dial(rig);
    socket.write(request);
    const heard = await hears(socket, /\r\n\r\n\{.*\}$/s);
    expect(heard).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(heard).toMatch(/^Connection: close\r$/im);
    expect(heard).toContain(word);
  });

  test('is asked once for a body that is not too large, and then gets the answer', async () => {
    const rig = await startRig({ maxBodyBytes: LIMIT });
    const socket = dial(rig);
    socket.write(head(good.length, expecting));
    expect(await hears(socket, /\r\n\r\n$/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    const answer = hears(socket, /\r\n\r\n\{.*\}$/s);
    socket.write(good);
    expect(await answer).toMatch(/^HTTP\/1.1 202 /);
  });

  test('gets the refusal although it did not wait for an answer', async () => {
    const rig = await startRig({ maxBodyBytes: LIMIT });
    const socket = dial(rig);
    socket.write(head(2 ** 22, expecting));
    socket.end('x'.repeat(2 ** 22));
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 .*"code":41301.*\}$/s);
  });
});

describe('a client that sends too large a body', () => {
  test.each([
    ['announced', head(2 ** 22), 'x'.repeat(2 ** 22)],
    ['in pieces', head('chunked'), `${(2 ** 22).toString(16)}\r\n${'x'.repeat(2 ** 22)}\r\n0\r\n\r\n`],
  ])('gets the complete refusal, and the connection ends: %s', async (_, request, body) => {
    const carried: unknown[] = [];
    const keep = (call: Parameters<typeof echo>[0]) => ({ status: 202, body: { was: carried.push(call.body) } });
    const handlers = handlersOf(operations, { 'fleet.monitors.setStatus': keep });
    const rig = await startRig({ maxBodyBytes: LIMIT, handlers });
    const socket = dial(rig);
    socket.write(request);
    socket.write(body);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 .*"code":41301.*\}$/s);
    expect(carried).toEqual([]);
  });

  test('and then stops is disconnected at the time limit for requests', async () => {
    const rig = await startRig({ maxBodyBytes: LIMIT, bounds: { request: 50 } });
    const socket = dial(rig);
    socket.write(`${head(2 ** 22)}x`);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 .*"code":41301.*\}$/s);
  });

  test('does not block other clients', async () => {
    const rig = await startRig({ maxBodyBytes: LIMIT, bounds: { connections: 1 } });
    const socket = dial(rig);
    socket.write(`${head(2 ** 22)}x`);
    await hears(socket, /\r\n\r\n\{.*\}$/s);
    expect((await rig.get('/fleets')).status).toBe(200);
  });

  test('does not keep the server from stopping', async () => {
    const rig = await startRig({ maxBodyBytes: LIMIT, bounds: { finish: 2 ** 31 - 1 } });
    const socket = dial(rig);
    socket.write(`${head(2 ** 22)}x`);
    await hears(socket, /\r\n\r\n\{.*\}$/s);
    await rig.stop();
  });
});
