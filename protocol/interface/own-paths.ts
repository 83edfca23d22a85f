/** Paths of the server in addition to the interface, for OpenAPI. */

import { type AccessRow, accessTo } from './access.ts';
import { busPaths } from './own/bus-paths.ts';
import { capturePaths } from './own/capture-paths.ts';
import { carDescriptionSchema, linkReportSchema, pushKeySchema } from './own/car-description.ts';
import { commandHistorySchema, commandRequestSchema, commandsReportSchema } from './own/commands.ts';
import { exitPaths } from './own/exits.ts';
import { faultPaths } from './own/fault-paths.ts';
import { benchReportSchema, outboxReportSchema } from './own/outbox.ts';
import { answered, signalPaths } from './own/signal-paths.ts';

export const ownTag = {
  name: 'Server',
  description: 'The document itself, changes as they happen, and what the agent says of the car and of itself.',
};

const refused = (description: string): object => ({ description });

const refusals = {
  401: refused('The request does not prove whose it is.'),
  403: refused('The caller may not do this.'),
  406: refused('The caller does not take this media type.'),
  421: refused('The request names a host that this server is not.'),
  429: refused('Too many readers or requests.'),
  500: refused('A fault of the server.'),
};

const common = { tag: ownTag.name, refusals, refused };

const get = (operationId: string, summary: string, description: string, answer: object): object => ({
  operationId,
  tags: [ownTag.name],
  summary,
  description,
  responses: { 200: answer, ...refusals },
});

/** Describes server-sent events. `schema` is that of the data of the event `of`. */
const events = (schema: object, of?: string): object => ({
  description: of === undefined ? 'Events.' : `Events. The schema is that of the data of ${of}.`,
  content: { 'text/event-stream': { schema } },
});

type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** Adds to each path who may use it, from the access table. */
function withSecurity(paths: Paths): Paths {
  const entries = Object.entries(paths).map(([path, methods]) => {
    const secured = Object.entries(methods).map(([method, described]) => {
      const row = accessTo('car', method.toUpperCase(), path);
      if (row === undefined) throw new Error(`${method} ${path} has no row in the table of access`);
      return [method, { ...described, security: securityOf(row) }];
    });
    return [path, Object.fromEntries(secured)];
  });
  return Object.fromEntries(entries);
}

/** Returns the security requirements of a route, any one of which is sufficient. */
function securityOf({ principal, scopes: { required, optional } }: AccessRow): object[] {
  if (principal === 'anyone') return [];
  const anyOf = required.length > 0 || optional.length === 0 ? [required] : optional.map((scope) => [scope]);
  return [{ BasicAuth: [], ClientId: [] }, ...anyOf.map((scopes) => ({ UserToken: scopes }))];
}

export const ownPaths = withSecurity({
  ...capturePaths(common),
  ...signalPaths(common),
  ...faultPaths(common),
  ...busPaths(common),
  ...exitPaths(common),
  '/openapi.json': {
    get: {
      operationId: 'openApiGet',
      tags: [ownTag.name],
      summary: 'Reads this document.',
      description:
        'Answers the OpenAPI 3.1 document of the interface as JSON, for generators of clients. No credentials are needed.',
      responses: {
        200: { description: 'The document.', content: { 'application/json': { schema: { type: 'object' } } } },
        421: refused('The request names a host that this server is not.'),
        429: refused('Too many requests.'),
      },
    },
  },
  '/live': {
    get: get(
      'liveGet',
      'Streams the changes of the state of the car, for screens.',
      'Answers server-sent events (WHATWG HTML §9.2) until the reader disconnects. A reader that is slower than the car gets the latest value of each ' +
        'member, not every value. A fleet user sees all members; on the user side `data:telemetry` shows the members other ' +
        'than positions, and `data:position` shows positions.',
      events({ type: 'string' }),
    ),
  },
  '/vigie/v1/car': {
    get: get(
      'vigieCarGet',
      'Reads what the car is and where its values come from.',
      'Answers the identification number, the name and the profile of the car, and for every value of Status its unit, its resolution and its sources: ' +
        'bus, message, signal and bits.',
      answered('The car.', carDescriptionSchema),
    ),
  },
  '/vigie/v1/push-key': {
    get: get(
      'vigiePushKeyGet',
      'Reads the key that browsers subscribe to push notifications with.',
      'A browser passes it to `PushManager.subscribe`; a callback of channel `pushnotif` then takes the subscription.',
      answered('The key.', pushKeySchema),
    ),
  },
  '/vigie/v1/agent': {
    get: get(
      'vigieAgentGet',
      'Follows the state of the agent, for screens.',
      'Answers server-sent events (WHATWG HTML §9.2). Each event carries a whole state and comes at the beginning and, at most four times a second, when the ' +
        'state differs. `link`: the connection to the broker.',
      events(linkReportSchema, '`link`'),
    ),
  },
  '/vigie/v1/outbox': {
    get: get(
      'vigieOutboxGet',
      'Follows the messages that wait for the broker, for screens.',
      'Answers server-sent events (WHATWG HTML §9.2) as `/vigie/v1/agent` does. `outbox`: for each priority class the sequence numbers given out, the messages ' +
        'that wait, and the numbers that are missing. On a bench `bench` says whether its broker runs, whether its car is plugged in, whether the process of its agent runs, and which scene plays; POST /vigie/v1/bench changes them there.',
      events({ anyOf: [outboxReportSchema, benchReportSchema] }, '`outbox` or of `bench`'),
    ),
  },
  '/vigie/v1/commands': {
    get: get(
      'vigieCommandsGet',
      'Follows what the car can be asked, for screens.',
      'Answers server-sent events (WHATWG HTML §9.2) as `/vigie/v1/agent` does. `commands`: every order that the car can carry out, with what it needs of the ' +
        'car and what the car shows now. `history`: the states of the newest commands of all callers.',
      events({ anyOf: [commandsReportSchema, commandHistorySchema] }, '`commands` or of `history`'),
    ),
    post: {
      operationId: 'vigieCommandsCreate',
      tags: [ownTag.name],
      summary: 'Gives the car a command.',
      description:
        'The unit signs the command with a key of its own and checks it as any other. What becomes of it comes as `history` of the same address. A user needs the ' +
        'scope of the kind, such as `remote:door:write`.',
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: commandRequestSchema,
            examples: { lock: { summary: 'Lock the doors', value: { type: 'Doors', body: { state: 'Locked' } } } },
          },
        },
      },
      responses: {
        202: {
          description: 'The car has written the command down.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { remoteActionId: { type: 'string' } },
                required: ['remoteActionId'],
              },
            },
          },
        },
        400: refused('The body is no command.'),
        413: refused('The body is too long.'),
        415: refused('The body is not JSON.'),
        ...refusals,
      },
    },
  },
});
