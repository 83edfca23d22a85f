import type { Operation } from '../../protocol/interface/operation.ts';

/** The caller of a request, after the access checks. */
export interface Caller {
  /** Fleet user, subject of the token, or `local` on a bench without tokens. */
  readonly name: string;
  /** Scopes granted by the token; undefined: all (fleet side, bench). */
  readonly scopes?: ReadonlySet<string>;
  /** Expiry of the token in UTC ms; undefined: credentials that do not expire. */
  readonly expires?: number;
  /** On the fleet side, ids of the fleets that the caller may access; undefined: all (user side, bench). */
  readonly fleets?: ReadonlySet<string>;
  /** At a hub, the user whose cars the caller may access. If omitted, the cars of {@link fleets}, or all cars. */
  readonly user?: string;
  /** At a hub, id of the token. */
  readonly token?: string;
  /** On the user side, form in which the client gets Status.energy; undefined: `object`, as published. */
  readonly energy?: 'object' | 'list';
}

/** A parsed request that was admitted and checked against its operation. */
export interface Call {
  readonly operation: Operation;
  /** Parameters of the path, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** Query parameters by name, typed by their schemas (numbers, lists as arrays); contains no omitted ones. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Declared headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, already checked. */
  readonly body: unknown;
  readonly caller: Caller;
  /** Base URL of the side as the caller addressed it, without final slash, e.g. `https://car:8443/connectedcar/v3`. */
  readonly base: string;
  /** Raw path and query below {@link base}, without `client_id`, because links must not repeat credentials. */
  readonly self: string;
  /** Time of the request in UTC ms. */
  readonly now: number;
  /** Present for a POST with an `Idempotency-Key`. */
  readonly once?: Once;
}

/** Identifies a request that clients may repeat, even after they restart. Hexadecimal digests. */
export interface Once {
  /** Digest of the idempotency key, the caller, the operation and its path. */
  readonly key: string;
  readonly body: string;
}

/** Result of a handler. A handler reports an error by throwing a VigieError; its code determines the HTTP status. */
export interface Answer {
  readonly status: number;
  /** Encoded as JSON, unless it is bytes or a ReadableStream of bytes. If omitted, the response has no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (call: Call) => Answer | Promise<Answer>;

/** Handlers by {@link Operation.id}. If an operation has no handler, the server refuses to start. */
export type Handlers = Readonly<Record<string, Handler>>;
