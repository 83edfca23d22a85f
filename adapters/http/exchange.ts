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
  /** HTTP status of the answer, once it is known. */
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

interface Opening {
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
    headers: {
      ...protection,
      ...(secure ? transport : {}),
      // The time of the records in the answer, which is not that of the machine once a receiver keeps it.
      Date: new Date(now).toUTCString(),
      'X-Request-Id': id,
    },
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

export type AnswerContent = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined;

/**
 * The answer; `headers` come last. It is written here unless it is a stream: as an object of the fetch standard, which
 * reads its own text back from a stream, it would take the processor twice as long. A client that has the same answer
 * already gets 304 without it.
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
  // This connection can take no further request: what follows is the rest of the unread body.
  answer.writeHead(status, { ...headers, Connection: 'close' });
  if (body === undefined) answer.flushHeaders();
  else answer.write(body);
  connections.linger(incoming, answer);
  return RESPONSE_ALREADY_SENT;
}

function isRead({ method }: HttpBindings['incoming']): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** A longer answer, such as a capture, has no tag: to make one takes a millisecond for each MiB. */
const LONGEST_TAGGED = 4 * 1024 * 1024;
/** Characters of a tag: 128 bits. */
const TAG = 22;

/**
 * The entity tag of an answer (RFC 9110 §8.8.3), of its bytes. It is weak: `Accept` chooses the media type, and answers of
 * several types have the same bytes.
 */
function entityTagOf(body: string | Uint8Array): string | undefined {
  return body.length > LONGEST_TAGGED
    ? undefined
    : `W/"${createHash('sha256').update(body).digest('base64url').slice(0, TAG)}"`;
}

/** Whether the client has the answer (RFC 9110 §13.1.2): weak and strong tags compare alike, and text without quotes is no tag. */
function isHeld(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const tags = ifNoneMatch.matchAll(/"[\x21\x23-\x7e\x80-\xff]*"/g);
  return [...tags].some(([one]) => tag.endsWith(one));
}

/** A stream has no end to know its headers by. */
export function refuseHead({ req, env }: RequestContext): void {
  if (req.method !== 'HEAD') return;
  env.exchange.headers['Allow'] = 'GET';
  throw new VigieError('request.method', 'this address takes GET');
}
