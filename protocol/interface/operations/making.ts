/** Constructors of operations: the common parts of each kind are defined here once. */
import type { HttpMethod, Operation, OperationAnswer, Parameter, RequestName, Side } from '../operation.ts';
import { namesIn, pathParameters } from '../parameters/path.ts';
import { idempotencyKey } from '../parameters/query.ts';
import { answerSchema, type ShapeName } from '../schemas/answers.ts';
import { requestBody } from '../schemas/requests.ts';
import { noScopes, type OperationScopes } from './scopes.ts';

const HAL = 'application/hal+json';
export const GEO_JSON = 'application/vnd.geo+json';
export const JSON_MEDIA = 'application/json';

interface Given {
  /** Begins with the API side (`user.`, `fleet.`). */
  readonly id: `${Side}.${string}`;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly scopes?: Partial<OperationScopes>;
  readonly deprecated?: boolean;
}

interface GivenRead extends Omit<Given, 'id' | 'path' | 'summary'> {
  /** Schema of the response. */
  readonly shape: ShapeName;
  readonly media?: string;
}

/** A collection with the given `id` and `path`, and its members. */
interface GivenCollection extends Omit<Given, 'summary'> {
  /** Path parameter that identifies a member, in braces. */
  readonly member: string;
  /** Schemas of a page and of a member. */
  readonly shapes: readonly [page: ShapeName, member: ShapeName];
  /** Summaries of both operations. */
  readonly list: string;
  readonly get: string;
  /** Additional parameters of the list operation, after the common ones. */
  readonly filters: readonly Parameter[];
}

/** Resources that clients create, change and delete. */
interface GivenManaged {
  /** Singular name of the resource in summaries. */
  readonly one: 'callback' | 'monitor';
  readonly member: string;
  /** Schemas of a page, of a member, and of the response to a change. */
  readonly shapes: readonly [page: ShapeName, member: ShapeName, change: ShapeName];
  readonly body: RequestName;
  /** Status of the response to a creation. */
  readonly added: 200 | 202;
  readonly filters: readonly Parameter[];
  readonly onCreate: readonly Parameter[];
  readonly scopes: Partial<OperationScopes>;
}

interface GivenWrite extends Given {
  readonly method: Exclude<HttpMethod, 'GET' | 'DELETE'>;
  readonly body: RequestName;
  readonly status: 200 | 202;
  readonly shape: ShapeName;
}

/** Returns an operation that only reads. */
export function read(
  id: Given['id'],
  path: string,
  summary: string,
  { shape, media = HAL, ...given }: GivenRead,
): Operation {
  const answers = { 200: answer(sideOf(id), shape, 'Requested data.', media) };
  return made({ id, path, summary, ...given }, 'GET', answers);
}

/** Returns the operations that list a collection and read one of its members. */
export function listAndGet({ id, path, member, shapes, list, get, filters, ...given }: GivenCollection): Operation[] {
  const parameters = [...(given.parameters ?? []), ...filters];
  return [
    read(`${id}.list`, path, list, { ...given, parameters, shape: shapes[0] }),
    read(`${id}.get`, `${path}/${member}`, get, { ...given, shape: shapes[1] }),
  ];
}

/** Returns an operation with a request body. */
export function write({ method, body, status, shape, ...given }: GivenWrite): Operation {
  const done = status === 200 ? 'Done.' : 'Accepted.';
  const operation = made(given, method, { [status]: answer(sideOf(given.id), shape, done, HAL) });
  return {
    ...operation,
    get body() {
      return requestBody(body);
    },
    bodyName: body,
  };
}

/** Returns an operation that deletes. */
function remove(given: Given): Operation {
  return made(given, 'DELETE', { 204: { description: 'Deleted.' } });
}

/** Returns all operations on a resource that clients create, change and delete. */
export function manage(side: Side, path: string, { one, body, added, onCreate, ...given }: GivenManaged): Operation[] {
  const id: Given['id'] = `${side}.${one}s`;
  const { member, filters, shapes, scopes } = given;
  const [page, shape, change] = shapes;
  const all = { tag: one === 'callback' ? 'Callbacks' : 'Monitors', scopes };
  const ofOne = { ...all, path: `${path}/${member}` };
  const changes = { ...ofOne, method: 'PUT', parameters: [idempotencyKey], status: 202, shape: change } as const;
  return [
    read(`${id}.list`, path, `Lists the ${one}s.`, { ...all, parameters: filters, shape: page }),
    write({
      ...all,
      id: `${id}.create`,
      method: 'POST',
      path,
      summary: `Adds a ${one}, which then runs.`,
      parameters: onCreate,
      body,
      status: added,
      shape: change,
    }),
    read(`${id}.get`, ofOne.path, `Reads a ${one}.`, { ...all, shape }),
    write({ ...changes, id: `${id}.replace`, summary: `Replaces a ${one}.`, body }),
    remove({ ...ofOne, id: `${id}.remove`, summary: `Deletes a ${one}.` }),
    write({
      ...changes,
      id: `${id}.setStatus`,
      path: `${path}/${member}/status`,
      summary: `Lets a ${one} run or pause.`,
      body: 'statusSetter',
    }),
  ];
}

function sideOf(id: Given['id']): Side {
  return id.startsWith('fleet.') ? 'fleet' : 'user';
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
    side: sideOf(given.id),
    method,
    parameters: [...pathParameters(given.path), ...parameters],
    answers,
    errors: errorsOf(given, method),
    scopes: { ...noScopes, ...scopes },
  };
}

/**
 * Returns the error statuses of an operation: 404 if the path can name a missing resource, 406 if it has a response
 * body, 413 and 415 if it has a request body, 507 if it stores something. 403 always: a token may lack the permission.
 */
function errorsOf({ path }: Given, method: HttpMethod): number[] {
  const writes = method !== 'GET';
  const sends = method === 'POST' || method === 'PUT';
  return [
    400,
    401,
    403,
    ...(namesIn(path).length > 0 ? [404] : []),
    ...(method === 'DELETE' ? [] : [406]),
    ...(sends ? [413, 415] : []),
    421,
    429,
    500,
    503,
    ...(writes ? [507] : []),
  ];
}
