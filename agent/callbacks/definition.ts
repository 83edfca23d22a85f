/** Rules for callbacks and monitors with a delivery: the same in the car and at a hub. */
import { VigieError } from '../../protocol/errors.ts';
import { callbackIdPattern } from '../../protocol/schema/callback/delivery.ts';
import { readDevice } from '../../protocol/schema/callback/device.ts';
import {
  CALLBACKS,
  type Callback,
  type CallbackSide,
  type CallbackStatus,
  type CallbackSubscribe,
  readDelivery,
  readSubscribe,
} from '../../protocol/schema/callback.ts';
import { Member } from '../../protocol/schema/monitor/input.ts';
import type { Notifier } from './notifier.ts';

/** A requested callback. */
interface CallbackInput {
  readonly side: CallbackSide;
  readonly id: string;
  /** `subscribe` of the interface, with JSON types. */
  readonly input: unknown;
  readonly status?: CallbackStatus | undefined;
}

/** Present callbacks and limits. */
interface CallbackSurroundings {
  readonly notifier: Pick<Notifier, 'check'>;
  /** The present callback with the same id. */
  readonly before: Callback | undefined;
  /** Number of callbacks. */
  readonly count: number;
  /** UTC ms. */
  readonly now: number;
}

/**
 * Returns a new callback, or the previous one with the changes of the input.
 * @throws VigieError `input.malformed`, `input.unknown` if the interface does not allow the input, the address is
 * forbidden, the channel is not configured, the id belongs to the other side, or there are too many callbacks
 */
export function defineCallback(
  { side, id, input, status }: CallbackInput,
  { notifier, before, count, now: at }: CallbackSurroundings,
): Callback {
  if (!new RegExp(callbackIdPattern).test(id)) {
    throw new VigieError('input.malformed', `must match ${callbackIdPattern}`, { where: 'callbackId' });
  }
  const subscribe = readSubscribe(side, input);
  checkChannel(subscribe, notifier);
  if (before !== undefined && before.side !== side) throw unknownCallback(id);
  if (before === undefined && count >= CALLBACKS) {
    throw new VigieError('input.malformed', `there are ${CALLBACKS} callbacks already: remove one`, {
      where: 'callbacks',
    });
  }
  const now = Math.round(at);
  return {
    createdAt: before?.createdAt ?? now,
    callbackId: id,
    updatedAt: now,
    status: status ?? before?.status ?? 'Running',
    side,
    subscribe: withSecret(subscribe, before?.subscribe),
  };
}

/**
 * Checks the delivery settings of a MonitorParameter: on the fleet side it must have a webhook, on the user side its
 * callback (`subscribeParam.callbackId`) must exist.
 * @throws VigieError `input.malformed`, `input.unknown`
 */
export function checkMonitorDelivery(
  side: CallbackSide,
  parameter: unknown,
  { notifier, get }: { readonly notifier: Pick<Notifier, 'check'>; get(id: string): Callback | undefined },
): void {
  const { webhook, callbackId } = readDelivery(parameter as Readonly<Record<string, unknown>>);
  const where = 'subscribeParam.callback.webhook';
  if (webhook !== undefined) notifier.check('webhook', webhook.target, `${where}.target`);
  else if (side === 'fleet') throw new VigieError('input.malformed', 'is missing: events need an address', { where });
  if (side === 'user' && (callbackId === undefined || get(callbackId)?.side !== 'user')) {
    throw unknownCallback(callbackId ?? '');
  }
}

/**
 * Returns the callback without a device that no longer exists, or undefined if that was its last device.
 * @param now UTC ms
 */
export function withoutDevice(callback: Callback, endpoint: string, now: number): Callback | undefined {
  const push = callback.subscribe.callback.pushnotif;
  const devices = (push?.devices ?? []).filter((text) => endpointOf(text) !== endpoint);
  if (devices.length === 0 || push === undefined) return undefined;
  const subscribe = { ...callback.subscribe, callback: { pushnotif: { ...push, devices } } };
  return { ...callback, updatedAt: Math.round(now), subscribe };
}

export function unknownCallback(id: string): VigieError {
  return new VigieError('input.unknown', `there is no callback ${id}`, { where: 'callbackId' });
}

function checkChannel(
  { callback: { webhook, websocket, pushnotif } }: CallbackSubscribe,
  notifier: Pick<Notifier, 'check'>,
): void {
  const at = 'subscribe.callback';
  if (webhook !== undefined) notifier.check('webhook', webhook.target, `${at}.webhook.target`);
  if (websocket !== undefined) notifier.check('websocket', websocket.target, `${at}.websocket.target`);
  for (const [index, text] of (pushnotif?.devices ?? []).entries()) {
    notifier.check('pushnotif', endpointOf(text), `${at}.pushnotif.devices[${index}].endpoint`);
  }
}

/** Keeps the stored secret if a client writes the callback back without it: reading does not return the secret. */
function withSecret(subscribe: CallbackSubscribe, before: CallbackSubscribe | undefined): CallbackSubscribe {
  const { webhook } = subscribe.callback;
  const known = before?.callback.webhook;
  if (webhook === undefined || webhook.secret !== undefined || known?.secret === undefined) return subscribe;
  // A new address does not get the secret: its owner could test guesses of it with the signatures.
  if (known.target !== webhook.target) return subscribe;
  return { ...subscribe, callback: { webhook: { ...webhook, secret: known.secret } } };
}

function endpointOf(text: string): string {
  return readDevice(new Member(text, 'devices')).endpoint;
}
