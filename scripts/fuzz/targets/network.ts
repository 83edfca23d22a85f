/** Tests data from network peers: requests to the HTTP interface, packets of a broker, responses of receivers, EST. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Addresses } from '../../../adapters/callbacks/addresses.ts';
import { WebhookChannel } from '../../../adapters/callbacks/webhook.ts';
import { readRequest } from '../../../adapters/certificates/authority.ts';
import { certificatesIn } from '../../../adapters/certificates/est-client.ts';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { LocalGate } from '../../../adapters/http/access/local.ts';
import type { Handlers } from '../../../adapters/http/call.ts';
import { startServer } from '../../../adapters/http/server.ts';
import { MqttConnection } from '../../../adapters/mqtt/connection.ts';
import { BENCH_LIMITS } from '../../../assembly/interface.ts';
import { bases } from '../../../protocol/interface/operation.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { Contradiction, type FuzzTarget, latin1, texts } from '../target.ts';

const HOST = '127.0.0.1';

/** Starts listening on a free port. Resolves with the port. */
async function listening(server: Server): Promise<number> {
  server.listen({ host: HOST, port: 0 });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** Answers a peer's first data with `input`, then disconnects. Resolves with the port and a function to stop. */
async function speaker(input: Uint8Array): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // The peer may disconnect at any time. This only tests how it handles the input.
    socket.on('error', () => undefined).resume();
    socket.once('data', () => socket.end(input));
  });
  const port = await listening(server);
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns everything that the server at `port` sends in answer to `input`. */
function answerTo(port: number, input: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect({ host: HOST, port }, () => socket.end(input));
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(latin1(Buffer.concat(parts))));
  });
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const list = operations.find(({ method, path }) => method === 'GET' && !path.includes('{'));
if (list === undefined) throw new Error('the interface has no list');
/** Path of an operation that has a body. */
const STATUS = `${bases.user}/user/callbacks/ca/status`;
const handlers: Handlers = Object.fromEntries(
  operations.map(({ id, answers }) => [id, () => ({ status: Number(Object.keys(answers)[0] ?? 200), body: {} })]),
);

export const httpRequest: FuzzTarget = {
  name: 'http-request',
  seeds: () =>
    texts(
      `GET ${bases[list.side]}${list.path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/hal+json\r\n\r\n`,
      `GET ${bases[list.side]}${list.path}?pageSize=2&extension=a HTTP/1.0\r\nHost: localhost\r\n\r\n`,
      `PUT ${STATUS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"status":"Paused"}`,
      `PUT ${STATUS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n13\r\n{"status":"Paused"}\r\n0\r\n\r\n`,
    ),
  words: [
    'Upgrade: websocket\r\n',
    'Connection: close\r\n',
    'OPTIONS ',
    '%2e%2e',
    'Idempotency-Key: 1\r\n',
    '\r\n\r\n',
  ],
  async run(input) {
    const gate = new LocalGate();
    const server = await startServer({
      operations,
      handlers,
      gates: { fleet: gate, user: gate },
      host: HOST,
      port: 0,
      log: quiet,
      ...BENCH_LIMITS,
      maxBodyBytes: 65_536,
      clock: new SystemClock(),
    });
    try {
      const answer = await answerTo(Number(new URL(server.url).port), input);
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? 400);
      // 501: unsupported method; 505: unsupported HTTP version.
      if (status >= 500 && status !== 501 && status !== 505)
        throw new Contradiction(`answered ${answer.slice(0, 300)}`);
      return status !== 400;
    } finally {
      await server.stop();
    }
  },
};

/** CONNACK, then packets that a broker may send (MQTT 5 clause 3). */
const CONNACK = [0x20, 0x03, 0x00, 0x00, 0x00];
const PUBLISH = [0x32, 0x08, 0x00, 0x01, 0x61, 0x00, 0x07, 0x00, 0x68, 0x69];
const PUBACK = [0x40, 0x02, 0x00, 0x01];

