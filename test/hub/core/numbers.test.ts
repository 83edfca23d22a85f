import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uncountedBeside } from '../../../hub/core/lives.ts';
import { ClassNumbers, EXPECTED_NUMBERS, MAX_RUNS } from '../../../hub/core/numbers.ts';
import type { Run } from '../../../protocol/runs.ts';

function numbersIn(runs: readonly Run[]): number[] {
  return runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

test('arrived, abandoned and missing numbers equal those of a naive set', () => {
  const step = fc.oneof(
    fc.record({ arrive: fc.nat(40) }),
    fc.record({ from: fc.nat(40), more: fc.integer({ min: -1, max: 6 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(40), (steps, restart) => {
      let numbers = new ClassNumbers();
      const arrived = new Set<number>();
      const told = new Set<number>();
      for (const [index, one] of steps.entries()) {
        // Another run of the hub reads the persisted form.
        if (index === restart) numbers = new ClassNumbers(JSON.parse(JSON.stringify(numbers.kept)));
        if ('arrive' in one) {
          numbers.arrive({ seq: one.arrive, boot: 1 });
          arrived.add(one.arrive);
        } else {
          numbers.giveUp(1, [[one.from, one.from + one.more]]);
          for (let number = one.from; number <= one.from + one.more; number++) told.add(number);
        }
      }
      const report = numbers.report;
      expect(numbers.missing).toBe(numbersIn(report.missing).length);
      const all = [...Array(Math.max(-1, ...arrived, ...told) + 1).keys()];
      expect(numbersIn(report.arrived)).toEqual(all.filter((number) => arrived.has(number)));
      expect(numbersIn(report.givenUp)).toEqual(all.filter((number) => told.has(number) && !arrived.has(number)));
      expect(numbersIn(report.missing)).toEqual(all.filter((number) => !told.has(number) && !arrived.has(number)));
    }),
  );
});

test('a number below the car’s reported count is missing even if no later message of the class arrived', () => {
  let numbers = new ClassNumbers();
  numbers.arrive({ seq: 0, boot: 1, offset: 0 });
  numbers.sent(1, { first: 0, below: 3 });
  numbers = new ClassNumbers(JSON.parse(JSON.stringify(numbers.kept)));
  expect(numbers.report).toEqual({ arrived: [[0, 0]], givenUp: [], missing: [[1, 2]] });
  expect(numbers.missing).toBe(2);
  numbers.arrive({ seq: 2, boot: 1, offset: 2 });
  numbers.giveUp(1, [[1, 1]]);
  expect(numbers.report).toEqual({
    arrived: [
      [0, 0],
      [2, 2],
    ],
    givenUp: [[1, 1]],
    missing: [],
  });
});

/** Number of the hub for the second start of a life. */
const inLife = (ordinal: number): number => 2 ** 31 * ordinal + 2;

test('a number that only an earlier life of the records sent is missing, however many starts are known', () => {
  for (const starts of [1, 4]) {
    let numbers = new ClassNumbers();
    for (let seq = 0; seq < 3; seq++) numbers.arrive({ seq, boot: inLife(0), offset: seq });
    // The broker lost number 0 of this life, which its first start sent.
    for (let start = 0; start < starts; start++)
      numbers.sent(inLife(1) + 1 + start, { first: 1 + start, below: 1 + start });
    numbers = new ClassNumbers(JSON.parse(JSON.stringify(numbers.kept)));
    for (let start = 0; start < starts; start++) {
      const seq = 1 + start;
      numbers.arrive({ seq, boot: inLife(1) + 1 + start, offset: 0 });
    }
    // A late message of the earlier life changes nothing.
    numbers.arrive({ seq: 5, boot: inLife(0) - 1, offset: 5 });
    expect(numbers.report).toEqual({ arrived: [[1, starts]], givenUp: [], missing: [[0, 0]] });
    expect(numbers.missing).toBe(1);
  }
});

test('a new life whose first number was lost is known from the count in its hello', () => {
  const numbers = new ClassNumbers();
  numbers.arrive({ seq: 0, boot: inLife(0), offset: 0 });
  numbers.sent(inLife(1), { first: 1, below: 1 });
  expect(numbers.report).toEqual({ arrived: [], givenUp: [], missing: [[0, 0]] });
});

test('a report of sent numbers without new information changes nothing', () => {
  const numbers = new ClassNumbers();
  for (const seq of [0, 1, 2]) numbers.arrive({ seq, boot: 1, offset: seq });
  const { kept } = numbers;
  // One start has sent nothing; the newest messages of the other still wait.
  numbers.sent(2, { first: 3, below: 3 });
  numbers.sent(1, { first: 0, below: 2 });
  expect(numbers.kept).toEqual(kept);
});

test('a number that an earlier start sent from memory stops counting once a later start reuses it', () => {
  const numbers = new ClassNumbers();
  for (const seq of [0, 1, 2]) numbers.arrive({ seq, boot: 1, offset: seq });
  numbers.sent(1, { first: 0, below: 4 });
  // The disk of the earlier start stored number 0 only. Message 1 of the later start is lost in transit.
  numbers.sent(2, { first: 1, below: 2 });
  expect(numbers.report).toEqual({ arrived: [[0, 0]], givenUp: [], missing: [[1, 1]] });
});

test('a gap of millions of numbers is stored as one run', () => {
  const numbers = new ClassNumbers();
  numbers.giveUp(1, [[0, EXPECTED_NUMBERS - 1]]);
  numbers.arrive({ seq: 7, boot: 1, offset: 7 });
  expect(numbers.report).toEqual({
    arrived: [[7, 7]],
    givenUp: [
      [0, 6],
      [8, EXPECTED_NUMBERS - 1],
    ],
    missing: [],
  });
});

test('reports about numbers that are impossibly far above the arrived ones are ignored and counted', () => {
  const numbers = new ClassNumbers();
  numbers.arrive({ seq: 7, boot: 1, offset: 7 });
  const before = numbers.report;
  numbers.sent(1, { first: 0, below: 8_600_000_000 });
  numbers.sent(2, { first: Number.MAX_SAFE_INTEGER, below: Number.MAX_SAFE_INTEGER });
  numbers.giveUp(1, [[8, 8 + EXPECTED_NUMBERS]]);
  expect(numbers.report).toEqual(before);
  expect(numbers.excess).toEqual({ runs: 0, jumps: 3 });
  expect(numbers.missing).toBe(7);
});

test('a message with a far higher number arrives, and only the newest expected numbers are missing', () => {
  const numbers = new ClassNumbers();
  const [old, seq] = [[3, 5], 2 ** 31 - 1] as const;
  for (const one of old) numbers.arrive({ seq: one, boot: 1, offset: one });
  numbers.arrive({ seq, boot: 1, offset: seq });
  expect(numbers.report.missing).toEqual([[seq + 1 - EXPECTED_NUMBERS, seq - 1]]);
  expect(numbers.missing).toBe(EXPECTED_NUMBERS - 1);
  expect([...old, seq].map((one) => numbers.has({ seq: one, boot: 1 }))).toEqual([true, true, true]);
});

test('of 100,000 separate numbers at most 4,096 runs stay, and messages that are sent again restore the others', () => {
  const numbers = new ClassNumbers();
  const [count, boot] = [100_000, 1];
  for (let place = 0; place < count; place++) numbers.arrive({ seq: 2 * place, boot, offset: 2 * place });
  expect(numbers.kept.starts.flatMap(([, , arrived]) => arrived).length).toBeLessThanOrEqual(MAX_RUNS);
  expect(numbers.excess.runs).toBeGreaterThan(count - MAX_RUNS);
  // The first missing run covers all discarded ones.
  const { unsureBelow = 0, missing } = numbers.report;
  expect(missing[0]).toEqual([0, unsureBelow]);
  for (const [first, last] of missing) {
    for (let seq = first; seq <= last; seq++) {
      const message = { seq, boot, offset: seq };
      if (seq % 2 === 0) numbers.arriveAgain(message);
      else numbers.arrive(message);
    }
  }
  expect(numbers.report).toEqual({ arrived: [[0, 2 * count - 2]], givenUp: [], missing: [], unsureBelow });
});

test('a car that gave up every second of 10,000 messages misses none, and is not asked to send them again', () => {
  const numbers = new ClassNumbers();
  for (let seq = 0; seq < 10_000; seq += 2) {
    numbers.arrive({ seq, boot: 1, offset: seq });
    numbers.giveUp(1, [[seq + 1, seq + 1]]);
  }
  expect(numbers.missing).toBe(0);
  const { arrived, givenUp, unsureBelow = 0 } = numbers.report;
  expect(arrived.length + givenUp.length).toBeLessThanOrEqual(MAX_RUNS);
  expect(givenUp[0]?.[0]).toBe(0);
  expect(unsureBelow).toBeGreaterThan(0);
});

test('a gap message with 100,000 separate runs in any order keeps the bound', () => {
  const numbers = new ClassNumbers();
  const runs = Array.from({ length: 100_000 }, (_, place): Run => [2 * (place ^ 1), 2 * (place ^ 1)]);
  numbers.giveUp(1, runs.toReversed());
  const kept = numbers.kept.starts.flatMap(([, , , givenUp]) => givenUp);
  expect(kept.length).toBeLessThanOrEqual(MAX_RUNS);
  expect(numbers.missing).toBeGreaterThan(0);
});

test('beyond the bound of runs, no message counts as arrived that did not, and doubtful ones are known as such', () => {
  const step = fc.record({ seq: fc.nat(60), boot: fc.integer({ min: 1, max: 3 }), isLost: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let numbers = new ClassNumbers(undefined, 4);
      const arrived = new Set<string>();
      for (const { seq, boot, isLost } of steps) {
        numbers = new ClassNumbers(JSON.parse(JSON.stringify(numbers.kept)), 4);
        const key = `${boot}/${seq}`;
        const message = { seq, boot, offset: seq };
        if (isLost) numbers.giveUp(boot, [[seq, seq]]);
        else if (arrived.has(key)) numbers.arriveAgain(message);
        else numbers.arrive(message);
        if (!isLost) arrived.add(key);
        const { kept } = numbers;
        const runs = [kept.arrived, kept.givenUp, ...kept.starts.flatMap(([, , come, lost]) => [come, lost])];
        expect(runs.flat().length).toBeLessThanOrEqual(4);
        for (const one of [1, 2, 3].flatMap((start) => [...Array(61).keys()].map((n) => ({ seq: n, boot: start })))) {
          const isArrived = arrived.has(`${one.boot}/${one.seq}`);
          if (numbers.has(one)) expect(isArrived).toBe(true);
          if (isArrived) expect(numbers.isCertainlyNew(one)).toBe(false);
        }
      }
      // All messages are sent again, and the others are given up.
      for (const key of [...arrived].sort()) {
        const [boot = 0, seq = 0] = key.split('/').map(Number);
        numbers.arriveAgain({ seq, boot, offset: seq });
      }
      for (let round = 0; numbers.missing > 0; round++) {
        expect(round).toBeLessThan(100);
        numbers.giveUp(3, numbers.report.missing.slice(0, 1));
      }
      expect(numbers.report.missing).toEqual([]);
    }),
  );
});

test('a gap message without numbers gives up nothing', () => {
  const numbers = new ClassNumbers();
  numbers.giveUp(1, undefined);
  expect(numbers.report).toEqual({ arrived: [], givenUp: [], missing: [] });
});

/** Starts of an agent: the first number that each assigns, and the numbers that it sends and gives up. */
const starts = fc
  .array(fc.record({ taken: fc.nat(6), sent: fc.array(fc.nat(8), { maxLength: 5 }), lost: fc.option(fc.nat(8)) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((list) => {
    let first = 0;
    return list.map(({ taken, sent, lost }, place) => {
      // The disk stored only part of the numbers that the previous start sent.
      first += taken;
      return { boot: 10 + place, first, sent: sent.map((number) => first + number), lost: lost && first + lost };
    });
  });

test('a number belongs to the last start that assigned it, whatever the order of arrival', () => {
  fc.assert(
    fc.property(starts, fc.infiniteStream(fc.nat(1_000)), (list, order) => {
      const steps = list.flatMap(({ boot, first, sent, lost }) => [
        ...sent.map((seq) => (numbers: ClassNumbers) => numbers.arrive({ seq, boot, offset: seq - first })),
        ...(typeof lost === 'number' ? [(numbers: ClassNumbers) => numbers.giveUp(boot, [[lost, lost]])] : []),
      ]);
      let numbers = new ClassNumbers();
      // The first start is known: earlier numbers belong to no start.
      const [oldest] = list;
      numbers.arrive({ seq: oldest?.first ?? 0, boot: oldest?.boot ?? 0, offset: 0 });
      while (steps.length > 0) {
        const [step] = steps.splice((order.next().value as number) % steps.length, 1);
        step?.(numbers);
        numbers = new ClassNumbers(JSON.parse(JSON.stringify(numbers.kept)));
      }
      const heard = list.filter(({ sent }, place) => place === 0 || sent.length > 0);
      // A start from which no message of this class arrived claims no number of earlier starts.
      const owner = (number: number) => heard.findLast(({ first }) => first <= number)?.boot ?? -1;
      const known = (what: (one: (typeof list)[number]) => readonly number[]) =>
        new Set(list.flatMap((one) => what(one).filter((number) => one.boot >= owner(number))));
      const arrived = known(({ sent, first, boot }) => (boot === oldest?.boot ? [first, ...sent] : sent));
      const told = known(({ lost }) => (typeof lost === 'number' ? [lost] : []));
      const all = [...Array(Math.max(-1, ...arrived, ...told) + 1).keys()];
      expect(numbersIn(numbers.report.arrived)).toEqual(all.filter((number) => arrived.has(number)));
      expect(numbersIn(numbers.report.givenUp)).toEqual(all.filter((n) => told.has(n) && !arrived.has(n)));
      expect(numbers.missing).toBe(all.filter((number) => !arrived.has(number) && !told.has(number)).length);
    }),
  );
});

test('numbers of an uncounted start do not become missing when an earlier counted start becomes known', () => {
  const uncounted = uncountedBeside(0, 5);
  const numbers = new ClassNumbers();
  const arrive = (boot: number, first: number, last: number): void => {
    for (let seq = first; seq <= last; seq++) numbers.arrive({ seq, boot, offset: seq - first });
  };
  arrive(0, 0, 2);
  arrive(uncounted, 24, 45);
  arrive(1, 3, 23);
  arrive(2, 46, 50);
  expect(numbers.report).toEqual({ arrived: [[0, 50]], givenUp: [], missing: [] });
});

test('a late hello of an earlier start that assigned no number claims none of the later start', () => {
  const uncounted = uncountedBeside(0, 5);
  const numbers = new ClassNumbers();
  numbers.arrive({ seq: 0, boot: 0, offset: 0 });
  for (const seq of [1, 2, 3]) numbers.arrive({ seq, boot: uncounted, offset: seq - 1 });
  numbers.sent(1, { first: 1, below: 1 });
  numbers.sent(2, { first: 4, below: 4 });
  numbers.arrive({ seq: 4, boot: 2, offset: 0 });
  expect(numbers.report).toEqual({ arrived: [[0, 4]], givenUp: [], missing: [] });
});

test('a number that an uncounted start sent counts again when the car resends it on request', () => {
  const numbers = new ClassNumbers();
  const own = { seq: 7, boot: uncountedBeside(0, 5), offset: 0 };
  numbers.arrive({ seq: 6, boot: 1, offset: 6 });
  numbers.arrive(own);
  numbers.arrive({ seq: 8, boot: 2, offset: 1 });
  expect(numbers.report.missing).toEqual([
    [0, 5],
    [7, 7],
  ]);
  numbers.arriveAgain(own);
  expect(numbers.report.missing).toEqual([[0, 5]]);
});

test.each([
  ['counted', 2],
  ['uncounted', uncountedBeside(0, 9)],
])(
  'of two starts with the same first number, one %s and one uncounted, the first to arrive is the earlier one',
  (_, before) => {
    const numbers = new ClassNumbers();
    for (const seq of [0, 1]) numbers.arrive({ seq, boot: 1, offset: seq });
    // Power fails before the disk stores any message of the earlier start. It stores all that the later start sends.
    for (const seq of [2, 3]) numbers.arrive({ seq, boot: before, offset: seq - 2 });
    for (const seq of [2, 3, 4, 5]) numbers.arrive({ seq, boot: uncountedBeside(0, 4), offset: seq - 2 });
    numbers.arrive({ seq: 6, boot: 3, offset: 0 });
    expect(numbers.report).toEqual({ arrived: [[0, 6]], givenUp: [], missing: [] });
  },
);

test('numbers that arrive before any start is known count as arrived for the first start', () => {
  const numbers = new ClassNumbers({ arrived: [[0, 20]], givenUp: [], starts: [] });
  numbers.arrive({ seq: 22, boot: 3, offset: 12 });
  expect(numbers.report.missing).toEqual([[21, 21]]);
});

test('numbers of the latest four starts stay separate, however often a car starts', () => {
  const numbers = new ClassNumbers();
  for (let boot = 1; boot < 100; boot++) numbers.arrive({ seq: boot, boot, offset: 0 });
  expect(numbers.kept).toMatchObject({ arrived: [[1, 95]], starts: { length: 4 } });
  expect(numbers.report.missing).toEqual([[0, 0]]);
});

test('no repetition is taken for a new message, however starts and repetitions mix', () => {
  const start = fc.record({
    counted: fc.boolean(),
    // Numbers that a start assigns again, because the previous one sent them from memory.
    reused: fc.nat(3),
    made: fc.nat(4),
  });
  const order = fc.array(fc.nat(60), { maxLength: 120 });
  fc.assert(
    fc.property(fc.array(start, { minLength: 1, maxLength: 9 }), order, fc.nat(60), (starts, places, restart) => {
      let next = 0;
      const messages = starts.flatMap(({ counted, reused, made }, index) => {
        const first = Math.max(0, next - reused);
        next = first + made;
        const boot = counted ? index : uncountedBeside(index, index);
        return Array.from({ length: made }, (_, offset) => ({ seq: first + offset, boot, offset }));
      });
      let numbers = new ClassNumbers();
      const arrived = new Set<unknown>();
      for (const [step, place] of places.entries()) {
        if (step === restart) numbers = new ClassNumbers(JSON.parse(JSON.stringify(numbers.kept)));
        const one = messages[place % messages.length];
        if (one === undefined) continue;
        if (arrived.has(one)) expect(numbers.isCertainlyNew(one)).toBe(false);
        else numbers.arrive(one);
        arrived.add(one);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('messages that a counted start sends in order are certainly new after its first one', () => {
  const numbers = new ClassNumbers();
  for (const seq of [0, 1, 2]) numbers.arrive({ seq, boot: 1, offset: seq });
  expect(numbers.isCertainlyNew({ seq: 3, boot: 1 })).toBe(true);
  expect(numbers.isCertainlyNew({ seq: 3, boot: 2 })).toBe(false);
  expect(numbers.isCertainlyNew({ seq: 3, boot: uncountedBeside(1, 5) })).toBe(false);
});
