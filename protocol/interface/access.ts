/**
 * Access rules of the routes of a car and of a hub, one row per route. A server has no route without a row, and checks
 * each request against the row before the handler runs. Callers without scopes (fleet users of a car, the machine
 * itself if there is no access control) satisfy every scope requirement.
 */

import { metricsPaths } from './metrics-paths.ts';
import { bases, type HttpMethod, type Operation, type Side } from './operation.ts';
import { dataScopes, type OperationScopes, remoteScopes, reservedScopes, type Scope } from './operations/scopes.ts';
import { operationById, operations } from './operations.ts';

/**
 * `anyone`: without credentials. `fleet`, `user`: credentials of that side. `caller`: credentials of any side.
 * `machine`: programs on the same machine. `token`, `certificate`: a car with its enrolment token, or its certificate.
 */
export type Principal = 'anyone' | Side | 'caller' | 'machine' | 'token' | 'certificate';

/** The server: interface of a car or a hub, metrics of either, socket in the directory of a hub, enrolment of a hub. */
export type Server = 'car' | 'hub' | 'car metrics' | 'hub metrics' | 'hub socket' | 'enrolment';

export interface AccessRow {
  readonly servers: readonly Server[];
  readonly method: HttpMethod;
  /** Full path, with parameters in braces. */
  readonly path: string;
  readonly principal: Principal;
  readonly scopes: OperationScopes;
}

const scoped = (required: readonly Scope[], optional: readonly Scope[] = []): OperationScopes => ({
  required,
  optional,
});
const none = scoped([]);
/** Requires any published scope; omits fields for which the caller lacks a scope in `optional`. */
const any = (...optional: Scope[]): OperationScopes => ({ required: [], optional, more: true });
const [telemetry, position] = [['data:telemetry'], ['data:position']] as const;
const both = ['data:telemetry', 'data:position'] as const;
const commands = [...remoteScopes, ...reservedScopes];

/**
 * Scopes of hub tokens for operations of the fleet side, which has no scopes in the published interface. An operation
 * without a row needs the scopes of the same operation on the user side.
 */
const fleetScopes: Readonly<Record<string, OperationScopes>> = {
  'fleet.fleets.list': any(),
  'fleet.fleets.get': any(),
  'fleet.capabilities.get': any(),
  'fleet.fleetStatus.list': scoped([], both),
  'fleet.fleetMaintenances.list': scoped(telemetry),
  'fleet.fleetTrips.list': scoped(['data:trip'], position),
  'fleet.fleetAlerts.list': scoped(['data:alert'], position),
  'fleet.fleetAlerts.get': scoped(['data:alert'], position),
  'fleet.fleetCollisions.list': scoped(['data:collision'], position),
  'fleet.fleetCollisions.get': scoped(['data:collision'], position),
  'fleet.stolen.list': scoped(telemetry, position),
  'fleet.stolen.get': scoped(telemetry, position),
  'fleet.stolenWaypoints.list': scoped(both),
  'fleet.remotes.create': scoped([], commands),
  'fleet.remotes.list': scoped([], commands),
  'fleet.remotes.get': scoped([], commands),
};
/** Routes that change monitors and callbacks of a fleet. */
const changesMonitors = /^fleet\.(monitors|callbacks)\.(create|replace|remove|setStatus)$/;

/** Returns the scopes that a token needs for an operation of the published interface. */
export function scopesOf({ id, side, scopes }: Operation): OperationScopes {
  if (side === 'user') return scopes;
  if (changesMonitors.test(id)) return scoped(['hub:monitor:write'], dataScopes);
  const row = fleetScopes[id] ?? operationById.get(id.replace('fleet.', 'user.'))?.scopes;
  if (row === undefined) throw new Error(`${id} has no row in the table of access`);
  return row;
}

/** Each side is served below its base path, and at the root for addresses typed by hand. */
export const roots: Readonly<Record<Side, readonly string[]>> = { fleet: [bases.fleet, ''], user: [bases.user, ''] };

const published: readonly AccessRow[] = operations.flatMap((operation) => {
  const { method, path, side } = operation;
  const row = { servers: ['car', 'hub'], method, principal: side, scopes: scopesOf(operation) } as const;
  return roots[side].map((root) => ({ ...row, path: `${root}${path}` }));
});

const rows =
  (servers: readonly Server[], principal: Principal) =>
  (scopes: OperationScopes, ...routes: readonly `${HttpMethod} ${string}`[]): AccessRow[] =>
    routes.map((route) => {
      const [method, path] = route.split(' ') as [HttpMethod, string];
      return { servers, method, path, principal, scopes };
    });
const [car, hub] = [rows(['car'], 'caller'), rows(['hub'], 'caller')];
const anyone = rows(['car', 'hub'], 'anyone');
const ofCar = '/vigie/v1/vehicles/{vin}';

