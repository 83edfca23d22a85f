/** The routes, made from the table of operations. */
import { VigieError } from '../../protocol/errors.ts';
import { bases, type Operation, type Side } from '../../protocol/interface/operation.ts';
import type { Handlers } from './call.ts';
import type { App, RequestContext } from './exchange.ts';

/** Where operations lie: each side below its base, and at the root for addresses typed by hand. */
const roots: Readonly<Record<Side, readonly string[]>> = { fleet: [bases.fleet, ''], user: [bases.user, ''] };

export interface RoutePattern {
  /** What comes before the path of the operation. */
  readonly root: string;
  /** The path with names in braces, from the root. */
  readonly pattern: string;
}

type Serve = (operation: Operation, place: RoutePattern, context: RequestContext) => Promise<Response>;

/**
 * Routes every operation to `serve`. A path of the table that is asked with another method is refused with
 * `request.method` and tells the methods it takes.
 */
export function addOperations(app: App, operations: readonly Operation[], serve: Serve): void {
  const methods = new Map<string, string[]>();
  for (const operation of operations) {
    for (const root of roots[operation.side]) {
      const pattern = `${root}${operation.path}`;
      for (const path of spellings(pattern)) {
        app.on(operation.method, path, (context) => serve(operation, { root, pattern }, context));
        const taken = methods.get(path) ?? [];
        methods.set(path, [...taken, ...(operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method])]);
      }
    }
  }
  for (const [path, taken] of methods) addRefusal(app, path, taken);
}

/** Refuses all methods that are not routed yet. */
export function addRefusal(app: App, path: string, taken: readonly string[]): void {
  const allow = taken.join(', ');
  app.all(path, ({ env }) => {
    env.exchange.headers['Allow'] = allow;
    throw new VigieError('request.method', `this address takes ${allow}`);
  });
}

/** The path as Hono writes it; the list of thefts was first published with a slash at its end (interface §7). */
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
