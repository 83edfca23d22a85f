import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Queued, SendQueue, type Taken } from '../../../agent/outbox/queue.ts';

const entry = (priority: number, seq: number): Queued => ({ class: priority, seq });

describe('send queue', () => {
  test('the queue returns messages by class and then number, including those put back', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.boolean()), { maxLength: 300 }), (steps) => {
        const queue = new SendQueue();
        const next = [0, 0, 0, 0, 0, 0];
        let model: Queued[] = [];
        let taken: Taken[] = [];
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
            expect(got).toEqual(expected && { ...expected, held: false });
            if (got !== undefined) taken.push(got);
            if (priority === 0) {
              for (const one of taken) queue.restore(one);
              model = [...model, ...taken.map(({ class: its, seq }) => entry(its, seq))];
              taken = [];
            }
          }
          expect(queue.size).toBe(model.length);
        }
      }),
    );
  });

  test('messages put back are sorted among newer ones, in any order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(40), fc.infiniteStream(fc.nat()), (count, more, random) => {
        const queue = new SendQueue();
        for (let seq = 0; seq < count; seq++) queue.push(entry(1, seq));
        const taken = Array.from({ length: (random.next().value % count) + 1 }, () => queue.take() as Taken);
        for (let seq = count; seq < count + more; seq++) queue.push(entry(1, seq));
        while (taken.length > 0) queue.restore(taken.splice(random.next().value % taken.length, 1)[0] as Taken);
        const all = Array.from({ length: count + more }, () => queue.take()?.seq);
        expect(all).toEqual(Array.from({ length: count + more }, (_, seq) => seq));
        expect(queue.size).toBe(0);
      }),
    );
  });

  test('a priority message comes before every class', () => {
    const queue = new SendQueue();
    queue.push(entry(0, 0));
    queue.pushFirst(entry(3, 7));
    expect([queue.take(), queue.take(), queue.take()].map((e) => e?.seq)).toEqual([7, 0, undefined]);
  });

  test('eviction removes the oldest message of the lowest class', () => {
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

  test('a long backlog is returned in order', () => {
    const queue = new SendQueue();
    for (let seq = 0; seq < 10_000; seq++) queue.push(entry(5, seq));
    for (let seq = 0; seq < 10_000; seq++) expect(queue.take()?.seq).toBe(seq);
  });
});
