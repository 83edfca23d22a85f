/** A long search through telemetry must not block other requests. */

import { expect, test, vi } from 'vitest';
import { TelemetrySeries } from '../../../../adapters/http/resources/series.ts';
import { MemoryRecords } from '../../../../adapters/store/index.ts';

test('other tasks run while many periods without telemetry are searched', async () => {
  // Each reading of the clock reports that the time slice is used up.
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
  try {
    let others = 0;
    const other = (): void => {
      others++;
      if (others < 10) setImmediate(other);
    };
    setImmediate(other);
    const periods = Array.from({ length: 100 }, (_, index) => ({ from: index * 10, to: index * 10 + 1 }));
    expect(await new TelemetrySeries(new MemoryRecords()).places(new Set(), 'nothing', periods)).toEqual([]);
    expect(others).toBe(10);
  } finally {
    clock.mockRestore();
  }
});
