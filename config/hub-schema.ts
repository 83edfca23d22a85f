/** Schema of hub.yaml. hub.ts checks files, and fields that depend on each other. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { scopeNames } from '../protocol/interface/operations/scopes.ts';
import { kinds } from '../protocol/schema/kind.ts';
import { callbacksSchema } from './callbacks.ts';
import { brokerMembers, exitMembers } from './configuration-schema.ts';
import { choice, closed, filePath, format, keyed, line, listOf, number } from './fields.ts';
import { mapTiles, trustedProxies, userOfHub, vehicleOfHub } from './http.ts';

/** Format version of hub.yaml that this version reads. */
const hubVersion = 1;

/** Defaults of omitted fields. */
export const hubDefaults = {
  /** Location of service state (Filesystem Hierarchy Standard 3.0, 5.8). */
  data: '/var/lib/vigie-hub',
  broker: { listen: '127.0.0.1:1883', group: 'vigie-hub', receiveMaximum: 500 },
  http: { listen: '127.0.0.1:8080' },
  signIn: { scope: 'openid email', groups: 'groups' },
  log: { level: 'warn' },
} as const;

const local = (description: string) =>
  line(description, {
    pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9.-]+):[0-9]{1,5}$',
    expected: 'an address and a port, such as 127.0.0.1:8080',
  });
/** Kinds of messages that may be deleted after some time. The other kinds are needed to read later messages. */
const removableKinds = kinds.filter((kind) => kind !== 'catalog' && kind !== 'text');
/** Parts of topics and of client names at the broker. */
const NAME = { pattern: '^[A-Za-z0-9._-]{1,64}$', expected: 'a name of letters, digits, dots, - and _' };

export const hubSchema = closed('Configuration of a hub', {
  hub: format(hubVersion, 'Version of this format'),
  name: Type.Optional(
    line(
      'Name of this hub, under which the broker keeps its session; each hub has its own. Default: made from its key',
      {
        ...NAME,
      },
    ),
  ),
  data: Type.Optional(filePath(`Folder of the keys and of the SQLite file; default \`${hubDefaults.data}\``)),
  broker: Type.Optional(
    closed('The broker: with `url` one that you run, else one inside the hub', {
      listen: Type.Optional(
        local(
          `Address of the embedded broker, on this machine unless there is \`tls\`; default \`${hubDefaults.broker.listen}\``,
        ),
      ),
      ...brokerMembers,
      url: Type.Optional({ ...brokerMembers.url, description: 'Address of your broker' }),
      cert: Type.Optional(filePath('Certificate of the hub (PEM)')),
      group: Type.Optional(
        line(`Hubs of one group share the messages of all cars; default \`${hubDefaults.broker.group}\``, NAME),
      ),
      receiveMaximum: Type.Optional(
        Type.Unsafe<number>({
          ...number(
            `Messages that the broker sends before they are acknowledged; default ${hubDefaults.broker.receiveMaximum}`,
            { minimum: 1, maximum: 65_535 },
          ),
          type: 'integer',
          'x-expected': 'a whole number',
        }),
      ),
    }),
  ),
  database: Type.Optional(
    closed('The database: with `url` PostgreSQL, else an SQLite file in `data`', {
      url: Type.Optional(
        line('Database of PostgreSQL', {
          pattern: '^postgres(ql)?://[^\\s]+$',
          expected: 'an address such as postgres://vigie@db.example:5432/vigie',
        }),
      ),
      passwordFile: Type.Optional(filePath('File that contains only the password')),
      secretFile: Type.Optional(
        filePath(
          'File that contains only the secret that encrypts the keys in the database, the same for all hubs; default `keys/group.secret` in `data`',
        ),
      ),
      readings: Type.Optional(
        line('Days for which each reading is also a row for SQL (docs/exits.md), such as 30d; default: no such rows', {
          pattern: '^[1-9][0-9]{0,2}d$',
          expected: 'whole days such as 30d',
        }),
      ),
    }),
  ),
  http: Type.Optional(
    closed('The connected-vehicle interface over HTTP', {
      listen: Type.Optional(
        local(
          `Address of the interface, on this machine unless there is \`tls\`; default \`${hubDefaults.http.listen}\``,
        ),
      ),
      trustedProxies,
      tiles: mapTiles,
      vehicle: vehicleOfHub,
      user: userOfHub,
    }),
  ),
  callbacks: Type.Optional({
    ...callbacksSchema,
    description: 'How events go to receivers: webhook, websocket, push',
  }),
  exits: Type.Optional(closed('Receivers of the values of all cars; see docs/exits.md', exitMembers)),
  retention: Type.Optional(
    keyed(
      `^(${removableKinds.join('|')})$`,
      Type.Unsafe<number>({
        ...number('Days', { minimum: 1, maximum: 36_500 }),
        type: 'integer',
        'x-expected': 'a whole number of days',
      }),
      'Days for which messages are kept, by kind, such as `{ telemetry: 90, waypoint: 90 }`; kinds that are not named are kept for ever',
      `one of ${removableKinds.join(', ')}`,
    ),
  ),
  signIn: Type.Optional(
    closed('Sign-in of people to the page at an OpenID Connect provider; without it the page asks for a token', {
      issuer: line('Address of the provider', {
        pattern: '^https?://[^\\s@?#"\']+$',
        expected: 'an address such as https://login.example/realms/fleet',
      }),
      clientId: line('Name of the hub at the provider'),
      clientSecretFile: Type.Optional(filePath('File that contains only the secret of the hub at the provider')),
      scope: Type.Optional(line(`What the provider is asked for; default \`${hubDefaults.signIn.scope}\``)),
      groups: Type.Optional(line(`Claim with the names of fleets; default \`${hubDefaults.signIn.groups}\``)),
      permits: Type.Optional(
        listOf(
          choice(scopeNames, 'A scope'),
          1,
          'What people may do who sign in; default: the scopes that begin with `data`',
        ),
      ),
    }),
  ),
  tls: Type.Optional(
    closed(
      'Broker and interface over TLS, with an authority of the hub, and enrolment of cars; `{}` for the defaults',
      {
        names: Type.Optional(
          listOf(
            line('A name or address'),
            1,
            'Names and addresses by which cars and people reach the hub, for its certificate',
          ),
        ),
        enrolment: Type.Optional(
          Type.Unsafe<number>({
            ...number('Port of the enrolment of cars; default 8443', { minimum: 0, maximum: 65_535 }),
            type: 'integer',
            'x-expected': 'a port',
          }),
        ),
      },
    ),
  ),
  metrics: Type.Optional(
    closed('Metrics at an address of their own, beside the socket in `data`', {
      listen: local('Address of `/metrics` and `/health`, on this machine'),
    }),
  ),
  log: Type.Optional(
    closed('Text for people', { level: Type.Optional(choice(['error', 'warn', 'info'], 'What is said')) }),
  ),
});

export type HubInput = Static<typeof hubSchema>;
