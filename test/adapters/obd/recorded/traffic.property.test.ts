/** Generated conversations in which frames are lost, repeated or renumbered, and the log is truncated. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DiagnosticTraffic, Roles } from '../../../../adapters/obd/recorded/index.ts';
import { runs } from '../../../rig/runs.ts';

const hex = (bytes: readonly number[] | Uint8Array): string => Buffer.from(bytes).toString('hex');

interface Sent {
  readonly id: number;
  readonly data: readonly number[];
  /** First frame of an answer. */
  readonly begins?: true;
}

const flow: readonly number[] = [0x30, 0, 0];

/** Splits a message into frames according to ISO 15765-2 §9.6. */
function framesOf(id: number, payload: readonly number[]): Sent[] {
  if (payload.length <= 7) return [{ id, data: [payload.length, ...payload], begins: true }];
  const frames: Sent[] = [
    { id, data: [0x10 | (payload.length >> 8), payload.length & 0xff, ...payload.slice(0, 6)], begins: true },
  ];
  for (let at = 6, n = 1; at < payload.length; at += 7, n++) {
    const part = payload.slice(at, at + 7);
    frames.push({ id, data: [0x20 | (n & 15), ...part, ...new Array<number>(7 - part.length).fill(0xaa)] });
  }
  return frames;
}

interface Exchange {
  readonly answer: string;
  readonly frames: readonly Sent[];
}

/** Exchange `n` of a unit: a request, and an answer whose data bytes all depend on the unit and `n`. */
function exchangeOf(unit: number, n: number, length: number): Exchange {
  const identifier = [0xf1, unit];
  const body = Array.from({ length }, (_, i) => (unit * 67 + n * 31 + i * 7 + (i >> 4) * 3) & 0xff);
  const answer = [0x62, ...identifier, ...body];
  const request = { id: 0x7e0 + unit, data: [3, 0x22, ...identifier] };
  const [first, ...rest] = framesOf(0x7e8 + unit, answer);
  const control = rest.length === 0 ? [] : [{ id: 0x7e0 + unit, data: flow }];
  return { answer: hex(answer), frames: [request, first as Sent, ...control, ...rest] };
}

type Fate = 'sent' | 'lost' | 'twice' | 'renumbered' | 'late';
const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 15, arbitrary: fc.constant<Fate>('sent') },
  { weight: 1, arbitrary: fc.constantFrom<Fate>('lost', 'twice', 'renumbered', 'late') },
);

/** Requests always arrive: without them, a frame of the next answer can look like the missing one. */
function befallen(frames: readonly Sent[], fates: readonly Fate[], from: number): Sent[] {
  const late: Sent[] = [];
  const arrived = frames.flatMap((frame, i) => {
    const consecutive = ((frame.data[0] as number) & 0xf0) === 0x20;
    if (frame.id < 0x7e8) return [frame];
    const before = late.splice(0);
    switch (fates[(from + i) % fates.length]) {
      case 'lost':
        return before;
      case 'twice':
        return consecutive ? [frame, ...before, frame] : [frame, ...before];
      case 'renumbered':
        return consecutive
          ? [{ ...frame, data: [(frame.data[0] as number) ^ 1, ...frame.data.slice(1)] }, ...before]
          : [frame, ...before];
      case 'late':
        if (!consecutive) return [frame, ...before];
        late.push(frame);
        return before;
      default:
        return [frame, ...before];
    }
  });
  return [...arrived, ...late];
}

const conversation = fc.record({
  lengths: fc.array(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 100, max: 200 })), {
    minLength: 1,
    maxLength: 6,
  }),
  fates: fc.array(fate, { minLength: 1, maxLength: 30 }),
});

test('generated conversations give only answers that were in them, each to its request, and count the lost ones', () => {
  const orders = fc.array(fc.nat(100), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(
      fc.array(conversation, { minLength: 1, maxLength: 8 }),
      orders,
      fc.double({ min: 0.3, max: 1, noNaN: true }),
      (units, order, share) => {
        const exchanges = units.map(({ lengths }, unit) => lengths.map((length, n) => exchangeOf(unit, n, length)));
        const left = exchanges.map((list, unit) =>
          list.flatMap(({ frames }, n) => befallen(frames, (units[unit] as (typeof units)[number]).fates, n * 7)),
        );
        const lines: Sent[] = [];
        for (let turn = 0; left.some((list) => list.length > 0); turn++) {
          const some = left.filter((list) => list.length > 0);
          lines.push((some[(order[turn % order.length] as number) % some.length] as Sent[]).shift() as Sent);
        }
        const recorded = lines.slice(0, Math.ceil(lines.length * share));
        const found = new Map<number, string[]>();
        let unanswered = 0;
        const traffic = new DiagnosticTraffic(new Roles([]), (event) => {
          if (event.kind === 'unanswered') unanswered++;
          else {
            expect(event.request?.id).toBe(event.answer.id - 8);
            found.set(event.answer.id, [...(found.get(event.answer.id) ?? []), hex(event.answer.payload)]);
          }
        });
        for (const [i, { id, data }] of recorded.entries()) traffic.frame(id, 0, i, Uint8Array.from(data));
        traffic.end();
        for (const [unit, list] of exchanges.entries()) {
          const answers = found.get(0x7e8 + unit) ?? [];
          const sent = list.map(({ answer }) => answer);
          // In the order sent, each at most once.
          let from = 0;
          for (const answer of answers) {
            const at = sent.indexOf(answer, from);
            expect(at, answer).toBeGreaterThanOrEqual(0);
            from = at + 1;
          }
        }
        const answers = [...found.values()].flat().length;
        const requests = recorded.filter(({ id, data }) => id < 0x7e8 && data[0] === 3).length;
        expect(answers + unanswered).toBe(requests);
        // Each answer that began is whole, or counted as lost.
        const begun = recorded.filter(({ begins }) => begins === true).length;
        const lost = [...traffic.lost.values()].reduce((sum, count) => sum + count, 0);
        expect(answers + lost).toBe(begun);
      },
    ),
    { numRuns: runs(400, 20_000) },
  );
});

test('an undisturbed conversation loses nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 6 }), (lengths) => {
      const exchanges = lengths.map((length, n) => exchangeOf(n % 8, n, length));
      const found: string[] = [];
      const traffic = new DiagnosticTraffic(new Roles([]), (event) => {
        if (event.kind === 'answer') found.push(hex(event.answer.payload));
      });
      let at = 0;
      for (const { id, data } of exchanges.flatMap(({ frames }) => frames))
        traffic.frame(id, 0, at++, Uint8Array.from(data));
      traffic.end();
      expect(found).toEqual(exchanges.map(({ answer }) => answer));
      expect(traffic.lost.size).toBe(0);
    }),
    { numRuns: runs(100, 5_000) },
  );
});
