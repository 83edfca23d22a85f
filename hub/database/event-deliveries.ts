/** Queues events of monitors and states of commands for their receivers, in the same commit as their messages. */

import { createHash } from 'node:crypto';
import { callbackDestinations, isSubscribed } from '../../agent/callbacks/destination.ts';
import { receiverOfMonitor } from '../../agent/callbacks/monitor-places.ts';
import { defined } from '../../protocol/defined.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import { type MonitorDelivery, readDelivery } from '../../protocol/schema/callback.ts';
import type { Monitor } from '../../protocol/schema/monitor.ts';
import type { CommitChanges, PlacedMessage } from '../core/commit.ts';
import type { DeliveryContents, DroppedDeliveries, KeptDeliveries, UnreadableDelivery } from '../core/deliveries.ts';
import { IN_USE } from './registry.ts';
import type { SqlRow, SqlValue } from './rows.ts';
import type { SqlSteps } from './steps.ts';

/** Default of the largest number of events that wait for one receiver. */
export const MOST_WAITING = 5_000;

interface Queue {
  readonly key: string;
  readonly owner: { readonly kind: SqlValue; readonly id: SqlValue };
  readonly monitor: string | null;
  readonly callback: string | null;
  readonly delivery: string | null;
  /** True for a paused receiver: its events are checked when it is resumed. */
  readonly rests: boolean;
  readonly events: { readonly one: PlacedMessage; readonly contents: DeliveryContents }[];
}

interface KnownMonitor {
  readonly kind: SqlValue;
  readonly owner: SqlValue;
  readonly vin: SqlValue;
  readonly monitor: Monitor;
  readonly delivery: MonitorDelivery;
}

/** A command that was sent through a callback. */
interface KnownCommand {
  readonly vehicle: SqlValue;
  readonly kind: SqlValue;
  readonly owner: SqlValue;
  readonly callback: string;
  readonly contents: DeliveryContents;
}

/** Type of an event, by which callbacks select: an event of a monitor, or a state of a command of some type. */
interface EventType {
  readonly kind: 'Monitor' | 'Remote';
  readonly type?: string;
}

/** The parts of a callback that events need. */
interface KnownCallback {
  accepts(event: EventType): boolean;
  readonly receivers: readonly string[];
  /** True if the events wait until the callback changes. */
  readonly rests: boolean;
}

const NOTHING: KeptDeliveries = { receivers: 0, dropped: [], unreadable: [] };

const receiverOfCallback = (id: string): string => `callback/${id}`;

/** Returns the keys of a callback's receivers, each with its key in the destinations of the callback. */
export function receiversOfCallback(callback: Callback): ReadonlyMap<string, string> {
  const base = receiverOfCallback(callback.callbackId);
  return new Map(
    [...callbackDestinations(callback).keys()].map((endpoint) => [
      // The log contains receivers, and anybody who knows a device's endpoint can send to it: use a digest.
      endpoint === '' ? base : `${base}/${createHash('sha256').update(endpoint).digest('hex').slice(0, 16)}`,
      endpoint,
    ]),
  );
}

