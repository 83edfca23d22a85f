/**
 * Every TLS client of car and hub, at real servers with one fault in the certificate: each refuses, names the fault and
 * advises.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createSecureServer, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Addresses } from '../../adapters/callbacks/addresses.ts';
import { WebsocketConnection } from '../../adapters/callbacks/connection.ts';
import { PushChannel } from '../../adapters/callbacks/push.ts';
import { WebhookChannel } from '../../adapters/callbacks/webhook.ts';
import { enrol, fetchSettings, hubTime, newCarKey, renew } from '../../adapters/certificates/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { keysByAddress } from '../../adapters/http/access/token-keys.ts';
import { UserGate } from '../../adapters/http/access/user.ts';
import { CloudClient, MqttLink } from '../../adapters/mqtt/index.ts';
import { FleetReceiver } from '../../hub/broker/fleet-receiver.ts';
import { PostgresDatabase } from '../../hub/database/postgres/index.ts';
import { SIGN_IN, SignIn } from '../../hub/http/sign-in.ts';
import { startRig } from '../adapters/http/rig.ts';
import { Authority, type Certificate } from '../rig/certificates.ts';
import { MemoryLog } from '../rig/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-certificate-faults-'));
const authority = new Authority(folder);
const stranger = new Authority(folder, 'stranger');
const ca = Buffer.from(authority.cert).toString();
const VIN = 'VF3VGEBENCH000001';
const clock = new SystemClock();
const silent = new MemoryLog();
const loopback = new Addresses({ networks: ['127.0.0.0/8', '::1/128'] });

/** The clients connect to the servers as localhost. */
const faults: readonly (readonly [string, Certificate, RegExp])[] = [
  ['of another authority', stranger.issue('other', 2, ['localhost']), /authority of .* is not trusted; give it as \S+/],
  [
    'that has expired',
    authority.issue('expired', 0, ['localhost']),
    /certificate has expired; renew it, or set this machine's clock/,
  ],
  [
    'for another name',
    authority.issue('name', 2, ['other.example']),
    /certificate is for another name; use that name as host/,
  ],
];
const right = authority.issue('right', 2, ['localhost']);
const car = authority.issue(VIN);
const identity = { pem: Buffer.concat([car.key, car.cert]).toString() };

/** Clients of a server at `localhost:port`. Each resolves with the text of its error or its log. */
const clients: readonly (readonly [string, (port: number) => Promise<string>])[] = [
  ['the car at its broker', linkOf],
  [
    'vigie watch at a broker',
    (port) => errorOf(CloudClient.connect(`mqtts://localhost:${port}`, { tls: { ca: authority.cert } })),
  ],
  ['a hub at its broker', (port) => errorOf(receiverAt(port))],
  ['a webhook', async (port) => reasonOf(webhook().deliver({ ...content, url: `https://localhost:${port}/` }))],
  ['a websocket', websocketOf],
  ['a push service', async (port) => reasonOf(push().deliver({ ...content, ...pushTo(port) } as never))],
  ['the database of a hub', databaseOf],
  ['the keys of the issuer of tokens', issuerKeysOf],
  ['the identity provider of a hub', signInOf],
  [
    'enrolment',
    async (port) =>
      errorOf(
        enrol(`https://localhost:${port}`, ca, { vin: VIN, text: 'x', fingerprint: '' } as never, await newCarKey()),
      ),
  ],
  ['renewal of a certificate', (port) => errorOf(renew(`https://localhost:${port}`, ca, identity))],
  ['settings of an enrolment', (port) => errorOf(fetchSettings(`https://localhost:${port}`, ca, identity))],
  ['the clock of a hub', (port) => errorOf(hubTime(`https://localhost:${port}`, ca))],
];

let before: readonly string[];
beforeAll(() => {
  // Clients of identity providers trust the authorities of Node (NODE_EXTRA_CA_CERTS adds some).
  before = getCACertificates('default');
  setDefaultCACertificates([...before, ca]);
});
afterAll(() => {
  setDefaultCACertificates([...before]);
  rmSync(folder, { recursive: true, force: true });
});

describe.each(clients)('%s', (name, connect) => {
  test.each(faults)('a TLS client refuses a certificate %s and names the fault', async (_, certificate, words) => {
    const said = await connect(await serve(certificate, name));
    expect(said).toMatch(words);
    expect(new Set(said.match(/is not trusted|has expired|another name/g)).size).toBe(1);
  });

  test('a TLS client accepts the right certificate', async () => {
    let accepted = false;
    const port = await serve(right, name, () => {
      accepted = true;
    });
    expect(await connect(port)).not.toMatch(/is not trusted|has expired|another name/);
    expect(accepted).toBe(true);
  });
});