export const mqttPackets: FuzzTarget = {
  name: 'mqtt-packets',
  seeds: () => [
    Uint8Array.from([...CONNACK, ...PUBLISH, 0xd0, 0x00]),
    Uint8Array.from([...CONNACK, ...PUBACK, 0x90, 0x04, 0x00, 0x02, 0x00, 0x01]),
    Uint8Array.from([...CONNACK, ...PUBLISH, ...PUBLISH, 0xe0, 0x02, 0x8b, 0x00]),
    Uint8Array.from([0x20, 0x0e, 0x00, 0x00, 0x0b, 0x21, 0x00, 0x0a, 0x27, 0x00, 0x00, 0x10, 0x00, 0x13, 0x00, 0x3c]),
  ],
  words: ['\u0010', '\u0032', '\u0040', '\u0062', '\u0090', '\u00e0', '\u00f0', '\u00ff\u00ff\u00ff\u007f'],
  async run(input) {
    const broker = await speaker(input);
    let accepted = false;
    try {
      await new Promise<void>((resolve) => {
        const connection: MqttConnection = new MqttConnection(
          {
            address: { host: HOST, port: broker.port, secure: false, text: `mqtt://${HOST}:${broker.port}` },
            credentials: undefined,
            names: { ca: 'ca', certificate: 'cert and key' },
          },
          5,
          {
            clientId: 'fuzz',
            username: undefined,
            password: undefined,
            keepalive: 60,
            sessionExpiry: 60,
            maximumPacket: 4_096,
            window: 20,
            receiveMaximum: 10,
            timeout: 10_000,
          },
          {
            reached: () => undefined,
            ready: () => {
              accepted = true;
              const refused = (): void => undefined;
              connection.publish({ topic: 'a', payload: Uint8Array.of(1), retain: false, expiry: 60 }).catch(refused);
              connection.subscribe('a/#').catch(refused);
            },
            message: () => undefined,
            oversize: () => undefined,
            answered: () => undefined,
            closed: () => resolve(),
          },
        );
      });
    } finally {
      await broker.close();
    }
    return accepted;
  },
};

/** Tests how the response of a callback receiver is read. */
export const callbackAnswer: FuzzTarget = {
  name: 'callback-answer',
  seeds: () =>
    texts(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n',
      'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ),
  words: [
    'Location: http://127.0.0.1/\r\n',
    'Content-Encoding: gzip\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 101 ',
    'HTTP/1.1 307 ',
  ],
  async run(input) {
    const receiver = await speaker(input);
    const addresses = new Addresses({ networks: [HOST], allowHttp: true });
    const channel = new WebhookChannel({ addresses, now: () => 0 });
    try {
      const url = `http://${HOST}:${receiver.port}/`;
      const receipt = await channel.deliver({ receiver: 'fuzz', url, headers: {}, ids: ['1'], body: '{}' });
      if (receipt.outcome !== 'delivered' && (receipt.reason ?? '') === '')
        throw new Contradiction('failed without a reason');
      return receipt.outcome === 'delivered';
    } finally {
      await channel.close();
      await receiver.close();
    }
  },
};

/** Made once with the car's own code: a random key would make the inputs of a seed different each time. */
const REQUEST = [
  'MIHWMH4CAQAwHDEaMBgGA1UEAxMRVkYzVkdFRlVaWjAwMDAwMDEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASARx5GCho9TJ0Y',
  'QGDMltoQqX1EEZDA+qU7w599r/WltNzUJgL5eYjorLc9umLDV/P5Lt42ewoqAwRN/6N+PjPUoAAwCgYIKoZIzj0EAwIDSAAwRQIg',
  'OCmnY5/rgCAEthjaPSB9BboT8SpXRwnU5oW57AhF1MECIQDNJtWUhinFytbuMKCEVELdPO+jkMHQCcDsBqBcJlGT+Q==',
].join('');
const CERTIFICATES = [
  'MIIBQgYJKoZIhvcNAQcCoIIBMzCCAS8CAQExADAPBgkqhkiG9w0BBwGgAgQAoIIBEzCCAQ8wgbWgAwIBAgIBATAKBggqhkjOPQQD',
  'AjAPMQ0wCwYDVQQDEwRmdXp6MB4XDTI2MDEwMTAwMDAwMFoXDTM2MDEwMTAwMDAwMFowDzENMAsGA1UEAxMEZnV6ejBZMBMGByqG',
  'SM49AgEGCCqGSM49AwEHA0IABIBHHkYKGj1MnRhAYMyW2hCpfUQRkMD6pTvDn32v9aW03NQmAvl5iOistz26YsNX8/ku3jZ7CioD',
  'BE3/o34+M9SjAjAAMAoGCCqGSM49BAMCA0kAMEYCIQC6FKP0lckPQ4PBAh9MrKXhmrV37WoLhL45VN0LPBsEWgIhAPrCEXRC7NtH',
  'MoqnYF9n7SzDUHCwoKfXN47pn/bidJm4MQA=',
].join('');

/** Tests how a car's certificate request is read (PKCS #10). */
export const estRequest: FuzzTarget = {
  name: 'est-request',
  seeds: () => [new Uint8Array(Buffer.from(REQUEST, 'base64'))],
  async run(input) {
    await readRequest(input);
    return true;
  },
};

/** Tests how a car reads the response of a hub: certificates in PKCS #7, in base64. */
export const estAnswer: FuzzTarget = {
  name: 'est-answer',
  seeds: () => texts(CERTIFICATES),
  mend: (input) => new TextEncoder().encode(Buffer.from(latin1(input), 'base64').toString('base64')),
  run: (input) => certificatesIn(latin1(input)).length > 0,
};
