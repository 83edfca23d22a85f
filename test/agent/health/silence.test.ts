/** Which silent sources count as stuck. */
import { expect, test } from 'vitest';
import { SourceWatch } from '../../../agent/health/sources.ts';
import type { FrameBatch, FrameSource, SourceHealth } from '../../../agent/ports.ts';
import { VirtualClock } from '../../rig/clock.ts';

/** A bus under the test's control that reports that it runs. */
class Bus implements FrameSource {
  readonly buses = ['body'];
  #receive: (batch: FrameBatch) => void = () => undefined;

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.#receive = receive;
  }

  async stop(): Promise<void> {}

  frame(): void {
    const columns = { at: new Float64Array(1), id: new Uint32Array(1), bus: new Uint8Array(1) };
    const payload = { length: new Uint8Array(1), offset: new Uint32Array(1), data: new Uint8Array(8) };
    this.#receive({ count: 1, ...columns, flags: new Uint8Array(1), ...payload });
  }

  health(): SourceHealth {
    return { state: 'running', counts: {} };
  }
}

test('silence counts only from when the car is used: a quiet night does not count', async () => {
  const clock = new VirtualClock();
  const watch = new SourceWatch(clock);
  const bus = new Bus();
  await watch.frames('body', bus).start(() => undefined);
  bus.frame();
  for (let i = 0; i < 48; i++) {
    clock.advance(600_000);
    expect(watch.stuck(false)).toBeUndefined();
  }
  // The car is used again, and this bus wakes later than the one that shows the use.
  for (let second = 0; second < 300; second++) {
    expect(watch.stuck(true)).toBeUndefined();
    clock.advance(1_000);
  }
  clock.advance(1_000);
  expect(watch.stuck(true)).toContain('source body says that it runs and gave nothing for 29101 s');
  bus.frame();
  expect(watch.stuck(true)).toBeUndefined();
});
