/**
 * Delivery settings of a monitor (MonitorParameter.delivery): on the fleet side its own webhook,
 * on the user side the callback to which it belongs, and attributes.
 */
import { defined } from '../../defined.ts';
import { VigieError } from '../../errors.ts';
import { Member, malformed } from '../monitor/input.ts';
import { type Attribute, type AttributePlace, readAttributes } from './attributes.ts';
import { type BatchNotify, type RetryPolicy, readBatchNotify, readRetryPolicy, retryPolicies } from './policy.ts';
import { readWebhook } from './read.ts';
import type { Webhook } from './subscribe.ts';

/** Interface 4.17.2 CallbackAttributes, by channel. */
export type ChannelAttributes = Partial<Readonly<Record<'pushnotif' | 'webhook' | 'websocket', readonly Attribute[]>>>;

export interface MonitorDelivery {
  /** Fleet side. */
  readonly webhook?: Webhook;
  readonly retryPolicy: Required<RetryPolicy>;
  readonly batchNotify?: Required<BatchNotify>;
  /** User side: id of the callback under which the monitor was created. `subscribeParam.callbackId`, an addition. */
  readonly callbackId?: string;
  readonly attributes: readonly Attribute[];
  readonly callbackAttributes: ChannelAttributes;
}

export const callbackIdPattern = '^[0-9a-fA-F_-]{1,64}$';

const nothing: MonitorDelivery = {
  retryPolicy: readRetryPolicy(new Member(undefined, ''), retryPolicies),
  attributes: [],
  callbackAttributes: {},
};

/**
 * Reads delivery settings from the JSON text that compileMonitor stores, or from `subscribeParam` and `attributes`.
 * @throws VigieError `input.malformed`, with the faulty member in `where`
 */
export function readDelivery(input: string | undefined | Readonly<Record<string, unknown>>): MonitorDelivery {
  if (input === undefined) return nothing;
  const root = new Member(typeof input === 'string' ? parsed(input) : input, '');
  const attributes = readAttributes(root.member('attributes'), 'userMonitor');
  const subscribe = root.member('subscribeParam');
  if (subscribe.absent) return { ...nothing, attributes };
  const callback = subscribe.member('callback');
  const webhook = callback.absent ? undefined : readWebhook(callback.member('webhook'), 'fleetMonitor');
  const batchNotify = readBatchNotify(subscribe.member('batchNotify'));
  const callbackId = readCallbackId(subscribe.member('callbackId'));
  return {
    ...defined({ webhook }),
    retryPolicy: readRetryPolicy(subscribe.member('retryPolicy'), retryPolicies),
    ...defined({ batchNotify, callbackId }),
    attributes,
    callbackAttributes: readChannelAttributes(subscribe.member('callbackAttributes'), 'userMonitor'),
  };
}

/** Interface 4.17.2 callbackAttributes of a monitor or a command. @throws VigieError `input.malformed` */
export function readChannelAttributes(member: Member, owner: 'userMonitor' | 'userRemote'): ChannelAttributes {
  if (member.absent) return {};
  const read = (channel: keyof ChannelAttributes, places: readonly AttributePlace[], optional: boolean) => {
    const given = member.member(channel);
    return given.absent ? {} : { [channel]: readAttributes(given, owner, places, optional) };
  };
  return {
    ...read('pushnotif', ['Header', 'Body'], true),
    ...read('webhook', ['Header', 'Body', 'Query'], false),
    ...read('websocket', ['Body'], true),
  };
}

/**
 * Returns `subscribeParam` (without `refreshEvent`, a field of the monitor itself) and `attributes` of a monitor for a
 * client, without the secret of its webhook and without `callbackId`, an addition that is in the path.
 */
export function shownDelivery(text: string | undefined): {
  readonly subscribeParam?: Readonly<Record<string, unknown>>;
  readonly attributes?: unknown;
} {
  if (text === undefined) return {};
  const { subscribeParam, attributes } = parsed(text) as { subscribeParam?: Subscribed; attributes?: unknown };
  const { callbackId: _, callback, ...rest } = subscribeParam ?? {};
  const { secret: __, ...webhook } = callback?.webhook ?? {};
  const shown = { ...rest, ...(callback === undefined ? {} : { callback: { ...callback, webhook } }) };
  return {
    ...(Object.keys(shown).length === 0 ? {} : { subscribeParam: shown }),
    ...defined({ attributes }),
  };
}

interface Subscribed {
  readonly callbackId?: string;
  readonly callback?: { readonly webhook?: { readonly secret?: string } };
}

function readCallbackId(member: Member): string | undefined {
  if (member.absent) return undefined;
  const id = member.text(64);
  if (new RegExp(callbackIdPattern).test(id)) return id;
  throw malformed(member.where, `must match ${callbackIdPattern}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new VigieError('input.malformed', 'must be JSON', { where: 'delivery', cause });
  }
}
