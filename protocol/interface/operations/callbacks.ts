import type { Side } from '../operation.ts';
import { callbackType, idempotencyKey, paging, remoteType } from '../parameters/query.ts';
import { manage } from './making.ts';
import { dataScopes, remoteScopes } from './scopes.ts';

const callbacks = (side: Side, path: string) =>
  manage(side, path, {
    one: 'callback',
    member: '{cbid}',
    shapes: ['Callbacks', 'Callback', 'CallbackRef'],
    body: side === 'fleet' ? 'fleetCallback' : 'userCallback',
    added: 200,
    filters: [side === 'fleet' ? remoteType : callbackType, ...paging],
    onCreate: [idempotencyKey],
    scopes: side === 'fleet' ? {} : { optional: [...dataScopes, ...remoteScopes] },
  });

/** Callbacks: how a client receives events of monitors and states of commands. */
export const callbackOperations = [
  ...callbacks('fleet', '/fleets/{fid}/remote/callbacks'),
  ...callbacks('user', '/user/callbacks'),
];
