import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Due, TimerQueue } from '../../../agent/monitors/timer-queue.ts';

test('a timer queue returns due entries, earliest first, after any moves and removals', () => {
  const command = fc.tuple(fc.constantFrom('set', 'set', 'remove', 'take', 'move'), fc.nat(9), fc.nat(50));
  fc.assert(
    fc.property(fc.array(command, { maxLength: 100 }), (commands) => {
      const timers = new TimerQueue<Due>();
      const items = Array.from({ length: 10 }, (): Due => ({ due: 0, place: -1 }));
      const naive = new Map<Due, number>();
      for (const [what, index, at] of commands) {
        const item = items[index] as Due;
        if (what === 'set') {
          timers.set(item, at);
          naive.set(item, at);
        } else if (what === 'remove') {
          timers.remove(item);
          naive.delete(item);
        } else if (what === 'move') {
          timers.move(({ due }) => 50 - due);
          for (const [one, due] of naive) naive.set(one, 50 - due);
        } else {
          const first = Math.min(Number.POSITIVE_INFINITY, ...naive.values());
          const taken = timers.take(at);
          if (first > at) expect(taken).toBeUndefined();
          else expect(naive.get(taken as Due)).toBe(first);
          if (taken !== undefined) naive.delete(taken);
        }
        expect(timers.next).toBe(Math.min(Number.POSITIVE_INFINITY, ...naive.values()));
        for (const one of items) expect(one.place >= 0).toBe(naive.has(one));
      }
    }),
  );
});
