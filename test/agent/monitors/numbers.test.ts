/** Many monitors on one number: each fires at its own threshold, even if the number crosses many at once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MonitorRig } from './rig.ts';
import { fast, rule, SECOND, T, told } from './rules.ts';

interface Watcher {
  readonly op: 'greaterThan' | 'lowerThan' | 'equalsTo';
  readonly bound: number;
  readonly hysteresis: number;
}

/** docs/monitors.md, "Equality, `previous` and `holdFor`". */
function isMet({ op, bound, hysteresis }: Watcher, value: number, before: boolean): boolean {
  if (op === 'greaterThan') return before ? !(value <= bound - hysteresis) : value > bound;
  if (op === 'lowerThan') return before ? !(value >= bound + hysteresis) : value < bound;
  return before ? !(Math.abs(value - bound) > hysteresis) : value === bound;
}

const watchers = fc.array(
  fc.record({
    op: fc.constantFrom('greaterThan' as const, 'lowerThan' as const, 'equalsTo' as const),
    bound: fc.integer({ min: 0, max: 12 }),
    hysteresis: fc.constantFrom(0, 1, 2, 5),
  }),
  { minLength: 1, maxLength: 12 },
);

describe('several monitors of one number', () => {
  test('each monitor of one number fires at its own threshold', () => {
    const way = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(watchers, way, (given, values) => {
        const rig = new MonitorRig();
        for (const [i, { op, bound, hysteresis }] of given.entries()) {
          const data = { data: 'vehicle.kinetic.speed', op, value: [String(bound)], hysteresis };
          rig.put(`m${i}`, rule([{ name: 't', data }]), T);
        }
        const met = given.map(() => false);
        const expected: string[] = [];
        for (const [step, value] of values.entries()) {
          for (const [i, watcher] of given.entries()) {
            const now = isMet(watcher, value, met[i] as boolean);
            if (now && !met[i]) expected.push(`${step} m${i}`);
            met[i] = now;
          }
          rig.give('kinetic.speed', value, T + step * SECOND);
        }
        // Simultaneous events come in the order in which the monitors were added.
        expect(rig.events.map(({ at, monitorId }) => `${(at - T) / SECOND} ${monitorId}`)).toEqual(expected);
      }),
    );
  });

  test('monitors of one number fire in the order in which they were added, whichever threshold is lower', () => {
    const rig = new MonitorRig();
    const above = (bound: number) => rule([{ name: 't', data: { ...fast.data, value: [String(bound)] } }]);
    for (const [id, bound] of [
      ['a', 140],
      ['b', 120],
      ['c', 130],
    ] as const)
      rig.put(id, above(bound), T);
    rig.give('kinetic.speed', 100, T);
    rig.give('kinetic.speed', 150, T + SECOND);
    expect(rig.events.map(({ monitorId }) => monitorId)).toEqual(['a', 'b', 'c']);
  });
});

describe('monitors added again with the same triggers', () => {
  const refreshed = rule([fast], 'fast', { subscribeParam: { refreshEvent: 60 } });

  test('a monitor added again without refresh sends no more refreshes', () => {
    const rig = new MonitorRig();
    rig.put('m', refreshed, T);
    rig.give('kinetic.speed', 140, T);
    rig.put('m', rule([fast]), T + SECOND);
    for (let s = 2; s <= 130; s++) rig.tick(T + s * SECOND);
    rig.put('m', refreshed, T + 130 * SECOND);
    for (let s = 131; s <= 200; s++) rig.tick(T + s * SECOND);
    expect(told(rig)).toEqual(['0 fast']);
  });

  test('a monitor added again with refresh keeps its refresh interval', () => {
    const rig = new MonitorRig();
    rig.put('m', refreshed, T);
    rig.give('kinetic.speed', 140, T);
    rig.put('m', { ...refreshed, label: 'another name' }, T + SECOND);
    for (let s = 2; s <= 70; s++) rig.tick(T + s * SECOND);
    expect(told(rig)).toEqual(['0 fast', '60r fast']);
  });
});

test('a removed time monitor stops firing, and a remaining one continues', () => {
  const rig = new MonitorRig();
  const times = [{ start: 'PT9H1M', duration: 'PT1M' }];
  rig.put('gone', rule([{ name: 't', time: { times, timeZone: 'UTC' } }]), T);
  rig.put('kept', rule([{ name: 't', time: { times, timeZone: 'UTC' } }]), T);
  rig.give('ignition.type', 'StartUp', T);
  rig.tick(T);
  rig.memory.commit();
  const ofGone = () => [...rig.memory.kept.keys()].filter((key) => key.startsWith('monitor/gone'));
  expect(ofGone()).toEqual(['monitor/gone', 'monitor/gone/now']);
  rig.remove('gone');
  for (let s = 1; s <= 70; s++) rig.tick(T + s * SECOND);
  rig.memory.commit();
  expect(ofGone()).toEqual([]);
  rig.restart(T + 71 * SECOND);
  for (let s = 72; s <= 130; s++) rig.tick(T + s * SECOND);
  rig.restart(T + 24 * 3600 * SECOND);
  for (let s = 0; s <= 70; s++) rig.tick(T + (24 * 3600 + s) * SECOND);
  expect(rig.events.map(({ at, monitorId }) => `${(at - T) / SECOND} ${monitorId}`)).toEqual([
    '60 kept',
    `${24 * 3600 + 60} kept`,
  ]);
});
