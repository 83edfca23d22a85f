import { describe, expect, test } from 'vitest';
import { Gaps } from '../../../agent/outbox/gaps.ts';
import type { OutboxReference } from '../../../agent/ports.ts';
import type { Gap } from '../../../protocol/schema/gap.ts';

const reference = (priority: number, seq: number, kind: string, at = seq * 10, bytes = 5): OutboxReference => ({
  class: priority,
  seq,
  kind,
  at,
  bytes,
  retain: false,
});

/** Takes all unreported gaps, and reports them in messages numbered from `seq` on. */
function tellAll(gaps: Gaps, seq: number): Gap[] {
  const told = gaps.take();
  for (const [index, gap] of told.entries()) gaps.report(seq + index, gap);
  return told;
}

describe('abandoned messages', () => {
  test('abandoned messages become one gap per kind, with the numbers of its class', () => {
    const gaps = new Gaps();
    for (const seq of [4, 3, 7]) gaps.note(reference(5, seq, 'telemetry'));
    gaps.note(reference(3, 1, 'status'));
    gaps.note(reference(3, 2, 'monitor'));
    gaps.note(reference(3, 2, 'monitor'));
    expect([gaps.unreported, gaps.underway]).toEqual([3, 0]);
    const numbers: Gap['numbers'] = [[1, 2]];
    expect(tellAll(gaps, 10)).toEqual([
      {
        class: 5,
        lost: 'telemetry',
        count: 3,
        bytes: 15,
        from: 30,
        to: 70,
        numbers: [
          [3, 4],
          [7, 7],
        ],
      },
      { class: 3, lost: 'status', count: 1, bytes: 5, from: 10, to: 10, numbers },
      { class: 3, lost: 'monitor', count: 1, bytes: 5, from: 20, to: 20, numbers },
    ]);
    expect([gaps.unreported, gaps.underway]).toEqual([0, 3]);
  });

  test('abandoned numbers stay known until their gap message has arrived', () => {
    const gaps = new Gaps();
    gaps.note(reference(5, 1, 'telemetry'));
    tellAll(gaps, 10);
    expect(gaps.has({ class: 5, seq: 1 })).toBe(true);
    expect(gaps.has({ class: 4, seq: 1 })).toBe(false);
    expect(gaps.has({ class: 5, seq: 2 })).toBe(false);
    gaps.arrived(5, 10);
    expect(gaps.underway).toBe(1);
    gaps.arrived(3, 10);
    expect([gaps.underway, gaps.has({ class: 5, seq: 1 }), gaps.state()]).toEqual([0, false, undefined]);
  });

  test('abandoned numbers with holes between them are known exactly', () => {
    const gaps = new Gaps();
    for (const seq of [1, 2, 5, 9]) gaps.note(reference(5, seq, 'telemetry'));
    const known = (): number[] => [0, 1, 2, 3, 4, 5, 6, 8, 9, 10].filter((seq) => gaps.has({ class: 5, seq }));
    expect(known()).toEqual([1, 2, 5, 9]);
    tellAll(gaps, 10);
    expect(known()).toEqual([1, 2, 5, 9]);
  });

  test('a gap is reported again, with the number of its gap message, if that message is abandoned', () => {
    const gaps = new Gaps();
    gaps.note(reference(5, 1, 'telemetry'));
    tellAll(gaps, 10);
    gaps.note(reference(5, 2, 'telemetry'));
    gaps.note(reference(3, 10, 'gap'));
    expect(gaps.underway).toBe(0);
    expect(gaps.take()).toEqual([
      { class: 5, lost: 'telemetry', count: 2, bytes: 10, from: 10, to: 20, numbers: [[1, 2]] },
      { class: 3, lost: 'gap', count: 1, bytes: 5, from: 100, to: 100, numbers: [[10, 10]] },
    ]);
  });

  test('gaps are restored after a start, and a gap message that no longer waits has arrived', () => {
    const gaps = new Gaps();
    gaps.note(reference(5, 1, 'telemetry'));
    gaps.note(reference(4, 1, 'waypoint'));
    tellAll(gaps, 10);
    gaps.note(reference(5, 2, 'telemetry'));
    const again = new Gaps();
    again.restore(structuredClone(gaps.state()), () => true);
    expect(again.state()).toEqual(gaps.state());
    const later = new Gaps();
    later.restore(structuredClone(gaps.state()), (priority, seq) => priority === 3 && seq === 11);
    expect(later.underway).toBe(1);
    expect([later.has({ class: 5, seq: 1 }), later.has({ class: 4, seq: 1 })]).toEqual([false, true]);
    expect(later.take()).toMatchObject([{ lost: 'telemetry', numbers: [[2, 2]] }]);
  });

  test('lost numbers of unknown kind form one gap without the numbers already known', () => {
    const gaps = new Gaps();
    gaps.note(reference(4, 3, 'waypoint'));
    gaps.report(20, { class: 4, lost: 'waypoint', count: 2, bytes: 9, from: 1, to: 2, numbers: [[7, 8]] });
    const owed = { class: 4, numbers: [[2, 9]] as const };
    expect(gaps.lose(owed).all).toEqual([
      [2, 2],
      [4, 6],
      [9, 9],
    ]);
    expect(gaps.lose(owed).all).toEqual([]);
    expect([gaps.has({ class: 4, seq: 5 }), gaps.has({ class: 4, seq: 1 }), gaps.unreported]).toEqual([true, false, 2]);
    const again = new Gaps();
    again.restore(structuredClone(gaps.state()), () => true);
    expect(again.take()).toEqual([
      { class: 4, lost: 'waypoint', count: 1, bytes: 5, from: 30, to: 30, numbers: [[3, 3]] },
      {
        class: 4,
        count: 5,
        numbers: [
          [2, 2],
          [4, 6],
          [9, 9],
        ],
      },
    ]);
  });

  test('a gap reported in a lost gap message is reported again', () => {
    const gaps = new Gaps();
    gaps.report(11, { class: 4, lost: 'waypoint', count: 2, bytes: 9, from: 1, to: 2, numbers: [[7, 8]] });
    gaps.lose({ class: 3, numbers: [[11, 11]] });
    expect(gaps.underway).toBe(0);
    expect(gaps.take()).toEqual([
      { class: 4, lost: 'waypoint', count: 2, bytes: 9, from: 1, to: 2, numbers: [[7, 8]] },
      { class: 3, count: 1, numbers: [[11, 11]] },
    ]);
  });

  test('stored gaps of another version are skipped, and readable ones are restored', () => {
    const gaps = new Gaps();
    const good: Gap = { class: 5, lost: 'telemetry', count: 1, bytes: 5, from: 1, to: 1, numbers: [[1, 1]] };
    const strange = [
      { ...good, lost: 'dream' },
      { ...good, count: 0.5 },
      { ...good, from: '1' },
    ];
    const told = [...strange.map((gap, index) => [index, gap]), [9, { ...good, class: 4 }]];
    gaps.restore({ unreported: [...strange, good], reports: told }, () => true);
    expect(gaps.state()).toEqual({ unreported: [good], reports: [[9, { ...good, class: 4 }]] });
  });
});
