import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { WebhookRequest } from '../../../adapters/callbacks/channel.ts';
import { sign, WebhookChannel } from '../../../adapters/callbacks/webhook.ts';
import { Authority } from '../../rig/certificates.ts';
import { runs } from '../../rig/runs.ts';
import '../../rig/seed.ts';
import { HttpReceiver, loopback } from './servers.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function receiver(): Promise<HttpReceiver> {
  const server = await new HttpReceiver().open();
  open.push(server);
  return server;
}

function channel(timeout = 10_000, ca?: string): WebhookChannel {
  const made = new WebhookChannel({
    addresses: loopback,
    timeout,
    now: () => 1_767_225_600_500,
    ...(ca ? { ca } : {}),
  });
  open.push(made);
  return made;
}

const outgoing = (url: string, rest: Partial<WebhookRequest> = {}): WebhookRequest => ({
  receiver: 'callback/1',
  url,
  headers: { authorization: 'Bearer abc' },
  ids: ['e1', 'e2'],
  body: '{"é":1}',
  ...rest,
});

test('posts JSON with headers, ids and a signature that the receiver can check', async () => {
  const server = await receiver();
  const secret = 'a secret of a callback';
  expect(await channel().deliver(outgoing(`${server.url}?a=1`, { secret }))).toEqual({ outcome: 'delivered' });
  const [request] = server.received;
  expect(request).toMatchObject({
    method: 'POST',
    url: '/events?a=1',
    body: '{"é":1}',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer abc',
      'vigie-event-id': 'e1, e2',
      'content-length': '8',
    },
  });
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request?.headers['vigie-signature'])) ?? [];
  expect(time).toBe('1767225600');
  expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${request?.body}`).digest('hex'));
});

test('the signature in docs/callbacks.md is correct', () => {
  const page = readFileSync(new URL('../../../docs/callbacks.md', import.meta.url), 'utf8');
  const [, example] = /Vigie-Signature: (\S+)/.exec(page) ?? [];
  expect(sign('a secret of a callback', 1_767_225_600_000, '{"refresh":false}')).toBe(example);
});

test('without a secret there is no signature', async () => {
  const server = await receiver();
  await channel().deliver(outgoing(server.url));
  expect(server.received[0]?.headers['vigie-signature']).toBeUndefined();
});

test.each([200, 201, 202, 204, 299])('status %i counts as delivered', async (status) => {
  const server = await receiver();
  server.behaviour = (_, response) => response.writeHead(status).end();
  expect(await channel().deliver(outgoing(server.url))).toEqual({ outcome: 'delivered' });
});

test.each([300, 304, 400, 404, 410, 500, 503])('status %i counts as failed', async (status) => {
  const server = await receiver();
  server.behaviour = (_, response) => response.writeHead(status).end('no');
  expect(await channel().deliver(outgoing(server.url))).toEqual({
    outcome: 'failed',
    reason: `the receiver answered ${status}`,
  });
});

test('a redirect is not followed', async () => {
  const [server, other] = [await receiver(), await receiver()];
  server.behaviour = (_, response) => response.writeHead(307, { location: other.url }).end();
  expect(await channel().deliver(outgoing(server.url))).toMatchObject({ outcome: 'failed' });
  expect(other.received).toEqual([]);
});

test('a delivery fails when the receiver does not answer in time', async () => {
  const server = await receiver();
  server.behaviour = () => undefined;
  expect(await channel(50).deliver(outgoing(server.url))).toEqual({
    outcome: 'failed',
    reason: 'no answer within 50 ms',
  });
});

test('a delivery fails when the connection breaks or is refused, and the next one succeeds', async () => {
  const server = await receiver();
  server.behaviour = (_, __, socket) => socket.destroy();
  const sender = channel();
  expect(await sender.deliver(outgoing(server.url))).toMatchObject({ outcome: 'failed' });
  await server.close();
  expect(await sender.deliver(outgoing(server.url))).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/ECONNREFUSED/),
  });
  await server.open();
  server.behaviour = (_, response) => response.writeHead(200).end();
  expect(await sender.deliver(outgoing(server.url))).toEqual({ outcome: 'delivered' });
});

test('an endless answer costs only its connection', async () => {
  const server = await receiver();
  const ended = new Promise<void>((resolve) => {
    server.behaviour = (_, response, socket) => {
      socket.once('close', () => resolve());
      response.writeHead(200);
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(4096)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    };
  });
  expect(await channel().deliver(outgoing(server.url))).toEqual({ outcome: 'delivered' });
  await ended;
});

test('the channel refuses a private address even if an earlier check accepted it', async () => {
  expect(await channel().deliver(outgoing('http://10.0.0.1/'))).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/10\.0\.0\.1 is not a public address/),
  });
});

test('a TLS receiver needs a certificate from a configured authority', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-callbacks-'));
  const authority = new Authority(folder);
  const { cert, key } = authority.issue('receiver');
  const server = createServer({ cert: Buffer.from(cert), key: Buffer.from(key) }, (request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const ca = Buffer.from(authority.cert).toString();
  expect(await channel(10_000, ca).deliver(outgoing(url))).toEqual({ outcome: 'delivered' });
  expect(await channel().deliver(outgoing(url))).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/certificate/),
  });
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(folder, { recursive: true });
});

/** Fragments of answers in any order, cut anywhere. */
const answers = fc.array(
  fc.oneof(
    fc.constantFrom('HTTP/1.1 200 OK\r\n', 'HTTP/1.1 101 Switching Protocols\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'),
    fc.constantFrom('Content-Length: 5\r\n', 'Content-Length: -1\r\n', 'Transfer-Encoding: chunked\r\n', '\r\n', 'x'),
    fc.constantFrom('ffffffffffffffffff\r\n', '0\r\n\r\n', 'Upgrade: websocket\r\nConnection: upgrade\r\n'),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
  { maxLength: 8 },
);

test('a delivery ends whatever the receiver answers and whenever it disconnects, and the next one arrives', async () => {
  const good = await receiver();
  const sender = channel(500);
  let answer: readonly string[] = [];
  const bad = createPlainServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      for (const part of answer) socket.write(part, 'latin1');
      socket.end();
    });
  });
  bad.listen(0, '127.0.0.1');
  await once(bad, 'listening');
  open.push({ close: async () => void bad.close() });
  const url = `http://127.0.0.1:${(bad.address() as AddressInfo).port}/`;
  await fc.assert(
    fc.asyncProperty(answers, async (parts) => {
      answer = parts;
      const { outcome } = await sender.deliver(outgoing(url));
      const accepted = /^(HTTP\/1\.1 100 Continue\r\n\r\n)*HTTP\/1\.1 2/.test(parts.join(''));
      if (!accepted) expect(outcome).toBe('failed');
      expect(await sender.deliver(outgoing(good.url))).toEqual({ outcome: 'delivered' });
    }),
    { numRuns: runs(60, 600) },
  );
});
