import { failureCauses } from '../../errors.ts';
import type { RemoteKind } from '../../remote/kind.ts';
import { remoteStatuses } from '../../schema/remote.ts';
import type { Side } from '../operation.ts';
import { callbackAttributes, remoteKindsOf, remoteTypesOf, userAttributes } from './delivery.ts';
import { derived } from './derive.ts';
import { collection, links, relations } from './hal.ts';
import { deprecated, extended, type JsonSchema, object, string } from './json.ts';

function bodyOf({ body, deprecated: name, http }: RemoteKind): JsonSchema {
  const schema = derived(body);
  const flagged =
    name === undefined
      ? schema
      : extended(schema, schema.title ?? '', { [name]: deprecated(schema.properties?.[name] ?? {}) });
  return http === undefined ? flagged : http(flagged);
}

/** A command: the body of a request, and `remote` of the response. */
export function remote(side: Side): JsonSchema {
  const bodies = Object.fromEntries(remoteKindsOf(side).map((kind) => [kind.member, bodyOf(kind)]));
  const ours = side === 'user' ? { attributes: userAttributes.remote, callbackAttributes } : {};
  return object('Remote', `Exactly one of ${Object.keys(bodies).join(', ')}. Interface 3.19.2 and 4.17.2 Remote.`, [], {
    label: string('Name for people.', { maxLength: 256 }),
    ...ours,
    ...bodies,
  });
}

const remoteActionId = string('Id of the remote action.', { pattern: '^[0-9a-fA-F_-]*$' });
const type = (side: Side): JsonSchema => string('Kind of command.', { enum: remoteTypesOf(side) });

export function remotePostResponse(side: Side): JsonSchema {
  const _links = relations(
    'RemotePostLinks',
    side === 'fleet' ? ['fleet', 'callback', 'remote'] : ['callback', 'remote'],
  );
  return object(
    'RemotePostResponse',
    'Address of the state of the command. Interface 3.19.2 and 4.17.2 RemotePostResponse.',
    [],
    { _links, remoteActionId, type: type(side) },
  );
}

export function remoteAction(side: Side): JsonSchema {
  const _links = links('RemoteActionLinks', side === 'fleet' ? ['fleet', 'callback'] : ['callback']);
  return object('RemoteAction', 'State of a command. Interface 3.19.2 and 4.17.2 RemoteAction.', ['_links'], {
    _links,
    remoteActionId,
    type: type(side),
    remote: remote(side),
    status: string('State it has reached.', { enum: remoteStatuses }),
    failureCause: string('Why it failed, with status Failed.', { enum: failureCauses }),
    feedbackDetail: string('More about the keys of the car.', { enum: ['NoCIDBlacklisted', 'CIDBlacklisted'] }),
  });
}

export function remoteActions(side: Side): JsonSchema {
  return collection('RemoteActions', 'remoteActions', remoteAction(side), 'Commands that were sent.');
}
