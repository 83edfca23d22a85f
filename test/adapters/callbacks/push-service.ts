/**
 * A push service and the devices behind it: HTTP/2 over TLS. It checks the sender's proof (RFC 8292) and decrypts each
 * payload (RFC 8188, RFC 8291). Written from the RFCs with node:crypto alone, without code of the sender.
 */
import { createDecipheriv, createECDH, createPublicKey, type ECDH, hkdfSync, randomBytes, verify } from 'node:crypto';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Device } from '../../../protocol/schema/callback/device.ts';

/** A new key pair of a sender, as operators configure it. */
export function vapidKeys(): { subject: string; publicKey: string; privateKey: string } {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const secret = keys.getPrivateKey();
  const padded = Buffer.concat([Buffer.alloc(32 - secret.length), secret]);
  return {
    subject: 'mailto:operator@example.org',
    publicKey: keys.getPublicKey().toString('base64url'),
    privateKey: padded.toString('base64url'),
  };
}

/** A push that a device received. */
export interface Pushed {
  readonly device: string;
  readonly ttl: number;
  readonly urgency: string | undefined;
  readonly payload: string;
  readonly httpVersion: string;
}

interface Subscriber {
  readonly keys: ECDH;
  readonly auth: Buffer;
}

export class PushService {
  readonly pushed: Pushed[] = [];
  /** Requests with a wrong proof or a body that cannot be decrypted. */
  readonly faults: string[] = [];
  /** Status and headers of the answer; undefined: 201. */
  behaviour: (device: string) => { status: number; headers?: Record<string, string> } | 'hang' | undefined = () =>
    undefined;
  readonly #server: Http2SecureServer;
  readonly #sessions = new Set<Http2Session>();
  readonly #subscribers = new Map<string, Subscriber>();
  /** Public key that apps subscribed with. Only the holder of its private key may push. */
  readonly #applicationServerKey: string;
  #port = 0;

  constructor(certificate: { readonly cert: Uint8Array; readonly key: Uint8Array }, applicationServerKey: string) {
    this.#applicationServerKey = applicationServerKey;
    const { cert, key } = certificate;
    this.#server = createSecureServer({ cert: Buffer.from(cert), key: Buffer.from(key), allowHTTP1: false });
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => undefined);
    });
    this.#server.on('stream', (stream, headers) => this.#stream(stream, headers));
  }

  get origin(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(this.#port, '127.0.0.1', done));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  subscribe(name: string): Device {
    const keys = createECDH('prime256v1');
    keys.generateKeys();
    const auth = randomBytes(16);
    this.#subscribers.set(name, { keys, auth });
    return {
      endpoint: `${this.origin}/push/${name}`,
      keys: { p256dh: keys.getPublicKey().toString('base64url'), auth: auth.toString('base64url') },
    };
  }

  unsubscribe(name: string): void {
    this.#subscribers.delete(name);
  }

  #stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const parts: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      const answer = this.#answer(headers, Buffer.concat(parts));
      if (answer === 'hang') return;
      stream.respond({ ':status': answer.status, ...answer.headers });
      stream.end();
    });
  }

  #answer(headers: IncomingHttpHeaders, body: Buffer): { status: number; headers?: Record<string, string> } | 'hang' {
    const device = String(headers[':path']).replace('/push/', '');
    const told = this.behaviour(device);
    if (told !== undefined) return told;
    const subscriber = this.#subscribers.get(device);
    if (subscriber === undefined) return { status: 410 };
    try {
      this.#prove(headers);
      if (headers['content-encoding'] !== 'aes128gcm') throw new Error('not aes128gcm');
      if (headers[':method'] !== 'POST') throw new Error('no POST');
      const payload = decrypt(body, subscriber).toString();
      const urgency = headers['urgency'] as string | undefined;
      this.pushed.push({ device, ttl: Number(headers['ttl']), urgency, payload, httpVersion: '2.0' });
      return { status: 201, headers: { location: `${this.origin}/message/${this.pushed.length}` } };
    } catch (error) {
      this.faults.push((error as Error).message);
      return { status: 403 };
    }
  }

  /** RFC 8292 §2 and §3: a JWT for this service, not expired, signed with the key that the app subscribed with. */
  #prove(headers: IncomingHttpHeaders): void {
    const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(.+)$/.exec(String(headers.authorization)) ?? [];
    if (key !== this.#applicationServerKey) throw new Error('another key than that of the subscription');
    const [head = '', claims = '', signature = ''] = token.split('.');
    const point = Buffer.from(key, 'base64url');
    const publicKey = createPublicKey({
      format: 'jwk',
      key: {
        kty: 'EC',
        crv: 'P-256',
        x: point.subarray(1, 33).toString('base64url'),
        y: point.subarray(33).toString('base64url'),
      },
    });
    const signed = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    if (!signed) throw new Error('the signature is wrong');
    const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString());
    const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const now = Date.now() / 1000;
    if (alg !== 'ES256' || aud !== this.origin) throw new Error(`for ${aud}, by ${alg}`);
    if (!(exp > now && exp <= now + 86_400)) throw new Error(`expires ${exp}`);
    if (!/^(mailto:|https:)/.test(sub)) throw new Error(`nobody to reach: ${sub}`);
  }
}

/** Decrypts one record (RFC 8291 §3.4 and RFC 8188 §2). */
function decrypt(body: Buffer, { keys, auth }: Subscriber): Buffer {
  if (body.length > 4096) throw new Error('longer than a service must take (RFC 8030 §7.2)');
  const salt = body.subarray(0, 16);
  const recordSize = body.readUInt32BE(16);
  const idLength = body.readUInt8(20);
  const senderKey = body.subarray(21, 21 + idLength);
  const sealed = body.subarray(21 + idLength);
  if (sealed.length > recordSize) throw new Error('more than one record (RFC 8291 §4)');
  const shared = keys.computeSecret(senderKey);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), senderKey]);
  const material = Buffer.from(hkdfSync('sha256', shared, auth, info, 32));
  const key = Buffer.from(hkdfSync('sha256', material, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', material, salt, 'Content-Encoding: nonce\0', 12));
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error('not the last record (RFC 8188 §2)');
  return padded.subarray(0, end);
}
