import { createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebsocketChannel, type WebsocketOptions } from '../../../adapters/callbacks/websocket.ts';
import type { Receipt } from '../../../agent/callbacks/notifier.ts';
import { loopback } from './servers.ts';
import { WebsocketReceiver } from './websocket-receiver.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function receiver(): Promise<WebsocketReceiver> {
  const server = await new WebsocketReceiver().open();
  open.push(server);
  return server;
}

function channel(options: Partial<WebsocketOptions> = {}): WebsocketChannel {
  const made = new WebsocketChannel({ addresses: loopback, random: () => 1, ...options });
  open.push(made);
  return made;
}

const messages = (...ids: string[]) => ids.map((id) => ({ id, content: { of: id } }));

test('messages are text frames {id, message} on one connection, and an acknowledgement delivers them', async () => {
  const server = await receiver();
  const sender = channel();
  const send = (...ids: string[]) => sender.deliver({ receiver: 'r', url: server.url, messages: messages(...ids) });
  expect(await send('1', '2')).toEqual({ outcome: 'delivered' });
  expect(await send('3')).toEqual({ outcome: 'delivered' });
  expect(server.frames).toEqual(messages('1', '2', '3').map(({ id, content }) => ({ id, message: content })));
  expect(server.connections).toBe(1);
});

test('an acknowledgement covers all earlier messages', async () => {
  const server = await receiver();
  server.behaviour = (frame, socket) => {
    if (frame.id === '3') server.acknowledge(frame, socket);
  };
  const sent = channel().deliver({ receiver: 'r', url: server.url, messages: messages('1', '2', '3') });
  expect(await sent).toEqual({ outcome: 'delivered' });
});

test('after a dropped connection only the messages that the receiver has not seen are sent again', async () => {
  const server = await receiver();
  const sender = channel();
  const all = messages('1', '2', '3', '4');
  // The receiver stored frame 3, but the connection broke before the acknowledgement.
  server.behaviour = (frame, socket) => {
    if (frame.id === '3') {
      server.last = '3';
      socket.terminate();
    } else if (frame.id < '3') server.acknowledge(frame, socket);
  };
  const first = await sender.deliver({ receiver: 'r', url: server.url, messages: all });
  expect(first).toMatchObject({ outcome: 'failed' });
  const { delivered = 0 } = first as Receipt & { outcome: 'failed' };
  expect(delivered).toBeLessThanOrEqual(2);
  server.behaviour = (frame, socket) => server.acknowledge(frame, socket);
  const before = server.frames.length;
  const rest = all.slice(delivered);
  expect(await sender.deliver({ receiver: 'r', url: server.url, messages: rest })).toEqual({ outcome: 'delivered' });
  expect(server.frames.slice(before).map(({ id }) => id)).toEqual(['4']);
  expect(server.connections).toBe(2);
});

test('a receiver that reports no last id gets all unacknowledged messages again', async () => {
  const server = await receiver();
  server.resumes = false;
  const sender = channel();
  server.behaviour = (_, socket) => socket.terminate();
  await sender.deliver({ receiver: 'r', url: server.url, messages: messages('1', '2') });
  server.behaviour = (frame, socket) => server.acknowledge(frame, socket);
  await sender.deliver({ receiver: 'r', url: server.url, messages: messages('1', '2') });
  expect(server.frames.map(({ id }) => id).slice(-2)).toEqual(['1', '2']);
});

test('text from the receiver that is not an acknowledgement is ignored', async () => {
  const server = await receiver();
  server.behaviour = (frame, socket) => {
    for (const noise of ['', 'no json', '7', 'null', '{"ack":7}', '{"ack":"unheard"}', '[]']) socket.send(noise);
    server.acknowledge(frame, socket);
  };
  const sent = channel().deliver({ receiver: 'r', url: server.url, messages: messages('1') });
  expect(await sent).toEqual({ outcome: 'delivered' });
});

test('a frame that is too long for an acknowledgement ends the connection', async () => {
  const server = await receiver();
  server.behaviour = (_, socket) => socket.send('x'.repeat(5000));
  const sent = channel().deliver({ receiver: 'r', url: server.url, messages: messages('1') });
  expect(await sent).toMatchObject({ outcome: 'failed' });
});

test('without an acknowledgement in time the delivery fails, but acknowledged messages count', async () => {
  const server = await receiver();
  server.behaviour = (frame, socket) => {
    if (frame.id === '1') server.acknowledge(frame, socket);
  };
  const sent = channel({ timeout: 500 }).deliver({ receiver: 'r', url: server.url, messages: messages('1', '2') });
  expect(await sent).toEqual({
    outcome: 'failed',
    reason: 'no acknowledgement within 500 ms',
    delivered: 1,
    after: 10_000,
  });
});

test('a receiver that does not answer pings is disconnected', async () => {
  const server = await receiver();
  const sender = channel({ ping: 20 });
  await sender.deliver({ receiver: 'r', url: server.url, messages: messages('1') });
  const [client] = server.clients;
  const closed = new Promise<void>((resolve) => client?.once('close', () => resolve()));
  // A paused socket reads no ping, so it sends no pong.
  client?.pause();
  const again = sender.deliver({ receiver: 'r', url: server.url, messages: messages('2') });
  expect(await again).toMatchObject({ outcome: 'failed', reason: 'no answer to a ping' });
  client?.resume();
  await closed;
});

test('when the unit rests, an idle connection closes, a busy one stays, and the next message reconnects', async () => {
  const server = await receiver();
  const sender = channel();
  const send = (id: string) => sender.deliver({ receiver: 'r', url: server.url, messages: messages(id) });
  server.behaviour = (frame, socket) => {
    sender.rest();
    server.acknowledge(frame, socket);
  };
  expect(await send('1')).toEqual({ outcome: 'delivered' });
  const [client] = server.clients;
  const closed = new Promise<void>((resolve) => client?.once('close', () => resolve()));
  sender.rest();
  await closed;
  expect(await send('2')).toEqual({ outcome: 'delivered' });
  expect(server.connections).toBe(2);
});

test('the retry delay grows to a minute over consecutive failures, and a success resets it', async () => {
  const server = await receiver();
  const sender = channel();
  const send = () => sender.deliver({ receiver: 'r', url: server.url, messages: messages('1') });
  await server.close();
  const waits: unknown[] = [];
  for (let index = 0; index < 5; index++) waits.push(((await send()) as { after?: number }).after);
  expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
  await server.open();
  expect(await send()).toEqual({ outcome: 'delivered' });
  await server.close();
  expect(await send()).toMatchObject({ after: 10_000 });
});

test('release closes the connection', async () => {
  const server = await receiver();
  const sender = channel();
  await sender.deliver({ receiver: 'r', url: server.url, messages: messages('1') });
  const [client] = server.clients;
  const code = new Promise((resolve) => client?.once('close', resolve));
  sender.release('r');
  expect(await code).toBe(1000);
});

test('a delivery fails without a WebSocket server, without an answer, and at a private address', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const { port } = silent.address() as { port: number };
  const send = (url: string) => channel({ timeout: 50 }).deliver({ receiver: url, url, messages: messages('1') });
  expect(await send(`ws://127.0.0.1:${port}/`)).toMatchObject({ outcome: 'failed' });
  expect(await send('ws://10.0.0.1/')).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/10\.0\.0\.1 is not a public/),
  });
  for (const socket of sockets) socket.destroy();
  await new Promise((done) => silent.close(done));
});
