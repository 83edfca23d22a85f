/** Totals of lists over all cars, which a hub keeps as counts by day, on any database. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HubRange } from '../../hub/core/ports.ts';
import type { Owner } from '../../hub/core/registry.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { DAY } from '../../protocol/calendar.ts';
import { defined } from '../../protocol/defined.ts';
import { factsOf, matches, type RecordFilter } from '../../protocol/interface/record-filter.ts';
import { NOON, received, trip } from '../hub/messages.ts';
import { runs } from '../rig/runs.ts';

const vins = [1, 2, 3].map((car) => `VF3VGETTTAL00000${car}`);
const fleets = ['north', 'south'];
const MIDNIGHT = Math.floor(NOON / DAY) * DAY;
/** Times on both sides of midnights, and at them. */
const time = fc
  .tuple(fc.integer({ min: -4, max: 4 }), fc.constantFrom(-1, 0, 1, 3_600_000))
  .map(([days, ms]) => MIDNIGHT + days * DAY + ms);
const car = fc.constantFrom(...vins);
const fleet = fc.constantFrom(...fleets);
const record = fc.record({
  vin: car,
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  at: time,
  length: fc.constantFrom(0, 1, DAY, 3 * DAY),
  done: fc.boolean(),
  isTimed: fc.boolean(),
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ save: fc.array(record, { minLength: 1, maxLength: 6 }) }) },
  fc.record({ correct: car, by: fc.constantFrom(-DAY, 1, DAY) }),
  fc.record({ retain: time }),
  fc.record({ join: car, fleet }),
  fc.record({ leave: car, fleet }),
  fc.record({ forget: car }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function play(hub: HubDatabase, steps: readonly Step[]): Promise<void> {
  let seq = 0;
  for (const one of steps) {
    if ('save' in one) {
      const messages = one.save.map(({ vin, id, at, length, done, isTimed }) => {
        const body = trip(id, { createdAt: at, startedAt: at - length, done, stoppedAt: at });
        const options = { vin, seq: seq++, at, received: at, boot: isTimed ? 1 : 2 };
        return received('trip', body, { ...options, clock: isTimed ? 'gnss' : 'none' });
      });
      await hub.store.save(messages, []);
    } else if ('correct' in one) {
      const body = { version: '1', protocol: 1, boot: 2, profile: 'bench', startedAt: NOON, behind: one.by };
      await hub.store.save([received('hello', body, { vin: one.correct, seq: seq++, boot: 2 })], []);
    } else if ('retain' in one) await hub.retention.removeBefore('trip', one.retain);
    else if ('join' in one) await hub.registry.add(one.join, [{ kind: 'fleet', id: one.fleet }], NOON);
    else if ('leave' in one) {
      await hub.registry.add(one.leave, [], NOON);
      await hub.registry.leave(one.leave, [{ kind: 'fleet', id: one.fleet }], NOON);
    } else await hub.registry.forget(one.forget, NOON);
  }
}

const filter: fc.Arbitrary<RecordFilter> = fc
  .record({
    period: fc.option(fc.tuple(time, time), { nil: undefined }),
    states: fc.option(fc.constant(['Nominal']), { nil: undefined }),
  })
  .map(({ period, states }) => {
    const periods = period && [{ from: Math.min(...period), to: Math.max(...period) }];
    return defined({ periods, states });
  });

export function hubTotalsContract(name: string, few: number, create: () => Promise<HubDatabase>): void {
  test(`totals on ${name} equal the number of records after any commits, corrections, retention and changes of fleets`, async () => {
    const questions = fc.array(fc.tuple(filter, fc.nat(), fc.nat()), { minLength: 3, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), questions, async (steps, asked) => {
        const hub = await create();
        try {
          await play(hub, steps);
          for (const id of [undefined, ...fleets]) {
            const owners: readonly Owner[] | undefined = id === undefined ? undefined : [{ kind: 'fleet', id }];
            const all = await hub.reader.fleetRecordKeys('trip', { owners }).read({}, 999);
            for (const [wanted, begin, end] of asked) {
              const keys = hub.reader.fleetRecordKeys('trip', { owners, filter: wanted });
              const naive = all.filter(({ record: one }) => matches(factsOf('trip', one), wanted));
              const places = naive.map(({ at, id: place }) => ({ at, id: place }));
              const [from, to] = [begin % (places.length + 1), end % (places.length + 1)];
              const range: HubRange = defined({ from: places[from], to: places[to] });
              const last = places[to] === undefined ? places.length - 1 : to;
              const part = places.slice(places[from] === undefined ? 0 : from, last + 1);
              const survey = await keys.survey({ range, size: 3, ...defined({ cursor: part[1] }) });
              expect(survey).toEqual({
                total: part.length,
                first: part[0],
                last: part.toReversed().slice(0, 3),
                before: part.length > 1 ? 1 : 0,
                next: part[1],
              });
            }
          }
        } finally {
          await hub.close();
        }
      }),
      { numRuns: runs(few, 200) },
    );
  });
}
