/** Real sockets with and without TLS that start nothing, never finish a request, or stay idle. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Answer, Call } from '../../../adapters/http/call.ts';
import type { ServerTlsFiles } from '../../../adapters/http/listener.ts';
import { LiveChanges } from '../../../adapters/http/live.ts';
import type { ServerOptions } from '../../../adapters/http/server.ts';
import { Status } from '../../../agent/model/status.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { Authority, type Certificate } from '../../rig/certificates.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { echo, fetchJson, type Got, handlersOf, type Rig, startRig } from './rig.ts';

const REQUEST = 'GET /fleets HTTP/1.1\r\nHost: localhost\r\n\r\n';
const BODY_HEAD =
  'PUT /fleets/f/monitors/m/status HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
  'Content-Length: 100\r\n\r\n';

let folder: string;
let authority: Authority;
let certificate: Certificate;
let tls: ServerTlsFiles;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-connections-'));
  authority = new Authority(folder);
  certificate = authority.issue('server');
  tls = { cert: certificate.certFile, key: certificate.keyFile };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A passive TCP connection to the server that never closes its own side. */
async function dial(rig: Rig): Promise<Socket> {
  const { hostname, port } = new URL(rig.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => undefined);
  return socket;
}

/** A TLS connection whose handshake has succeeded. */
async function dialSecurely(rig: Rig): Promise<TLSSocket> {
  const socket = connectSecurely({ socket: await dial(rig), ca: readFileSync(authority.certFile), host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  socket.on('error', () => undefined);
  return socket;
}

/** The first message of a TLS client. */
async function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const line = new Duplex({ read: () => undefined, write: (bytes: Buffer) => resolve(bytes) });
    connectSecurely({ socket: line, ca: readFileSync(authority.certFile) }).on('error', () => undefined);
  });
}

/** Resolves when the server has ended or broken the connection. */
function ended(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readableEnded || socket.destroyed) resolve();
    socket.once('end', resolve).once('close', resolve).resume();
  });
}

/** Resolves with the received text as soon as it matches. */
function hears(socket: Duplex, pattern: RegExp): Promise<string> {
  let heard = '';
  return new Promise((resolve, reject) => {
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString('latin1');
      if (pattern.test(heard)) resolve(heard);
    });
    socket.once('close', () => reject(new Error(`the connection closed after ${heard}`)));
  });
}

/** Sends a proper request. Connections are accepted in order, so an answer shows that earlier ones were accepted. */
async function asksSecurely(rig: Rig): Promise<Got> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(authority.certFile) } });
  onTestFinished(() => dispatcher.close());
  return fetchJson(`${rig.url}/fleets`, { dispatcher });
}

/** Counts closed connections of the next server that starts; `next` waits for one. */
function closings(): { next(): Promise<void> } {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  const closed: (() => void)[] = [];
  let happened = 0;
  listen.mockImplementationOnce(function (this: Server, ...all: unknown[]) {
    this.on('connection', (socket: Socket) => socket.once('close', () => (closed.shift() ?? (() => happened++))()));
    listen.mockRestore();
    return this.listen(...(all as []));
  });
  return {
    next: () => new Promise((resolve) => void (happened > 0 ? resolve(void happened--) : closed.push(resolve))),
  };
}

/** A handler that never answers, and a promise that resolves when it is called. */
function stuck(): { handlers: ServerOptions['handlers']; asked: Promise<void> } {
  let tell: () => void;
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const never = (_: Call): Promise<Answer> => {
    tell();
    return new Promise(() => undefined);
  };
  return { handlers: handlersOf(operations, { 'fleet.fleets.list': never }), asked };
}

