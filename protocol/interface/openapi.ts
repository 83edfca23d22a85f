/** The OpenAPI 3.1 document of the HTTP interface, generated from the operations. */
import { defined } from '../defined.ts';
import { conditional, conditionalComponents } from './conditional.ts';
import { bases, type Operation, type OperationAnswer, type Parameter, type Side, sides } from './operation.ts';
import { descriptionOf } from './operations/descriptions.ts';
import { JSON_MEDIA } from './operations/making.ts';
import { scopeNames, scopes } from './operations/scopes.ts';
import { accept, operations } from './operations.ts';
import { ownPaths, ownTag } from './own-paths.ts';
import { refusalMeanings, refusalSchemas, refusalStatuses } from './refusal.ts';
import { Components } from './schemas/components.ts';
import { requestExamples } from './schemas/examples.ts';
import type { JsonSchema } from './schemas/json.ts';
import { addNotifications, webhooks } from './webhooks.ts';

/** Returns the name of an operation for generated clients, e.g. `fleetStatusGet`. */
export function operationIdOf({ id }: Operation): string {
  return id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the whole document, as JSON types. */
export function openApi(): object {
  const components = new Components();
  for (const operation of operations) {
    const { body, answers, side } = operation;
    if (body !== undefined) components.add(body, side);
    for (const { schema } of Object.values(answers)) if (schema !== undefined) components.add(schema, side);
  }
  for (const side of sides) components.add(refusalSchemas[side], side);
  addNotifications(components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Connected vehicle',
      version: 'fleet 3.19.2, user 4.17.2',
      summary: 'State and records of a car, and commands to it.',
      description: `${overview}\n\nScopes of the user side:\n\n${scopeList()}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The car that gave this document.' }],
    tags: tags(),
    paths: { ...paths(components), ...ownPaths },
    webhooks: webhooks(components),
    components: {
      securitySchemes,
      headers,
      parameters: conditionalComponents.parameters,
      responses: {
        ...conditionalComponents.responses,
        ...Object.fromEntries(sides.flatMap((side) => refusals(components, side))),
      },
      schemas: components.all,
    },
  };
}

const overview = [
  'Both sides of the interface for the car it is served by: the fleet side under `/connectedcar/v3`, the user side under',
  '`/connectedcar/v4`. Clients have to expect members that are not described here and to do without those that are not',
  'required. An address asked with a method it does not take is answered with 405.',
].join(' ');

const scopeList = (): string =>
  Object.entries(scopes)
    .map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
    .join('\n');

const tagMeanings: Readonly<Record<string, string>> = {
  Vehicles: 'Fleets, the user, and their vehicles.',
  Status: 'Present state of a vehicle.',
  Telemetry: 'Readings over time.',
  Trips: 'Trips and their waypoints.',
  Alerts: 'Warnings of the car.',
  Collisions: 'Collisions.',
  'Alarms and thefts': 'Events of the burglar alarm, and thefts.',
  Monitors: 'Rules that the car watches.',
  Callbacks: 'Receivers of events.',
  Remotes: 'Commands to the car.',
};

function tags(): object[] {
  const names = new Set(operations.map(({ tag }) => tag));
  return [...[...names].map((name) => ({ name, description: tagMeanings[name] ?? name })), ownTag];
}

const securitySchemes = {
  BasicAuth: { type: 'http', scheme: 'basic', description: 'User of a fleet.' },
  ClientId: { type: 'apiKey', in: 'query', name: 'client_id', description: 'Id of the program that asks.' },
  ClientCertificate: { type: 'mutualTLS', description: 'Only if the fleet side requests it.' },
  UserToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Token of a user (RFC 6750, RFC 7519); each operation lists its scopes.',
  },
};

/** Returns the security requirements of an operation, any one of which is sufficient. */
function security({ side, scopes: { required, optional, more } }: Operation): object[] {
  if (side === 'fleet') {
    const basic = { BasicAuth: [], ClientId: [] };
    return [basic, { ...basic, ClientCertificate: [] }];
  }
  if (required.length > 0 || optional.length === 0) return [{ UserToken: required }];
  return (more === true ? scopeNames : optional).map((scope) => ({ UserToken: [scope] }));
}

const header = (description: string, schema: JsonSchema): object => ({ description, schema });
const headers = {
  ...conditionalComponents.headers,
  Deprecation: header('Since when the operation is deprecated. RFC 9745.', { type: 'string' }),
  RetryAfter: header('Time to wait. Unit: s.', { type: 'integer', minimum: 0 }),
  RateLimitLimit1: header('Requests of 24 h.', { type: 'integer' }),
  RateLimitRemaining1: header('Those that are left of them.', { type: 'integer' }),
  RateLimitLimit2: header('Requests of a second.', { type: 'integer' }),
  RateLimitRemaining2: header('Those that are left of them.', { type: 'integer' }),
  RateLimitReset: header('The same as `Retry-After`.', { type: 'integer', minimum: 0 }),
  Challenge: header('How to prove whose the request is. RFC 9110 §11.6.1.', { type: 'string' }),
};
const headerReference = (name: keyof typeof headers): object => ({ $ref: `#/components/headers/${name}` });
const refusalHeaders: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': headerReference('Challenge') },
  429: {
    'Retry-After': headerReference('RetryAfter'),
    'X-RateLimit-Limit-1': headerReference('RateLimitLimit1'),
    'X-RateLimit-Remaining-1': headerReference('RateLimitRemaining1'),
    'X-RateLimit-Limit-2': headerReference('RateLimitLimit2'),
    'X-RateLimit-Remaining-2': headerReference('RateLimitRemaining2'),
    'X-RateLimit-Reset': headerReference('RateLimitReset'),
  },
  503: { 'Retry-After': headerReference('RetryAfter') },
};

const refusalName = (side: Side, status: number): string => `${side}${status}`;

function refusals(components: Components, side: Side): [string, object][] {
  const schema = components.use(refusalSchemas[side], side);
  const used = refusalStatuses.filter((status) =>
    operations.some((one) => one.side === side && one.errors.includes(status)),
  );
  return used.map((status) => [
    refusalName(side, status),
    {
      description: refusalMeanings[status],
      ...defined({ headers: refusalHeaders[status] }),
      content: { [JSON_MEDIA]: { schema } },
    },
  ]);
}

function paths(components: Components): Record<string, Record<string, object>> {
  const found: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = `${bases[operation.side]}${operation.path}`;
    found[path] = { ...found[path], [operation.method.toLowerCase()]: described(operation, components) };
  }
  return found;
}

function described(operation: Operation, components: Components): object {
  const { side, tag, summary, parameters, body, bodyName, deprecated } = operation;
  const answers = Object.entries(operation.answers).map(([status, one]) => [
    status,
    answer(operation, one, components),
  ]);
  const refused = operation.errors.map((status) => [
    status,
    { $ref: `#/components/responses/${refusalName(side, status)}` },
  ]);
  const isRead = operation.method === 'GET';
  const all = [...parameters.map(parameter), ...(isRead ? [conditional.parameter] : [])];
  return {
    operationId: operationIdOf(operation),
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    ...(deprecated === true ? { deprecated } : {}),
    security: security(operation),
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined || bodyName === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [JSON_MEDIA]: { schema: components.use(body, side), examples: requestExamples[bodyName] } },
          },
        }),
    responses: { ...Object.fromEntries([...answers, ...refused]), ...(isRead ? conditional.responses : {}) },
  };
}

function answer(
  { id, side, method, deprecated }: Operation,
  { description, schema }: OperationAnswer,
  components: Components,
) {
  const used = schema === undefined ? undefined : components.use(schema, side);
  const media = accept[id] ?? [];
  const headers = {
    ...(method === 'GET' ? conditional.headers : {}),
    ...(deprecated === true ? { Deprecation: headerReference('Deprecation') } : {}),
  };
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(used === undefined ? {} : { content: Object.fromEntries(media.map((name) => [name, { schema: used }])) }),
  };
}

/** Describes a parameter. Lists may be repeated or separated by commas; the document has the first form. */
function parameter({ name, in: place, required, description, schema, deprecated }: Parameter): object {
  return { name, in: place, required, description, schema, ...(deprecated === true ? { deprecated } : {}) };
}
