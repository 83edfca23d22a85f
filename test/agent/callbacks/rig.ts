/**
 * Callbacks on a virtual clock with their stored state, a plain list of monitors, the real formatting of notifications,
 * and channels whose answers the test chooses.
 */

import type {
  NotificationChannel,
  PushRequest,
  WebhookRequest,
  WebsocketRequest,
} from '../../../adapters/callbacks/channel.ts';
import { notifierOf } from '../../../adapters/callbacks/request-batch.ts';
import { MemoryRecords } from '../../../adapters/store/index.ts';
import { Callbacks } from '../../../agent/callbacks/callbacks.ts';
import type { DeliveryBounds } from '../../../agent/callbacks/distribution.ts';
import type { Receipt } from '../../../agent/callbacks/notifier.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import { compileMonitor, type Monitor } from '../../../protocol/schema/monitor.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { KeptMemory } from '../../rig/keeping.ts';
import { MemoryLog } from '../../rig/log.ts';

export const vehicle = {
  vin: 'VF3CCHMP6FT123456',
  motorization: 'Hybrid',
  vid: 'vid-1',
  fleetId: 'fleet-1',
} as const;

export type Sent =
  | { readonly channel: 'webhook'; readonly request: WebhookRequest }
  | { readonly channel: 'websocket'; readonly request: WebsocketRequest }
  | { readonly channel: 'pushnotif'; readonly request: PushRequest };

export const delivered: Receipt = { outcome: 'delivered' };
export const failed: Receipt = { outcome: 'failed', reason: 'it is away' };

const moving = { name: 'm', data: { data: 'vehicle.kinetic.moving', op: 'equalsTo', value: ['true'] } };

/** A MonitorParameter with these delivery settings. */
export function parameter(delivery: Record<string, unknown>): Record<string, unknown> {
  return { label: 'It moves', triggerParam: { triggers: [moving], boolExp: 'm' }, ...delivery };
}

export const webhook = { target: 'https://receiver.example/events', name: 'n' };

/** Waits for all pending promises. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class CallbackRig {
  readonly clock = new VirtualClock();
  readonly log = new MemoryLog();
  readonly memory = new KeptMemory();
  readonly records = new MemoryRecords();
  readonly monitors = new Map<string, Monitor>();
  readonly sent: Sent[] = [];
  readonly released: string[] = [];
  readonly bounds: Partial<DeliveryBounds>;
  callbacks: Callbacks;
  /** Outcome of a request. */
  answer: (sent: Sent) => Receipt | Promise<Receipt> = () => delivered;
  /** `false` if the disk refuses to write. */
  disk = true;
  commits = 0;
  #events = 0;

  constructor(bounds: Partial<DeliveryBounds> = {}) {
    this.bounds = bounds;
    this.callbacks = this.#begin();
  }

  /** An orderly stop and restart: everything is on disk. */
  restart(): void {
    this.memory.commit();
    this.cut();
  }

  /** A power cut: uncommitted state is lost, and requests in flight are abandoned. */
  cut(): void {
    this.callbacks.stop();
    this.callbacks = this.#begin();
  }

  monitor(monitorId: string, delivery: Record<string, unknown>): Monitor {
    const now = this.clock.now();
    const { parameter: monitor } = compileMonitor(parameter(delivery));
    const entry: Monitor = { createdAt: now, monitorId, updatedAt: now, status: 'Running', monitor };
    this.monitors.set(monitorId, entry);
    return entry;
  }

  /** Emits an event and returns its id. */
  event(monitorId: string, rest: Partial<MonitorEvent> = {}): string {
    const id = `${(++this.#events).toString(16).padStart(4, '0')}`;
    this.callbacks.event({
      id,
      monitorId,
      at: this.clock.now(),
      refresh: false,
      values: [{ data: 'vehicle.kinetic.moving', literal: 'true' }],
      ...rest,
    });
    return id;
  }

  /** Advances time in steps of `step` ms, and waits for pending promises after each. */
  async pass(ms: number, step = 1000): Promise<void> {
    this.clock.advance(0);
    await settle();
    for (let left = ms; left > 0; left -= step) {
      this.clock.advance(Math.min(step, left));
      await settle();
    }
  }

  /** Bodies of all webhook requests. */
  get bodies(): unknown[] {
    return this.webhooks.map(({ body }) => JSON.parse(body));
  }

  get webhooks(): WebhookRequest[] {
    return this.sent.flatMap((sent) => (sent.channel === 'webhook' ? [sent.request] : []));
  }

  #begin(): Callbacks {
    const { clock, log, records, memory, monitors } = this;
    const fake = <C extends Sent['channel']>(channel: C): NotificationChannel<(Sent & { channel: C })['request']> => ({
      deliver: async (request) => {
        const sent = { channel, request } as unknown as Sent;
        this.sent.push(sent);
        return this.answer(sent);
      },
      check: (url, where) => {
        if (new URL(url).hostname === 'private.example')
          throw new VigieError('input.malformed', 'is private', { where });
      },
      release: (receiver) => this.released.push(`${channel} ${receiver}`),
    });
    const channels = { webhook: fake('webhook'), websocket: fake('websocket'), pushnotif: fake('pushnotif') };
    const callbacks: Callbacks = new Callbacks({
      clock,
      log,
      notifier: notifierOf(channels, () => vehicle),
      records,
      bounds: this.bounds,
      monitors: {
        get all() {
          return [...monitors.values()];
        },
        get: (id) => monitors.get(id),
        remove: (id) => monitors.delete(id),
      },
      committed: async () => {
        if (!this.disk) throw new VigieError('store.failed', 'the disk is full');
        this.commits++;
        memory.commit();
      },
    });
    callbacks.recall(memory);
    memory.keep(() => callbacks.states());
    callbacks.start();
    return callbacks;
  }
}

/** Delivery settings of a fleet monitor. */
export function fleet(rest: Record<string, unknown> = {}, hook: Record<string, unknown> = {}): Record<string, unknown> {
  return { subscribeParam: { ...rest, callback: { webhook: { ...webhook, ...hook } } } };
}

/** Subscription of a user callback. */
export const user = (channel: Record<string, unknown> = { webhook }, rest: Record<string, unknown> = {}) => ({
  label: 'phone',
  ...rest,
  callback: channel,
});

/** Ids of the events in the order of their requests. */
export const ids = (rig: CallbackRig): string[] => rig.webhooks.flatMap((request) => request.ids);
