/** Which sources count as stuck, and the health report of each. */
import { describe, expect, test } from 'vitest';
import { SourceWatch } from '../../../agent/health/sources.ts';
import type { FrameBatch, FrameSource, ReadingSink, ReadingSource, SourceHealth } from '../../../agent/ports.ts';
import { VirtualClock } from '../../rig/clock.ts';

const batchOf = (count: number): FrameBatch => ({
  count,
  at: new Float64Array(count),
  id: new Uint32Array(count),
  bus: new Uint8Array(count),
  flags: new Uint8Array(count),
  length: new Uint8Array(count),
  offset: new Uint32Array(count),
  data: new Uint8Array(0),
});

/** A source of frames whose health and frames the test sets. */
class SpokenSource implements FrameSource {
  readonly buses: string[] = [];
  said: SourceHealth = { state: 'opening', counts: {} };
  stopped = false;
  receive: (batch: FrameBatch) => void = () => undefined;

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.receive = receive;
  }

  async stop(): Promise<void> {
    this.stopped = true;
  }

  readonly health = (): SourceHealth => this.said;
}

async function watched(): Promise<{ clock: VirtualClock; watch: SourceWatch; source: SpokenSource; heard: number[] }> {
  const clock = new VirtualClock();
  const watch = new SourceWatch(clock);
  const source = new SpokenSource();
  const heard: number[] = [];
  await watch.frames('can0', source).start((batch) => heard.push(batch.count));
  return { clock, watch, source, heard };
}

describe('opening sources', () => {
  test('a source that is opening is stuck after three minutes, not before', async () => {
    const { clock, watch } = await watched();
    expect(watch.stuck(false)).toBeUndefined();
    clock.advance(180_000);
    expect(watch.stuck(false)).toBeUndefined();
    clock.advance(1_000);
    expect(watch.stuck(false)).toBe('source can0 has been opening for 181 s');
  });

  test('a source that opened in between starts its three minutes again', async () => {
    const { clock, watch, source } = await watched();
    watch.stuck(false);
    clock.advance(170_000);
    source.said = { state: 'waiting', reason: 'no such interface', counts: {} };
    expect(watch.stuck(true)).toBeUndefined();
    source.said = { state: 'opening', counts: {} };
    watch.stuck(true);
    clock.advance(170_000);
    expect(watch.stuck(true)).toBeUndefined();
    clock.advance(20_000);
    expect(watch.stuck(true)).toBe('source can0 has been opening for 190 s');
  });
});

describe('running sources', () => {
  test('a source that delivered is stuck after five minutes of silence while the car is in use', async () => {
    const { clock, watch, source } = await watched();
    source.said = { state: 'running', counts: {} };
    clock.advance(1_000_000);
    expect(watch.stuck(true)).toBeUndefined();
    source.receive(batchOf(3));
    clock.advance(300_000);
    expect(watch.stuck(true)).toBeUndefined();
    clock.advance(1_000);
    expect(watch.stuck(true)).toBe('source can0 says that it runs and gave nothing for 301 s');
    expect(watch.stuck(false)).toBeUndefined();
    source.receive(batchOf(1));
    expect(watch.stuck(true)).toBeUndefined();
  });

  test('a source that reports why it waits is not stuck', async () => {
    const { clock, watch, source } = await watched();
    source.receive(batchOf(1));
    source.said = { state: 'waiting', reason: 'the bus is off', counts: { errors: 4 } };
    clock.advance(400_000);
    expect(watch.stuck(true)).toBeUndefined();
    expect(watch.vitals).toEqual([
      { name: 'can0', state: 'waiting', reason: 'the bus is off', frames: 1, silence: 400_000, counts: { errors: 4 } },
    ]);
  });

  test('a silent source without a health report may have ended and is not stuck', async () => {
    const clock = new VirtualClock();
    const watch = new SourceWatch(clock);
    let deliver: (batch: FrameBatch) => void = () => undefined;
    const log: FrameSource = {
      buses: ['a'],
      start: async (receive) => {
        deliver = receive;
      },
      stop: async () => undefined,
    };
    const standIn = watch.frames('log', log);
    await standIn.start(() => undefined);
    expect([standIn.buses, standIn.health]).toEqual([['a'], undefined]);
    deliver(batchOf(2));
    clock.advance(1_000_000);
    expect(watch.stuck(true)).toBeUndefined();
    expect(watch.vitals).toEqual([{ name: 'log', state: 'running', frames: 2, silence: 1_000_000, counts: {} }]);
  });
});

test('the wrapper passes and counts frames, and forwards stop and health to its source', async () => {
  const clock = new VirtualClock();
  const watch = new SourceWatch(clock);
  const source = new SpokenSource();
  const standIn = watch.frames('can0', source);
  const heard: number[] = [];
  await standIn.start((batch) => heard.push(batch.count));
  for (const count of [3, 4]) source.receive(batchOf(count));
  source.buses.push('can0');
  expect([heard, standIn.buses, standIn.health?.()]).toEqual([[3, 4], ['can0'], { state: 'opening', counts: {} }]);
  expect(watch.vitals[0]?.frames).toBe(7);
  await standIn.stop();
  expect(source.stopped).toBe(true);
});

test('the wrapper passes readings, and counts a settled time as one', async () => {
  const clock = new VirtualClock();
  const watch = new SourceWatch(clock);
  let sink: ReadingSink | undefined;
  let stopped = false;
  const receiver: ReadingSource = {
    apart: true,
    start: async (_, its) => {
      sink = its;
    },
    stop: async () => {
      stopped = true;
    },
    health: () => ({ state: 'running', counts: { fixes: 2 } }),
  };
  const standIn = watch.readings('gnss', receiver);
  expect(standIn.apart).toBe(true);
  const heard: unknown[] = [];
  await standIn.start([], {
    reading: (...reading) => heard.push(reading),
    settled: (at) => heard.push(['settled', at]),
    alive: (...alive) => heard.push(['alive', ...alive]),
  });
  sink?.reading(1, 2.5, 25, 100);
  sink?.alive([1], 101);
  expect(watch.vitals).toEqual([{ name: 'gnss', state: 'running', frames: 0, counts: { fixes: 2 } }]);
  sink?.settled(102);
  expect(watch.vitals).toEqual([{ name: 'gnss', state: 'running', frames: 1, silence: 0, counts: { fixes: 2 } }]);
  expect(heard).toEqual([
    [1, 2.5, 25, 100],
    ['alive', [1], 101],
    ['settled', 102],
  ]);
  await standIn.stop();
  expect(stopped).toBe(true);
});

test('the stuck source is named when several sources exist', async () => {
  const clock = new VirtualClock();
  const watch = new SourceWatch(clock);
  const sources = [new SpokenSource(), new SpokenSource(), new SpokenSource()];
  for (const source of sources) watch.frames('slcan', source);
  watch.frames('slcan2', new SpokenSource());
  expect(watch.vitals.map(({ name }) => name)).toEqual(['slcan', 'slcan 2', 'slcan 3', 'slcan2']);
  for (const source of sources) source.said = { state: 'running', counts: {} };
  (sources[1] as SpokenSource).said = { state: 'opening', counts: {} };
  watch.stuck(false);
  clock.advance(200_000);
  expect(watch.stuck(false)).toBe('source slcan 2 has been opening for 200 s');
});
