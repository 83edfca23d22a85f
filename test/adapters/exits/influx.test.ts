/** Requests to InfluxDB, at a server that answers as InfluxDB's published pages say, or with nonsense. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InfluxClient, type InfluxTarget } from '../../../adapters/exits/influx.ts';

interface Received {
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly lines: string;
}

let server: Server;
let url = '';
let answer: { readonly status: number; readonly body?: string } | 'hang up' = { status: 204 };
const received: Received[] = [];
const open = new AbortController().signal;

beforeAll(async () => {
  server = createServer(async (request: IncomingMessage, response) => {
    received.push({
      url: request.url,
      authorization: request.headers.authorization,
      lines: gunzipSync(await buffer(request)).toString('utf8'),
    });
    if (answer === 'hang up') request.socket.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
beforeEach(() => {
  received.length = 0;
  answer = { status: 204 };
});

async function write(target: InfluxTarget, secret?: () => string, base = url): Promise<void> {
  const client = new InfluxClient({ url: base, target, ...(secret && { secret }) });
  try {
    await client.write(['a value=1 1', 'a value=2 2'], open);
  } finally {
    await client.close();
  }
}

describe('a client of InfluxDB', () => {
  test('writes to a database of version 1 with name and password', async () => {
    await write({ database: 'my cars', username: 'car' }, () => 'päss');
    expect(received).toEqual([
      {
        url: '/write?db=my+cars&precision=ns',
        authorization: `Basic ${Buffer.from('car:päss').toString('base64')}`,
        lines: 'a value=1 1\na value=2 2',
      },
    ]);
  });

  test('writes to a bucket of version 2 with the token of the file, below the path of the address', async () => {
    await write({ org: 'home', bucket: 'cars/1' }, () => 'secret', `${url}/influx/`);
    expect(received).toMatchObject([
      { url: '/influx/api/v2/write?org=home&bucket=cars%2F1&precision=ns', authorization: 'Token secret' },
    ]);
  });

  test.each([
    [400, '{"error":"partial write: field type conflict dropped=1"}', 'message.malformed'],
    [400, '{"code":"invalid","message":"unable to parse"}', 'message.malformed'],
    [422, '{"code":"unprocessable entity","message":"outside retention"}', 'message.malformed'],
    [413, 'too large', 'message.unbounded'],
    [400, 'Bad Request', 'link.refused'],
    [401, '{"error":"authorization failed"}', 'link.refused'],
    [404, '{"error":"database not found"}', 'link.refused'],
    [429, '', 'link.refused'],
    [500, '{"error":"timeout"}', 'link.refused'],
    [200, '<html>Sign in to the network</html>', 'link.refused'],
    [302, '', 'link.refused'],
  ])('answer %i %s is the error %3$s', async (status, body, code) => {
    answer = { status, body };
    await expect(write({ database: 'cars' })).rejects.toMatchObject({ code });
  });

  test('a connection that ends without an answer, and an address without a server, are repeated later', async () => {
    answer = 'hang up';
    await expect(write({ database: 'cars' })).rejects.toMatchObject({ code: 'link.lost' });
    await expect(write({ database: 'cars' }, undefined, 'http://127.0.0.1:1')).rejects.toMatchObject({
      code: 'link.lost',
    });
  });

  test('sends no request without a line', async () => {
    const client = new InfluxClient({ url, target: { database: 'cars' } });
    await client.write([], open);
    await client.close();
    expect(received).toEqual([]);
  });
});
