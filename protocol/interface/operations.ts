/**
 * All operations of the interface: fleet 3.19.2 and user 4.17.2 without what was removed from them.
 *
 * For the server:
 * - {@link Operation.path} is below the base of its side; parameters stand in braces. A path with one slash more at
 *   its end answers as well (`…/stolen/` is published so). A path of the table asked with another method is 405.
 * - {@link Operation.id} is `side.resource.action`; the action is one of list, get, create, replace, remove, setStatus.
 *   A `list` answers with a page: `_links`, `total`, `totalPage`, `currentPage`, `_embedded`.
 * - Parameters are read by {@link ./parameters.ts}, bodies are checked by {@link ./bodies.ts}, refusals are written by
 *   {@link ./refusal.ts}. Parameters that an operation does not have are ignored.
 * - On the user side {@link Operation.scopes} decide who is let in and what is left out. Sending and seeing a remote
 *   needs the scope of its kind (`remoteScopeOf`), a monitor those of what it watches and tells (`monitorScopesOf`).
 * - `answers[…].schema` and {@link Operation.body} are made when they are first read; a server needs neither.
 * - A deprecated operation answers with the header `Deprecation` (RFC 9745).
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

/** Operations of one side. */
export function operationsOf(side: Side): readonly Operation[] {
  return operations.filter((one) => one.side === side);
}

/**
 * Media types that an operation answers with, best first, by its id: a request whose `Accept` takes none of them is
 * 406. Plain JSON is always among them, because many clients ask for nothing else; an answer without body has none.
 */
export const accept: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  operations.map(({ id, answers }) => {
    const media = Object.values(answers).flatMap((answer) => (answer.media === undefined ? [] : [answer.media]));
    return [id, media.length === 0 ? [] : [...new Set([...media, JSON_MEDIA])]];
  }),
);
