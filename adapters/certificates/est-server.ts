/**
 * Enrolment over Secure Transport (RFC 7030): a car gets its certificate with a one-time token, and renews it with its
 * current certificate, even if that has expired. TLS verifies that the car has the key. The car is identified by the
 * authority and the registry, regardless of the certificate's dates.
 */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ConnectionLimits, ConnectionSlots } from '../../agent/connection-slots.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { accessTo, type Principal } from '../../protocol/interface/access.ts';
import type { CarCertificate, CertificateAuthority } from './authority.ts';
import { packCertificates, readRequest } from './authority.ts';

/** Decides which cars get certificates, and stores these: the registry of a hub. */
export interface EnrolmentDesk {
  /** Resolves with true if this token entitles the car to a certificate for this key. @param key hexadecimal digest */
  mayEnrol(vin: string, token: string, key: string): Promise<boolean>;
  /** Returns the VIN of the car that has this certificate, or undefined if the car was removed. */
  carOf(serial: string): Promise<string | undefined>;
  /** Stores a new certificate. @param before serial number of the certificate that authorized the request */
  keep(vin: string, certificate: CarCertificate, before?: string): Promise<void>;
  /** Returns the settings for the car's configuration. @param host the name by which the car has reached the hub */
  settings(vin: string, host: string): Promise<object>;
}

export interface EstServerOptions {
  readonly authority: CertificateAuthority;
  readonly desk: EnrolmentDesk;
  /** Address to listen on; port 0 selects any free port. */
  readonly host: string;
  readonly port: number;
  /** Certificate and key of the hub in PEM. */
  readonly tls: { readonly key: string; readonly cert: string };
  /** Validity of a car's certificate in ms. */
  readonly lasts: number;
  /** Default: {@link CONNECTION_LIMITS}. */
  readonly limits?: ConnectionLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** Maximum size of a request body in bytes: a car sends about 500. */
const MAX_BODY_BYTES = 16_384;
/** A connection counts as waiting until its car is authenticated. A client with many cannot lock out others. */
const CONNECTION_LIMITS: ConnectionLimits = {
  all: 256,
  waiting: 128,
  waitingPerAddress: 16,
  keptPerAddress: 0,
};
/** Maximum duration of a connection in ms: a car enrols in less than a second. */
const CONNECTION_MS = 30_000;
const BASE = '/.well-known/est';
/** Path of an operation that RFC 7030 does not have. */
export const SETTINGS_PATH = '/vigie/v1/enrolment';

interface EstAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type CertificateRequest = Awaited<ReturnType<typeof readRequest>>;

/** An authenticated client. */
type Caller =
  | { readonly kind: 'anyone' }
  | { readonly kind: 'token'; readonly vin: string; readonly asked: CertificateRequest }
  | { readonly kind: 'certificate'; readonly vin: string; readonly serial: string };

export class EstServer {
  readonly #options: EstServerOptions;
  readonly #issuer: X509Certificate;
  readonly #slots: ConnectionSlots<string>;
  #server: Server | undefined;

  constructor(options: EstServerOptions) {
    this.#options = options;
    this.#issuer = new X509Certificate(options.authority.pem);
    this.#slots = new ConnectionSlots(options.limits ?? CONNECTION_LIMITS);
  }

