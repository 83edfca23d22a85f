/** Converts input to a callback that can be served: every published rule is checked here, once. */

import { defined } from '../../defined.ts';
import { type RemoteType, remoteTypes } from '../../remote/table.ts';
import { Member, malformed } from '../monitor/input.ts';
import { type AttributeOwner, readAttributes } from './attributes.ts';
import { deviceText, readDevice } from './device.ts';
import { readBatchNotify, readRetryPolicy } from './policy.ts';
import { type CallbackSubscribe, callbackTypes, type Push, type Webhook, type Websocket } from './subscribe.ts';
import { readTarget } from './target.ts';

const ROOT = 'subscribe';
const DEVICES = 100;

/**
 * Checks a RemoteCallbackSubscribe, as JSON types.
 * @throws VigieError `input.malformed`, `input.unknown`, with the faulty member in `where`
 */
export function readFleetSubscribe(input: unknown): CallbackSubscribe {
  const root = new Member(input, ROOT);
  const channel = root.member('callback');
  const batchNotify = readBatchNotify(root.member('batchNotify'));
  return {
    ...labelOf(root),
    callback: { webhook: readWebhook(channel.member('webhook'), 'fleetCallback') },
    // The interface allows Always only for monitors.
    retryPolicy: readRetryPolicy(root.member('retryPolicy'), ['None', 'Bounded']),
    ...defined({ batchNotify }),
    remoteTypes: readRemoteTypes(root.member('remoteTypes')),
  };
}

/**
 * Checks a CallbackSubscribe, as JSON types.
 * @throws VigieError `input.malformed`, `input.unknown`, with the faulty member in `where`
 */
export function readUserSubscribe(input: unknown): CallbackSubscribe {
  const root = new Member(input, ROOT);
  const channel = root.member('callback');
  const kinds = (['pushnotif', 'webhook', 'websocket'] as const).filter((kind) => !channel.member(kind).absent);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const found = kinds.length === 0 ? 'none' : kinds.join(' and ');
    throw malformed(channel.where, `must have exactly one of pushnotif, webhook, websocket; has ${found}`);
  }
  const member = channel.member(kind);
  return { ...labelOf(root), ...typeOf(root.member('type')), callback: readers[kind](member) };
}

const readers: Readonly<Record<'pushnotif' | 'webhook' | 'websocket', (m: Member) => CallbackSubscribe['callback']>> = {
  pushnotif: (member) => ({ pushnotif: readPush(member) }),
  webhook: (member) => ({ webhook: readWebhook(member, 'userCallback') }),
  websocket: (member) => ({ websocket: readWebsocket(member) }),
};

function labelOf(root: Member): { label?: string } {
  const label = root.member('label');
  return label.absent ? {} : { label: label.text() };
}

function typeOf(member: Member): Pick<CallbackSubscribe, 'type'> {
  if (member.absent) return {};
  const found = member.list(1, 2).map((entry) => entry.oneOf(callbackTypes));
  return { type: callbackTypes.filter((type) => found.includes(type)) };
}

function readRemoteTypes(member: Member): RemoteType[] {
  const found = member.list(1, remoteTypes.length).map((entry) => entry.oneOf(remoteTypes));
  return remoteTypes.filter((type) => found.includes(type));
}

/** Reads a webhook. @throws VigieError `input.malformed` */
export function readWebhook(member: Member, owner: AttributeOwner): Webhook {
  const attributes = readAttributes(member.member('attributes'), owner);
  const secret = member.member('secret');
  if (!secret.absent && secret.text().length < 16) throw malformed(secret.where, 'must have at least 16 characters');
  return {
    target: readTarget(member.member('target'), ['https', 'http']),
    name: member.member('name').text(),
    ...(attributes.length === 0 ? {} : { attributes }),
    ...(secret.absent ? {} : { secret: secret.text() }),
  };
}

function readWebsocket(member: Member): Websocket {
  const attributes = readAttributes(member.member('attributes'), 'userCallback', ['Body'], true);
  return {
    target: readTarget(member.member('target'), ['wss', 'ws']),
    ...(attributes.length === 0 ? {} : { attributes }),
  };
}

function readPush(member: Member): Push {
  const attributes = readAttributes(member.member('attributes'), 'userCallback', ['Header', 'Body'], true);
  const devices = member.member('devices').list(1, DEVICES).map(readDevice);
  // A device that subscribed again has new keys for its endpoint: the last ones are valid.
  const byEndpoint = new Map(devices.map((device) => [device.endpoint, deviceText(device)]));
  return { devices: [...byEndpoint.values()], ...(attributes.length === 0 ? {} : { attributes }) };
}
