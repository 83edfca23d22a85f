/** Certificate requests over real TLS that are too long, end early, or make the registry fail. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  CertificateAuthority,
  type EnrolmentDesk,
  EstServer,
  type EstServerOptions,
  enrol,
  newCarKey,
} from '../../../adapters/certificates/index.ts';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { accessTable } from '../../../protocol/interface/access.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'vigie-est-'));
let authority: CertificateAuthority;
let tls: { readonly key: string; readonly cert: string };

beforeAll(async () => {
  authority = await CertificateAuthority.open(folder);
  tls = await authority.certifyHub(['127.0.0.1'], Date.now());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const closedDesk: EnrolmentDesk = {
  mayEnrol: async () => false,
  carOf: async () => undefined,
  keep: async () => undefined,
  settings: async () => ({}),
};

interface Rig {
  readonly log: MemoryLog;
  readonly server: EstServer;
  readonly port: number;
}

async function start(desk: Partial<EnrolmentDesk> = {}, options: Partial<EstServerOptions> = {}): Promise<Rig> {
  const log = new MemoryLog();
  const clock = new SystemClock();
  const server = new EstServer({
    authority,
    tls,
    log,
    lasts: DAY_MS,
    host: '127.0.0.1',
    port: 0,
    clock,
    ...options,
    desk: { ...closedDesk, ...desk },
  });
  const port = await server.start();
  onTestFinished(() => server.stop());
  return { log, server, port };
}

async function dial({ port }: Rig): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: authority.pem });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  return socket;
}

/** Returns everything that the server sends until it closes the connection. */
function answerOn(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  return new Promise((resolve) => socket.once('close', () => resolve(text)));
}

const BASIC = `Authorization: Basic ${Buffer.from('VF3VGEHVBE0000001:token').toString('base64')}\r\n`;
const post = (length: number): string =>
  `POST /.well-known/est/simpleenroll HTTP/1.1\r\nHost: 127.0.0.1\r\n${BASIC}Content-Length: ${length}\r\n\r\n`;

async function expectAlive(rig: Rig): Promise<void> {
  const socket = await dial(rig);
  const answer = answerOn(socket);
  socket.write('GET /.well-known/est/cacerts HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
}

test('each route of the access table needs credentials unless its row allows anyone', async () => {
  const rig = await start();
  const rows = accessTable.filter(({ servers }) => servers.includes('enrolment'));
  expect(rows.length).toBeGreaterThan(3);
  for (const { method, path, principal } of rows) {
    const socket = await dial(rig);
    const answer = answerOn(socket);
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    expect(await answer).toMatch(principal === 'anyone' ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 401 /);
  }
});

test.each([
  'POST /.well-known/est/cacerts',
  'GET /.well-known/est/simpleenroll',
  'GET /.well-known/est/csrattrs',
  'POST /vigie/v1/enrolment',
])('%s has no row in the table of access and is refused', async (route) => {
  const rig = await start({ mayEnrol: async () => true });
  const socket = await dial(rig);
  const answer = answerOn(socket);
  socket.write(`${route} HTTP/1.1\r\nHost: 127.0.0.1\r\n${BASIC}Content-Length: 0\r\nConnection: close\r\n\r\n`);
  expect(await answer).toMatch(/^HTTP\/1\.1 404 /);
});

test('a certificate request that is too long is refused with 413, and enrolment still works', async () => {
  const rig = await start();
  const socket = await dial(rig);
  const answer = answerOn(socket);
  socket.write(post(100_000));
  socket.write('A'.repeat(100_000));
  expect(await answer).toMatch(/^HTTP\/1\.1 413 .*longer than 16384 bytes/s);
  expect(rig.log.lines).toContainEqual({
    level: 'warn',
    event: 'hub.enrolment.refused',
    fields: expect.objectContaining({ from: '127.0.0.1', reason: expect.stringContaining('16384') }),
  });
  await expectAlive(rig);
});

test('a client that disconnects in the middle of the body affects no other request', async () => {
  const rig = await start();
  const socket = await dial(rig);
  socket.write(`${post(1_000)}AAAA`);
  socket.end();
  await answerOn(socket);
  await expectAlive(rig);
});

test('a client that disconnects before the registry answers affects no other request', async () => {
  let asked: () => void = () => undefined;
  let answer: (known: undefined) => void = () => undefined;
  const waiting = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const rig = await start({
    mayEnrol: () =>
      new Promise((_resolve, reject) => {
        answer = () => reject(new TypeError('the registry broke'));
        asked();
      }),
  });
  const enrolling = enrol(
    `https://127.0.0.1:${rig.port}`,
    authority.pem,
    { vin: 'VF3VGEHVBE0000001', text: 'token', fingerprint: '' },
    await newCarKey(),
  );
  const refused = expect(enrolling).rejects.toMatchObject({ code: 'link.refused' });
  await waiting;
  await rig.server.stop();
  answer(undefined);
  await refused;
  expect(rig.log.lines).toContainEqual({
    level: 'error',
    event: 'hub.enrolment.failed',
    fields: expect.objectContaining({ reason: 'the registry broke' }),
  });
});

/** An open TCP connection that sends nothing. */
async function idle({ port }: Rig): Promise<Socket> {
  const socket = connectPlain({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

const ended = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));

test('500 silent connections do not prevent an enrolment', async () => {
  const rig = await start();
  for (let n = 0; n < 500; n++) await idle(rig);
  await expectAlive(rig);
  expect(rig.log.lines).toContainEqual({
    level: 'warn',
    event: 'hub.enrolment.connectionLimit',
    fields: { connections: 128, from: '127.0.0.1' },
  });
});

test('a connection of an authenticated car survives when others need its place', async () => {
  let asked: () => void = () => undefined;
  const known = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let store: () => void = () => undefined;
  const limits = { all: 4, waiting: 2, waitingPerAddress: 2, keptPerAddress: 0 };
  const keep = (): Promise<void> =>
    new Promise((resolve) => {
      store = resolve;
      asked();
    });
  const rig = await start({ mayEnrol: async () => true, keep }, { limits });
  const token = { vin: 'VF3VGEHVBE0000001', text: 'token', fingerprint: '' };
  const enrolling = enrol(`https://127.0.0.1:${rig.port}`, authority.pem, token, await newCarKey());
  await known;
  const [first] = [await idle(rig), await idle(rig), await idle(rig)];
  await ended(first);
  store();
  expect(await enrolling).toMatchObject({ pem: expect.stringContaining('BEGIN CERTIFICATE') });
});

test('a connection ends at its time limit, whatever it has sent', async () => {
  const clock = new VirtualClock();
  const rig = await start({}, { clock });
  const silent = await idle(rig);
  const slow = await dial(rig);
  slow.write(`${post(1_000)}AAAA`);
  await expectAlive(rig);
  const gone = [ended(silent), ended(slow)];
  clock.advance(30_000);
  await Promise.all(gone);
});
