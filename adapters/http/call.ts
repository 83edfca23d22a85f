import type { Operation } from '../../protocol/interface/operation.ts';

/** Who asks, after the checks of access. */
export interface Caller {
  /** Fleet user, subject of the token, or `local` on a bench without tokens. */
  readonly name: string;
  /** Scopes that the token grants; undefined: all (fleet side, bench). */
  readonly scopes?: ReadonlySet<string>;
  /** Until when the token is good, UTC ms; undefined: credentials that do not expire. */
  readonly expires?: number;
  /** Fleet side: ids of the fleets that the caller may see; undefined: all (user side, bench). */
  readonly fleets?: ReadonlySet<string>;
  /** At a hub: the user whose cars the caller may see. If omitted, the cars of {@link fleets}, or all. */
  readonly user?: string;
  /** At a hub: id of the token. */
  readonly token?: string;
  /** User side: form of Status.energy that the client reads; undefined: `object`, as published. */
  readonly energy?: 'object' | 'list';
}

/** A request that was let in, was checked against its operation, and was taken apart. */
export interface Call {
  readonly operation: Operation;
  /** Parameters of the path, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** Parameters of the query by name, as their schemas say (numbers as numbers, lists as arrays); absent ones are absent. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Declared headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, checked. */
  readonly body: unknown;
  readonly caller: Caller;
  /** Where the side's paths begin as the caller sees them, without a slash at the end, e.g. `https://car:8443/connectedcar/v3`. */
  readonly base: string;
  /** Path and query of the request as sent, below {@link base}, without `client_id`: links repeat no credentials. */
  readonly self: string;
  /** UTC ms. */
  readonly now: number;
  /** For a POST with an `Idempotency-Key`. */
  readonly once?: Once;
}

/** Identity of a request that may be repeated, also by a program that was restarted. Hexadecimal digests. */
export interface Once {
  /** Digest of the key, the caller, the operation and its address. */
  readonly key: string;
  readonly body: string;
}

/** Answer of a handler. Refusals are thrown as VigieError; its code has the HTTP status. */
export interface Answer {
  readonly status: number;
  /** Encoded as JSON, unless it is bytes or a ReadableStream of them; absent: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (call: Call) => Answer | Promise<Answer>;

/** Handlers by {@link Operation.id}. Every operation has one: the server refuses to start otherwise. */
export type Handlers = Readonly<Record<string, Handler>>;