describe('an idle connection', () => {
  test('before the TLS handshake does not keep the server from stopping', async () => {
    const rig = await startRig({ tls });
    const socket = await dial(rig);
    expect((await asksSecurely(rig)).status).toBe(200);
    await rig.stop();
    await ended(socket);
  });

  test('before the TLS handshake does not block others, however many there are', async () => {
    const rig = await startRig({ tls, bounds: { connections: 4 } });
    const idle: Socket[] = [];
    for (let n = 0; n < 12; n++) idle.push(await dial(rig));
    expect((await asksSecurely(rig)).status).toBe(200);
  });

  test('before the TLS handshake is closed at its time limit', async () => {
    const clock = new VirtualClock();
    const rig = await startRig({ tls, clock, bounds: { handshake: 5_000 } });
    const socket = await dial(rig);
    expect((await asksSecurely(rig)).status).toBe(200);
    clock.advance(5_000);
    await ended(socket);
  });

  // Browsers open spare connections: a request sent at that moment would take the refusal for its answer.
  test.each([
    ['', /^$/] as const,
    ['GET /fleets HTTP/1.1\r\n', /^HTTP\/1.1 400 .*the request must come within/s] as const,
  ])(
    'is closed at the time limit for requests; it gets an answer only if it has begun a request (%j)',
    async (begun, answer) => {
      for (const secure of [false, true]) {
        const closed = closings();
        const rig = await startRig({ bounds: { request: 50 }, ...(secure ? { tls } : {}) });
        const socket = secure ? await dialSecurely(rig) : await dial(rig);
        if (begun !== '') socket.write(begun);
        // The client receives the end and keeps its own side open.
        expect(await text(socket)).toMatch(answer);
        await closed.next();
      }
    },
  );

  test('without a request does not block others, however many there are', async () => {
    const rig = await startRig({ bounds: { connections: 4 } });
    for (let n = 0; n < 12; n++) await dial(rig);
    expect((await rig.get('/fleets')).status).toBe(200);
  });
});

describe('a TLS handshake', () => {
  test('sent byte by byte gets no more time than others', async () => {
    const clock = new VirtualClock();
    const rig = await startRig({ tls, clock, bounds: { handshake: 5_000 } });
    const socket = await dial(rig);
    const hello = await clientHello();
    const gone = ended(socket);
    let [sent, over] = [0, false];
    void gone.then(() => {
      over = true;
    });
    expect((await asksSecurely(rig)).status).toBe(200);
    // Each byte comes a second after the previous one, so no pause is long.
    while (!over && sent < 20) {
      await new Promise<void>((resolve) => socket.write(hello.subarray(sent, ++sent), () => resolve()));
      clock.advance(1_000);
    }
    await gone;
  });

  test('sent by half does not keep the server from stopping', async () => {
    const rig = await startRig({ tls });
    const socket = await dial(rig);
    const hello = await clientHello();
    socket.write(hello.subarray(0, hello.length / 2));
    expect((await asksSecurely(rig)).status).toBe(200);
    await rig.stop();
    await ended(socket);
  });

  test('is closed at once if its bytes are not TLS', async () => {
    const closed = closings();
    const rig = await startRig({ tls });
    const socket = await dial(rig);
    socket.write(REQUEST);
    await closed.next();
    await ended(socket);
  });
});

