/** Checks the body of a request against the schema of its operation. */

import {
  fleetCallback,
  fleetMonitor,
  fleetRemote,
  statusSetter,
  userCallback,
  userMonitor,
  userRemote,
} from '../generated/requests.js';
import { malformed } from '../schema/monitor/input.ts';
import { mapValue } from '../schema/walk.ts';
import type { Operation, RequestName } from './operation.ts';
import type { JsonSchema } from './schemas/json.ts';
import type { BodyFault, BodyValidator } from './validator.ts';

const validators: Readonly<Record<RequestName, BodyValidator>> = {
  fleetMonitor,
  fleetCallback,
  fleetRemote,
  userMonitor,
  userCallback,
  userRemote,
  statusSetter,
};

/** Maximum nesting depth of objects and arrays: more than any body needs. */
const DEPTH = 24;

/**
 * Checks the parsed JSON body of a request. Returns a copy without null fields, which count as absent. Unknown fields
 * remain in it.
 * @throws VigieError `input.malformed` naming the member and the rule
 */
export function readBody(operation: Operation, value: unknown): unknown {
  if (operation.bodyName === undefined) return undefined;
  const body = withoutNulls(value, 0);
  const validate = validators[operation.bodyName];
  if (validate(body)) return body;
  const [fault] = validate.errors ?? [];
  if (fault === undefined) throw malformed('body', 'does not follow its schema');
  throw faultOf(fault);
}

/** Returns the paths of the deprecated fields in a checked body, e.g. `door.forced`; for the log. */
export function deprecatedMembers(operation: Operation, body: unknown): readonly string[] {
  const found: string[] = [];
  if (operation.body !== undefined) collect(operation.body, body, '', found);
  return found;
}

/** Returns a copy of a checked body with only the declared fields: stored content has the bounds of its schema. */
export function declaredMembers(operation: Operation, body: unknown): unknown {
  return operation.body === undefined ? body : declared(operation.body, body);
}

function declared(schema: JsonSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { properties, items } = schema;
  if ((Array.isArray(value) ? items : properties) === undefined) return value;
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(properties ?? {}, name));
  const given = Array.isArray(value) ? value : Object.fromEntries(known);
  return mapValue(schema, given, (part, member) => (part === undefined ? member : declared(part, member)));
}

function collect(schema: JsonSchema, value: unknown, path: string, found: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  mapValue(schema, value, (part, member, key) => {
    if (part === undefined) return;
    const where = typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (part.deprecated === true && typeof key === 'string') found.push(where);
    collect(part, member, where, found);
  });
}

function withoutNulls(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH) throw malformed('body', `must not have more than ${DEPTH} objects and arrays in each other`);
  if (Array.isArray(value)) return value.map((entry) => withoutNulls(entry, depth + 1));
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member, depth + 1)]));
}

/** Sentences by the JSON Schema keyword that is violated. */
const sentences: Readonly<Record<string, (params: BodyFault['params']) => string>> = {
  type: ({ type }) => `must be ${article(String(type))} ${type}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as readonly unknown[]).join(', ')}`,
  pattern: ({ pattern }) => `must match ${pattern}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => `must have at least ${limit} characters`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} entries`,
  maxItems: ({ limit }) => `must have at most ${limit} entries`,
};

function faultOf({ instancePath, keyword, params }: BodyFault): Error {
  const where = pathOf(instancePath);
  if (keyword === 'required') {
    const name = String(params['missingProperty']);
    return malformed(where === '' ? name : `${where}.${name}`, 'is missing');
  }
  return malformed(where === '' ? 'body' : where, sentences[keyword]?.(params) ?? `breaks the rule ${keyword}`);
}

function article(noun: string): string {
  return /^[aio]/.test(noun) ? 'an' : 'a';
}

/** Converts `/triggers/0/name` to `triggers[0].name`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}
