import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Hono } from 'hono';
import { VigieError } from '../../protocol/errors.ts';
import type { Operation, Side } from '../../protocol/interface/operation.ts';
import { authorityOf, type RequestTarget, sideOf, targetOf } from './address.ts';
import type { Caller } from './call.ts';
import type { Connections } from './connections.ts';

/** A request on its way to its answer, and what became known of it on the way. */
export interface HttpExchange {
  /** In the answer (`X-Request-Id`), in refusals and in the log. */
  readonly id: string;
  /** UTC ms. */
  readonly now: number;
  readonly target: RequestTarget;
  /** Scheme, name and port that the request was sent to, as the caller sees them. */
  readonly origin: string;
  readonly side: Side;
  operation?: Operation;
  caller?: Caller;
  /** Headers of the answer, refused or not. */
  readonly headers: Record<string, string>;
  /** Of the answer, once there is one. */
  status?: number;
}

export type Bindings = { Bindings: HttpBindings & { exchange: HttpExchange; connections: Connections } };
export type App = Hono<Bindings>;
export type RequestContext = Context<Bindings>;

/** On every answer: nothing of a car belongs into a cache, a frame or another site's page. */
const protection: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
/** RFC 6797: a year, only where the answer itself came over TLS. */
const transport = { 'Strict-Transport-Security': 'max-age=31536000' };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface Opening {
  /** The whole URL of the request. */
  readonly address: string;
  /** Whether it came over TLS: the address may say what it likes. */
  readonly secure: boolean;
  /** The id that the caller gave the request, which has to be a UUID. */
  readonly asked: string | undefined;
  /** UTC ms. */
  readonly now: number;
}

export function openExchange({ address, secure, asked, now }: Opening): HttpExchange {
  const target = targetOf(address);
  const id = asked !== undefined && UUID.test(asked) ? asked : randomUUID();
  return {
    id,
    now,
    target,
    origin: `${secure ? 'https' : 'http'}://${authorityOf(address)}`,
    side: sideOf(target.path),
    headers: { ...protection, ...(secure ? transport : {}), 'X-Request-Id': id },
  };
}

/**
 * A header of the request, as Node has read it; `name` in any case. An object of the fetch standard with all of them is
 * not made for this: that takes longer than much of the rest of a request.
 */
export function headerOf({ headers }: HttpBindings['incoming'], name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

type Content = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined;

/**
 * The answer; `headers` come last. It is written here unless it is a stream: as an object of the fetch standard, which
 * reads its own text back from a stream, it would take the processor twice as long.
 */
export function respond(
  { exchange, incoming, outgoing, connections }: RequestContext['env'],
  status: number,
  body: Content,
  headers: Readonly<Record<string, string>> = {},
  cookies: readonly string[] = [],
): Response {
  exchange.status = status;
  const all = { ...exchange.headers, ...headers };
  if (body instanceof ReadableStream) return new Response(body, { status, headers: all });
  const answer = outgoing as ServerResponse;
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  const sized = status === 204 ? all : { ...all, 'Content-Length': String(length) };
  if (cookies.length > 0) answer.setHeader('Set-Cookie', cookies);
  if (incoming.complete) {
    answer.writeHead(status, sized).end(body);
    return RESPONSE_ALREADY_SENT;
  }
  // This connection can take no further request: what follows is the rest of the unread body.
  answer.writeHead(status, { ...sized, Connection: 'close' });
  if (body === undefined) answer.flushHeaders();
  else answer.write(body);
  connections.linger(incoming, answer);
  return RESPONSE_ALREADY_SENT;
}

/** A stream has no end to know its headers by. */
export function refuseHead({ req, env }: RequestContext): void {
  if (req.method !== 'HEAD') return;
  env.exchange.headers['Allow'] = 'GET';
  throw new VigieError('request.method', 'this address takes GET');
}
