/** Contract of the store of a hub, on any database. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CarMessage } from '../../hub/core/message.ts';
import type {
  CommandStore,
  HubPosition,
  HubRange,
  HubRecord,
  MessageStore,
  NewCommand,
  NumbersStore,
  ResendStore,
  VehicleReader,
} from '../../hub/core/ports.ts';
import type { Registry } from '../../hub/core/registry.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { factsOf, matches, type RecordFilter } from '../../protocol/interface/record-filter.ts';
import type { HelloKey } from '../../protocol/schema/hello.ts';
import { UNCOUNTED_BOOT } from '../../protocol/schema/message.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import type { Trip } from '../../protocol/schema/trip.ts';
import { type MessageOptions, NOON, ONE, OTHER, received, trip } from '../hub/messages.ts';

// biome-ignore lint/suspicious/noExplicitAny: positions of two kinds, for a comparison.
type Json = any;

export interface HubStoreUnderTest {
  readonly store: MessageStore;
  readonly reader: VehicleReader & NumbersStore & ResendStore;
  readonly commands: CommandStore;
  readonly registry: Registry;
  /** Payloads of all messages of a car, ordered by class, number and start. */
  payloads(vin: string): Promise<readonly Uint8Array[]>;
  /** Removes the messages of a car like retention does. */
  remove(vin: string): Promise<void>;
  /** Closes the store and opens it again. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export function hubStoreContract(name: string, create: () => Promise<HubStoreUnderTest>): void {
  describe(`${name} as the store of a hub`, () => {
    let hub: HubStoreUnderTest;
    beforeEach(async () => {
      hub = await create();
    });
    afterEach(() => hub.close());
    const status = async (vin: string) => (await hub.reader.status(vin))?.contents();
    const list = (vin: string, collection: string, from?: number, to?: number) =>
      all(hub.reader.records(vin, collection, from, to));

    test('an empty store has no cars', async () => {
      expect(await hub.reader.vehicles()).toEqual([]);
      expect(await hub.reader.numbers(ONE)).toBeUndefined();
      expect(await status(ONE)).toBeUndefined();
      expect(await list(ONE, 'trip')).toEqual([]);
    });

    test('stores the bytes of messages unchanged, also over a restart', async () => {
      const messages = [received('trip', trip('a'), { seq: 0 }), received('gap', { class: 5, count: 2 }, { seq: 0 })];
      await hub.store.save(messages, []);
      await hub.reopen();
      expect(await hub.payloads(ONE)).toEqual(messages.map(({ payload }) => new Uint8Array(payload)));
    });

    test('stores messages of kinds that it does not parse, such as catalogs of custom signals', async () => {
      const entries = [{ number: 1, name: 'Cabin.Humidity', kind: 'quantity' as const, unit: '%' }];
      const body = { catalog: new Uint8Array(8).fill(7), part: 0, parts: 1, entries };
      const message = received('catalog', body, { seq: 4 });
      await hub.store.save([message], []);
      expect(await hub.payloads(ONE)).toEqual([new Uint8Array(message.payload)]);
      expect(await hub.reader.numbers(ONE)).toMatchObject([{ class: 3, arrived: [[4, 4]], missing: [[0, 3]] }]);
    });

    test('a repetition changes nothing; the same number in another start is another message', async () => {
      const message = received('trip', trip('a', { distance: 1 }), { seq: 4, boot: 1 });
      await hub.store.save([message, message], []);
      await hub.store.save([message], []);
      expect(await hub.payloads(ONE)).toHaveLength(1);
      await hub.store.save([received('trip', trip('a', { distance: 2 }), { seq: 4, boot: 2 })], []);
      expect(await hub.payloads(ONE)).toHaveLength(2);
      expect((await hub.reader.record(ONE, 'trip', 'a'))?.record).toMatchObject({ distance: 2 });
    });

    test('reports arrived, abandoned and missing numbers per car and class', async () => {
      await hub.store.save(
        [
          received('trip', trip('a'), { seq: 1 }),
          received('trip', trip('b'), { seq: 5 }),
          received('gap', { class: 2, count: 2, numbers: [[2, 3]] }, { seq: 0 }),
          received('trip', trip('a'), { seq: 0, vin: OTHER }),
        ],
        [],
      );
      await hub.reopen();
      await hub.store.save([received('trip', trip('c'), { seq: 6 })], []);
      expect(await hub.reader.numbers(ONE)).toEqual([
        {
          class: 2,
          arrived: [
            [1, 1],
            [5, 6],
          ],
          givenUp: [[2, 3]],
          missing: [
            [0, 0],
            [4, 4],
          ],
        },
        { class: 3, arrived: [[0, 0]], givenUp: [], missing: [] },
      ]);
      expect(await hub.reader.numbers(OTHER)).toEqual([{ class: 2, arrived: [[0, 0]], givenUp: [], missing: [] }]);
    });

    test('a message that the broker lost is missing once a hello reports that the car sent it', async () => {
      await hub.store.save([received('trip', trip('a'), { seq: 0, offset: 0 })], []);
      const numbers = [
        { class: 2, first: 0, below: 2 },
        { class: 3, first: 0, below: 0 },
        { class: 4, first: 2, below: 2 },
      ];
      const hello = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: NOON, numbers };
      await hub.store.save([received('hello', hello, { seq: 0, received: NOON + 5 })], []);
      await hub.reopen();
      expect(await hub.reader.numbers(ONE)).toEqual([
        { class: 2, arrived: [[0, 0]], givenUp: [], missing: [[1, 1]] },
        { class: 3, arrived: [[0, 0]], givenUp: [], missing: [] },
        { class: 4, arrived: [], givenUp: [], missing: [[0, 1]] },
      ]);
      expect((await hub.reader.dueNumbers(NOON + 5, 10)).map((one) => [one.class, one.missing])).toEqual([
        [2, [[1, 1]]],
        [4, [[0, 1]]],
      ]);
    });

    test('a number that the previous start sent from memory is missing until the start that reused it sends it', async () => {
      const missing = async () => (await hub.reader.numbers(ONE))?.map((one) => one.missing);
      await hub.store.save([received('trip', trip('a'), { seq: 0, boot: 1, offset: 0 })], []);
      await hub.store.save([received('trip', trip('b'), { seq: 1, boot: 1, offset: 1 })], []);
      // The car's disk refused number 1 before the power failed.
      await hub.store.save([received('trip', trip('d'), { seq: 2, boot: 2, offset: 1 })], []);
      await hub.reopen();
      expect(await missing()).toEqual([[[1, 1]]]);
      expect((await hub.reader.dueNumbers(NOON + 99, 10)).map((one) => one.missing)).toEqual([[[1, 1]]]);
      await hub.store.save([received('trip', trip('c'), { seq: 1, boot: 2, offset: 0 })], []);
      expect(await missing()).toEqual([[]]);
    });

    test('a resent message of an uncounted start fills the missing number', async () => {
      const own = received('trip', trip('b'), { seq: 1, boot: UNCOUNTED_BOOT, offset: 0 });
      await hub.store.save([received('trip', trip('a'), { seq: 0, boot: 1, offset: 0 }), own], []);
      await hub.store.save([received('trip', trip('d'), { seq: 2, boot: 2, offset: 1 })], []);
      expect((await hub.reader.numbers(ONE))?.[0]?.missing).toEqual([[1, 1]]);
      expect((await hub.store.save([own], [])).fresh).toEqual([]);
      expect((await hub.reader.numbers(ONE))?.[0]?.missing).toEqual([]);
    });

    test('missing numbers are due from the message that revealed them, until they arrive or are abandoned', async () => {
      const due = async (now = NOON + 99) =>
        (await hub.reader.dueNumbers(now, 10)).map(({ vin, class: priority, missing }) => [vin, priority, missing]);
      await hub.store.save([received('trip', trip('a'), { seq: 0 })], []);
      expect(await due()).toEqual([]);
      await hub.store.save([received('trip', trip('b'), { seq: 5, received: NOON + 20 })], []);
      await hub.store.save([received('trip', trip('c'), { seq: 7, vin: OTHER, received: NOON + 10 })], []);
      await hub.store.save([received('trip', trip('d'), { seq: 2, received: NOON + 30 })], []);
      await hub.reopen();
      expect(await due(NOON + 9)).toEqual([]);
      expect(await due(NOON + 10)).toEqual([[OTHER, 2, [[0, 6]]]]);
      expect(await due()).toEqual([
        [OTHER, 2, [[0, 6]]],
        [
          ONE,
          2,
          [
            [1, 1],
            [3, 4],
          ],
        ],
      ]);
      expect(await hub.reader.dueNumbers(NOON + 99, 1)).toMatchObject([
        { vin: OTHER, due: NOON + 10, attempts: 0, requested: 0, lastSeen: NOON + 10 },
      ]);
      expect(await hub.reader.missingNumbers()).toEqual([{ class: 2, numbers: 10, cars: 2 }]);
      await hub.store.save([received('gap', { class: 2, count: 7, numbers: [[0, 6]] }, { seq: 0, vin: OTHER })], []);
      await hub.store.save(
        [1, 3, 4].map((seq) => received('trip', trip(`e${seq}`), { seq })),
        [],
      );
      expect(await due()).toEqual([]);
    });

    test('only one of several hubs postpones a due request; if nothing was missing meanwhile, the next is due at once', async () => {
      await hub.store.save([received('trip', trip('a'), { seq: 3, received: NOON })], []);
      const [one] = await hub.reader.dueNumbers(NOON, 10);
      if (one === undefined) throw new Error('nothing is due');
      const next = { due: NOON + 50, attempts: 2, requested: 3 };
      expect(await hub.reader.putOff(one, next)).toBe(true);
      expect(await hub.reader.putOff(one, { ...next, due: NOON + 60 })).toBe(false);
      expect(await hub.reader.dueNumbers(NOON + 49, 10)).toEqual([]);
      await hub.store.save([received('trip', trip('b'), { seq: 1, received: NOON + 10 })], []);
      expect(await hub.reader.dueNumbers(NOON + 50, 10)).toMatchObject([
        {
          ...next,
          missing: [
            [0, 0],
            [2, 2],
          ],
        },
      ]);
      await hub.store.save(
        [0, 2].map((seq) => received('trip', trip(`c${seq}`), { seq, received: NOON + 20 })),
        [],
      );
      await hub.store.save([received('trip', trip('d'), { seq: 9, received: NOON + 30 })], []);
      expect(await hub.reader.dueNumbers(NOON + 30, 10)).toMatchObject([{ due: NOON + 30, attempts: 0, requested: 0 }]);
    });

    test('a record has the content of its newest message, whatever the order of arrival', async () => {
      await hub.store.save([received('trip', trip('a', { distance: 2 }), { seq: 8 })], []);
      await hub.store.save([received('trip', trip('a', { distance: 1 }), { seq: 7 })], []);
      expect((await hub.reader.record(ONE, 'trip', 'a'))?.record).toMatchObject({ id: 'a', distance: 2 });
      await hub.store.save([received('trip', trip('a', { distance: 3 }), { seq: 0, boot: 2 })], []);
      expect((await hub.reader.record(ONE, 'trip', 'a'))?.record).toMatchObject({ id: 'a', distance: 3 });
    });

    test('messages of an uncounted start are ordered among the versions of a record by their own numbers', async () => {
      const own = UNCOUNTED_BOOT + 5;
      const made = [
        { seq: 3, boot: 4 },
        { seq: 7, boot: own },
        // The start after the uncounted one reuses the number of the message that was only in memory.
        { seq: 7, boot: 5 },
        { seq: 9, boot: own },
        { seq: 12, boot: 6 },
      ];
      let cars = 0;
      for (const [index, earlier] of made.entries()) {
        for (const later of made.slice(index + 1)) {
          for (const isLate of [false, true]) {
            for (const isTogether of [false, true]) {
              const vin = `VF3VGEHVBS${String(cars++).padStart(7, '0')}`;
              const pair = [
                received('trip', trip('a', { distance: 1 }), { ...earlier, vin }),
                received('trip', trip('a', { distance: 2 }), { ...later, vin }),
              ];
              if (isLate) pair.reverse();
              for (const commit of isTogether ? [pair] : pair.map((one) => [one])) await hub.store.save(commit, []);
              const { distance } = ((await hub.reader.record(vin, 'trip', 'a'))?.record ?? {}) as Partial<Trip>;
              expect({ earlier, later, isLate, isTogether, distance }).toMatchObject({ distance: 2 });
            }
          }
        }
      }
    });

    test('records of a car are listed from start (inclusive) to end (exclusive), by time and then id', async () => {
      const made = (['d', 'b', 'a', 'c', 'B'] as const).map((id, seq) =>
        received('trip', trip(id, { createdAt: NOON + { d: 30, b: 20, a: 20, c: 10, B: 20 }[id] }), { seq }),
      );
      await hub.store.save([...made, received('trip', trip('e'), { vin: OTHER })], []);
      const ids = async (from?: number, to?: number) => (await list(ONE, 'trip', from, to)).map(({ id }) => id);
      expect(await ids()).toEqual(['c', 'B', 'a', 'b', 'd']);
      expect(await ids(NOON + 20, NOON + 30)).toEqual(['B', 'a', 'b']);
      expect(await ids(NOON + 10.5)).toEqual(['B', 'a', 'b', 'd']);
      expect(await ids(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)).toHaveLength(5);
      expect(await hub.reader.record(OTHER, 'trip', 'd')).toBeUndefined();
      expect(await list(ONE, 'alert')).toEqual([]);
    });

    test('lists longer than one read return each record once and in order', async () => {
      const made = Array.from({ length: 450 }, (_, seq) =>
        received('trip', trip(`a${seq}`, { createdAt: NOON + Math.floor(seq / 7) }), { seq }),
      );
      const others = Array.from({ length: 30 }, (_, seq) =>
        received('trip', trip(`a${seq}`, { createdAt: NOON }), { seq, vin: OTHER }),
      );
      await hub.store.save([...made.toReversed(), ...others], []);
      const inOrder = (records: readonly { at: number; id: string }[]) =>
        records.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
      const own = await list(ONE, 'trip');
      expect(new Set(own.map(({ id }) => id)).size).toBe(450);
      expect(own).toEqual(inOrder(own));
      expect((await list(ONE, 'trip', NOON + 1, NOON + 40)).length).toBe(39 * 7);
      const fleet = await hub.reader.fleetRecordKeys('trip').read({}, 1_000);
      expect(new Set(fleet.map(({ vin, record }) => `${vin} ${(record as Trip).id}`)).size).toBe(480);
      expect(fleet).toEqual(inOrder(fleet));
    });

    test('counts, finds and slices a collection like a naive list, from either end', async () => {
      const times = [5, 5, 1, 9, 5, 3, 9, 2].map((more) => NOON + more);
      const made = times.map((createdAt, seq) => received('trip', trip(`a${seq}`, { createdAt }), { seq }));
      const others = ['VF3VGEHVB00000003', 'VF3VGEHVA00000001'].map((vin) => received('trip', trip('a1'), { vin }));
      await hub.store.save([...made, received('trip', trip('a1'), { vin: OTHER }), ...others], []);
      const trips = (await list(ONE, 'trip')).map(({ at, id }) => ({ at, id }));
      const vins = (await hub.reader.vehicles()).map(({ vin }) => vin).filter((vin) => vin.startsWith('VF3VGEHVB'));
      const gone = [
        { at: NOON + 4, id: 'a' },
        { at: 0, id: '' },
        { at: NOON + 99, id: 'z' },
      ];
      const sets = [
        { keys: hub.reader.recordKeys(ONE, 'trip'), all: trips, places: [...trips, ...gone] },
        {
          keys: hub.reader.vehicleKeys('VF3VGEHVB'),
          all: vins.map((id) => ({ at: 0, id })),
          places: vins.map((id) => ({ at: 0, id })),
        },
      ];
      const compare = (a: HubPosition, b: HubPosition): number =>
        a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
      for (const { keys, all, places } of sets) {
        const ranges: HubRange[] = [{}, ...places.flatMap((from) => [{ from }, { to: from }, { before: from }])];
        for (const [index, from] of places.entries()) ranges.push({ from, to: places.at(-1 - index) as HubPosition });
        for (const range of ranges) {
          const { from, to, before } = range;
          const naive = all.filter(
            (one) =>
              (from === undefined || compare(one, from) >= 0) &&
              (to === undefined || compare(one, to) <= 0) &&
              (before === undefined || compare(one, before) < 0),
          );
          const cursor = naive[1] ?? naive[0];
          expect(await keys.survey({ range, size: 2, ...defined({ cursor }) })).toEqual({
            total: naive.length,
            first: naive[0],
            last: naive.toReversed().slice(0, 2),
            before: naive.filter((one) => cursor !== undefined && compare(one, cursor) < 0).length,
            next: naive.find((one) => cursor !== undefined && compare(one, cursor) >= 0),
          });
          for (const backwards of [false, true]) {
            const inOrder = backwards ? naive.toReversed() : naive;
            const read = (await keys.read(range, 3, backwards)).map(({ at, id }) => ({ at, id }));
            expect(read).toEqual(inOrder.slice(0, 3));
            for (const skip of [0, 2]) expect(await keys.nth(range, skip, backwards)).toEqual(inOrder[skip]);
          }
        }
      }
    });

    test('filters match a naive list, for one car, all cars and the cars of an owner', async () => {
      const vins = [ONE, OTHER, 'VF3VGEHVB00000003'];
      const owners = [{ kind: 'fleet', id: 'north' } as const];
      await hub.store.save(
        vins.flatMap((vin, car) =>
          Array.from({ length: 12 }, (_, seq) => {
            const createdAt = NOON + Math.floor(seq / 2) * 1_000;
            const more = {
              createdAt,
              startedAt: createdAt - (seq % 3) * 1_500,
              done: seq % 4 !== 0,
              ...(seq % 5 === 0 ? {} : { distance: seq * 1.25 + car, duration: seq * 60 }),
              ...(seq % 6 === 0 ? { faults: [{ fault: 'DataLacking' as const }] } : {}),
            };
            return received('trip', trip(`a${seq}`, more), { seq, vin });
          }),
        ),
        [],
      );
      await hub.registry.add(OTHER, owners, NOON);
      await hub.registry.add(vins[2] as string, owners, NOON);
      const second = (from: number, to = from + 1) => ({ from: NOON + from * 1_000, to: NOON + to * 1_000 });
      const filters: RecordFilter[] = [
        {},
        { periods: [] },
        { periods: [second(1, 3)] },
        { periods: [{ to: NOON }, second(2), { from: NOON + 3_999.5 }] },
        {
          periods: Array.from({ length: 1_000 }, (_, index) => ({
            from: NOON - 5_000 + index * 20,
            to: NOON - 4_990 + index * 20,
          })),
        },
        { distance: { min: 2, max: 7.5 } },
        { distance: { min: 0 }, duration: { min: 120 } },
        { states: ['Nominal'] },
        { states: ['DataLacking', 'Unfinished'], periods: [second(-2, 5)] },
        { trip: 'a1' },
      ];
      const compare = (a: Json, b: Json): number =>
        a.at - b.at || (a.record.id < b.record.id ? -1 : a.record.id > b.record.id ? 1 : a.car - b.car);
      const everything = [];
      for (const [car, vin] of vins.entries()) {
        for (const one of await list(vin, 'trip')) everything.push({ ...one, vin, car });
      }
      everything.sort(compare);
      for (const filter of filters) {
        const matching = everything.filter(({ record }) => matches(factsOf('trip', record), filter));
        const sets = [
          { keys: hub.reader.recordKeys(ONE, 'trip', filter), naive: matching.filter(({ vin }) => vin === ONE) },
          { keys: hub.reader.fleetRecordKeys('trip', { filter }), naive: matching },
          {
            keys: hub.reader.fleetRecordKeys('trip', { filter, owners }),
            naive: matching.filter(({ vin }) => vin !== ONE),
          },
          { keys: hub.reader.fleetRecordKeys('trip', { filter, owners: [] }), naive: [] },
        ];
        for (const { keys, naive } of sets) {
          const whole: readonly HubRecord[] = await keys.read({}, 99);
          expect(whole.map(({ record }) => record)).toEqual(naive.map(({ record }) => record));
          expect((await keys.survey({ range: {}, size: 3 })).total).toBe(naive.length);
          const places = whole.map(({ at, id }) => ({ at, id }));
          for (const [index, from] of places.entries()) {
            if (index % 11 !== 0) continue;
            const rest = naive.slice(index).map(({ record }) => record);
            expect((await keys.read({ from }, 4)).map(({ record }: HubRecord) => record)).toEqual(rest.slice(0, 4));
            const before = naive.slice(0, index).map(({ record }) => record);
            const backwards = await keys.read({ before: from }, 4, true);
            expect(backwards.map(({ record }: HubRecord) => record)).toEqual(before.toReversed().slice(0, 4));
            const survey = await keys.survey({ range: {}, size: 3, cursor: from });
            expect([survey.total, survey.before, survey.next]).toEqual([naive.length, index, from]);
            expect([survey.first, survey.last]).toEqual([places[0], places.toReversed().slice(0, 3)]);
            expect((await keys.survey({ range: { from }, size: 1 })).total).toBe(rest.length);
            expect(await keys.nth({ from }, 2)).toEqual(places[index + 2]);
            expect(await keys.nth({ to: from }, 1, true)).toEqual(places[index - 1]);
          }
        }
      }
    });

    test('returns the newest record per car, for all cars and for the cars of an owner', async () => {
      for (const [index, vin] of [ONE, OTHER].entries()) {
        const made = [5, 9, 9, 1].map((at, seq) =>
          received('trip', trip(`a${seq}`, { createdAt: NOON + at + index }), { seq, vin }),
        );
        await hub.store.save(made, []);
      }
      await hub.registry.add(OTHER, [{ kind: 'user', id: 'ada' }], NOON);
      const newest = async (asked: object): Promise<unknown[]> => {
        const keys = hub.reader.fleetRecordKeys('trip', { newest: true, ...asked });
        expect((await keys.survey({ range: {}, size: 1 })).total).toBe((await keys.read({}, 9)).length);
        return (await keys.read({}, 9)).map(({ vin, record }) => [vin, (record as Trip).id]);
      };
      expect(await newest({})).toEqual([
        [ONE, 'a2'],
        [OTHER, 'a2'],
      ]);
      expect(await newest({ owners: [{ kind: 'user', id: 'ada' }] })).toEqual([[OTHER, 'a2']]);
    });

    test('returns the last record of a car, and a record of any car by id', async () => {
      await hub.store.save(
        [
          received('trip', trip('b', { createdAt: NOON + 1 })),
          received('trip', trip('a', { createdAt: NOON + 1 }), { seq: 1 }),
          received('trip', trip('c', { createdAt: NOON + 9 }), { vin: OTHER }),
        ],
        [],
      );
      expect((await hub.reader.lastRecord(ONE, 'trip'))?.id).toBe('b');
      expect(await hub.reader.lastRecord(ONE, 'alert')).toBeUndefined();
      expect(await hub.reader.fleetRecord('trip', 'c')).toMatchObject({ vin: OTHER, id: 'c', at: NOON + 9 });
      expect(await hub.reader.fleetRecord('trip', 'd')).toBeUndefined();
    });

    test('pieces of a series are found by their start time', async () => {
      const points = [{ at: NOON - 5_000, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }];
      await hub.store.save([received('waypoint', { points }, { seq: 3 })], []);
      const [piece] = await list(ONE, 'waypoint', NOON - 5_000, NOON);
      expect(piece).toMatchObject({ at: NOON - 5_000, record: { points } });
      expect(await hub.reader.record(ONE, 'waypoint', piece?.id ?? '')).toEqual(piece);
    });

    test('once the car knows the time, its earlier messages are corrected, whichever arrive first', async () => {
      const [none, behind] = ['none' as const, 3_600_000];
      const piece = (at: number) => ({ points: [{ at, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }] });
      await hub.store.save([received('waypoint', piece(NOON), { seq: 0, boot: 3, clock: none })], []);
      await hub.store.save([received('waypoint', piece(NOON), { seq: 1, boot: 2, clock: none })], []);
      const hello = { version: '1', protocol: 1, boot: 3, profile: 'bench', startedAt: NOON, behind };
      await hub.store.save([received('hello', hello, { seq: 1, boot: 3 })], []);
      await hub.store.save([received('waypoint', piece(NOON + 1), { seq: 2, boot: 3, clock: none })], []);
      await hub.store.save([received('waypoint', piece(NOON + 2), { seq: 3, boot: 3 })], []);
      // The correction arrives again with another number, as after a lost acknowledgement of the disk. It applies once.
      await hub.store.save([received('hello', hello, { seq: 2, boot: 3 })], []);
      expect((await list(ONE, 'waypoint')).map(({ at, record }) => [at, record])).toEqual([
        [NOON, piece(NOON)],
        [NOON + 2, piece(NOON + 2)],
        [NOON + behind, piece(NOON + behind)],
        [NOON + behind + 1, piece(NOON + behind + 1)],
      ]);
    });

    test('Status reflects all messages so far, also over a restart', async () => {
      const kinetic = { createdAt: NOON, speed: 12 };
      await hub.store.save(
        [received('status', { full: true, status: { kinetic } } as never, { seq: 0 }), received('trip', trip('a'))],
        [],
      );
      expect(await status(ONE)).toEqual({ kinetic });
      await hub.reopen();
      const faster = { createdAt: NOON + 1, speed: 13 };
      await hub.store.save([received('status', { full: false, status: { kinetic: faster } } as never, { seq: 1 })], []);
      expect(await status(ONE)).toEqual({ kinetic: faster });
      expect(await status(OTHER)).toBeUndefined();
    });

    test('stores when each car was first and last heard', async () => {
      await hub.store.save([received('trip', trip('a'), { received: NOON + 5 })], []);
      await hub.store.save([received('trip', trip('b'), { seq: 1, received: NOON + 9 })], []);
      await hub.store.save([received('trip', trip('a'), { vin: OTHER, received: NOON + 7 })], []);
      expect(await hub.reader.vehicles()).toEqual([
        { vin: ONE, firstSeen: NOON + 5, lastSeen: NOON + 9 },
        { vin: OTHER, firstSeen: NOON + 7, lastSeen: NOON + 7 },
      ]);
    });

    test('repeated and retained messages do not count as heard', async () => {
      const heard = async (vin: string) => (await hub.reader.vehicle(vin))?.lastSeen;
      const status = (vin: string, seq: number, when: number) =>
        received('status', { full: true, status: { kinetic: { createdAt: NOON, speed: seq } } } as never, {
          vin,
          seq,
          received: when,
        });
      // A hub that starts with an empty database learns of parked cars from retained messages.
      await hub.store.save([{ ...status(OTHER, 0, NOON + 900), retained: true }], []);
      expect(await hub.reader.vehicle(OTHER)).toEqual({ vin: OTHER, firstSeen: NOON + 900, lastSeen: NOON });
      expect(await hub.reader.status(OTHER)).toBeDefined();
      await hub.store.save([status(ONE, 0, NOON + 5)], []);
      await hub.store.save([status(ONE, 0, NOON + 60)], []);
      expect(await heard(ONE)).toBe(NOON + 5);
      await hub.store.save([{ ...status(ONE, 1, NOON + 70), retained: true }], []);
      expect(await heard(ONE)).toBe(NOON + 5);
      // Several messages in one commit, in any order.
      const two = status(ONE, 2, NOON + 80);
      await hub.store.save([status(ONE, 0, NOON + 79), two, { ...status(ONE, 3, NOON + 81), retained: true }, two], []);
      expect(await heard(ONE)).toBe(NOON + 80);
      expect(await heard(OTHER)).toBe(NOON);
    });

    test('a failed commit stores none of its messages', async () => {
      const broken = { ...received('trip', trip('b'), { seq: 1 }), received: 'never' as unknown as number };
      const whole = { full: true, status: { kinetic: { createdAt: NOON, speed: 12 } } } as never;
      await expect(
        hub.store.save([received('trip', trip('a')), received('status', whole), broken], []),
      ).rejects.toMatchObject({ code: 'store.failed' });
      expect(await hub.payloads(ONE)).toEqual([]);
      expect(await status(ONE)).toBeUndefined();
      await hub.store.save([received('trip', trip('a'))], []);
      expect(await hub.payloads(ONE)).toHaveLength(1);
    });

    test('distinguishes a rejected message from a database that is unavailable', async () => {
      const broken = { ...received('trip', trip('b'), { seq: 1 }), received: 'never' as unknown as number };
      const errorOf = (messages: readonly CarMessage[]): Promise<unknown> =>
        hub.store.save(messages, []).then(
          () => undefined,
          (error: unknown) => error,
        );
      expect(hub.store.refuses(await errorOf([broken]))).toBe(true);
      // No server, and a full disk (SQLSTATE 53100 of PostgreSQL, code 13 of SQLite).
      for (const fault of [{ code: 'ECONNREFUSED' }, { code: '53100' }, { errcode: 13 }]) {
        const cause = Object.assign(new Error('gone'), fault);
        expect(hub.store.refuses(new VigieError('store.failed', 'gone', { cause }))).toBe(false);
      }
    });

    test('a commit returns the messages that were new', async () => {
      const [one, two] = [received('trip', trip('a')), received('trip', trip('b'), { seq: 1 })];
      expect((await hub.store.save([one, one], [])).fresh.map(({ message }) => message.seq)).toEqual([0]);
      expect((await hub.store.save([one, two], [])).fresh.map(({ message }) => message.seq)).toEqual([1]);
    });

    test('a car whose time is off by years breaks no list', async () => {
      const hello = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: NOON };
      const behind = Number.MAX_SAFE_INTEGER;
      await hub.store.save([received('trip', trip('a'), { clock: 'none' })], []);
      await hub.store.save([received('trip', trip('b'), { vin: OTHER })], []);
      await hub.store.save([received('hello', { ...hello, behind }, { clock: 'ntp' })], []);
      expect((await hub.reader.fleetRecordKeys('trip').read({}, 9)).map(({ vin }) => vin).sort()).toEqual([ONE, OTHER]);
    });

    const order = (id: string, more: Partial<NewCommand> = {}): NewCommand => ({
      id,
      vin: ONE,
      type: 'Doors' as const,
      body: { state: 'Locked' },
      caller: 'local',
      requested: NOON,
      expires: NOON + 120_000,
      key: 'aa',
      ...more,
    });
    const seal = (counter: number): Uint8Array => Uint8Array.of(counter % 256);
    const report = (remoteActionId: string, status: RemoteReport['status'], options: MessageOptions): CarMessage =>
      received('remote', { remoteActionId, type: 'Doors', status }, options);

    test('a command is in the audit trail with its signed content, also over a restart', async () => {
      await hub.store.save([received('trip', trip('a'))], []);
      const { kept, isNew } = await hub.commands.add(order('a1'), seal);
      expect({ kept, isNew }).toEqual({
        kept: { ...order('a1'), counter: NOON, signed: Uint8Array.of(NOON % 256), states: [] },
        isNew: true,
      });
      await hub.reopen();
      expect(await hub.commands.command(ONE, 'a1')).toEqual(kept);
      expect(await hub.commands.command(OTHER, 'a1')).toBeUndefined();
    });

    test('the answered key is that of the newest command that the car answered', async () => {
      await hub.store.save([received('trip', trip('a')), received('trip', trip('a'), { vin: OTHER })], []);
      for (const [index, key] of ['aa', 'bb', 'cc'].entries()) {
        await hub.commands.add(order(`a${index}`, { key, requested: NOON + index }), seal);
      }
      await hub.commands.add(order('o1', { vin: OTHER }), seal);
      expect(await hub.commands.answeredKey(ONE)).toBeUndefined();
      const answer = (id: string, seq: number) =>
        received('remote', { remoteActionId: id, type: 'Doors', status: 'Failed' } as never, { seq });
      await hub.store.save([answer('a1', 1), answer('a0', 2)], []);
      expect(await hub.commands.answeredKey(ONE)).toBe('bb');
      expect(await hub.commands.answeredKey(OTHER)).toBeUndefined();
    });

    test('the trusted keys are those of the newest hello with keys, also over a restart', async () => {
      const hello = (seq: number, keys?: readonly HelloKey[]) =>
        received(
          'hello',
          { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: NOON, ...(keys && { keys: [...keys] }) },
          { seq },
        );
      const [doors, none] = [[{ id: '0011223344556677', kinds: ['Doors' as const] }], []];
      await hub.store.save([hello(1)], []);
      expect(await hub.commands.trustedKeys(ONE)).toBeUndefined();
      await hub.store.save([hello(3, doors), hello(4)], []);
      await hub.store.save([hello(2, none)], []);
      await hub.reopen();
      expect(await hub.commands.trustedKeys(ONE)).toEqual(doors);
      await hub.store.save([hello(5, none)], []);
      expect(await hub.commands.trustedKeys(ONE)).toEqual([]);
      expect(await hub.commands.trustedKeys(OTHER)).toBeUndefined();
    });

    test('counters grow per key and car, and are never below the time', async () => {
      await hub.store.save([received('trip', trip('a')), received('trip', trip('a'), { vin: OTHER })], []);
      const counters: number[] = [];
      for (const [index, more] of [{}, {}, { requested: NOON - 9_000 }, { requested: NOON + 50 }].entries()) {
        counters.push((await hub.commands.add(order(`a${index}`, more), seal)).kept.counter);
      }
      await hub.reopen();
      counters.push((await hub.commands.add(order('b1'), seal)).kept.counter);
      expect(counters).toEqual([NOON, NOON + 1, NOON + 2, NOON + 50, NOON + 51]);
      expect((await hub.commands.add(order('c1', { vin: OTHER }), seal)).kept.counter).toBe(NOON);
      expect((await hub.commands.add(order('d1', { key: 'bb' }), seal)).kept.counter).toBe(NOON);
    });

    test('a repeated command id is neither signed again nor uses a counter', async () => {
      await hub.store.save([received('trip', trip('a')), received('trip', trip('a'), { vin: OTHER })], []);
      const first = await hub.commands.add(order('a1'), seal);
      const again = await hub.commands.add(order('a1', { requested: NOON + 5 }), () => {
        throw new Error('signed again');
      });
      expect(again).toEqual({ kept: first.kept, isNew: false });
      expect((await hub.commands.add(order('a2'), seal)).kept.counter).toBe(NOON + 1);
      await expect(hub.commands.add(order('a1', { vin: OTHER }), seal)).rejects.toMatchObject({
        code: 'input.malformed',
      });
    });

    test('a command that cannot be signed, or that goes to an unknown car, stores nothing', async () => {
      await expect(hub.commands.add(order('a1'), seal)).rejects.toMatchObject({ code: 'request.unknown' });
      await hub.store.save([received('trip', trip('a'))], []);
      const unsigned = (): Uint8Array => {
        throw new VigieError('command.malformed', 'no such body');
      };
      await expect(hub.commands.add(order('a1'), unsigned)).rejects.toMatchObject({ code: 'command.malformed' });
      expect(await hub.commands.commands(ONE)).toEqual([]);
      expect((await hub.commands.add(order('a1'), seal)).kept.counter).toBe(NOON);
    });

    test('states of a command follow the car’s order, whatever the order of arrival', async () => {
      await hub.store.save([received('trip', trip('a'))], []);
      await hub.commands.add(order('a1'), seal);
      await hub.store.save([report('a1', 'Success', { seq: 2, at: NOON + 2 })], []);
      await hub.store.save([report('a1', 'SentToVehicle', { seq: 1, at: NOON + 1 })], []);
      await hub.store.save([report('a1', 'Accepted', { seq: 0 }), report('a1', 'Accepted', { seq: 0 })], []);
      // Ignored: reports from another car, and reports of a command that the hub did not send.
      await hub.store.save([report('a1', 'Failed', { seq: 9, vin: OTHER }), report('f0', 'Success', { seq: 3 })], []);
      expect((await hub.commands.command(ONE, 'a1'))?.states).toEqual([
        { status: 'Accepted', at: NOON },
        { status: 'SentToVehicle', at: NOON + 1 },
        { status: 'Success', at: NOON + 2 },
      ]);
    });

    test('pending commands are those that are neither final nor expired, earliest expiry first', async () => {
      await hub.store.save([received('trip', trip('a')), received('trip', trip('a'), { vin: OTHER })], []);
      for (const id of ['d1', 'c1', 'b1', 'a1']) await hub.commands.add(order(id), seal);
      await hub.commands.add(order('e1', { vin: OTHER }), seal);
      await hub.commands.add(order('f1', { expires: NOON + 10 }), seal);
      await hub.store.save([report('c1', 'AlreadyDone', { seq: 0 }), report('b1', 'Accepted', { seq: 1 })], []);
      const pending = async (now: number) => (await hub.commands.pending(ONE, now)).map(({ id }) => id);
      expect(await pending(NOON + 5)).toEqual(['f1', 'd1', 'b1', 'a1']);
      expect(await pending(NOON + 10)).toEqual(['d1', 'b1', 'a1']);
      expect(await pending(NOON + 120_000)).toEqual([]);
    });

    test('the audit trail is read newest first, a hundred entries at a time, without gaps', async () => {
      await hub.store.save([received('trip', trip('a'))], []);
      const ids = Array.from({ length: 230 }, (_, index) => index.toString(16).padStart(4, '0'));
      // Several entries share one millisecond.
      for (const [index, id] of ids.entries())
        await hub.commands.add(order(id, { requested: NOON + Math.floor(index / 7) }), seal);
      const read: string[] = [];
      for (let before: string | undefined; ; ) {
        const page = (await hub.commands.commands(ONE, before)).map(({ id }) => id);
        if (page.length === 0) break;
        expect(page.length).toBeLessThanOrEqual(100);
        read.push(...page);
        before = page.at(-1);
      }
      expect(read).toEqual(ids.toReversed());
      await expect(hub.commands.commands(ONE, 'ffff')).rejects.toMatchObject({ code: 'input.malformed' });
    });
  });
}

/** Executes every query of a store, for a test of their plans. */
export async function useEveryQuery({
  store,
  reader,
  commands,
}: Pick<HubStoreUnderTest, 'store' | 'reader' | 'commands'>): Promise<void> {
  const many = Array.from({ length: 450 }, (_, seq) =>
    received('trip', trip(`a${seq}`, { createdAt: NOON + seq }), { seq }),
  );
  const kinetic = { createdAt: NOON, speed: 12 };
  const points = [{ at: NOON, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }];
  const hello = { version: '1', protocol: 1, boot: 3, profile: 'bench', startedAt: NOON, behind: 5 };
  await store.save(many, []);
  await commands.add(
    {
      id: 'a1',
      vin: ONE,
      type: 'Doors' as const,
      body: { state: 'Locked' },
      caller: 'local',
      requested: NOON,
      expires: NOON + 120_000,
      key: 'aa',
    },
    () => Uint8Array.of(1),
  );
  await store.save(
    [
      received('status', { full: true, status: { kinetic } } as never, { seq: 0 }),
      received('gap', { class: 2, count: 2, numbers: [[2, 3]] }, { seq: 0 }),
      received('waypoint', { points }, { seq: 0, boot: 3, clock: 'none' }),
      received('hello', hello, { seq: 1, boot: 3 }),
      received('remote', { remoteActionId: 'a1', type: 'Doors', status: 'Success' }, { seq: 0 }),
    ],
    [{ topic: 't', reason: 'not a message', payload: Uint8Array.of(1), received: NOON }],
  );
  await reader.missingNumbers();
  await reader.vehicles();
  await reader.vehicle(ONE);
  await reader.status(ONE);
  await reader.numbers(ONE);
  await store.save([received('trip', trip('a999', { createdAt: NOON + 999 }), { seq: 999 })], []);
  const [due] = await reader.dueNumbers(Number.MAX_SAFE_INTEGER, 10);
  if (due !== undefined) await reader.putOff(due, { due: 1, attempts: 1, requested: 1 });
  await reader.record(ONE, 'trip', 'a1');
  await reader.lastRecord(ONE, 'trip');
  await reader.record(ONE, 'waypoint', '3-0');
  const place = { at: NOON, id: 'a0' };
  const fleets = [reader.fleetRecordKeys('trip'), reader.fleetRecordKeys('trip', { newest: true })];
  for (const keys of [reader.recordKeys(ONE, 'trip'), ...fleets, reader.vehicleKeys('VF3')]) {
    for (const range of [{}, { from: place, to: place }, { before: place }]) {
      await keys.survey({ range, size: 1, cursor: place });
      for (const backwards of [false, true]) {
        await keys.nth(range, 1, backwards);
        await keys.read(range, 1, backwards);
      }
    }
  }
  await reader.fleetRecord('trip', 'a1');
  expect(await all(reader.records(ONE, 'trip', NOON))).toHaveLength(451);
  await commands.pending(ONE, NOON);
  await commands.command(ONE, 'a1');
  await commands.commands(ONE);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) taken.push(item);
  return taken;
}
