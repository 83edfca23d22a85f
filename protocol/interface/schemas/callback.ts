import type { Side } from '../operation.ts';
import { fleetDelivery, remoteTypesOf, userCallbackTarget } from './delivery.ts';
import { collection, links, relations } from './hal.ts';
import { array, type JsonSchema, object, string } from './json.ts';

const label = string('Name for people.', { maxLength: 256 });

/** Receivers, events and channel of a callback: the body of a request, and `subscribe` of the response. */
export function callbackSubscribe(side: Side): JsonSchema {
  if (side === 'fleet') {
    const names = array(
      string('A kind of remote.', { enum: remoteTypesOf(side) }),
      'Kinds of remotes that the callback receives.',
      {
        maxItems: 64,
      },
    );
    return object(
      'RemoteCallbackSubscribe',
      'Receiver of the states of remotes. Interface 3.19.2 RemoteCallbackSubscribe.',
      ['callback', 'remoteTypes'],
      { label, ...fleetDelivery('remote'), remoteTypes: names },
    );
  }
  const type = array(
    string('A kind of event.', { enum: ['Monitor', 'Remote'] }),
    'Kinds of events that the callback receives; both when absent.',
    {
      minItems: 1,
      maxItems: 2,
    },
  );
  return object('CallbackSubscribe', 'A receiver and its events. Interface 4.17.2 CallbackSubscribe.', ['callback'], {
    label,
    type,
    callback: userCallbackTarget,
  });
}

const id = string('Id of the callback.', { pattern: '^[0-9a-fA-F_-]*$' });
const status = string('Running or paused; the car never answers `Failed`.', { enum: ['Running', 'Paused', 'Failed'] });

export function callback(side: Side): JsonSchema {
  const [title, _links] =
    side === 'fleet'
      ? ['RemoteCallback', links('RemoteCallbackLinks', ['fleet', 'remotes'])]
      : ['UserCallback', links('UserCallbackLinks', ['remotes', 'monitors'])];
  return object(title, `A callback. Interface ${title}.`, ['_links', 'id', 'subscribe', 'status'], {
    _links,
    id,
    ...(side === 'user' ? { label } : {}),
    subscribe: callbackSubscribe(side),
    status,
  });
}

export function callbacks(side: Side): JsonSchema {
  const title = side === 'fleet' ? 'RemoteCallbacks' : 'UserCallbacks';
  return collection(title, 'callbacks', callback(side), 'Callbacks.');
}

export function callbackRef(side: Side): JsonSchema {
  const _links = relations('CallbackRefLinks', side === 'fleet' ? ['fleet', 'callback'] : ['callback']);
  return object('CallbackRef', 'Where the callback is. Interface 3.19.2 and 4.17.2 CallbackRef.', [], {
    _links,
    callbackId: id,
    status,
  });
}
