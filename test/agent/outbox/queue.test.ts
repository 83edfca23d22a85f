import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SendQueue } from '../../../agent/outbox/queue.ts';
import type { OutboxEntry } from '../../../agent/ports.ts';

const entry = (priority: number, seq: number): OutboxEntry => ({
  class: priority,
  seq,
  kind: 'status',
  at: 0,
  retain: false,
  payload: new Uint8Array(1),
});

describe('send queue', () => {
  test('gives what is in front, then class by class in order of number, also for what was put back', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.boolean()), { maxLength: 300 }), (steps) => {
        const queue = new SendQueue();
        const next = [0, 0, 0, 0, 0, 0];
        let model: OutboxEntry[] = [];
        let taken: OutboxEntry[] = [];
        for (const [priority, put] of steps) {
          if (put) {
            const seq = next[priority] as number;
            next[priority] = seq + 1;
            const added = entry(priority, seq);
            queue.push(added);
            model.push(added);
          } else {
            model.sort((a, b) => a.class - b.class || a.seq - b.seq);
            const expected = model.shift();
            const got = queue.take();
            expect(got).toBe(expected);
            if (got !== undefined) taken.push(got);
            if (priority === 0) {
              queue.restore(taken);
              model = [...model, ...taken];
              taken = [];
            }
          }
          expect(queue.size).toBe(model.length);
        }
      }),
    );
  });

  test('what is put first goes before every class', () => {
    const queue = new SendQueue();
    queue.push(entry(0, 0));
    queue.pushFirst(entry(3, 7));
    expect([queue.take(), queue.take(), queue.take()].map((e) => e?.seq)).toEqual([7, 0, undefined]);
  });

  test('evicts of the last class the oldest', () => {
    const queue = new SendQueue();
    for (const [priority, seq] of [
      [0, 0],
      [5, 3],
      [5, 4],
      [4, 9],
    ] as const)
      queue.push(entry(priority, seq));
    expect(Array.from({ length: 5 }, () => queue.evict()).map((e) => e && [e.class, e.seq])).toEqual([
      [5, 3],
      [5, 4],
      [4, 9],
      [0, 0],
      undefined,
    ]);
    expect(queue.size).toBe(0);
  });

  test('a long backlog is taken in order', () => {
    const queue = new SendQueue();
    for (let seq = 0; seq < 10_000; seq++) queue.push(entry(5, seq));
    for (let seq = 0; seq < 10_000; seq++) expect(queue.take()?.seq).toBe(seq);
  });
});
