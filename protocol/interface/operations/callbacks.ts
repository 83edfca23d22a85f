import type { Operation, Side } from '../operation.ts';
import { callbackType, idempotencyKey, paging, remoteType } from '../parameters/query.ts';
import { read, remove, write } from './making.ts';
import { dataScopes, remoteScopes } from './scopes.ts';

const paths: Readonly<Record<Side, string>> = { fleet: '/fleets/{fid}/remote/callbacks', user: '/user/callbacks' };

function callbacks(side: Side): Operation[] {
  const path = paths[side];
  const one = `${path}/{cbid}`;
  const body = side === 'fleet' ? 'fleetCallback' : 'userCallback';
  const scopes = side === 'fleet' ? {} : { optional: [...dataScopes, ...remoteScopes] };
  const given = { side, tag: 'Callbacks', scopes } as const;
  return [
    read({
      ...given,
      id: `${side}.callbacks.list`,
      path,
      summary: 'Lists the callbacks.',
      parameters: [side === 'fleet' ? remoteType : callbackType, ...paging],
      shape: 'Callbacks',
    }),
    write({
      ...given,
      id: `${side}.callbacks.create`,
      method: 'POST',
      path,
      summary: 'Adds a callback, which then runs.',
      parameters: [idempotencyKey],
      body,
      status: 200,
      shape: 'CallbackRef',
    }),
    read({ ...given, id: `${side}.callbacks.get`, path: one, summary: 'Reads a callback.', shape: 'Callback' }),
    write({
      ...given,
      id: `${side}.callbacks.replace`,
      method: 'PUT',
      path: one,
      summary: 'Replaces a callback.',
      parameters: [idempotencyKey],
      body,
      status: 202,
      shape: 'CallbackRef',
    }),
    remove({ ...given, id: `${side}.callbacks.remove`, path: one, summary: 'Deletes a callback.' }),
    write({
      ...given,
      id: `${side}.callbacks.setStatus`,
      method: 'PUT',
      path: `${one}/status`,
      summary: 'Lets a callback run or pause.',
      parameters: [idempotencyKey],
      body: 'statusSetter',
      status: 202,
      shape: 'CallbackRef',
    }),
  ];
}

/** Callbacks: how a client gets events of monitors and states of commands. */
export const callbackOperations: readonly Operation[] = [...callbacks('fleet'), ...callbacks('user')];
