import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageReader, ReceivedNumbers } from '../../commands/received.ts';
import { encodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import type { EventValue } from '../../protocol/schema/event.ts';
import { type Body, type BodyKind, UNRECORDED_BOOT } from '../../protocol/schema/message.ts';
import { catalogParts } from '../../protocol/signals/catalog.ts';

const waypoint = (seq: number, boot = 1): Uint8Array =>
  encodeMessage({
    version: 1,
    kind: 'waypoint',
    seq,
    boot,
    at: 0,
    clock: 'ntp',
    body: { points: [{ at: 0, latitude: 48, longitude: 2, type: 'Acquire' }] },
  });

const lostClass = classOf('waypoint');
const gap = (seq: number, numbers: readonly (readonly [number, number])[]): Uint8Array =>
  encodeMessage({
    version: 1,
    kind: 'gap',
    seq,
    boot: 1,
    at: 0,
    clock: 'ntp',
    body: {
      class: lostClass,
      lost: 'waypoint',
      count: 1,
      bytes: 1,
      from: 0,
      to: 0,
      numbers: numbers.map(([first, last]) => [first, last] as const),
    },
  });

describe('numbers at a receiver', () => {
  test('each message is accepted once, in any order, and missing ones are counted', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1 }), (arrivals) => {
        const received = new ReceivedNumbers();
        const seen = new Set<number>();
        for (const seq of arrivals) {
          expect(received.admit(waypoint(seq))).toBe(!seen.has(seq));
          seen.add(seq);
        }
        const missing = Math.max(...seen) - Math.min(...seen) + 1 - seen.size;
        expect(received.missing).toBe(missing);
      }),
    );
  });

  test('a new data directory restarts its numbers, and a start without records has its own', () => {
    const began: number[] = [];
    const received = new ReceivedNumbers((boot) => began.push(boot));
    const [retained, first, second] = [2_000, 700_000_000, 3_000_000_000];
    expect(received.admit(waypoint(9, retained), true)).toBe(true);
    for (const seq of [150_000, 150_001]) expect(received.admit(waypoint(seq, first))).toBe(true);
    for (const seq of [0, 1, 3]) expect(received.admit(waypoint(seq, second))).toBe(true);
    expect(received.admit(waypoint(1, second))).toBe(false);
    expect(received.admit(waypoint(2, UNRECORDED_BOOT + 5))).toBe(true);
    expect(received.admit(waypoint(2, UNRECORDED_BOOT + 5))).toBe(false);
    expect([began, received.missing, received.lost]).toEqual([[second], 1, 0]);
  });

  test('a retained message is shown, and earlier messages do not count as missing', () => {
    const received = new ReceivedNumbers();
    expect(received.admit(waypoint(3), true)).toBe(true);
    expect(received.admit(waypoint(9))).toBe(true);
    expect(received.missing).toBe(0);
  });

  test('a number is missing until it arrives or a gap message contains it, in either order', () => {
    const numbers = fc.tuple(fc.nat(40), fc.nat(6)).map(([first, more]) => [first, first + more] as const);
    const step = fc.oneof(fc.record({ arrives: fc.nat(45) }), fc.record({ told: fc.array(numbers, { maxLength: 3 }) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const received = new ReceivedNumbers();
        const [arrived, told] = [new Set<number>(), new Set<number>()];
        for (const [at, next] of steps.entries()) {
          if ('arrives' in next) {
            received.admit(waypoint(next.arrives));
            arrived.add(next.arrives);
          } else {
            received.admit(gap(at, next.told));
            for (const [first, last] of next.told) for (let seq = first; seq <= last; seq++) told.add(seq);
          }
        }
        const never: number[] = [];
        const lost: number[] = [];
        const highest = Math.max(...arrived, ...told);
        for (let seq = Math.min(...arrived); seq <= highest && arrived.size > 0; seq++) {
          if (!arrived.has(seq)) (told.has(seq) ? lost : never).push(seq);
        }
        // Gap messages have their own numbers in another class: steps that are not gap messages leave holes there.
        const gaps = steps.flatMap((next, at) => ('told' in next ? [at] : []));
        const holes = gaps.length === 0 ? 0 : (gaps.at(-1) ?? 0) - (gaps[0] ?? 0) + 1 - gaps.length;
        expect([received.missing, received.lost]).toEqual([never.length + holes, lost.length]);
      }),
    );
  });

  test('a gap of millions is stored as its two ends', () => {
    const received = new ReceivedNumbers();
    received.admit(waypoint(1));
    received.admit(gap(0, [[2, 50_000_000]]));
    received.admit(waypoint(50_000_002));
    expect([received.missing, received.lost]).toEqual([1, 49_999_999]);
  });
});

describe('messages as text', () => {
  const reader = (...units: readonly string[]) => {
    const reader = new MessageReader();
    const line = <K extends BodyKind>(kind: K, body: Body<K>): unknown => {
      const envelope = { version: 1, seq: 1, boot: 1, at: 0, clock: 'ntp' } as const;
      return reader.line(`vigie/1/VF3/up/${kind}`, encodeMessage({ ...envelope, kind, body } as never)).body;
    };
    for (const [i, unit] of units.entries()) {
      const entries = [{ number: i + 1, name: 'Vehicle.Cell', kind: 'quantity', unit } as const];
      for (const part of catalogParts(entries)) line('catalog', part);
    }
    return line;
  };
  const values: EventValue[] = [
    { data: 'signal', signal: 'Vehicle.Cell', literal: '4.1' },
    { data: 'signal', signal: 'Vehicle.Mode', literal: 'Sport' },
    { data: 'vehicle.autonomy', literal: '312' },
  ];
  const event = { id: 'e', monitorId: 'm', at: 0, refresh: false, values };

  test('a custom signal in an event has the unit of its catalog, and other values have none', () => {
    const [cell, ...others] = values;
    expect(reader('V')('event', event)).toEqual({ ...event, values: [{ ...cell, unit: 'V' }, ...others] });
    expect(reader('V', 'V')('event', event)).toHaveProperty('values.0.unit', 'V');
  });

  test('a custom signal in an event has no unit if no catalog has one, or two catalogs differ', () => {
    for (const units of [[], ['V', 'mV']]) expect(reader(...units)('event', event)).toEqual(event);
  });
});