/** A server that closes every connection after its first bytes. PostgreSQL clients first ask for TLS (SSLRequest). */
async function serve({ cert, key }: Certificate, name: string, accepted = (): void => undefined): Promise<number> {
  const secured = (socket: TLSSocket): void => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      accepted();
      socket.destroy();
    });
  };
  const files = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const server: Server = name.includes('database')
    ? createServer((socket: Socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write('S');
          const tls = new TLSSocket(socket, { isServer: true, ...files });
          secured(tls);
        });
      })
    : createSecureServer({ ...files, requestCert: true, rejectUnauthorized: false }, secured);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

function errorOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'it resolved',
    (error: Error) => error.message,
  );
}

async function reasonOf(receipt: Promise<{ outcome: string; reason?: string }>): Promise<string> {
  const { outcome, reason = '' } = await receipt;
  expect(outcome).toBe('failed');
  return reason;
}

function linkOf(port: number): Promise<string> {
  return new Promise((resolve) => {
    const told = (event: string, fields?: object): void => {
      if (event === 'link.unreachable' || event === 'link.ended') resolve(JSON.stringify(fields));
    };
    const log = { info: told, warn: told, error: told };
    const link = new MqttLink({ url: `mqtts://localhost:${port}`, vin: VIN, log, tls: { ca: authority.cert } });
    onTestFinished(() => link.close());
    link.open({ up: () => undefined, down: (reason) => resolve(reason), message: () => undefined });
  });
}

function receiverAt(port: number): Promise<FleetReceiver> {
  return FleetReceiver.start({
    address: { url: `mqtts://localhost:${port}`, protocol: 5, tls: { ca: authority.cert } },
    group: 'fleet',
    name: 'one',
    identity: 'first',
    receiveMaximum: 10,
    log: silent,
    accept: async () => undefined,
    online: () => undefined,
    presence: () => undefined,
    known: async () => [],
    locks: { acquire: () => Promise.reject(new Error('unused')), place: async () => undefined },
    displaced: () => undefined,
  });
}

const content = { receiver: 'callback/1', headers: {}, ids: ['e1'], body: '{}' };

function webhook(): WebhookChannel {
  const channel = new WebhookChannel({ addresses: loopback, ca, now: Date.now });
  onTestFinished(() => channel.close());
  return channel;
}

async function websocketOf(port: number): Promise<string> {
  const connection = new WebsocketConnection(`wss://localhost:${port}/`, { addresses: loopback, ca });
  onTestFinished(() => connection.close());
  return reasonOf(connection.deliver([{ id: 'e1', content: {} as never }]));
}

function push(): PushChannel {
  const vapid = {
    subject: 'https://vigie.example/',
    publicKey: 'BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs',
    privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  };
  const channel = new PushChannel({ addresses: loopback, ca, now: Date.now, vapid } as never);
  onTestFinished(() => channel.close());
  return channel;
}

/** Keys of a push device from RFC 8291, appendix A. */
function pushTo(port: number): object {
  const keys = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  };
  return {
    device: { endpoint: `https://localhost:${port}/push`, keys },
    payload: '{}',
    urgency: 'normal',
    ttl: 60,
  };
}

function databaseOf(port: number): Promise<string> {
  const file = encodeURIComponent(authority.certFile);
  const url = `postgres://vigie@localhost:${port}/vigie?sslmode=verify-full&sslrootcert=${file}`;
  return errorOf(PostgresDatabase.open(url, silent));
}

async function issuerKeysOf(port: number): Promise<string> {
  const access = { issuer: 'i', audience: 'a', keys: keysByAddress(`https://localhost:${port}/keys`) };
  const rig = await startRig({ gates: { user: new UserGate(access, clock) } });
  const { privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({ sub: 'ada' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setExpirationTime('1h')
    .sign(privateKey);
  await rig.get('/connectedcar/v4/user/vehicles/v1/status', { authorization: `Bearer ${token}` });
  return JSON.stringify(rig.log.lines.filter(({ event }) => event === 'http.failed'));
}

async function signInOf(port: number): Promise<string> {
  const log = new MemoryLog();
  const signIn = new SignIn({
    provider: { issuer: `https://localhost:${port}`, clientId: 'hub', scope: 'openid', groups: 'groups' },
    fleets: async () => [],
    isUser: async () => false,
    token: async () => '',
    clock,
    log,
  });
  const rig = await startRig({ access: 'hub', routes: (router) => signIn.add(router) });
  await rig.get(SIGN_IN);
  return JSON.stringify(log.lines);
}
