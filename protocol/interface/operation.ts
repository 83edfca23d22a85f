/** Operations of the HTTP interface, each defined once (routes, OpenAPI, checks of requests). */
import type { TSchema } from 'typebox';
import type { OperationScopes } from './operations/scopes.ts';

/** The two lines of the interface: fleet 3.19.2 under `/connectedcar/v3`, user 4.17.2 under `/connectedcar/v4`. */
export const sides = ['fleet', 'user'] as const;
export type Side = (typeof sides)[number];

/** Path under which a side lives, before the paths of its operations. */
export const bases: Readonly<Record<Side, string>> = { fleet: '/connectedcar/v3', user: '/connectedcar/v4' };

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A parameter of a request; its schema describes the value after it was taken apart (lists are arrays). */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required: boolean;
  readonly schema: TSchema;
  /** Meaning of the text, if it is more than its schema: see {@link ./parameters.ts}. */
  readonly form?: ParameterForm;
  readonly deprecated?: boolean;
}

/**
 * `periods`: ISO 8601 intervals, read as an array of Period; `range`: `min-max`, read as Range; `indexes`: the same
 * of whole numbers.
 */
export type ParameterForm = 'periods' | 'range' | 'indexes';

export interface OperationAnswer {
  readonly description: string;
  /** Media type and shape of the body; absent: no body. */
  readonly media?: string;
  readonly schema?: TSchema;
}

/** Bodies of requests; a setter of states is the same on both sides. */
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
  /** Unique, e.g. `fleet.status.get`: names the handler. */
  readonly id: string;
  readonly side: Side;
  readonly method: HttpMethod;
  /** Path below the base of the side with parameters in braces, e.g. `/fleets/{fid}/vehicles/{vid}/status`. */
  readonly path: string;
  /** Subject, for the order of the document. */
  readonly tag: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** JSON body that has to be sent. */
  readonly body?: TSchema;
  /** Name of the generated validator of the body, an export of protocol/generated/requests.js. */
  readonly bodyName?: RequestName;
  /** Answers when all goes well, by status; errors are the same for all operations of a side. */
  readonly answers: Readonly<Record<number, OperationAnswer>>;
  /** Statuses of errors that this operation may answer with. */
  readonly errors: readonly number[];
  /** Scopes of the user side. If empty, any valid token is sufficient. */
  readonly scopes: OperationScopes;
  readonly deprecated?: boolean;
}
