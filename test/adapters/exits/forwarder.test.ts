/** Numbered items on their way to a receiver, on a clock that the test advances. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Forwarder, type ForwarderState, type NumberedItem, recordSource } from '../../../adapters/exits/forwarder.ts';
import type { NumberedRecords } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';

const away = new VigieError('link.lost', 'the receiver is away');
const refused = new VigieError('message.malformed', 'field type conflict');

/** Records by number; a missing number was replaced, unless it is in `expired`. */
class Kept implements NumberedRecords {
  readonly numbers: number[] = [];
  readonly expiredNumbers = new Set<number>();
  next = 0;
  unreadable = false;

  add(count: number): void {
    for (let i = 0; i < count; i++) this.numbers.push(this.next++);
  }

  expire(count: number): void {
    for (const number of this.numbers.splice(0, count)) this.expiredNumbers.add(number);
  }

  *from(_collection: string, from: number) {
    if (this.unreadable) throw new VigieError('store.unreadable', 'EIO');
    for (const number of this.numbers)
      if (number >= from) yield { number, stored: { id: `${number}`, at: 1, record: number } };
  }

  end(): number {
    return this.next;
  }

  expired(_collection: string, from: number, to: number): number {
    return [...this.expiredNumbers].filter((number) => number >= from && number < to).length;
  }
}

class Rig {
  readonly kept = new Kept();
  readonly clock = new VirtualClock();
  readonly log = new MemoryLog();
  readonly received: number[] = [];
  answer: (numbers: readonly number[]) => VigieError | undefined = () => undefined;
  saved: unknown;
  ready = true;
  forwarder = this.build();

  build(): Forwarder<NumberedItem> {
    return new Forwarder(
      {
        ...{ name: 'test', clock: this.clock, log: this.log, interval: () => 2_000 },
        source: recordSource(this.kept, 'telemetry', () => this.ready),
        write: async (items) => {
          const numbers = items.map(({ number }) => number);
          const fault = this.answer(numbers);
          if (fault !== undefined) throw fault;
          this.received.push(...numbers);
        },
        save: async (state: ForwarderState) => {
          this.saved = state;
        },
      },
      this.saved,
    );
  }

  /** Forwards what is due within `ms`. */
  async run(ms = 2_000): Promise<void> {
    void this.forwarder.poke();
    await this.clock.settle(ms, 1_000);
  }

  events(): string[] {
    return this.log.lines.map(({ event }) => event);
  }
}

describe('a forwarder', () => {
  test('hands over all items once, in order, and new ones at the next look', async () => {
    const rig = new Rig();
    rig.kept.add(20);
    await rig.run();
    rig.kept.add(3);
    await rig.clock.settle(2_000, 1_000);
    expect(rig.received).toEqual([...Array(23).keys()]);
    expect(rig.forwarder.report).toEqual({
      ...{ name: 'test', waiting: 0, lost: 0, refused: 0 },
      succeededAt: expect.any(Number),
    });
  });

  test('continues after an outage and a restart with the first item that was not confirmed', async () => {
    const rig = new Rig();
    rig.kept.add(10);
    await rig.run();
    rig.answer = () => away;
    rig.kept.add(10);
    await rig.run(60_000);
    expect(rig.forwarder.report).toMatchObject({ waiting: 10, error: 'the receiver is away' });
    await rig.forwarder.close();
    rig.answer = () => undefined;
    rig.forwarder = rig.build();
    await rig.run();
    expect(rig.received).toEqual([...Array(20).keys()]);
    expect(rig.events()).toEqual(['exit.waiting']);
  });

  test('reports once that the receiver is away, and that it is back', async () => {
    const rig = new Rig();
    rig.kept.add(1);
    rig.answer = () => away;
    await rig.run(600_000);
    rig.answer = () => undefined;
    await rig.clock.settle(300_000, 1_000);
    expect(rig.received).toEqual([0]);
    expect(rig.events()).toEqual(['exit.waiting', 'exit.resumed']);
  });

  test('leaves out only the item that the receiver refuses for good', async () => {
    const rig = new Rig();
    rig.kept.add(20);
    rig.answer = (numbers) => (numbers.includes(11) ? refused : undefined);
    await rig.run();
    expect(rig.received).toEqual([...Array(20).keys()].filter((number) => number !== 11));
    expect(rig.forwarder.state).toEqual({ next: 20, lost: 0, refused: 1 });
    expect(rig.log.lines).toMatchObject([{ event: 'exit.itemRefused', fields: { number: 11 } }]);
  });

  test('counts items that were deleted before the receiver had them, and no replaced ones', async () => {
    const rig = new Rig();
    rig.answer = () => away;
    rig.kept.add(10);
    await rig.run();
    rig.kept.expire(4);
    rig.kept.numbers.splice(rig.kept.numbers.indexOf(7), 1);
    rig.answer = () => undefined;
    await rig.run(300_000);
    expect(rig.received).toEqual([4, 5, 6, 8, 9]);
    expect(rig.forwarder.state).toEqual({ next: 10, lost: 4, refused: 0 });
  });

  test('counts items as lost even if no later item exists', async () => {
    const rig = new Rig();
    rig.kept.add(3);
    rig.kept.expire(3);
    await rig.run();
    expect(rig.forwarder.state).toEqual({ next: 3, lost: 3, refused: 0 });
  });

  test('waits while the disk cannot be read, and while the times of records are uncertain', async () => {
    const rig = new Rig();
    rig.kept.add(2);
    rig.ready = false;
    await rig.run();
    rig.ready = true;
    rig.kept.unreadable = true;
    await rig.clock.settle(2_000, 1_000);
    expect(rig.received).toEqual([]);
    expect(rig.forwarder.report.error).toBe('EIO');
    rig.kept.unreadable = false;
    await rig.clock.settle(300_000, 1_000);
    expect(rig.received).toEqual([0, 1]);
  });

  test('starts with the oldest item if the stored state is damaged', async () => {
    const rig = new Rig();
    rig.kept.add(1);
    for (const saved of [null, 7, {}, { next: -1, lost: 0, refused: 0 }, { next: 1.5, lost: 0, refused: 0 }]) {
      rig.saved = saved;
      rig.received.length = 0;
      rig.forwarder = rig.build();
      await rig.run();
      expect(rig.received).toEqual([0]);
    }
  });

  test('loses and repeats nothing across outages and stops at any point', async () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 20 }) }),
      fc.constant({ away: true }),
      fc.constant({ away: false }),
      fc.constant({ restart: true }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const rig = new Rig();
        for (const one of [...steps, { away: false }]) {
          if ('add' in one) rig.kept.add(one.add);
          if ('away' in one) rig.answer = () => (one.away ? away : undefined);
          if ('restart' in one) {
            await rig.forwarder.close();
            rig.forwarder = rig.build();
          }
          await rig.run(300_000);
        }
        expect(rig.received).toEqual(rig.kept.numbers);
      }),
      { numRuns: 100 },
    );
  });
});
