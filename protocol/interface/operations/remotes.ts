import type { Operation, Side } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { idempotencyKey, paging } from '../parameters/query.ts';
import { read, write } from './making.ts';
import { remoteScopes } from './scopes.ts';

function remotes(side: Side): Operation[] {
  const path = `${vehiclePath[side]}/callbacks/{cbid}/remotes`;
  const given = { tag: 'Remotes', scopes: side === 'fleet' ? {} : { optional: remoteScopes } } as const;
  return [
    write({
      ...given,
      id: `${side}.remotes.create`,
      method: 'POST',
      path,
      summary: 'Sends a command to the vehicle. The callback and the remote itself report its states.',
      parameters: [idempotencyKey],
      body: side === 'fleet' ? 'fleetRemote' : 'userRemote',
      status: 202,
      shape: 'RemotePostResponse',
    }),
    read(`${side}.remotes.list`, path, 'Lists the commands that were sent with a callback.', {
      ...given,
      parameters: paging,
      shape: 'RemoteActions',
    }),
    read(`${side}.remotes.get`, `${path}/{rid}`, 'Reads the result of a command.', { ...given, shape: 'RemoteAction' }),
  ];
}

/** Commands to the car. */
export const remoteOperations: readonly Operation[] = [...remotes('fleet'), ...remotes('user')];
