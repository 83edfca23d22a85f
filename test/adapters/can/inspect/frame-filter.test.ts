import { describe, expect, test } from 'vitest';
import { parseDbc } from '../../../../adapters/can/dbc/index.ts';
import { type FrameCriteria, FrameFilter, identifierRange } from '../../../../adapters/can/inspect/index.ts';
import { ERROR, EXTENDED, REMOTE } from '../../../../agent/ports.ts';
import { batchOf, type TestFrame } from './frames.ts';

const { database } = parseDbc(
  new TextEncoder().encode(`VERSION ""
BU_: ECU
BO_ 256 MOTION: 8 ECU
 SG_ Speed : 0|16@1+ (0.01,0) [0|655.34] "km/h" ECU
 SG_ Counter : 56|4@1+ (1,0) [0|15] "" ECU
BO_ 512 PAGES: 4 ECU
 SG_ Page M : 0|8@1+ (1,0) [0|255] "" ECU
 SG_ First m0 : 8|8@1+ (1,0) [0|255] "" ECU
 SG_ Second m1 : 8|8@1+ (1,0) [0|255] "" ECU
`),
  'test.dbc',
);
const messages = database!.messages;
const signal = (name: string) => messages.flatMap(({ signals }) => signals).filter((one) => one.name === name);

/** Times of the frames that pass the filter. */
function passing(frames: readonly TestFrame[], criteria: FrameCriteria): number[] {
  const filter = new FrameFilter(criteria, [{ database: database! }]);
  const batch = batchOf(frames);
  filter.apply(batch, ['can0', 'can1']);
  for (let i = 0; i < batch.count; i++) {
    // Byte 0 holds the time of its frame: payload and time must stay together when the filter moves frames.
    expect(batch.data[batch.offset[i]!]).toBe(frames.find(({ at }) => at === batch.at[i])!.data[0] ?? 0);
  }
  return [...batch.at.subarray(0, batch.count)];
}

describe('the frame filter', () => {
  test('passes a range of 11-bit or of 29-bit identifiers, without error frames', () => {
    const frames = [0x1ff, 0x200, 0x2ff, 0x300, 0x200 | EXTENDED, 0x200 | REMOTE, ERROR | 0x80].map((id, at) => ({
      at,
      id,
      data: [at],
    }));
    expect(passing(frames, { identifiers: [identifierRange('200-2FF')!] })).toEqual([1, 2, 5]);
    expect(passing(frames, { identifiers: [identifierRange('00000200')!, identifierRange('300')!] })).toEqual([3, 4]);
  });

  test.each([
    ['7FF', 0x7ff, 0x7ff],
    ['0x10-1f', 0x10, 0x1f],
    ['0800', 0x8000_0800, 0x8000_0800],
    ['18FEEE00', 0x98fe_ee00, 0x98fe_ee00],
  ])('accepts the range %s', (text, first, last) => {
    expect(identifierRange(text)).toEqual({ first, last });
  });

  test.each(['', '800', 'xyz', '20000000', '200-100', '100-18FEEE00', '1-2-3', '-5'])(
    'refuses the range %j',
    (text) => {
      expect(identifierRange(text)).toBeUndefined();
    },
  );

  test('passes a range of relative or absolute times, both ends included', () => {
    const frames = Array.from({ length: 10 }, (_, i) => ({ at: 5000 + i, id: 1, data: [i] }));
    const relative = (at: number) => ({ at, relative: true });
    expect(passing(frames, { from: relative(3), to: relative(5) })).toEqual([5003, 5004, 5005]);
    expect(passing(frames, { from: { at: 5008, relative: false } })).toEqual([5008, 5009]);
    expect(passing(frames, { to: relative(0) })).toEqual([5000]);
  });

  test('restarts relative times in each log', () => {
    const filter = new FrameFilter({ to: { at: 1, relative: true } }, []);
    const first = batchOf([1000, 1001, 1002].map((at) => ({ at, id: 1, data: [0] })));
    filter.apply(first, ['can0']);
    filter.endLog();
    const second = batchOf([9000, 9001, 9002].map((at) => ({ at, id: 1, data: [0] })));
    filter.apply(second, ['can0']);
    expect([first.count, second.count]).toEqual([2, 2]);
  });

  test('with `changes` passes the first payload of an identifier on a bus, and each that differs from the previous one', () => {
    const frame = (at: number, data: readonly number[], bus = 0, id = 1) => ({ at, id, data, bus });
    const frames = [
      frame(0, [1]),
      frame(1, [1]),
      frame(2, [1], 1),
      frame(3, [2]),
      frame(4, [2, 0]),
      frame(5, [2, 0]),
      frame(6, [1], 0, 1 | REMOTE),
    ].map((one) => ({ ...one, id: one.id >>> 0 }));
    const filter = new FrameFilter({ changes: 'payload' }, []);
    const batch = batchOf(frames);
    filter.apply(batch, ['can0', 'can1']);
    expect([...batch.at.subarray(0, batch.count)]).toEqual([0, 2, 3, 4]);
  });

  test('with `changes` compares only the chosen signals', () => {
    const frames = [
      [5, 0, 0, 0, 0, 0, 0, 1],
      [5, 0, 0, 0, 0, 0, 0, 2],
      [6, 0, 0, 0, 0, 0, 0, 3],
      [6, 0, 9, 9, 9, 9, 9, 3],
    ].map((data, at) => ({ at, id: 256, data }));
    const chosen = new Map([[messages[0]!, signal('Speed')]]);
    expect(passing(frames, { chosen, changes: 'payload' })).toEqual([0, 2]);
    expect(passing(frames, { changes: 'known' })).toEqual([0, 1, 2]);
    expect(passing(frames, { changes: 'payload' })).toEqual([0, 1, 2, 3]);
  });

  test('with `changes` compares a multiplexed signal with its own previous value', () => {
    const frames = [
      [0, 7],
      [1, 9],
      [0, 7],
      [1, 8],
      [0, 7],
      [1, 8],
      [2, 5],
    ].map(([page = 0, value = 0], at) => ({ at, id: 512, data: [page, value, 0, 0] }));
    const pages = messages[1]!;
    expect(passing(frames, { chosen: new Map([[pages, signal('Second')]]), changes: 'known' })).toEqual([1, 3]);
    const both = [...signal('First'), ...signal('Second')];
    expect(passing(frames, { chosen: new Map([[pages, both]]), changes: 'known' })).toEqual([0, 1, 3]);
  });

  test('passes the chosen messages', () => {
    const frames = [256, 512, 300].map((id, at) => ({ at, id, data: [at, 0, 0, 0] }));
    expect(passing(frames, { chosen: new Map([[messages[1]!, messages[1]!.signals]]) })).toEqual([1]);
  });
});
