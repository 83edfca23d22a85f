/** Serves an operation to an admitted caller: checks the request, runs the handler, and writes the response. */

import type { ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock, Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { deprecatedMembers, readBody } from '../../protocol/interface/bodies.ts';
import type { Operation, Side } from '../../protocol/interface/operation.ts';
import { readHeaders, readPath, readQuery } from '../../protocol/interface/parameters.ts';
import type { InterfaceSettings } from '../../protocol/settings.ts';
import type { Credentials, Gate, RequestedAccess } from './access/credentials.ts';
import { ownParameters, readPairs, readSegments, withoutCredentials } from './address.ts';
import { readJson } from './body.ts';
import type { Answer, Call, Caller, Handlers } from './call.ts';
import { type AnswerContent, headerOf, type RequestContext, refuseHead, respond } from './exchange.ts';
import { type IdempotentAnswers, onceOf } from './idempotency.ts';
import { acceptable, EVENT_STREAM, mediaOf, requireJson } from './media.ts';
import type { TrustedProxies } from './proxies.ts';
import type { RateLimiter } from './rates.ts';

interface RoutePattern {
  /** Prefix before the operation's path. */
  readonly root: string;
  /** Path below the root, with names in braces. */
  readonly pattern: string;
}

interface ServingOptions {
  readonly handlers: Handlers;
  readonly gates: Readonly<Partial<Record<Side, Gate>>>;
  readonly rates: RateLimiter;
  readonly idempotent: IdempotentAnswers;
  readonly limits: Pick<InterfaceSettings, 'maxBodyBytes'>;
  /** Proxies that may report the client's address. */
  readonly proxies: TrustedProxies;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Start of the deprecation in UTC s (RFC 9745). The interface does not publish when it deprecated each operation; its
 * current version, of 30 July 2024, is the latest possible time.
 */
const DEPRECATED = `@${Date.UTC(2024, 6, 30) / 1000}`;

export class Serving {
  readonly #options: ServingOptions;

  constructor(options: ServingOptions) {
    this.#options = options;
  }

  /** Call before the caller is admitted. */
  begin(operation: Operation, { env: { exchange } }: RequestContext): void {
    exchange.operation = operation;
    if (operation.deprecated === true) {
      exchange.headers['Deprecation'] = DEPRECATED;
      exchange.headers['Link'] = '</docs>; rel="deprecation"; type="text/html"';
    }
  }

  async serve(operation: Operation, place: RoutePattern, context: RequestContext, caller: Caller): Promise<Response> {
    const { exchange, incoming } = context.env;
    const path = readSegments(place.pattern, exchange.target.path);
    const pairs = readPairs(exchange.target.query);
    if (operation.path.startsWith('/vigie/')) ownParameters(exchange.target.query, queryNames(operation));
    const media = acceptable(mediaOf(operation), headerOf(incoming, 'accept'));
    if (media === EVENT_STREAM) refuseHead(context);
    const call: Call = {
      operation,
      path: readPath(operation, path),
      query: readQuery(operation, pairs, exchange.now),
      headers: readHeaders(operation, (name) => headerOf(incoming, name)),
      body: operation.body === undefined ? undefined : await this.#readBody(operation, context.env),
      caller,
      base: `${exchange.origin}${place.root}`,
      self: selfOf(exchange.target.path.slice(place.root.length), exchange.target.query),
      now: exchange.now,
    };
    const answer = await this.#carryOut(call);
    return this.#respond(answer, media, context);
  }

  /** Returns the caller if the operation is allowed; counts the request. */
  async admit(
    side: Side,
    wanted: RequestedAccess,
    query: readonly (readonly [string, string])[],
    context: RequestContext,
  ): Promise<Caller> {
    const { exchange } = context.env;
    const gate = this.#options.gates[side];
    if (gate === undefined) throw new VigieError('request.unknown', 'this side of the interface is not enabled');
    let caller: Caller;
    try {
      caller = await gate.admit(credentialsOf(context, query, this.#options.proxies), wanted);
    } catch (error) {
      if (error instanceof VigieError && error.code === 'request.unauthenticated') {
        exchange.headers['WWW-Authenticate'] = gate.challenge;
      }
      throw error;
    }
    exchange.caller = caller;
    const counted = `${side} ${caller.name}`;
    try {
      this.#options.rates.count(counted);
    } finally {
      Object.assign(exchange.headers, this.#options.rates.headers(counted));
    }
    return caller;
  }

  async #readBody(operation: Operation, { incoming, outgoing }: RequestContext['env']): Promise<unknown> {
    requireJson(incoming.headers['content-type'], incoming.headers['content-encoding']);
    const body = readBody(
      operation,
      await readJson(incoming, outgoing as ServerResponse, this.#options.limits.maxBodyBytes),
    );
    const deprecated = deprecatedMembers(operation, body);
    if (deprecated.length > 0) {
      this.#options.log.warn('http.deprecated', { operation: operation.id, members: deprecated });
    }
    return body;
  }

  async #carryOut(call: Call): Promise<Answer> {
    const { handlers, idempotent } = this.#options;
    const handler = handlers[call.operation.id];
    if (handler === undefined) throw new VigieError('internal', `nothing serves ${call.operation.id}`);
    const key = call.operation.method === 'POST' ? call.headers['idempotency-key'] : undefined;
    if (key === undefined) return handler(call);
    const once = onceOf(call, key);
    return idempotent.answer(once, () => handler({ ...call, once }));
  }

  #respond({ status, body, headers = {} }: Answer, media: string | undefined, { env }: RequestContext): Response {
    const { exchange } = env;
    const published = exchange.operation?.answers[status];
    if (published === undefined) {
      throw new VigieError('internal', `${exchange.operation?.id} answered ${status}, which it does not publish`);
    }
    if (body === undefined) return respond(env, status, undefined, headers);
    const type = defined({ 'Content-Type': media });
    const isEncoded = body instanceof ReadableStream || body instanceof Uint8Array;
    const content = isEncoded ? (body as AnswerContent) : JSON.stringify(body);
    return respond(env, status, content, { Vary: 'Accept, Authorization', ...type, ...headers });
  }
}

function selfOf(path: string, query: string): string {
  const rest = withoutCredentials(query);
  return rest === '' ? path : `${path}?${rest}`;
}

/** Returns the credentials of the request. @param query the parsed query of the request */
function credentialsOf(
  context: RequestContext,
  query: readonly (readonly [string, string])[],
  proxies: TrustedProxies,
): Credentials {
  const { incoming } = context.env;
  const { socket } = incoming;
  const { authorization } = incoming.headers;
  const certificate = subjectOf(socket as TLSSocket);
  return {
    remote: proxies.clientOf(socket.remoteAddress ?? '', incoming.headers),
    clientIds: query.flatMap(([name, value]) => (name === 'client_id' ? [value] : [])),
    ...defined({ authorization, certificate }),
  };
}

/** Returns the subject of the client certificate, or undefined unless one of our certificate authorities signed it. */
function subjectOf(socket: TLSSocket): string | undefined {
  return socket.encrypted === true && socket.authorized ? socket.getPeerX509Certificate()?.subject : undefined;
}

function queryNames({ parameters }: Operation): readonly string[] {
  return parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
}