/** @param limit largest number of events that wait for one receiver; the oldest are dropped */
export function* keepDeliveries(events: CommitChanges['events'], limit: number): SqlSteps<KeptDeliveries> {
  if (events.length === 0) return NOTHING;
  const unreadable: UnreadableDelivery[] = [];
  const monitors = yield* monitorsOf(events, unreadable);
  const commands = yield* commandsOf(events);
  if (monitors.size === 0 && commands.size === 0) return { ...NOTHING, unreadable };
  const owned = yield* ownersOf(events);
  const callbacks = yield* callbacksOf(monitors, commands, unreadable);
  const queues = new Map<string, Queue>();
  for (const one of events) {
    const route = monitorRoute(one, monitors, callbacks) ?? commandRoute(one, commands, callbacks);
    // Events of a car go only to receivers of its own owners.
    if (route === undefined || owned?.has(`${one.vin} ${route.kind} ${route.owner}`) === false) continue;
    for (const queue of route.queues) {
      const there = queues.get(queue.key) ?? queue;
      queues.set(queue.key, there);
      there.events.push({ one, contents: route.contents });
    }
  }
  // Sorted by key, so that hubs with events for the same receivers cannot deadlock.
  const sorted = [...queues.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  const dropped: DroppedDeliveries[] = [];
  for (const queue of sorted) {
    const lost = yield* append(queue, limit);
    if (lost !== undefined) dropped.push(lost);
  }
  return { receivers: sorted.length, dropped, unreadable };
}

/** Owner, contents and receivers of one event. */
interface DeliveryRoute {
  readonly kind: SqlValue;
  readonly owner: SqlValue;
  readonly contents: DeliveryContents;
  readonly queues: readonly Queue[];
}

/** Returns undefined for an event of an unknown monitor, or of a monitor of another car. */
function monitorRoute(
  { message, vin }: PlacedMessage,
  monitors: ReadonlyMap<string, KnownMonitor>,
  callbacks: ReadonlyMap<string, KnownCallback>,
): DeliveryRoute | undefined {
  const known = message.kind === 'event' ? monitors.get(message.body.monitorId) : undefined;
  if (known === undefined || (known.vin !== null && known.vin !== vin)) return undefined;
  const { kind, owner } = known;
  return { kind, owner, contents: contentsOf(known), queues: queuesOf(known, callbacks) };
}

/** Returns undefined for a report about an unknown command, or a command to another car. */
function commandRoute(
  { message, vehicle }: PlacedMessage,
  commands: ReadonlyMap<string, KnownCommand>,
  callbacks: ReadonlyMap<string, KnownCallback>,
): DeliveryRoute | undefined {
  if (message.kind !== 'remote') return undefined;
  const known = commands.get(message.body.remoteActionId);
  if (known === undefined || known.vehicle !== vehicle) return undefined;
  const { kind, owner, contents, callback } = known;
  const event = { kind: 'Remote', type: message.body.type } as const;
  const queues = queuesOfCallback({ kind, id: owner }, callback, callbacks.get(callback), event);
  return { kind, owner, contents, queues };
}

/** Reads the monitors of events. A monitor with an unreadable delivery must not hold up the messages of the commit. */
function* monitorsOf(
  events: readonly PlacedMessage[],
  unreadable: UnreadableDelivery[],
): SqlSteps<Map<string, KnownMonitor>> {
  const ids = events.flatMap(({ message }) => (message.kind === 'event' ? [message.body.monitorId] : []));
  const rows = yield* selectIn('SELECT id, kind, owner, vin, document FROM monitors WHERE id IN', ids);
  const monitors = new Map<string, KnownMonitor>();
  for (const { id, kind = null, owner = null, vin = null, document } of rows) {
    try {
      const monitor = JSON.parse(document as string) as Monitor;
      const delivery = readDelivery(monitor.monitor.delivery);
      monitors.set(id as string, { kind, owner, vin, monitor, delivery });
    } catch (error) {
      unreadable.push({ monitorId: id as string, error: (error as Error).message });
    }
  }
  return monitors;
}

function* commandsOf(events: readonly PlacedMessage[]): SqlSteps<Map<string, KnownCommand>> {
  const ids = events.flatMap(({ message }) => (message.kind === 'remote' ? [message.body.remoteActionId] : []));
  const rows = yield* selectIn(
    `SELECT command, vehicle, kind, owner, callback, contents FROM callback_commands
     JOIN commands ON commands.id = callback_commands.command WHERE command IN`,
    ids,
  );
  return new Map(
    rows.map(({ command, vehicle = null, kind = null, owner = null, callback, contents }) => [
      command as string,
      {
        vehicle,
        kind,
        owner,
        callback: callback as string,
        contents: JSON.parse(contents as string) as DeliveryContents,
      },
    ]),
  );
}

/** Reads the owners of each car. Returns undefined if there is no registry: every car then belongs to everybody. */
function* ownersOf(events: readonly PlacedMessage[]): SqlSteps<ReadonlySet<string> | undefined> {
  if ((yield [IN_USE]).length === 0) return undefined;
  const vins = events.map(({ vin }) => vin);
  const rows = yield* selectIn('SELECT vin, kind, owner FROM owned_cars WHERE vin IN', vins);
  return new Set(rows.map(({ vin, kind, owner }) => `${vin} ${kind} ${owner}`));
}

/** Reads the callbacks. Events of an unreadable callback wait until the callback is readable. */
function* callbacksOf(
  monitors: ReadonlyMap<string, KnownMonitor>,
  commands: ReadonlyMap<string, KnownCommand>,
  unreadable: UnreadableDelivery[],
): SqlSteps<Map<string, KnownCallback>> {
  const ofMonitors = [...monitors.values()].flatMap(({ delivery: { callbackId } }) => callbackId ?? []);
  const ids = [...ofMonitors, ...[...commands.values()].map(({ callback }) => callback)];
  const rows = yield* selectIn('SELECT id, document FROM callbacks WHERE id IN', ids);
  const callbacks = new Map<string, KnownCallback>();
  for (const { id, document } of rows as readonly Record<string, string>[]) {
    try {
      const callback = JSON.parse(document as string) as Callback;
      callbacks.set(id as string, {
        accepts: ({ kind, type }) => isSubscribed(callback, kind, type),
        receivers: [...receiversOfCallback(callback).keys()],
        rests: callback.status === 'Paused',
      });
    } catch (error) {
      const key = receiverOfCallback(id as string);
      unreadable.push({ key, error: (error as Error).message });
      callbacks.set(id as string, { accepts: () => true, receivers: [key], rests: true });
    }
  }
  return callbacks;
}

function queuesOf(known: KnownMonitor, callbacks: ReadonlyMap<string, KnownCallback>): Queue[] {
  const { kind, owner, monitor, delivery } = known;
  const base = { owner: { kind, id: owner }, callback: null, rests: false };
  const queues: Queue[] = [];
  const { webhook, callbackId } = delivery;
  if (webhook !== undefined) {
    const { monitorId } = monitor;
    const text = monitor.monitor.delivery ?? null;
    queues.push({ ...base, key: receiverOfMonitor(monitorId), monitor: monitorId, delivery: text, events: [] });
  }
  if (callbackId === undefined) return queues;
  return [...queues, ...queuesOfCallback(base.owner, callbackId, callbacks.get(callbackId), { kind: 'Monitor' })];
}

/** Returns no queues if the callback was removed. */
function queuesOfCallback(
  owner: Queue['owner'],
  callback: string,
  known: KnownCallback | undefined,
  event: EventType,
): Queue[] {
  if (known?.accepts(event) !== true) return [];
  const { receivers, rests } = known;
  return receivers.map((key) => ({ key, owner, monitor: null, callback, delivery: null, rests, events: [] }));
}

function contentsOf({ monitor, delivery }: KnownMonitor): DeliveryContents {
  const { label } = monitor.monitor;
  const { attributes, callbackAttributes } = delivery;
  return {
    ...defined({ label }),
    ...(attributes.length === 0 ? {} : { attributes }),
    ...(Object.keys(callbackAttributes).length === 0 ? {} : { callbackAttributes }),
  };
}

/** Numbers and stores the events of one receiver. The time of a retry stays unchanged. */
function* append(queue: Queue, limit: number): SqlSteps<DroppedDeliveries | undefined> {
  const { key, owner, monitor, callback, delivery, rests, events } = queue;
  const count = events.length;
  const at = Math.max(...events.map(({ one }) => one.received));
  const [{ next_seq: next, waiting, held, dropped } = {}] = (yield [
    `INSERT INTO receivers (key, kind, owner, monitor, callback, delivery, next_seq, waiting, look)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
       delivery = excluded.delivery, next_seq = receivers.next_seq + excluded.next_seq,
       waiting = receivers.waiting + excluded.waiting,
       look = CASE WHEN receivers.look IS NULL OR (receivers.due IS NULL AND receivers.look > excluded.look)
         THEN excluded.look ELSE receivers.look END
     RETURNING next_seq, waiting, held, dropped`,
    key,
    owner.kind,
    owner.id,
    monitor,
    callback,
    delivery,
    count,
    count,
    rests ? null : at,
  ]) as readonly Record<string, number>[];
  let seq = (next as number) - count;
  for (const part of chunks(events)) {
    const values: SqlValue[] = part.flatMap(({ one, contents }) => [
      key,
      seq++,
      one.vehicle,
      one.row,
      one.received,
      JSON.stringify(contents),
    ]);
    const places = part.map(() => '(?, ?, ?, ?, ?, ?)').join(', ');
    yield [`INSERT INTO deliveries (receiver, seq, vehicle, message, at, contents) VALUES ${places}`, ...values];
  }
  const excess = (waiting as number) - limit;
  if (excess <= 0) return undefined;
  // Events of a running request are not dropped: a retry repeats that request unchanged.
  const lost = yield [
    `DELETE FROM deliveries WHERE receiver = ? AND seq IN
     (SELECT seq FROM deliveries WHERE receiver = ? AND seq >= ? ORDER BY seq LIMIT ?) RETURNING seq`,
    key,
    key,
    held as number,
    excess,
  ];
  yield [
    'UPDATE receivers SET waiting = waiting - ?, dropped = dropped + ? WHERE key = ?',
    lost.length,
    lost.length,
    key,
  ];
  return { receiver: key, count: lost.length, total: (dropped as number) + lost.length };
}

/** Selects the rows of all values. `sql` ends before the list. */
export function* selectIn(sql: string, values: readonly SqlValue[]): SqlSteps<SqlRow[]> {
  const rows: SqlRow[] = [];
  for (const part of chunks([...new Set(values)])) {
    rows.push(...(yield [`${sql} (${part.map(() => '?').join(', ')})`, ...part]));
  }
  return rows;
}

/** Divides a list into parts of few different lengths, because the database prepares a statement for each length. */
export function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; ) {
    const left = all.length - at;
    const length = left >= 100 ? 100 : left >= 10 ? 10 : 1;
    yield all.slice(at, at + length);
    at += length;
  }
}
