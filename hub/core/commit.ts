/**
 * The changes that the new messages of one commit make besides the messages themselves. What follows from a message is decided
 * here; SQLite and PostgreSQL write the same lists, each in its own way.
 */
import type { Message } from '../../protocol/schema/message.ts';
import { type CarMessage, correctionIn, isAfter, isSeries, type RecordPlace, recordPlaceOf } from './message.ts';
import type { ClassNumbers } from './numbers.ts';

/** A message with its rows in the database. */
export interface PlacedMessage extends CarMessage {
  readonly vehicle: number;
  readonly row: number;
}

/** Such a message of some kinds. */
export type PlacedOf<K extends Message['kind']> = PlacedMessage & { readonly message: Message<K> };

export interface PlacedRecord<T = PlacedMessage> {
  readonly one: T;
  readonly place: RecordPlace;
}

/** All times of a start of the agent are so far behind, ms. */
export interface ClockCorrection {
  readonly vehicle: number;
  readonly boot: number;
  readonly by: number;
}

export interface CommitChanges {
  /** UTC ms of the newest new message that a car itself sent, by vehicle. */
  readonly heard: ReadonlyMap<number, number>;
  /** Messages of Status in their order, by vehicle. */
  readonly statuses: ReadonlyMap<number, readonly PlacedOf<'status'>[]>;
  /** Written before the records, because they correct the times of those. */
  readonly corrections: readonly ClockCorrection[];
  /** The newest message of each record; pieces of series are their own records and need no row. */
  readonly records: readonly PlacedRecord[];
  /** States of commands. */
  readonly reports: readonly PlacedOf<'remote'>[];
  /** The newest list of its monitors that each car sent. */
  readonly monitors: readonly PlacedOf<'monitor'>[];
  /** Messages that receivers may have to learn of. */
  readonly events: readonly PlacedOf<'event' | 'remote'>[];
}

/** `fresh`: messages that were not there before, in the order in which they came. */
export function changesOf(fresh: readonly PlacedMessage[]): CommitChanges {
  const statuses = new Map<number, PlacedOf<'status'>[]>();
  for (const one of fresh) {
    if (!is(one, 'status')) continue;
    const own = statuses.get(one.vehicle) ?? [];
    statuses.set(one.vehicle, own);
    own.push(one);
  }
  return {
    heard: new Map(fresh.flatMap(({ retained, vehicle, received }) => (retained ? [] : [[vehicle, received]]))),
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
    // The complement of an event comes after the event, which receivers have then.
    events: fresh.filter((one) =>
      is(one, 'event') ? one.message.body.complement !== true : is(one, 'remote'),
    ) as readonly PlacedOf<'event' | 'remote'>[],
  };
}

/** Changes of the numbers of one class of a car. */
export interface NumberChange {
  readonly class: number;
  apply(numbers: ClassNumbers): void;
}

/** The numbers that a new message reports: its own, and those that the car gave up or has sent. */
export function numberChangesOf({ class: own, message }: CarMessage): readonly NumberChange[] {
  const { kind, boot, body } = message;
  const arrived: NumberChange = { class: own, apply: (numbers) => numbers.arrive(message) };
  if (kind === 'gap') return [arrived, { class: body.class, apply: (numbers) => numbers.giveUp(boot, body.numbers) }];
  if (kind !== 'hello') return [arrived];
  const sent = (body.numbers ?? []).map((one) => ({
    class: one.class,
    apply: (numbers: ClassNumbers) => numbers.sent(boot, one),
  }));
  return [arrived, ...sent];
}

function is<K extends Message['kind']>(one: PlacedMessage, kind: K): one is PlacedOf<K> {
  return one.message.kind === kind;
}

function recordsIn(one: PlacedMessage): readonly PlacedRecord[] {
  const place = recordPlaceOf(one.message);
  return place === undefined || isSeries(place.collection) ? [] : [{ one, place }];
}

/** The newest of each key. */
function newestOf<T extends { readonly one: PlacedMessage }>(all: readonly T[], keyOf: (item: T) => string): T[] {
  const newest = new Map<string, T>();
  for (const item of all) {
    const known = newest.get(keyOf(item));
    if (known === undefined || isAfter(item.one.message, known.one.message)) newest.set(keyOf(item), item);
  }
  return [...newest.values()];
}
