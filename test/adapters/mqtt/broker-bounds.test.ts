/** Limits for clients of the embedded broker before they are admitted, over real sockets and real TLS. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { CONNECT_MS } from '../../../adapters/mqtt/broker-connections.ts';
import { EmbeddedBroker } from '../../../adapters/mqtt/index.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { Car, message, Observer } from '../../rig/car.ts';
import { Authority, type Certificate } from '../../rig/certificates.ts';
import { VirtualClock } from '../../rig/clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-broker-bounds-'));
let authority: Authority;
let certificate: Certificate;

beforeAll(() => {
  authority = new Authority(folder);
  certificate = authority.issue('broker');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Rig {
  readonly url: string;
  /** `client: reason` of each refusal. */
  readonly refused: Arrivals<string>;
  readonly failed: Arrivals<string>;
}

type Options = NonNullable<ConstructorParameters<typeof EmbeddedBroker>[0]>;

async function start(options: Options = {}): Promise<Rig> {
  const [refused, failed] = [new Arrivals<string>(), new Arrivals<string>()];
  const broker = new EmbeddedBroker({
    refused: (client, reason) => refused.push(`${client}: ${reason}`),
    failed: (client, error) => failed.push(`${client}: ${(error as Error).message}`),
    ...options,
  });
  const { url } = await broker.start();
  onTestFinished(() => broker.stop());
  return { url, refused, failed };
}

const tlsOptions = (): Options => ({
  tls: {
    key: readFileSync(certificate.keyFile, 'utf8'),
    cert: readFileSync(certificate.certFile, 'utf8'),
    ca: readFileSync(authority.certFile, 'utf8'),
  },
});

async function dial({ url }: Rig): Promise<Socket> {
  const { hostname, port, protocol } = new URL(url);
  const at = { host: hostname, port: Number(port) };
  const socket =
    protocol === 'mqtts:' ? connectTls({ ...at, ca: readFileSync(authority.certFile) }) : connect({ ...at });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once(protocol === 'mqtts:' ? 'secureConnect' : 'connect', resolve));
  return socket;
}

const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve()).resume();
  });

/** A CONNECT packet of the client `car` with a will of `will` bytes. */
function connectPacket(will: number): Buffer {
  const text = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
  const word = (characters: string): Buffer => text(Buffer.from(characters));
  const body = Buffer.concat([
    word('MQTT'),
    Buffer.of(4, 6, 0, 0),
    word('car'),
    word('will'),
    text(Buffer.alloc(will)),
  ]);
  const length = body.length < 0x80 ? [body.length] : [(body.length & 0x7f) | 0x80, body.length >> 7];
  return Buffer.concat([Buffer.of(0x10, ...length), body]);
}

test('a CONNECT that announces 256 MB is refused after its first bytes, on each of many TLS connections', async () => {
  const rig = await start(tlsOptions());
  for (let n = 0; n < 6; n++) {
    const socket = await dial(rig);
    socket.write(Buffer.of(0x10, 0xff, 0xff, 0xff, 0x7f));
    await ended(socket);
    expect(await rig.refused.take()).toBe('127.0.0.1: a packet of 268435460 bytes comes, 4096 are allowed');
  }
});

test('a CONNECT of 4,096 bytes with a will is accepted however it is split, and one of 4,097 is refused', async () => {
  const rig = await start();
  const packet = connectPacket(4_096 - connectPacket(1_000).length + 1_000);
  expect(packet).toHaveLength(4_096);
  const socket = await dial(rig);
  const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve));
  for (let at = 0; at < packet.length; at += 100) {
    await new Promise((resolve) => socket.write(packet.subarray(at, at + 100), resolve));
  }
  expect([...(await answer)]).toEqual([0x20, 2, 0, 0]);
  const other = await dial(rig);
  other.write(connectPacket(4_096 - connectPacket(1_000).length + 1_001));
  await ended(other);
  expect(await rig.refused.take()).toContain('a packet of 4097 bytes comes, 4096 are allowed');
});

