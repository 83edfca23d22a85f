import { failureCauses } from '../../errors.ts';
import { type RemoteType, remoteBodies, remoteStatuses, remoteTypes } from '../../schema/remote.ts';
import type { Side } from '../operation.ts';
import { callbackAttributes, typesOf, userAttributes } from './delivery.ts';
import { derived } from './derive.ts';
import { collection, links, relations } from './hal.ts';
import { deprecated, extended, type JsonSchema, object, string } from './json.ts';

/** Members of Remote by kind of command. Interface 3.19.2 Remote, RemoteType. */
export const remoteMembers: Readonly<Record<RemoteType, string>> = {
  ThermalPreconditioning: 'preconditioning',
  ElectricBatteryChargingRequest: 'charging',
  Horn: 'horn',
  Doors: 'door',
  Lights: 'lights',
  Immobilization: 'immobilization',
  Stolen: 'stolen',
  WakeUp: 'wakeUp',
  Navigation: 'navigation',
};

/** Deprecated members of the bodies: accepted and without effect. */
const outdated: Partial<Record<RemoteType, string>> = {
  Doors: 'forced',
  ElectricBatteryChargingRequest: 'nextDelayedTime',
  Navigation: 'driverApproval',
};

function body(type: RemoteType): JsonSchema {
  const schema = derived(remoteBodies[type]);
  const name = outdated[type];
  const flagged =
    name === undefined
      ? schema
      : extended(schema, schema.title ?? '', { [name]: deprecated(schema.properties?.[name] ?? {}) });
  if (type === 'WakeUp') return withAction(flagged);
  return type === 'Navigation' ? withoutPointType(flagged) : flagged;
}

/** A signed command is a wake-up by its kind; an empty object over HTTP is more likely a mistake. */
function withAction(schema: JsonSchema): JsonSchema {
  const action = string('What is asked for. Interface 3.19.2 RemoteWakeUp.action.', { enum: ['WakeUp'] });
  return extended(schema, schema.title ?? '', { action }, ['action']);
}

/** `type` of a point is Point when absent. */
function withoutPointType(schema: JsonSchema): JsonSchema {
  const { positions = {} } = schema.properties ?? {};
  const { type = {}, ...members } = positions.items?.properties ?? {};
  const items: JsonSchema = {
    ...positions.items,
    title: 'RemotePoint',
    properties: { type: { ...type, default: 'Point' }, ...members },
    required: ['coordinates'],
  };
  return extended(schema, schema.title ?? '', { positions: { ...positions, items } });
}

/** A command: the body of a request, and `remote` of the answer. */
export function remote(side: Side): JsonSchema {
  const types = typesOf(side, remoteTypes) as readonly RemoteType[];
  const bodies = Object.fromEntries(types.map((type) => [remoteMembers[type], body(type)]));
  const ours = side === 'user' ? { attributes: userAttributes.remote, callbackAttributes } : {};
  return object(
    'Remote',
    { label: string('Name for people.', { maxLength: 256 }), ...ours, ...bodies },
    {
      description: `Exactly one of ${Object.keys(bodies).join(', ')}. Interface 3.19.2 and 4.17.2 Remote.`,
    },
  );
}

const remoteActionId = string('Id of the remote action.', { pattern: '^[0-9a-fA-F_-]*$' });
const type = (side: Side): JsonSchema => string('Kind of command.', { enum: typesOf(side, remoteTypes) });

export function remotePostResponse(side: Side): JsonSchema {
  const _links = relations(
    'RemotePostLinks',
    side === 'fleet' ? ['fleet', 'callback', 'remote'] : ['callback', 'remote'],
  );
  return object(
    'RemotePostResponse',
    { _links, remoteActionId, type: type(side) },
    { description: 'Where it is said what becomes of it. Interface 3.19.2 and 4.17.2 RemotePostResponse.' },
  );
}

export function remoteAction(side: Side): JsonSchema {
  const _links = links('RemoteActionLinks', side === 'fleet' ? ['fleet', 'callback'] : ['callback']);
  return object(
    'RemoteAction',
    {
      _links,
      remoteActionId,
      type: type(side),
      remote: remote(side),
      status: string('State it has reached.', { enum: remoteStatuses }),
      failureCause: string('Why it failed, with status Failed.', { enum: failureCauses }),
      feedbackDetail: string('More about the keys of the car.', { enum: ['NoCIDBlacklisted', 'CIDBlacklisted'] }),
    },
    { required: ['_links'], description: 'What became of a command. Interface 3.19.2 and 4.17.2 RemoteAction.' },
  );
}

export function remoteActions(side: Side): JsonSchema {
  return collection('RemoteActions', 'remoteActions', remoteAction(side), 'Commands that were sent.');
}
