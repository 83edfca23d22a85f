/** `GET /vigie/v1/exits`: the receivers of the readings of all cars. */
import type { Handlers } from '../../adapters/http/call.ts';
import { found } from '../../adapters/http/resources/context.ts';
import type { Operation } from '../../protocol/interface/operation.ts';
import type { HubExitReport } from '../core/exits.ts';
import { reading } from './reading.ts';

export const exitOperations: readonly Operation[] = [
  reading(
    'hub.exits.list',
    '/vigie/v1/exits',
    'Reads which exits the hubs run, what waits for their receivers, what is lost or refused, and the last error.',
  ),
];

export function exitHandlers(reports: () => Promise<readonly HubExitReport[]>): Handlers {
  return { 'hub.exits.list': async () => found({ exits: await reports() }) };
}
