/** The OpenAPI document of a hub: the car's document, with the hub's addresses instead of those only a car has. */

import { EVENT_STREAM } from '../../adapters/http/media.ts';
import { defined } from '../../protocol/defined.ts';
import { conditional } from '../../protocol/interface/conditional.ts';
import { bases, type Operation } from '../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../protocol/interface/operations/making.ts';
import { operations } from '../../protocol/interface/operations.ts';

interface Described {
  readonly security?: readonly object[];
  readonly requestBody?: object;
}

interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly securitySchemes: object };
}

const TAG = { name: 'Hub', description: 'All cars at a glance, their numbers, and commands to them.' };

const securitySchemes = {
  HubToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Token of `vigie hub token`. A hub without a registry takes requests without one.',
  },
  HubPassword: { type: 'http', scheme: 'basic', description: 'Any user name, and the token as the password.' },
};
const security = [{ HubToken: [] }, { HubPassword: [] }];

/** `text`: document of the car; `own`: operations of a hub in addition to the interface. */
export function hubDocument(text: string, own: readonly Operation[]): string {
  const car = JSON.parse(text) as OpenApiDocument;
  const shared = Object.entries(car.paths).filter(([path]) => {
    return path === '/openapi.json' || Object.values(bases).some((base) => path.startsWith(base));
  });
  const paths: Record<string, Record<string, Described>> = {};
  for (const [path, methods] of shared) {
    paths[path] = Object.fromEntries(
      Object.entries(methods).map(([method, one]) => [method, one.security?.length === 0 ? one : { ...one, security }]),
    );
  }
  for (const operation of own) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: described(operation, car),
    };
  }
  return JSON.stringify({
    openapi: car.openapi,
    info: {
      ...car.info,
      title: 'Connected vehicles',
      summary: 'State and records of the cars of a hub, and commands to them.',
    },
    servers: [{ url: '/', description: 'The hub that gave this document.' }],
    tags: [...car.tags, TAG],
    paths,
    components: { ...car.components, securitySchemes },
  });
}

function described(operation: Operation, { paths }: OpenApiDocument): Described {
  const { id, summary, parameters, answers, errors, bodyName } = operation;
  const isRead = operation.method === 'GET' && answers[200]?.media !== EVENT_STREAM;
  const all = [
    ...parameters.map(({ name, in: place, required, description, schema }) => {
      return { name, in: place, required, description, schema };
    }),
    ...(isRead ? [conditional.parameter] : []),
  ];
  // Copy the description of a command's body from the interface.
  const alike = bodyName && operations.find((one) => one.bodyName === bodyName);
  const requestBody = alike && paths[`${bases[alike.side]}${alike.path}`]?.[alike.method.toLowerCase()]?.requestBody;
  const given = Object.entries(answers).map(([status, { description, media = JSON_MEDIA }]) => [
    status,
    {
      description,
      ...(isRead ? { headers: conditional.headers } : {}),
      content: { [media]: { schema: { type: media === EVENT_STREAM ? 'string' : 'object' } } },
    },
  ]);
  const refused = errors.map((status) => [status, { $ref: `#/components/responses/fleet${status}` }]);
  return {
    operationId: id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [TAG.name],
    summary,
    description: summary,
    security,
    ...(all.length === 0 ? {} : { parameters: all }),
    ...defined({ requestBody }),
    responses: { ...Object.fromEntries([...given, ...refused]), ...(isRead ? conditional.responses : {}) },
  } as Described;
}
