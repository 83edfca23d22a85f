/** Routes of a server. Every route must be added here: the router rejects a route that is not in the access table. */
import { Hono } from 'hono';
import { VigieError } from '../../protocol/errors.ts';
import { accessTo, roots } from '../../protocol/interface/access.ts';
import type { HttpMethod, Operation, Side } from '../../protocol/interface/operation.ts';
import { lackOf } from '../../protocol/interface/operations/scopes.ts';
import { ownParameters, readPairs, readSegments } from './address.ts';
import type { Caller, Handlers } from './call.ts';
import { type App, type RequestContext, refuseHead } from './exchange.ts';
import type { Serving } from './serving.ts';

interface RouteOptions {
  /** Runs before the caller is admitted, to set headers that even an error response must have. */
  readonly begin?: (context: RequestContext) => void;
  /** True if the response is a stream, which does not support HEAD. */
  readonly stream?: boolean;
  /** Accepted query parameters; others are rejected. If omitted, the handler checks them. */
  readonly known?: readonly string[];
  /** Side whose gate admits the caller. If omitted, the gate for the request's credentials decides. */
  readonly side?: Side;
}

/** Handles a request of an admitted caller. */
type ServeAdmitted = (context: RequestContext, caller: Caller) => Response | Promise<Response>;

/** Caller without credentials, who has no scope. */
const ANYONE: Caller = { name: 'anyone', scopes: new Set() };

export class Router {
  readonly #app: App = new Hono();
  readonly #server: 'car' | 'hub';
  readonly #serving: Pick<Serving, 'admit'>;
  /** Sides that the server serves. */
  readonly #sides: readonly Side[];
  readonly #methods = new Map<string, string[]>();

  constructor(server: 'car' | 'hub', serving: Pick<Serving, 'admit'>, sides: readonly Side[]) {
    this.#server = server;
    this.#serving = serving;
    this.#sides = sides;
  }

  /**
   * Adds a route. `path` has its parameters in braces.
   * @throws VigieError `usage.wrong` for a route that is not in the access table, so that the server does not start
   */
  add(method: HttpMethod, path: string, serve: ServeAdmitted, options: RouteOptions = {}): void {
    const { begin, stream = false, known, side } = options;
    const row = accessTo(this.#server, method, path);
    if (row === undefined) {
      throw new VigieError('usage.wrong', `${method} ${path} has no row in the table of access`);
    }
    const admit = async (context: RequestContext): Promise<Caller> => {
      const { principal, scopes } = row;
      if (principal === 'anyone') return ANYONE;
      const { path: asked, query } = context.env.exchange.target;
      const gate = principal === 'fleet' || principal === 'user' ? principal : (side ?? this.#sideShown(context));
      const wanted = { operation: { scopes }, path: readSegments(path, asked) };
      const caller = await this.#serving.admit(gate, wanted, readPairs(query), context);
      const lack = caller.scopes && lackOf(scopes, caller.scopes);
      if (lack !== undefined) throw new VigieError('request.forbidden', lack);
      return caller;
    };
    for (const spelling of spellings(path)) {
      this.#app.on(method, spelling, async (context) => {
        begin?.(context);
        if (stream) refuseHead(context);
        const caller = await admit(context);
        if (known !== undefined) ownParameters(context.env.exchange.target.query, known);
        return serve(context, caller);
      });
      const taken = method === 'GET' && !stream ? ['GET', 'HEAD'] : [method];
      this.#methods.set(spelling, [...(this.#methods.get(spelling) ?? []), ...taken]);
    }
  }

  /**
   * Call after all routes are added: rejects other methods on their paths, and passes requests for other paths to
   * `others`.
   * @returns the router of all requests
   */
  finish(others: (context: RequestContext) => Response | Promise<Response>): App {
    for (const [path, taken] of this.#methods) {
      const allow = taken.join(', ');
      this.#app.all(path, ({ env }) => {
        env.exchange.headers['Allow'] = allow;
        throw new VigieError('request.method', `this address takes ${allow}`);
      });
    }
    this.#app.notFound(others);
    return this.#app;
  }

  /** Returns the side of the request's credentials, if it is served. */
  #sideShown(context: RequestContext): Side {
    const bearer = /^Bearer /i.test(context.req.header('authorization') ?? '');
    const wanted: Side = bearer ? 'user' : 'fleet';
    return this.#sides.includes(wanted) ? wanted : wanted === 'user' ? 'fleet' : 'user';
  }
}

/** Returns the path prefixes of an operation; for paths below `/vigie/v1` only the empty prefix. */
function rootsOf({ side, path }: Operation): readonly string[] {
  return path.startsWith('/vigie/') ? [''] : roots[side];
}

/** Routes every operation to `serving`. */
export function addOperations(
  router: Router,
  operations: readonly Operation[],
  serving: Pick<Serving, 'begin' | 'serve'>,
): void {
  for (const operation of operations) {
    for (const root of rootsOf(operation)) {
      const pattern = `${root}${operation.path}`;
      const serve = (context: RequestContext, caller: Caller) =>
        serving.serve(operation, { root, pattern }, context, caller);
      const begin = (context: RequestContext): void => serving.begin(operation, context);
      router.add(operation.method, pattern, serve, { begin, side: operation.side });
    }
  }
}

/** Returns the path in Hono's syntax. The list of thefts was first published with a final slash (interface §7). */
function spellings(pattern: string): readonly string[] {
  const path = pattern.replaceAll(/\{(\w+)\}/g, ':$1');
  return path.endsWith('/stolen') ? [path, `${path}/`] : [path];
}

/** @throws VigieError `usage.wrong` for an operation without handler or a handler without operation */
export function requireHandlers(operations: readonly Operation[], handlers: Handlers): void {
  const ids = new Set(operations.map(({ id }) => id));
  const unserved = [...ids].filter((id) => !Object.hasOwn(handlers, id));
  const unknown = Object.keys(handlers).filter((id) => !ids.has(id));
  if (unserved.length > 0) throw new VigieError('usage.wrong', `operations without handler: ${unserved.join(', ')}`);
  if (unknown.length > 0) throw new VigieError('usage.wrong', `handlers without operation: ${unknown.join(', ')}`);
  if (ids.size < operations.length) throw new VigieError('usage.wrong', 'two operations have the same id');
}