describe.each([false, true])('over TLS: %s,', (secure) => {
  const start = (options: Partial<ServerOptions> = {}) => startRig({ ...options, ...(secure ? { tls } : {}) });
  const open = (rig: Rig): Promise<Duplex> => (secure ? dialSecurely(rig) : dial(rig));

  test('a connection without a request does not keep the server from stopping', async () => {
    const rig = await start({ bounds: { finish: 2 ** 31 - 1 } });
    const socket = await open(rig);
    await rig.stop();
    await ended(socket);
  });

  test('a connection with half of the headers does not keep the server from stopping', async () => {
    const rig = await start({ bounds: { finish: 2 ** 31 - 1 } });
    const socket = await open(rig);
    socket.write('GET /fleets HTTP/1.1\r\nHost: localh');
    await rig.stop();
    await ended(socket);
  });

  test('a keep-alive connection does not keep the server from stopping', async () => {
    const rig = await start({ bounds: { finish: 2 ** 31 - 1 } });
    const socket = await open(rig);
    socket.write(REQUEST);
    await hears(socket, /\r\n\r\n\{.*\}$/s);
    await rig.stop();
    await ended(socket);
  });

  test('a request with a missing body delays the stop no longer than the time limit for requests', async () => {
    const clock = new VirtualClock();
    const rig = await start({ clock, bounds: { finish: 5_000 } });
    const socket = await open(rig);
    socket.write(`${BODY_HEAD}{"status"`);
    const other = await open(rig);
    other.write(REQUEST);
    await hears(other, /\r\n\r\n\{.*\}$/s);
    const stopped = rig.stop();
    clock.advance(5_000);
    await stopped;
    await ended(socket);
  });

  test('a request that is never answered delays the stop no longer than the time limit for requests', async () => {
    const clock = new VirtualClock();
    const { handlers, asked } = stuck();
    const rig = await start({ handlers, clock, bounds: { finish: 5_000 } });
    const socket = await open(rig);
    socket.write(REQUEST);
    await asked;
    const stopped = rig.stop();
    clock.advance(5_000);
    await stopped;
    await ended(socket);
  });

  test('a live stream ends when the server stops, even if it is not read', async () => {
    const clock = new VirtualClock();
    const live = new LiveChanges(new Status(), clock);
    const rig = await start({ clock, live, bounds: { finish: 5_000 } });
    const [reading, silent] = [await open(rig), await open(rig)];
    for (const socket of [reading, silent]) {
      socket.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await hears(socket, /retry: 3000/);
    }
    silent.removeAllListeners('data').pause();
    const stopped = rig.stop();
    clock.advance(5_000);
    await stopped;
    await ended(reading);
  });

  test('a request received before the stop is answered with Connection: close', async () => {
    let release: (() => void) | undefined;
    const waiting = (call: Call): Promise<Answer> =>
      new Promise((resolve) => {
        release = () => resolve(echo(call));
      });
    const rig = await start({ handlers: handlersOf(operations, { 'fleet.fleets.list': waiting }) });
    const socket = await open(rig);
    const answer = text(socket);
    socket.write(REQUEST);
    while (release === undefined) await new Promise((resolve) => setImmediate(resolve));
    const stopped = rig.stop();
    release();
    await stopped;
    expect(await answer).toMatch(/^HTTP\/1.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/i);
  });
});

test('a client that keeps sending invalid bytes gets the refusal and is then closed at the time limit', async () => {
  const clock = new VirtualClock();
  const closed = closings();
  const rig = await startRig({ clock, bounds: { linger: 1_000 } });
  const socket = await dial(rig);
  const answer = text(socket);
  for (let n = 0; n < 64; n++) socket.write(`GARBAGE ${'x'.repeat(16_384)}\r\n\r\n`);
  expect(await answer).toMatch(/^HTTP\/1.1 400 .*the request is not HTTP"[^\r]*$/s);
  clock.advance(1_000);
  await closed.next();
});

describe('at the connection limit', () => {
  test('a new connection is refused only if all others wait for an answer', async () => {
    const { handlers, asked } = stuck();
    const rig = await startRig({ handlers, bounds: { connections: 1 } });
    const busy = await dial(rig);
    busy.write(REQUEST);
    await asked;
    const other = await dial(rig);
    await ended(other);
    expect(busy.destroyed).toBe(false);
    expect(rig.log.lines).toContainEqual({
      level: 'warn',
      event: 'http.connectionLimit',
      fields: { connections: 1, from: '127.0.0.1' },
    });
    busy.destroy();
  });

  test('a new connection replaces the oldest one that does not wait for an answer', async () => {
    const rig = await startRig({ bounds: { connections: 2 } });
    const [oldest, newer] = [await dial(rig), await dial(rig)];
    expect((await rig.get('/fleets')).status).toBe(200);
    await ended(oldest);
    newer.write(REQUEST);
    await hears(newer, /^HTTP\/1.1 200 /);
  });
});
