import { describe, expect, test } from 'vitest';
import { type Database, parseDbc } from '../../../../adapters/can/dbc/index.ts';
import { MOST_VALUES, rankCoverage, SignalObserver, signalsOf } from '../../../../adapters/can/inspect/index.ts';
import { batchOf, type TestFrame, trafficOf } from './frames.ts';

function databaseOf(file: string, messages: string): Database {
  const text = `VERSION ""\nBU_: ECU\n${messages}`;
  return parseDbc(new TextEncoder().encode(text), file).database!;
}

const car = databaseOf(
  'car.dbc',
  `BO_ 256 MOTION: 2 ECU
 SG_ Speed : 0|8@1+ (0.1,0) [0|20] "km/h" ECU
 SG_ Gear : 8|4@1- (1,0) [-8|7] "" ECU
BO_ 512 PAGES: 2 ECU
 SG_ Page M : 0|8@1+ (1,0) [0|0] "" ECU
 SG_ First m0 : 8|8@1+ (1,0) [0|0] "" ECU
 SG_ Second m1 : 8|8@1+ (1,0) [0|0] "" ECU
`,
);

function observe(frames: readonly TestFrame[]): SignalObserver {
  const observer = new SignalObserver([{ database: car }]);
  observer.add(batchOf(frames), ['can0', 'can1']);
  observer.endLog();
  return observer;
}

describe('statistics of signals', () => {
  test('count every frame, also repeated ones', () => {
    const frames = [
      [10, 1],
      [10, 1],
      [30, 0xf],
      [20, 0xf],
    ].map((data, i) => ({ at: i * 10, id: 256, data }));
    const [speed, gear, page] = observe(frames).statistics;
    expect(speed).toMatchObject({ count: 4, minimum: 1, maximum: 3, first: 1, last: 2, changes: 2, falls: 1 });
    expect([speed?.firstAt, speed?.lastAt]).toEqual([0, 30]);
    expect([...(speed?.raws ?? [])]).toEqual([
      [10, 2],
      [30, 1],
      [20, 1],
    ]);
    expect(gear).toMatchObject({ count: 4, minimum: -1, maximum: 1, changes: 1, falls: 1 });
    expect(page).toMatchObject({ count: 0, changes: 0 });
  });

  test('count a multiplexed signal only in its own frames', () => {
    const frames = [
      [0, 7],
      [1, 9],
      [0, 8],
    ].map((data, at) => ({ at, id: 512, data }));
    const [, , page, first, second] = observe(frames).statistics;
    expect([page?.count, first?.count, second?.count]).toEqual([3, 2, 1]);
    expect([first?.minimum, first?.maximum, second?.minimum]).toEqual([7, 8, 9]);
  });

  test('continue from log to log, even if the bus names differ', () => {
    const observer = new SignalObserver([{ database: car }]);
    for (const name of ['can0', 'vcan7']) {
      observer.add(batchOf([{ at: 0, id: 256, data: [5, 0] }]), [name]);
      observer.endLog();
    }
    expect(observer.statistics[0]).toMatchObject({ count: 2, changes: 0 });
  });

  test('list a bounded number of different values, and report that there were more', () => {
    const wide = databaseOf('wide.dbc', 'BO_ 1 WIDE: 2 ECU\n SG_ Value : 0|16@1+ (1,0) [0|0] "" ECU\n');
    const observer = new SignalObserver([{ database: wide }]);
    const frames = Array.from({ length: 1000 }, (_, i) => ({ at: i, id: 1, data: [i & 0xff, i >> 8] }));
    observer.add(batchOf(frames), ['can0']);
    const [value] = observer.statistics;
    expect([value?.raws.size, value?.more, value?.maximum]).toEqual([MOST_VALUES, true, 999]);
  });

  test('cover the chosen signals, each once', () => {
    const [motion] = car.messages;
    const chosen = new Map([[motion!, motion!.signals.slice(1)]]);
    expect(signalsOf([{ database: car }], chosen).map(({ signal }) => signal.name)).toEqual(['Gear']);
    expect(signalsOf([{ database: car }, { database: car }])).toHaveLength(5);
  });
});

describe('how well network descriptions fit', () => {
  const frames = Array.from({ length: 90 }, (_, i) => ({ at: i, id: i % 3 === 0 ? 256 : 512, data: [i % 2, 1] }));
  const traffic = trafficOf([...frames, ...frames.slice(0, 10).map((frame) => ({ ...frame, id: 1 }))]);

  test('is the share of frames with a known identifier and length', () => {
    const [fit] = rankCoverage([car], traffic);
    expect(fit).toMatchObject({ frames: 100, known: 90, fitting: 90, messages: 2, signals: 5 });
    // Speed and Gear have ranges, and 30 frames contain each of them.
    expect(fit).toMatchObject({ values: 60, inRange: 60 });
  });

  test('ranks by payload length, then by values within their range, before identifiers', () => {
    const longer = databaseOf('longer.dbc', 'BO_ 256 A: 8 ECU\nBO_ 512 B: 8 ECU\nBO_ 1 C: 2 ECU\n');
    const wrong = databaseOf(
      'wrong.dbc',
      `BO_ 256 MOTION: 2 ECU
 SG_ Speed : 0|8@1+ (1,100) [0|20] "km/h" ECU
BO_ 512 PAGES: 2 ECU
`,
    );
    const ranked = rankCoverage([longer, wrong, car], traffic);
    expect(ranked.map(({ database }) => database.file)).toEqual(['car.dbc', 'wrong.dbc', 'longer.dbc']);
    expect(ranked[2]).toMatchObject({ known: 100, fitting: 10 });
    expect(ranked[1]).toMatchObject({ fitting: 90, inRange: 0 });
  });
});
