/** Callbacks given at the hub: its real code delivers events and states of commands to models of receivers. */
import { defineCallback } from '../../agent/callbacks/definition.ts';
import type { Notifier } from '../../agent/callbacks/notifier.ts';
import { idOf } from '../../assembly/view.ts';
import { DeliveryMeasures } from '../../hub/core/delivery-measures.ts';
import type { CarMessage } from '../../hub/core/message.ts';
import type { CallbackOrder, HubLog } from '../../hub/core/ports.ts';
import { SqlDeliveries } from '../../hub/database/deliveries.ts';
import { type SqliteDatabase, SqlMonitors } from '../../hub/database/index.ts';
import { HubDeliveries } from '../../hub/start/deliveries.ts';
import { classOf } from '../../protocol/classes.ts';
import { remoteTypes } from '../../protocol/remote/table.ts';
import type { Chance } from './chance.ts';
import { DELIVERY_ENDS } from './deliveries.ts';
import { FLEET, type Fleet, HUB_WEBHOOK } from './fleet.ts';
import { findMark } from './marks.ts';
import { Receivers } from './receivers.ts';
import type { WorldTime } from './time.ts';

const CALLBACK = 'cb';

export interface HubCallbacksParts {
  readonly database: SqliteDatabase;
  readonly time: WorldTime;
  /** UTC ms of the hub. */
  readonly now: () => number;
  readonly chance: Chance;
  readonly fleet: Fleet;
  readonly broken: (invariant: 'hubDeliveredOnce' | 'private', what: string) => void;
}

export class HubCallbacks {
  readonly receivers: Receivers;
  readonly #parts: HubCallbacksParts;
  readonly #store: SqlDeliveries;
  readonly #monitors: SqlMonitors;
  /** Ids by receiver. */
  readonly #expected = new Map<string, Set<string>>();
  /** Commands that were sent through the callback, with their cars. */
  readonly #commands = new Map<string, string>();
  #ended = 0;

  constructor(parts: HubCallbacksParts) {
    this.#parts = parts;
    const { database, time, now, chance, broken } = parts;
    // Leases end by the clock of the world, not by that of SQLite.
    const dialect = {
      get now() {
        return String(Math.round(now()));
      },
      unclaimed: '',
    };
    this.#store = new SqlDeliveries(database, dialect);
    this.#monitors = new SqlMonitors(database);
    this.receivers = new Receivers({
      time,
      chance,
      // A car may report a state of a command several times.
      again: (what) => what.startsWith('monitor/') && broken('hubDeliveredOnce', what),
    });
  }

  /** Adds the callback of the fleet. */
  async prepare(): Promise<void> {
    const retryPolicy = { policy: 'Bounded', retryNumber: 5, retryDelay: 10 };
    const input = { remoteTypes: [...remoteTypes], callback: { webhook: HUB_WEBHOOK }, retryPolicy };
    const surroundings = { notifier: { check: () => undefined }, before: undefined, count: 0, now: this.#parts.now() };
    const callback = defineCallback({ side: 'fleet', id: CALLBACK, input }, surroundings);
    await this.#monitors.putCallback({ owner: FLEET, callback });
  }

  /** Starts the deliveries of a hub. */
  begin(alive: () => boolean, log: HubLog): HubDeliveries {
    const { time, now } = this.#parts;
    const logged =
      (level: keyof HubLog) =>
      (event: string, fields?: object): void => {
        if (alive() && DELIVERY_ENDS.has(event)) this.#ended++;
        (log[level] as (event: string, fields?: object) => void)(event, fields);
      };
    const after = (delay: number, due: () => void): (() => void) => time.after(delay, () => alive() && due());
    const deliveries = new HubDeliveries({
      store: this.#store,
      books: this.#monitors,
      notifier: this.#notifier(alive),
      measures: new DeliveryMeasures(),
      motorizationOf: async () => 'Electric',
      changed: () => undefined,
      clock: { now, monotonic: () => time.now, after },
      log: { info: logged('info'), warn: logged('warn'), error: logged('error') },
    });
    deliveries.begin();
    return deliveries;
  }

  #notifier(alive: () => boolean): Notifier {
    const notifier = this.receivers.notifier(alive);
    return {
      ...notifier,
      batch: (receiver, to, items) => {
        for (const { notification } of items) {
          const mark = findMark(notification);
          if (mark !== undefined) this.#parts.broken('private', `the hub sends ${mark} to ${receiver}`);
        }
        return notifier.batch(receiver, to, items);
      },
    };
  }

  /** Callback through which a command is sent, for {@link CommandOrder.through}. */
  through(id: string, vin: string): CallbackOrder {
    this.#commands.set(id, vin);
    return { owner: FLEET, callbackId: CALLBACK, remote: {}, contents: {} };
  }

  /** Notifications of messages that are not in the database yet. Call before their commit, and the result after it. */
  expect(messages: readonly CarMessage[]): () => void {
    const fresh = messages.filter((one) => this.#isFresh(one));
    return () => {
      for (const one of fresh) this.#note(one);
    };
  }

  /** Notifications that are neither delivered nor recorded as ended. */
  missing(): string[] {
    const missing = [...this.#expected].flatMap(([receiver, ids]) =>
      [...ids]
        .filter((id) => this.receivers.delivered.get(receiver)?.has(id) !== true)
        .map((id) => `${receiver} ${id}`),
    );
    return missing.length > this.#ended ? missing : [];
  }

  /** A car has left the fleet: the hub erases its waiting notifications. */
  left(vin: string): void {
    const isOfCar = (id: string): boolean =>
      id.startsWith(`${idOf(vin)}-`) || this.#commands.get(id.slice(0, id.lastIndexOf('.'))) === vin;
    for (const ids of this.#expected.values()) for (const id of ids) if (isOfCar(id)) ids.delete(id);
  }

  async waiting(): Promise<number> {
    return (await this.#store.totals()).waiting;
  }

  #isFresh({ vin, payload, message: { kind, seq } }: CarMessage): boolean {
    if (kind !== 'event' && kind !== 'remote') return false;
    const known = this.#parts.database.one(
      'SELECT 1 FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin = ? AND class = ? AND seq = ? AND payload = ?',
      ...([vin, classOf(kind), seq, payload] as const),
    );
    return known === undefined;
  }

  #note({ vin, message }: CarMessage): void {
    const { fleet } = this.#parts;
    if (!fleet.owns(vin)) return;
    if (message.kind === 'event' && message.body.complement !== true && fleet.has(message.body.monitorId))
      this.#await(`monitor/${message.body.monitorId}`, `${idOf(vin)}-${message.body.id}`);
    if (message.kind !== 'remote') return;
    const { remoteActionId: id, status } = message.body;
    if (this.#commands.get(id) === vin) this.#await(`callback/${CALLBACK}`, `${id}.${status}`);
  }

  #await(receiver: string, id: string): void {
    this.#expected.set(receiver, (this.#expected.get(receiver) ?? new Set()).add(id));
  }
}
