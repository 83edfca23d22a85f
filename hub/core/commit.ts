/**
 * Changes that the new messages of one commit cause, in addition to storing the messages. This file decides on the
 * changes; SQLite and PostgreSQL both write these lists.
 */
import { classes } from '../../protocol/classes.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { lifeOf } from './lives.ts';
import {
  type CarMessage,
  correctionIn,
  heardAt,
  isAfter,
  isSeries,
  type RecordPlace,
  recordPlaceOf,
} from './message.ts';
import type { ClassNumbers } from './numbers.ts';
import type { CarExcess } from './ports.ts';

/** A message with the ids of its rows in the database. */
export interface PlacedMessage extends CarMessage {
  readonly vehicle: number;
  readonly row: number;
}

/** A message of certain kinds with the ids of its rows. */
export type PlacedOf<K extends Message['kind']> = PlacedMessage & { readonly message: Message<K> };

export interface PlacedRecord<T = PlacedMessage> {
  readonly one: T;
  readonly place: RecordPlace;
}

/** Correction of all times of one start of the agent: they are behind by `by` ms. */
export interface ClockCorrection {
  readonly vehicle: number;
  readonly boot: number;
  readonly by: number;
}

/** Kinds of messages whose contents {@link VehicleStatus} keeps. */
type StatusKind = 'status' | 'vehicle';

export interface CommitChanges {
  /** Arrival, by vehicle, of the newest new message that came from the car itself, in UTC ms. */
  readonly heard: ReadonlyMap<number, number>;
  /** Messages that change the table `status`, by vehicle, in the order of arrival. */
  readonly statuses: ReadonlyMap<number, readonly PlacedOf<StatusKind>[]>;
  /** Write these before the records: they correct the times of records. */
  readonly corrections: readonly ClockCorrection[];
  /** Newest message of each record. A piece of a series is its own record and needs no row. */
  readonly records: readonly PlacedRecord[];
  /** States of commands. */
  readonly reports: readonly PlacedOf<'remote'>[];
  /** Newest list of monitors from each car. */
  readonly monitors: readonly PlacedOf<'monitor'>[];
  /** Messages about which receivers may have to be notified. */
  readonly events: readonly PlacedOf<'event' | 'remote'>[];
}

/** Returns the changes that `fresh` causes: the messages that were not stored before, in the order of arrival. */
export function changesOf(fresh: readonly PlacedMessage[]): CommitChanges {
  const statuses = new Map<number, PlacedOf<StatusKind>[]>();
  for (const one of fresh) {
    if (!is(one, 'status') && !is(one, 'vehicle')) continue;
    const own = statuses.get(one.vehicle) ?? [];
    statuses.set(one.vehicle, own);
    own.push(one);
  }
  return {
    heard: new Map(fresh.flatMap((one) => (one.retained ? [] : [[one.vehicle, heardAt(one)]]))),
    statuses,
    corrections: fresh.flatMap(({ vehicle, message }) => {
      const by = correctionIn(message);
      return by === undefined ? [] : [{ vehicle, boot: message.boot, by }];
    }),
    records: newestOf(fresh.flatMap(recordsIn), ({ one: { vehicle }, place: { collection, id } }) =>
      [vehicle, collection, id].join('/'),
    ),
    reports: fresh.filter((one) => is(one, 'remote')),
    monitors: newestOf(
      fresh.flatMap((one) => (is(one, 'monitor') ? [{ one }] : [])),
      ({ one }) => `${one.vehicle}`,
    ).map(({ one }) => one),
    // The complement follows the event, which receivers already have.
    events: fresh.filter((one) =>
      is(one, 'event') ? one.message.body.complement !== true : is(one, 'remote'),
    ) as readonly PlacedOf<'event' | 'remote'>[],
  };
}

/** A change to the message numbers of one class of a car. */
export interface NumberChange {
  readonly class: number;
  apply(numbers: ClassNumbers): void;
}

/** Returns the changes that a new message causes: its own number, and numbers that the car gave up or has sent. */
export function numberChangesOf({ class: own, message }: CarMessage): readonly NumberChange[] {
  const { kind, boot, body } = message;
  const arrived: NumberChange = { class: own, apply: (numbers) => numbers.arrive(message) };
  if (kind === 'gap') return [arrived, { class: body.class, apply: (numbers) => numbers.giveUp(boot, body.numbers) }];
  if (kind !== 'hello') return [arrived];
  const sent = (body.numbers ?? []).map((one): NumberChange => ({ ...one, apply: (to) => to.sent(boot, one) }));
  if (lifeOf(boot) === 0) return [arrived, ...sent];
  // A class without a message in a later life would keep the missing numbers of an earlier one.
  const begun = classes.map((_, priority): NumberChange => ({ class: priority, apply: (to) => to.begin(boot) }));
  return [arrived, ...begun, ...sent];
}

interface ChangedClass {
  readonly vehicle: number;
  readonly class: number;
  readonly value: ClassNumbers;
}

/** Returns the classes that exceeded the bounds in this commit. `placed`: the new messages of the commit. */
export function excessOf(numbers: Iterable<ChangedClass>, placed: readonly PlacedMessage[]): CarExcess[] {
  return [...numbers].flatMap(({ vehicle, class: priority, value: { excess } }) => {
    const vin = excess.runs + excess.jumps > 0 && placed.find((one) => one.vehicle === vehicle)?.vin;
    return vin ? [{ vin, class: priority, ...excess }] : [];
  });
}

function is<K extends Message['kind']>(one: PlacedMessage, kind: K): one is PlacedOf<K> {
  return one.message.kind === kind;
}

function recordsIn(one: PlacedMessage): readonly PlacedRecord[] {
  const place = recordPlaceOf(one.message);
  return place === undefined || isSeries(place.collection) ? [] : [{ one, place }];
}

/** Returns the newest item for each key. */
function newestOf<T extends { readonly one: PlacedMessage }>(all: readonly T[], keyOf: (item: T) => string): T[] {
  const newest = new Map<string, T>();
  for (const item of all) {
    const key = keyOf(item);
    const known = newest.get(key);
    if (known === undefined || isAfter(item.one.message, known.one.message)) newest.set(key, item);
  }
  return [...newest.values()];
}