test.each([
  ['another packet than CONNECT', Buffer.of(0x30, 0x80), 'the first packet is not CONNECT'],
  ['a length without end', Buffer.of(0x10, 0xff, 0xff, 0xff, 0xff, 0xff), 'a packet of Infinity bytes comes'],
  ['a CONNECT that is malformed', Buffer.of(0x10, 2, 0, 9), 'a malformed packet (CONNECT: it ends too early)'],
])('a connection that begins with %s is closed at once', async (_what, bytes, reason) => {
  const rig = await start();
  const socket = await dial(rig);
  socket.write(bytes);
  await ended(socket);
  expect(await rig.refused.take()).toContain(reason);
});

test('an admitted client that sends a packet that is too large or malformed is disconnected', async () => {
  const rig = await start();
  for (const [bytes, reason] of [
    [Buffer.of(0x32, 0x80, 0x80, 0x80, 0x10), 'a packet of 33554437 bytes comes, 16842752 are allowed'],
    [Buffer.of(0x32, 5, 0, 1, 0x61, 0, 0), 'PUBLISH: its packet identifier is 0'],
    [Buffer.of(0x82, 2, 0, 1), 'SUBSCRIBE: its list is empty'],
  ] as const) {
    const socket = await dial(rig);
    const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.write(connectPacket(0));
    await answer;
    socket.write(bytes);
    await ended(socket);
    expect(await rig.refused.take()).toBe(
      `car: ${reason.startsWith('a ') ? reason : `a malformed packet (${reason})`}`,
    );
  }
});

test('600 silent connections neither prevent a car from connecting nor disconnect one', async () => {
  const rig = await start();
  const before = await new Car(rig.url).start();
  const idle: Socket[] = [];
  for (let n = 0; n < 600; n++) idle.push(await dial(rig));
  const car = await new Car(rig.url, { vin: 'VF3VGEBENCH000002' }).start();
  await car.link.publish(message('new'));
  await before.link.publish(message('old'));
  expect(before.events.all).toEqual([{ kind: 'up' }]);
  // Limits: the two attempts of the car and 512 waiting connections. The oldest others are closed.
  await Promise.all(idle.slice(0, 88).map(ended));
  expect(await rig.refused.take()).toBe('127.0.0.1: too many connections wait to be let in');
  for (const { link } of [before, car]) await link.close();
});

test('a connection that does not authenticate in time is closed, whatever it has sent', async () => {
  const clock = new VirtualClock();
  const rig = await start({ ...tlsOptions(), after: (delay, due) => clock.after(delay, due) });
  const silent = await dial(rig);
  const slow = await dial(rig);
  await new Promise((resolve) => slow.write(Buffer.of(0x10, 100), resolve));
  const { hostname, port } = new URL(rig.url);
  const handshake = connect({ host: hostname, port: Number(port) });
  await new Promise((resolve) => handshake.once('connect', resolve));
  // Connections are accepted in order.
  const last = await dial(rig);
  const gone = [silent, slow, handshake, last].map(ended);
  clock.advance(CONNECT_MS);
  await Promise.all(gone);
});

test('an admitted client has no time limit', async () => {
  const clock = new VirtualClock();
  const rig = await start({ after: (delay, due) => clock.after(delay, due) });
  const observer = await Observer.connect(rig.url, 4);
  clock.advance(CONNECT_MS);
  await observer.send('a/b', 'still here');
  await observer.close();
});

test('an exception in the handling of a message, a subscription or a client ends only that connection', async () => {
  const boom = (): never => {
    throw new TypeError('boom');
  };
  const rig = await start({
    accept: (topic) => (topic === 'bad/accept' ? boom() : Promise.resolve()),
    subscribed: (filter) => (filter === 'bad/subscribe' ? boom() : undefined),
    identify: async ({ clientId }) => (clientId === 'bad' ? boom() : 'all'),
  });
  const good = await Observer.connect(rig.url, 4, ['good/#']);
  const [publisher, subscriber] = [await Observer.connect(rig.url, 4), await Observer.connect(rig.url, 4)];
  const closed = [publisher, subscriber].map(
    ({ client }) => new Promise<void>((resolve) => client.once('close', () => resolve())),
  );
  publisher.client.publish('bad/accept', 'x', { qos: 1 });
  subscriber.client.subscribe('bad/subscribe');
  await Promise.all(closed);
  expect(await rig.failed.take()).toContain('boom');
  await good.send('good/news', 'on');
  expect((await good.seen.take()).payload).toBe('on');
  await good.close();
});
