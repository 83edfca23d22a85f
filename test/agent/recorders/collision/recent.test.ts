import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentReadings } from '../../../../agent/recorders/collision/recent.ts';
import { type Slot, slotByPath } from '../../../../protocol/slots.ts';

const speed = slotByPath.get('kinetic.speed') as Slot;
const SPAN = 100;

test('readings older than the span are removed, whatever their order of arrival', () => {
  const step = fc.record({ by: fc.integer({ min: -60, max: 120 }), prune: fc.boolean(), restored: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let recent = new RecentReadings(SPAN);
      let kept: { at: number; value: number }[] = [];
      let at = 1_000;
      for (const [value, { by, prune, restored }] of steps.entries()) {
        at += by;
        recent.take(speed, value, at);
        kept.push({ at, value });
        if (restored) {
          const other = new RecentReadings(SPAN);
          other.restore(recent.state());
          recent = other;
        }
        if (prune) {
          recent.prune(at);
          const now = at;
          kept = kept.filter((one) => one.at >= now - SPAN && one.at <= now);
        }
      }
      expect(recent.state().map(([, moment, value]) => ({ at: moment, value }))).toEqual(kept);
    }),
  );
});
