import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Hono } from 'hono';
import { VigieError } from '../../protocol/errors.ts';
import type { Operation, Side } from '../../protocol/interface/operation.ts';
import { authorityOf, type RequestTarget, sideOf, targetOf } from './address.ts';
import type { Caller } from './call.ts';
import type { Connections } from './connections.ts';

/** A request, its response, and the state that handling it produced. */
export interface HttpExchange {
  /** Id of the request, sent in the response (`X-Request-Id`) and written to the log. */
  readonly id: string;
  /** Time of the request in UTC ms. */
  readonly now: number;
  readonly target: RequestTarget;
  /** Scheme, host and port as the caller addressed them. */
  readonly origin: string;
  readonly side: Side;
  operation?: Operation;
  caller?: Caller;
  /** Response headers, also sent with errors. */
  readonly headers: Record<string, string>;
  /** HTTP status of the response, once it is known. */
  status?: number;
}

export type Bindings = { Bindings: HttpBindings & { exchange: HttpExchange; connections: Connections } };
export type App = Hono<Bindings>;
export type RequestContext = Context<Bindings>;

/** Headers of every response: vehicle data must not be cached, framed or read by other sites. */
const protection: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
/** HSTS (RFC 6797) for one year; only for responses over TLS. */
const transport = { 'Strict-Transport-Security': 'max-age=31536000' };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface Opening {
  /** Complete URL of the request. */
  readonly address: string;
  /** True if the request arrived over TLS, regardless of its URL. */
  readonly secure: boolean;
  /** Id that the caller assigned to the request; ignored unless it is a UUID. */
  readonly asked: string | undefined;
  /** Time of the request in UTC ms. */
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
    headers: {
      ...protection,
      ...(secure ? transport : {}),
      // Use the agent's clock, which also stamps records. It differs from the system clock if GNSS sets it.
      Date: new Date(now).toUTCString(),
      'X-Request-Id': id,
    },
  };
}

/**
 * Returns a request header as parsed by Node; `name` is case-insensitive. Does not create the Headers object of the
 * fetch standard, which would take longer than most other work on the request.
 */
export function headerOf({ headers }: HttpBindings['incoming'], name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

export type AnswerContent = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined;

/**
 * Sends the response; `headers` override the exchange's. Writes it directly unless it is a stream: a Response of the
 * fetch standard would read its own body back from a stream, which doubles the processor time. A client that already
 * has the same content gets 304 without a body.
 */
export function respond(
  env: RequestContext['env'],
  status: number,
  body: AnswerContent,
  headers: Readonly<Record<string, string>> = {},
  cookies: readonly string[] = [],
): Response {
  const { exchange, incoming } = env;
  const all: Record<string, string> = { ...exchange.headers, ...headers };
  if (body instanceof ReadableStream) {
    exchange.status = status;
    return new Response(body, { status, headers: all });
  }
  const tag = status === 200 && body !== undefined && isRead(incoming) ? entityTagOf(body) : undefined;
  if (tag !== undefined) all['ETag'] = tag;
  if (tag !== undefined && isHeld(headerOf(incoming, 'if-none-match'), tag)) {
    const { 'Content-Type': _, ...rest } = all;
    return send(env, 304, undefined, rest, cookies);
  }
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  return send(env, status, body, status === 204 ? all : { ...all, 'Content-Length': String(length) }, cookies);
}

function send(
  { exchange, incoming, outgoing, connections }: RequestContext['env'],
  status: number,
  body: Exclude<AnswerContent, ReadableStream<Uint8Array>>,
  headers: Readonly<Record<string, string>>,
  cookies: readonly string[],
): Response {
  exchange.status = status;
  const answer = outgoing as ServerResponse;
  if (cookies.length > 0) answer.setHeader('Set-Cookie', cookies);
  if (incoming.complete) {
    answer.writeHead(status, headers).end(body);
    return RESPONSE_ALREADY_SENT;
  }
  // The connection cannot be reused for another request, because the rest of the unread body follows on it.
  answer.writeHead(status, { ...headers, Connection: 'close' });
  if (body === undefined) answer.flushHeaders();
  else answer.write(body);
  connections.linger(incoming, answer);
  return RESPONSE_ALREADY_SENT;
}

function isRead({ method }: HttpBindings['incoming']): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Maximum size of a body that gets an ETag, in bytes. Hashing takes 1 ms per MiB, so larger bodies get none. */
const LONGEST_TAGGED = 4 * 1024 * 1024;
/** Length of a tag in characters: 128 bits. */
const TAG = 22;

/**
 * Returns the entity tag of a body (RFC 9110 §8.8.3), a hash of its bytes. It is weak, because responses with different
 * media types (chosen by `Accept`) can have the same bytes.
 */
function entityTagOf(body: string | Uint8Array): string | undefined {
  return body.length > LONGEST_TAGGED
    ? undefined
    : `W/"${createHash('sha256').update(body).digest('base64url').slice(0, TAG)}"`;
}

/** Returns true if `If-None-Match` matches (RFC 9110 §13.1.2): weak comparison; unquoted tags do not match. */
function isHeld(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const tags = ifNoneMatch.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g);
  return [...tags].some(([one]) => tag.endsWith(one));
}

/** Rejects HEAD for a stream: its headers cannot be known in advance. */
export function refuseHead({ req, env }: RequestContext): void {
  if (req.method !== 'HEAD') return;
  env.exchange.headers['Allow'] = 'GET';
  throw new VigieError('request.method', 'this address takes GET');
}
