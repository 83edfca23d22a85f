/** `GET /vigie/v1/status`: the state of the hub, with the newest cars that are not registered. */
import type { Handlers } from '../../adapters/http/call.ts';
import { found } from '../../adapters/http/resources/context.ts';
import type { Operation } from '../../protocol/interface/operation.ts';
import type { HubStatus } from '../../protocol/interface/own/hub-status.ts';
import { query, reading } from './reading.ts';

/** Default and largest number of unregistered cars in an answer. */
export const UNREGISTERED_CARS = 20;
const MAX_UNREGISTERED_CARS = 1_000;

export const statusOperations: readonly Operation[] = [
  reading(
    'hub.status.get',
    '/vigie/v1/status',
    'Reads the state of the hub: broker, database, lag, cars, missing numbers, refusals, deliveries, disk, retention.',
    {
      parameters: [
        query('unregistered', `Unregistered cars to list, the newest first; default ${UNREGISTERED_CARS}.`, {
          type: 'integer',
          minimum: 0,
          maximum: MAX_UNREGISTERED_CARS,
        }),
      ],
    },
  ),
];

/** @param status returns the state with at most `limit` unregistered cars */
export function statusHandlers(status: (limit: number) => Promise<HubStatus>): Handlers {
  return {
    'hub.status.get': async ({ query: { unregistered = UNREGISTERED_CARS } }) =>
      found(await status(unregistered as number)),
  };
}
