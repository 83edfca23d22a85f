/** Operations of the HTTP interface, each defined once for routes, OpenAPI and request checks. */
import type { TSchema } from 'typebox';
import type { OperationScopes } from './operations/scopes.ts';

/** The two lines of the interface: fleet 3.19.2 under `/connectedcar/v3`, user 4.17.2 under `/connectedcar/v4`. */
export const sides = ['fleet', 'user'] as const;
export type Side = (typeof sides)[number];

/** Base path of a side, before the paths of its operations. */
export const bases: Readonly<Record<Side, string>> = { fleet: '/connectedcar/v3', user: '/connectedcar/v4' };

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A parameter of a request; its schema describes the parsed value (lists are arrays). */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required: boolean;
  readonly schema: TSchema;
  /** Format of the string, if its schema does not describe it: see {@link ./parameters.ts}. */
  readonly form?: ParameterForm;
  readonly deprecated?: boolean;
}

/**
 * `periods`: ISO 8601 intervals, parsed to an array of Period; `range`: `min-max`, parsed to Range; `indexes`: the same
 * with whole numbers.
 */
export type ParameterForm = 'periods' | 'range' | 'indexes';

export interface OperationAnswer {
  readonly description: string;
  /** Media type and schema of the body. If omitted, there is no body. */
  readonly media?: string;
  readonly schema?: TSchema;
}

/** Bodies of requests; the body that sets a status is the same on both sides. */
export const requestNames = [
  'fleetMonitor',
  'fleetCallback',
  'fleetRemote',
  'userMonitor',
  'userCallback',
  'userRemote',
  'statusSetter',
] as const;
export type RequestName = (typeof requestNames)[number];

/** One operation of the interface. */
export interface Operation {
  /** Unique id of the operation, e.g. `fleet.status.get`, which names the handler. */
  readonly id: string;
  readonly side: Side;
  readonly method: HttpMethod;
  /** Path below the base of the side, with parameters in braces, e.g. `/fleets/{fid}/vehicles/{vid}/status`. */
  readonly path: string;
  /** Topic, which determines the order in the document. */
  readonly tag: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** Schema of the required JSON body. */
  readonly body?: TSchema;
  /** Name of the generated validator of the body, an export of protocol/generated/requests.js. */
  readonly bodyName?: RequestName;
  /** Successful responses by status; errors are the same for all operations of a side. */
  readonly answers: Readonly<Record<number, OperationAnswer>>;
  /** Error statuses that this operation may return. */
  readonly errors: readonly number[];
  /** Scopes of the user side. If empty, any valid token is sufficient. */
  readonly scopes: OperationScopes;
  readonly deprecated?: boolean;
}