const own: readonly AccessRow[] = [
  ...rows(['car'], 'fleet')(scoped([], both), `GET ${bases.fleet}/live`),
  ...rows(['car'], 'user')(scoped([], both), `GET ${bases.user}/live`),
  ...car(scoped([], both), 'GET /live', 'GET /vigie/v1/car', 'GET /vigie/v1/agent', 'GET /vigie/v1/outbox'),
  ...car(scoped(['bench:write']), 'POST /vigie/v1/bench'),
  ...car(scoped(telemetry), 'GET /vigie/v1/commands'),
  ...car(scoped([], remoteScopes), 'POST /vigie/v1/commands'),
  ...car(scoped(['data:bus']), 'GET /vigie/v1/bus', 'GET /vigie/v1/bus/signals'),
  ...car(scoped(both), 'GET /vigie/v1/captures', 'GET /vigie/v1/captures/{id}'),
  ...car(scoped([], both), 'GET /vigie/v1/signals', 'GET /vigie/v1/signals/{name}', 'GET /vigie/v1/live'),
  ...car(scoped([], both), 'GET /vigie/v1/signals/{name}/history'),
  ...car(scoped(telemetry), 'GET /vigie/v1/exits'),
  ...car(scoped(['exits:test']), 'POST /vigie/v1/exits/{name}/test'),
  ...rows(['car', 'hub'], 'caller')(scoped(telemetry), 'GET /vigie/v1/faults'),
  ...rows(['car', 'hub'], 'caller')(none, 'GET /vigie/v1/push-key'),
];

const ofHub: readonly AccessRow[] = [
  ...hub(any(...both), 'GET /vigie/v1/vehicles'),
  ...hub(any(), 'GET /vigie/v1/orders', `GET ${ofCar}/car`),
  ...hub(scoped(position), 'GET /vigie/v1/positions'),
  ...hub(scoped(['hub:status:read']), 'GET /vigie/v1/status', 'GET /vigie/v1/exits'),
  ...hub(scoped([], [...dataScopes, ...commands]), 'GET /vigie/v1/events', 'GET /vigie/v1/live', `GET ${ofCar}/live`),
  ...hub(scoped([], both), `GET ${ofCar}/values`),
  ...hub(scoped([], [...dataScopes, ...commands]), `GET ${ofCar}/messages`),
  ...hub(scoped(telemetry), `GET ${ofCar}/numbers`, `GET ${ofCar}/faults`),
  ...hub(scoped(both), `GET ${ofCar}/captures`, `GET ${ofCar}/captures/{cid}`),
  // Only the car knows which of its signals are positions.
  ...hub(scoped(both), `GET ${ofCar}/signals`, `GET ${ofCar}/signals/{name}`, `GET ${ofCar}/signals/{name}/history`),
  ...hub(scoped([], dataScopes), `GET ${ofCar}/monitors`),
  ...hub(scoped(['data:trip']), `GET ${ofCar}/trip-classes`),
  ...hub(scoped(['data:trip', 'hub:trip:write']), `POST ${ofCar}/trip-classes/{tid}`),
  ...hub(scoped(['hub:resend:write']), `POST ${ofCar}/resend`),
  ...hub(scoped([], commands), `POST ${ofCar}/remotes`),
  ...hub(scoped([], [...telemetry, ...commands]), `GET ${ofCar}/remotes`, `GET ${ofCar}/remotes/{rid}`),
  ...hub(scoped([], [...telemetry, 'hub:rollout:write']), 'GET /vigie/v1/rollouts', 'GET /vigie/v1/rollouts/{oid}'),
  ...hub(scoped(['hub:rollout:write']), 'POST /vigie/v1/rollouts/{oid}/continue', 'POST /vigie/v1/rollouts/{oid}/stop'),
];

const open: readonly AccessRow[] = [
  ...anyone(
    none,
    'GET /',
    'GET /page/page.js',
    'GET /page/page.css',
    'GET /worker.js',
    'GET /page/icon.svg',
    'GET /page/icon.png',
    'GET /page/page.webmanifest',
    'GET /page/licences.txt',
    'GET /page/map.json',
    'GET /page/words-de.json',
    'GET /page/words-fr.json',
  ),
  ...anyone(none, 'GET /openapi.json', 'GET /docs', 'GET /docs/start.js', 'GET /docs/swagger-ui.css'),
  ...anyone(none, 'GET /docs/swagger-ui-bundle.js'),
  ...rows(['hub'], 'anyone')(none, 'GET /health'),
  ...rows(['hub'], 'anyone')(none, 'GET /vigie/v1/sign-in', 'GET /vigie/v1/signed-in', 'POST /vigie/v1/signed-in'),
];

const metrics: readonly AccessRow[] = (['car metrics', 'hub metrics', 'hub socket'] as const).flatMap((server) =>
  rows([server], 'machine')(none, ...metricsPaths[server].map((path) => `GET ${path}` as const)),
);

const enrolment: readonly AccessRow[] = [
  ...rows(['enrolment'], 'anyone')(none, 'GET /.well-known/est/cacerts'),
  ...rows(['enrolment'], 'token')(none, 'POST /.well-known/est/simpleenroll'),
  ...rows(['enrolment'], 'certificate')(none, 'POST /.well-known/est/simplereenroll', 'GET /vigie/v1/enrolment'),
];

export const accessTable: readonly AccessRow[] = [...published, ...own, ...ofHub, ...open, ...metrics, ...enrolment];

const keyOf = (server: Server, method: string, path: string): string => `${server} ${method} ${path}`;
const byRoute: ReadonlyMap<string, AccessRow> = new Map(
  accessTable.flatMap((row) => row.servers.map((server) => [keyOf(server, row.method, row.path), row] as const)),
);

/** Returns the row of a route. If undefined, every caller is refused. */
export function accessTo(server: Server, method: string, path: string): AccessRow | undefined {
  return byRoute.get(keyOf(server, method, path));
}
