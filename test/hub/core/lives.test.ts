import { expect, test } from 'vitest';
import { bootOf, isCounted, type Life, Lives, lifeOf, MAX_LIVES } from '../../../hub/core/lives.ts';
import { ClassNumbers } from '../../../hub/core/numbers.ts';
import { UNCOUNTED_BOOT, UNRECORDED_BOOT } from '../../../protocol/schema/message.ts';

test('starts with nearby numbers belong to one life, in whatever order they arrive, and keep their order', () => {
  const lives = new Lives();
  const [second, first, third] = [3_000_000_001, 3_000_000_000, 3_000_000_090].map((boot) => lives.startOf(boot));
  expect([lives.begun.length, first! < second!, second! < third!]).toEqual([1, true, true]);
});

test('the start counter of a life may exceed 2^32', () => {
  const lives = new Lives();
  const starts = [2 ** 32 - 1, 0, 1].map((boot) => lives.startOf(boot));
  expect(starts).toEqual([starts[0], starts[0]! + 1, starts[0]! + 2]);
  expect(lives.begun).toHaveLength(1);
});

test('a start far from all known starts begins a new life, ordered after all earlier lives', () => {
  const lives = new Lives();
  const starts = [3_000_000_000, 12, 3_000_000_001, UNCOUNTED_BOOT + 7, 13].map((boot) => lives.startOf(boot));
  expect(starts.map(lifeOf)).toEqual([0, 1, 0, 1, 1]);
  expect(starts.map(isCounted)).toEqual([true, true, true, false, true]);
  expect(lives.begun.map(({ first }) => first)).toEqual([3_000_000_000, 12]);
});

test('of a car with random start numbers the newest lives are remembered, and all starts keep their order', () => {
  const boots = Array.from({ length: 1_000 }, (_, place) => (place * 40_000_003 + 7) % UNCOUNTED_BOOT);
  let remembered: Life[] = [];
  const starts = boots.map((boot) => {
    const lives = new Lives(remembered);
    const start = lives.startOf(boot);
    remembered = [...remembered, ...lives.begun].slice(-MAX_LIVES);
    return start;
  });
  expect(starts.every((start, place) => place === 0 || lifeOf(start) >= lifeOf(starts[place - 1] ?? 0))).toBe(true);
  expect(remembered.at(-1)?.ordinal).toBeGreaterThan(MAX_LIVES);
});

test('the boot of a message is found again after the oldest lives were removed', () => {
  let remembered: Life[] = [];
  for (let place = 0; place < MAX_LIVES + 10; place++) {
    const boot = (place * 40_000_003 + 7) % 2 ** 32;
    const lives = new Lives(remembered);
    const start = lives.startOf(boot);
    remembered = [...remembered, ...lives.begun].slice(-MAX_LIVES);
    expect(bootOf(start, remembered)).toBe(boot);
  }
});

test('the numbers of starts stay exact even after millions of lives', () => {
  const lives = new Lives([{ ordinal: 2 ** 22 - 2, first: 12 }]);
  const starts = [3_000_000_000, 1_000_000_000, 3_000_000_001].map((boot) => lives.startOf(boot));
  expect(lives.begun).toHaveLength(1);
  expect(starts.every((start) => Number.isSafeInteger(start) && isCounted(start))).toBe(true);
});

test('an agent that counts its starts from 1 has numbers of its own', () => {
  expect([57, 58, 1].map((boot) => new Lives([{ ordinal: 0, first: 57 }]).startOf(boot))).toEqual([57, 58, 1]);
});

test('only numbers of the newest life count as arrived or missing', () => {
  const lives = new Lives();
  const numbers = new ClassNumbers();
  for (const seq of [0, 1, 5]) numbers.arrive({ seq, boot: lives.startOf(4_000_000), offset: seq });
  for (const seq of [0, 2]) numbers.arrive({ seq, boot: lives.startOf(900_000_000), offset: seq });
  expect(numbers.report).toEqual({
    arrived: [
      [0, 0],
      [2, 2],
    ],
    givenUp: [],
    missing: [[1, 1]],
  });
});

test('numbers of an uncounted start neither arrive for other starts nor restart their numbering', () => {
  const lives = new Lives();
  const numbers = new ClassNumbers();
  for (const seq of [0, 1, 2, 4]) numbers.arrive({ seq, boot: lives.startOf(4_000_000), offset: seq });
  const before = numbers.report;
  const boot = lives.startOf(UNRECORDED_BOOT + 7);
  for (const seq of [0, 1, 2, 3]) {
    expect(numbers.has({ seq, boot })).toBe(false);
    numbers.arrive({ seq, boot, offset: seq });
    numbers.arriveAgain({ seq, boot, offset: seq });
  }
  numbers.sent(boot, { first: 0, below: 9 });
  numbers.giveUp(boot, [[3, 3]]);
  expect(numbers.report).toEqual(before);
  expect(before.missing).toEqual([[3, 3]]);
  expect(lives.begun).toHaveLength(1);
  expect([isCounted(boot), lifeOf(boot)]).toEqual([false, 0]);
});