  /** Resolves with the port when the server listens; rejects with `usage.wrong` if the address is not available. */
  async start(): Promise<number> {
    const { authority, host, port, tls } = this.#options;
    const server = createServer(
      {
        ...tls,
        ca: authority.pem,
        requestCert: true,
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
        requestTimeout: 30_000,
        headersTimeout: 30_000,
      },
      (request, response) => this.#serve(request, response),
    );
    const open = new Map<string, Socket>();
    server.on('connection', (socket: Socket) => this.#bound(socket, open));
    server.listen({ host, port });
    try {
      await once(server, 'listening');
    } catch (cause) {
      const text = `enrolment cannot listen there: ${(cause as Error).message}`;
      throw new VigieError('usage.wrong', text, { where: `${host}:${port}`, cause });
    }
    // If a connection cannot be accepted, e.g. because too many files are open, the server continues without it.
    server.on('error', (error) => this.#options.log.error('hub.enrolment.failed', { reason: error.message }));
    this.#server = server;
    return (server.address() as AddressInfo).port;
  }

  /** Replaces the certificates for future connections. */
  renew(tls: EstServerOptions['tls']): void {
    const { authority } = this.#options;
    this.#server?.setSecureContext({ ...tls, ca: authority.pem, minVersion: 'TLSv1.2' });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  /** Limits the duration of a connection, because Node restarts its own timeouts at each byte of a handshake. */
  #bound(socket: Socket, open: Map<string, Socket>): void {
    const { clock, log } = this.#options;
    const client = clientOf(socket);
    open.set(client, socket);
    const cancel = clock.after(CONNECTION_MS, () => socket.destroy());
    socket.once('close', () => {
      cancel();
      open.delete(client);
      this.#slots.delete(client);
    });
    const closed = this.#slots.add(client, socket.remoteAddress);
    if (closed === undefined) return;
    log.warn('hub.enrolment.connectionLimit', { connections: this.#slots.size, from: open.get(closed)?.remoteAddress });
    open.get(closed)?.destroy();
  }

  /** Never throws: an error, even after the socket was closed, ends only this request. */
  #serve(request: IncomingMessage, response: ServerResponse): void {
    // Read the address before the first await, because a request has no socket after its connection is closed.
    const from = request.socket.remoteAddress;
    request.on('error', ignore);
    response.on('error', ignore);
    this.#answer(request)
      .catch((error: unknown) => this.#refusal(request, from, error))
      .then((answer) => send(request, response, answer))
      .catch((error: unknown) => {
        this.#logFailure(request, from, error);
        request.destroy();
      });
  }

  async #answer(request: IncomingMessage): Promise<EstAnswer> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const route = `${request.method} ${path}`;
    const caller = await this.#admit(request, accessTo('enrolment', request.method ?? '', path)?.principal);
    if (caller.kind === 'anyone' && route === `GET ${BASE}/cacerts`) {
      const body = packCertificates([this.#options.authority.der]);
      return { status: 200, type: 'application/pkcs7-mime', body };
    }
    if (caller.kind === 'token' && route === `POST ${BASE}/simpleenroll`) {
      return this.#certified(caller.vin, caller.asked);
    }
    if (caller.kind === 'certificate' && route === `POST ${BASE}/simplereenroll`) {
      return this.#certified(caller.vin, await readRequest(await bodyOf(request)), caller.serial);
    }
    if (caller.kind === 'certificate' && route === `GET ${SETTINGS_PATH}`) {
      const settings = await this.#options.desk.settings(caller.vin, hostOf(request));
      return { status: 200, type: 'application/json', body: JSON.stringify(settings) };
    }
    throw new VigieError('request.unknown', 'there is nothing at this address');
  }

  /** Checks the credentials that the access table demands for the route; rejects a route that is not in the table. */
  async #admit(request: IncomingMessage, demanded: Principal | undefined): Promise<Caller> {
    switch (demanded) {
      case 'anyone':
        return { kind: 'anyone' };
      case 'token':
        return this.#tokenHolder(request);
      case 'certificate':
        return { kind: 'certificate', ...(await this.#shown(request)) };
      default:
        throw new VigieError('request.unknown', 'there is nothing at this address');
    }
  }

  async #tokenHolder(request: IncomingMessage): Promise<Caller> {
    const { name: vin, password } = basicOf(request.headers.authorization);
    const asked = await readRequest(await bodyOf(request));
    if (!(await this.#options.desk.mayEnrol(vin, password, asked.key))) {
      throw new VigieError(
        'request.unauthenticated',
        'the token is wrong, was used, has expired, or the car was removed',
      );
    }
    this.#slots.admit(clientOf(request.socket));
    return { kind: 'token', vin, asked };
  }

  async #certified(vin: string, asked: CertificateRequest, before?: string): Promise<EstAnswer> {
    const { authority, desk, lasts, clock, log } = this.#options;
    const certificate = await authority.certifyCar(vin, asked, clock.now(), lasts);
    await desk.keep(vin, certificate, before);
    log.info('hub.car.certified', { vin, serial: certificate.serial, renewed: before !== undefined });
    const body = packCertificates([certificate.der]);
    return { status: 200, type: 'application/pkcs7-mime; smime-type=certs-only', body };
  }

  /** Returns the car that presented its certificate on this TLS connection. */
  async #shown({ socket }: IncomingMessage): Promise<{ readonly vin: string; readonly serial: string }> {
    const client = clientOf(socket);
    const shown = (socket as TLSSocket).getPeerX509Certificate();
    if (shown === undefined) throw new VigieError('request.unauthenticated', 'needs the certificate of the car');
    if (!shown.checkIssued(this.#issuer) || !shown.verify(this.#issuer.publicKey)) {
      throw new VigieError('request.forbidden', 'the certificate is of another authority');
    }
    const serial = shown.serialNumber.toLowerCase();
    const vin = await this.#options.desk.carOf(serial);
    if (vin === undefined) throw new VigieError('request.forbidden', 'the certificate was revoked, or the car removed');
    this.#slots.admit(client);
    return { vin, serial };
  }

  #refusal(request: IncomingMessage, from: string | undefined, error: unknown): EstAnswer {
    const { log } = this.#options;
    const known = error instanceof VigieError ? error : undefined;
    const { method, url } = request;
    if (known === undefined) this.#logFailure(request, from, error);
    else log.warn('hub.enrolment.refused', { method, url, from, reason: known.message });
    return {
      status: statuses[known?.code ?? ''] ?? 500,
      type: 'text/plain; charset=utf-8',
      body: `${known?.message ?? 'the hub failed: its log has the reason'}\n`,
      headers: {
        Connection: 'close',
        ...(known?.code === 'request.unauthenticated' ? { 'WWW-Authenticate': 'Basic realm="vigie"' } : {}),
      },
    };
  }

  #logFailure({ method, url }: IncomingMessage, from: string | undefined, error: unknown): void {
    const reason = reasonOf(error);
    this.#options.log.error('hub.enrolment.failed', { method, url, from, reason });
  }
}

const ignore = (): void => undefined;

/** Returns the identity of a connection. (With TLS, requests have another socket object than the connection.) */
function clientOf(socket: Socket | null): string {
  return `${socket?.remoteAddress} ${socket?.remotePort}`;
}

/** Sends a response. Ends it only when the whole request has arrived; otherwise the sender might not read it. */
function send(request: IncomingMessage, response: ServerResponse, { status, type, body, headers }: EstAnswer): void {
  // Content other than JSON and text is in base64 (RFC 7030 §4).
  const encoding = type.startsWith('application/pkcs7') ? { 'Content-Transfer-Encoding': 'base64' } : {};
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': length, ...encoding, ...headers });
  if (request.complete || request.destroyed) {
    response.end(body);
    return;
  }
  response.write(body);
  request.once('close', () => response.end()).resume();
}

const statuses: Readonly<Record<string, number>> = {
  'input.malformed': 400,
  'request.unauthenticated': 401,
  'request.forbidden': 403,
  'request.unknown': 404,
  'message.unbounded': 413,
  'store.failed': 503,
};

/** Returns the host as in a URL: without the port, IPv6 in brackets. */
function hostOf({ headers: { host = '' } }: IncomingMessage): string {
  if (!URL.canParse(`https://${host}`)) throw new VigieError('input.malformed', 'Host: is not a name or an address');
  return new URL(`https://${host}`).hostname;
}

/** Parses Basic credentials (RFC 7617). */
function basicOf(authorization = ''): { readonly name: string; readonly password: string } {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? [];
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) throw new VigieError('request.unauthenticated', 'needs the VIN and the token of the car (HTTP Basic)');
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Reads the base64 body (RFC 7030 §4.2.1). Uses listeners: leaving an iteration early destroys the connection. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => void request.off('data', take).off('end', ended).off('close', cut);
    const ended = (): void => {
      stop();
      resolve();
    };
    const fail = (error: VigieError): void => {
      stop();
      reject(error);
    };
    const cut = (): void => fail(new VigieError('input.malformed', 'the request ended early'));
    const take = (part: Buffer): void => {
      bytes += part.byteLength;
      if (bytes <= MAX_BODY_BYTES) parts.push(part);
      else fail(new VigieError('message.unbounded', `the request is longer than ${MAX_BODY_BYTES} bytes`));
    };
    // If the client disconnected before these listeners were added, no event follows.
    if (request.destroyed) cut();
    else request.on('data', take).on('end', ended).on('close', cut);
  });
  return Buffer.from(Buffer.concat(parts).toString('latin1'), 'base64');
}
