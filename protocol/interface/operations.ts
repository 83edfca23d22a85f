/**
 * All operations of the interface: fleet 3.19.2 and user 4.17.2, without the removed ones.
 *
 * For the server:
 * - {@link Operation.path} is below the base of its side; parameters are in braces. A path with a trailing slash also
 *   works (`…/stolen/` is published so). A path of the table with another method returns 405.
 * - {@link Operation.id} is `side.resource.action`; the action is one of list, get, create, replace, remove, setStatus.
 *   A `list` returns a page: `_links`, `total`, `totalPage`, `currentPage`, `_embedded`.
 * - {@link ./parameters.ts} reads parameters, {@link ./bodies.ts} checks bodies, and {@link ./refusal.ts} writes
 * error bodies. Parameters that an operation does not have are ignored.
 * - On the user side, {@link Operation.scopes} determine who has access and which fields are omitted. A remote needs
 *   the scope of its kind (`remoteScopeOf`), a monitor the scopes of its data and its contents (`monitorScopesOf`).
 * - `answers[…].schema` and {@link Operation.body} are created on first use; a server needs neither.
 * - A deprecated operation returns the header `Deprecation` (RFC 9745).
 */
import type { Operation, Side } from './operation.ts';
import { alarmOperations } from './operations/alarms.ts';
import { alertOperations } from './operations/alerts.ts';
import { callbackOperations } from './operations/callbacks.ts';
import { collisionOperations } from './operations/collisions.ts';
import { JSON_MEDIA } from './operations/making.ts';
import { monitorOperations } from './operations/monitors.ts';
import { remoteOperations } from './operations/remotes.ts';
import { statusOperations } from './operations/status.ts';
import { telemetryOperations } from './operations/telemetry.ts';
import { tripOperations } from './operations/trips.ts';
import { vehicleOperations } from './operations/vehicles.ts';

export const operations: readonly Operation[] = [
  ...vehicleOperations,
  ...statusOperations,
  ...telemetryOperations,
  ...tripOperations,
  ...alertOperations,
  ...collisionOperations,
  ...alarmOperations,
  ...monitorOperations,
  ...callbackOperations,
  ...remoteOperations,
];

export const operationById: ReadonlyMap<string, Operation> = new Map(operations.map((one) => [one.id, one]));

/** Returns the operations of one side. */
export function operationsOf(side: Side): readonly Operation[] {
  return operations.filter((one) => one.side === side);
}

/**
 * Media types that an operation can return, best first, by its id: a request whose `Accept` matches none gets
 * 406. Plain JSON is always included, because many clients request nothing else; a response without body has none.
 */
export const accept: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  operations.map(({ id, answers }) => {
    const media = Object.values(answers).flatMap((answer) => (answer.media === undefined ? [] : [answer.media]));
    return [id, media.length === 0 ? [] : [...new Set([...media, JSON_MEDIA])]];
  }),
);
