/** How an operation is written down: what all of a kind have in common is said here once. */
import type { HttpMethod, Operation, OperationAnswer, Parameter, RequestName, Side } from '../operation.ts';
import { namesIn, pathParameters } from '../parameters/path.ts';
import { answerSchema, type ShapeName } from '../schemas/answers.ts';
import { requestBody } from '../schemas/requests.ts';
import { noScopes, type OperationScopes } from './scopes.ts';

export const HAL = 'application/hal+json';
export const GEO_JSON = 'application/vnd.geo+json';
export const JSON_MEDIA = 'application/json';

interface Given {
  readonly id: string;
  readonly side: Side;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly scopes?: Partial<OperationScopes>;
  readonly deprecated?: boolean;
}

export interface GivenRead extends Given {
  /** Schema of the answer. */
  readonly shape: ShapeName;
  readonly media?: string;
}

export interface GivenWrite extends Given {
  readonly method: Exclude<HttpMethod, 'GET' | 'DELETE'>;
  readonly body: RequestName;
  readonly status: 200 | 202;
  readonly shape: ShapeName;
}

/** An operation that only reads. */
export function read({ shape, media = HAL, ...given }: GivenRead): Operation {
  return made(given, 'GET', { 200: answer(given.side, shape, 'Requested data.', media) });
}

/** An operation that is sent a body. */
export function write({ method, body, status, shape, ...given }: GivenWrite): Operation {
  const done = status === 200 ? 'Done.' : 'Accepted.';
  const operation = made(given, method, { [status]: answer(given.side, shape, done, HAL) });
  return {
    ...operation,
    get body() {
      return requestBody(body);
    },
    bodyName: body,
  };
}

/** An operation that deletes. */
export function remove(given: Given): Operation {
  return made(given, 'DELETE', { 204: { description: 'Deleted.' } });
}

function answer(side: Side, shape: ShapeName, description: string, media: string): OperationAnswer {
  return {
    description,
    media,
    get schema() {
      return answerSchema(side, shape);
    },
  };
}

function made(given: Given, method: HttpMethod, answers: Operation['answers']): Operation {
  const { parameters = [], scopes, ...rest } = given;
  return {
    ...rest,
    method,
    parameters: [...pathParameters(given.path), ...parameters],
    answers,
    errors: errorsOf(given, method),
    scopes: { ...noScopes, ...scopes },
  };
}

/**
 * Statuses of refusals: 404 needs something that may not exist, 403 a right that may be missing, 406 an answer, 413
 * and 415 a body, 507 something to keep.
 */
function errorsOf({ path, scopes }: Given, method: HttpMethod): number[] {
  const writes = method !== 'GET';
  const sends = method === 'POST' || method === 'PUT';
  return [
    400,
    401,
    ...(path.includes('{fid}') || scopes !== undefined ? [403] : []),
    ...(namesIn(path).length > 0 ? [404] : []),
    ...(method === 'DELETE' ? [] : [406]),
    ...(sends ? [413, 415] : []),
    421,
    429,
    500,
    ...(writes ? [507] : []),
  ];
}
