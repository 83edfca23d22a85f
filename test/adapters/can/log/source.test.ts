import { describe, expect, it } from 'vitest';
import { LogSource, type PlayOptions } from '../../../../adapters/can/log/index.ts';
import { BIT_RATE_SWITCH, type Clock, ERROR_STATE, FD } from '../../../../agent/ports.ts';
import { fileOf } from './frames.ts';

/** A manual clock that lets a test wait until the source sets a timer. */
class ManualClock implements Clock {
  time = 1000;
  private due: (() => void) | undefined;
  private until = 0;
  private waited: (() => void) | undefined;

  now(): number {
    return 1_700_000_000_000 + this.time;
  }

  monotonic(): number {
    return this.time;
  }

  after(delay: number, due: () => void): () => void {
    this.due = due;
    this.until = this.time + delay;
    this.waited?.();
    return () => {
      this.due = undefined;
    };
  }

  /** Waits for a timer, advances the clock to it, and returns the delay. */
  async advance(): Promise<number> {
    if (this.due === undefined) {
      await new Promise<void>((resolve) => {
        this.waited = resolve;
      });
    }
    const delay = this.until - this.time;
    this.time = this.until;
    const { due } = this;
    this.due = undefined;
    due?.();
    return delay;
  }
}

const path = () => fileOf('(10.000) can0 001#01\n(10.000) can0 002#02\n(10.500) can1 003#03\n(12.500) can0 004#04\n');

function player(clock: Clock, options: Omit<PlayOptions, 'clock'>) {
  const file = path();
  const got: [number, number][] = [];
  const parts: number[] = [];
  const source = new LogSource(file, { ...options, clock });
  const receive = (batch: { count: number; at: Float64Array; id: Uint32Array }) => {
    parts.push(batch.count);
    for (let i = 0; i < batch.count; i++) got.push([batch.id[i] as number, batch.at[i] as number]);
  };
  return { source, got, parts, receive };
}

describe('LogSource', () => {
  it.each([1, Number.POSITIVE_INFINITY])(
    'delivers frames that were recorded as sent like all others, at speed %d',
    async (speed) => {
      const clock = new ManualClock();
      const source = new LogSource(
        fileOf('(10.000) can0 001#01 T\n(10.000) can0 002##3AABB T\n(10.000) can0 003#03 R\n'),
        {
          clock,
          speed,
        },
      );
      const flags: number[] = [];
      await source.start((batch) => flags.push(...batch.flags.subarray(0, batch.count)));
      await source.finished;
      expect(flags).toEqual([0, FD | BIT_RATE_SWITCH | ERROR_STATE, 0]);
    },
  );

  it('keeps the pace of the recording, multiplied by the speed', async () => {
    const clock = new ManualClock();
    const { source, got, parts, receive } = player(clock, { speed: 2 });
    await source.start(receive);
    expect(await clock.advance()).toBe(250);
    expect(await clock.advance()).toBe(1000);
    await source.finished;
    expect(parts).toEqual([2, 1, 1]);
    expect(got).toEqual([
      [1, 10_000],
      [2, 10_000],
      [3, 10_500],
      [4, 12_500],
    ]);
    expect(source.buses).toEqual(['can0', 'can1']);
  });

  it('does not wait at unlimited speed', async () => {
    const { source, got, receive } = player(new ManualClock(), { speed: Number.POSITIVE_INFINITY });
    await source.start(receive);
    await source.finished;
    expect(got).toHaveLength(4);
  });

  it('stamps frames with the time of playback on request', async () => {
    const clock = new ManualClock();
    const { source, got, receive } = player(clock, { times: 'clock' });
    await source.start(receive);
    await clock.advance();
    await clock.advance();
    await source.finished;
    expect(got.map(([, at]) => at - 1_700_000_001_000)).toEqual([0, 0, 500, 2500]);
  });

  it('time continues from loop to loop, until it is stopped', async () => {
    const { source, got, receive } = player(new ManualClock(), { speed: Number.POSITIVE_INFINITY, loop: true });
    await new Promise<void>((resolve, reject) => {
      source
        .start((batch) => {
          receive(batch);
          if (got.length === 12) resolve();
        })
        .catch(reject);
    });
    await source.stop();
    await source.finished;
    expect(got.slice(0, 12).map(([, at]) => at - 10_000)).toEqual([
      0, 0, 500, 2500, 2501, 2501, 3001, 5001, 5002, 5002, 5502, 7502,
    ]);
  });

  it('can be stopped while it waits', async () => {
    const clock = new ManualClock();
    const { source, got, receive } = player(clock, {});
    await source.start(receive);
    expect(await clock.advance()).toBe(500);
    await source.stop();
    expect(got.length).toBeLessThan(4);
  });

  it('has the bus named by the caller before it opens the log', () => {
    const clock = new ManualClock();
    expect(new LogSource(path(), { clock, bus: 'body' }).buses).toEqual(['body']);
    expect(new LogSource(path(), { clock }).buses).toEqual([]);
  });

  it('reports a missing file', async () => {
    const source = new LogSource('/nowhere/at.log', { clock: new ManualClock() });
    await expect(source.start(() => undefined)).rejects.toMatchObject({ code: 'input.unreadable' });
    await source.stop();
  });
});
