/** Content of the ledger after its file, or its copy in the outbox commits, was lost or is outdated. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ActionRecord, Ledger, type LedgerData } from '../../../agent/remotes/ledger.ts';
import { unite, use } from '../../../agent/remotes/replay-window.ts';
import { carOf, commandOf, disk, signed } from './rig.ts';

const record = (id: string, status: ActionRecord['status']): ActionRecord => ({
  id,
  type: 'Doors',
  action: 'doors.lock',
  status,
  at: 1,
});
type Copy = Parameters<Ledger['recall']>[0];
/** The copy that a commit would contain now. */
const copyOf = (ledger: Ledger): Copy => {
  const kept = new Map([...ledger.states()].map(([key, value]) => [key, structuredClone(value)]));
  return { recall: (key) => kept.get(key) };
};
const none: Copy = { recall: () => undefined };

describe('counts of commands and wake-ups', () => {
  const [HOUR, NOW] = [3_600_000, Date.UTC(2026, 5, 10)];

  test('accepted commands and wake-ups are counted for the requested period, per kind or in total', () => {
    const ledger = new Ledger(disk());
    for (const [n, type] of (['Doors', 'Doors', 'Horn'] as const).entries()) ledger.accept({ type, at: NOW + n }, 0);
    for (const n of [0, 1]) ledger.wake(NOW + n, 0);
    expect([ledger.accepted(NOW - 1, NOW + 2), ledger.accepted(NOW, NOW + 2)]).toEqual([3, 2]);
    expect([ledger.accepted(NOW - 1, NOW + 2, 'Doors'), ledger.accepted(NOW - 1, NOW + 2, 'Lights')]).toEqual([2, 0]);
    expect([ledger.wakeUps(NOW - 1, NOW + 1), ledger.wakeUps(NOW, NOW + 1)]).toEqual([2, 1]);
    ledger.wake(NOW + HOUR, NOW);
    expect(ledger.wakeUps(0, NOW + HOUR)).toBe(2);
  });

  test('entries from a clock that was ahead do not block commands until that time', () => {
    const ledger = new Ledger(disk());
    for (let n = 0; n < 5; n++) {
      ledger.accept({ type: 'Doors', at: NOW + 365 * 24 * HOUR + n }, 0);
      ledger.wake(NOW + 365 * 24 * HOUR + n, 0);
    }
    expect([ledger.accepted(NOW - HOUR, NOW), ledger.wakeUps(NOW - HOUR, NOW)]).toEqual([0, 0]);
    ledger.accept({ type: 'Doors', at: NOW }, NOW - HOUR);
    ledger.wake(NOW, NOW - HOUR);
    const later = NOW + 366 * 24 * HOUR;
    expect([ledger.accepted(NOW - HOUR, later), ledger.wakeUps(NOW - HOUR, later)]).toEqual([1, 1]);
  });
});

describe('file and copy of the ledger', () => {
  test('counters used in either the file or the copy are used', async () => {
    const ledger = new Ledger(disk());
    ledger.use('a', 5);
    ledger.use('b', 70);
    const other = new Ledger(disk());
    other.use('a', 7);
    other.use('b', 2);
    other.recall(copyOf(ledger));
    expect([5, 6, 7].map((counter) => other.use('a', counter))).toEqual([false, true, false]);
    expect([2, 6, 7, 70, 71].map((counter) => other.use('b', counter))).toEqual([false, true, true, false, true]);
  });

  test('the copy has every unfinished command, and the last 32 of those in the file', async () => {
    const ledger = new Ledger(disk());
    ledger.set(record('open', 'SentToVehicle'));
    const memory = new Map<string, unknown>();
    const commit = (): void => {
      for (const [key, value] of ledger.states()) memory.set(key, structuredClone(value));
    };
    for (let n = 1; n <= 40; n++) {
      ledger.set(record(`done ${n}`, n % 2 === 0 ? 'Success' : 'Failed'));
      if (n % 3 === 0) commit();
    }
    await ledger.write();
    commit();
    const next = new Ledger(disk());
    next.recall({ recall: (key) => memory.get(key) });
    expect(next.find('open')).toMatchObject({ status: 'SentToVehicle' });
    const remembered = [1, 8, 9, 40].filter((n) => next.find(`done ${n}`) !== undefined);
    expect(remembered).toEqual([9, 40]);
  });

  test('a finished command stays finished, however many more finish before the file is written again', async () => {
    const document = disk();
    const ledger = new Ledger(document);
    ledger.set(record('first', 'SentToVehicle'));
    await ledger.write();
    ledger.set(record('first', 'Success'));
    for (let n = 1; n <= 60; n++) ledger.set(record(`done ${n}`, 'Failed'));
    let next = ledger;
    // Each start commits its state before the file is written. Then the power fails again.
    for (const _start of [1, 2]) {
      const copy = copyOf(next);
      next = new Ledger(disk(document.data));
      next.recall(copy);
      expect(next.unfinished()).toEqual([]);
      expect(['first', 'done 1', 'done 60'].map((id) => next.find(id)?.status)).toEqual([
        'Success',
        'Failed',
        'Failed',
      ]);
    }
  });

  test('old entries of the file do not displace entries missing from it', async () => {
    const document = disk();
    const ledger = new Ledger(document);
    for (let n = 1; n <= 100; n++) ledger.set(record(`old ${n}`, 'Success'));
    await ledger.write();
    ledger.set(record('new', 'Success'));
    let next = ledger;
    for (const _start of [1, 2]) {
      const copy = copyOf(next);
      next = new Ledger(disk(document.data));
      next.recall(copy);
      expect(next.find('new')).toMatchObject({ status: 'Success' });
    }
  });

  test('an unfinished command is kept, however many finish meanwhile', () => {
    const ledger = new Ledger(disk());
    ledger.set(record('open', 'SentToVehicle'));
    for (let n = 1; n <= 300; n++) ledger.set(record(`done ${n}`, 'Failed'));
    expect(ledger.unfinished().map(({ id }) => id)).toEqual(['open']);
    expect(['done 44', 'done 45', 'done 46', 'done 300'].map((id) => ledger.find(id) !== undefined)).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  test('an unchanged ledger returns the same frozen copy, also after the next start', async () => {
    const document = disk();
    const ledger = new Ledger(document);
    ledger.keep(() => ({ programs: 1 }));
    ledger.set(record('one', 'Success'));
    ledger.accept({ type: 'Doors', at: 1 }, 0);
    ledger.use('a', 5);
    await ledger.write();
    const next = new Ledger(disk(structuredClone(document.data)));
    next.recall(copyOf(ledger));
    for (const one of [ledger, next]) {
      const [first, again] = [new Map(one.states()), new Map(one.states())];
      expect(first.size).toBe(5);
      for (const [key, value] of first) {
        expect(Object.isFrozen(value), key).toBe(true);
        expect(again.get(key), key).toBe(value);
      }
    }
    const head = new Map(next.states()).get('remotes');
    next.reported('one');
    expect(new Map(next.states()).get('remotes')).not.toEqual(head);
  });

  test('the newer of file and copy wins', async () => {
    const document = disk();
    const ledger = new Ledger(document);
    ledger.keep(() => ({ programs: 1 }));
    await ledger.write();
    const old = copyOf(ledger);
    ledger.keep(() => ({ programs: 2 }));
    await ledger.write();
    const behind = new Ledger(disk());
    behind.recall(copyOf(ledger));
    expect(behind.kept).toEqual({ programs: 2 });
    const ahead = new Ledger(disk(document.data));
    ahead.recall(old);
    expect(ahead.kept).toEqual({ programs: 2 });
  });

  test('a command that ended in the file but not in the outbox must be reported, and otherwise not', async () => {
    const document = disk();
    const ledger = new Ledger(document);
    ledger.set(record('one', 'SentToVehicle'));
    ledger.set(record('two', 'Success'));
    await ledger.write();
    const before = copyOf(ledger);
    ledger.reported('two');
    const after = copyOf(ledger);
    ledger.set(record('one', 'Success'));
    await ledger.write();
    const untold = (copy: Copy): string[] => {
      const next = new Ledger(disk(document.data));
      next.recall(copy);
      return next.unreported().map(({ id }) => id);
    };
    expect(untold(before).sort()).toEqual(['one', 'two']);
    expect(untold(after)).toEqual(['one']);
    ledger.reported('one');
    expect(untold(copyOf(ledger))).toEqual([]);
    // Without a copy it is unknown which states were reported, and none is reported again.
    expect(untold(none)).toEqual([]);
  });

  test('a union of windows equals one window with all counters', () => {
    const counters = [1, 2, 9, 64, 65, 100, 163];
    for (let mask = 0; mask < 128; mask++) {
      const chosen = counters.filter((_, bit) => ((mask >> bit) & 1) === 1);
      const others = counters.filter((counter) => !chosen.includes(counter));
      if (chosen.length === 0 || others.length === 0) continue;
      const windowOf = (used: number[]) =>
        used.reduce<ReturnType<typeof use>>((window, counter) => use(window, counter), undefined);
      const both = unite(windowOf(chosen), windowOf(others) as never);
      for (const counter of counters) expect(use(both, counter), `${counter} of ${chosen}`).toBeUndefined();
    }
  });
});

describe('damaged ledger files', () => {
  test('a damaged file forgets nothing if the copy exists', async () => {
    const before = carOf();
    const command = signed(commandOf(before.clock, 'Doors', { state: 'Locked' }));
    await before.give(command);
    const memory = new Map([...before.remotes.states()].map(([key, value]) => [key, structuredClone(value)]));
    const { clock } = before;
    const car = carOf({ clock, memory, document: disk(undefined, 1) });
    await car.remotes.resume();
    await car.give(command);
    // The same answer as before, and no action.
    expect(car.reports.map(({ status }) => status)).toEqual(['Success']);
    expect(car.actuated).toEqual([]);
    expect((await car.order('Doors', { state: 'Locked' })).at(-1)).toBe('Success');
  });

  test('a damaged file stays doubtful over starts without the time, whatever is committed meanwhile', async () => {
    const before = carOf();
    const { clock } = before;
    const old = signed(commandOf(clock, 'Doors', { state: 'Locked' }, { expires: clock.now() + 3_600_000 }));
    await before.give(old);
    const memory = new Map<string, unknown>();
    const unknown = carOf({ clock, memory, document: disk(undefined, 1), quality: 'none' });
    await unknown.remotes.resume();
    for (const [key, value] of unknown.remotes.states()) memory.set(key, structuredClone(value));
    const car = carOf({ clock, memory, document: disk(unknown.document.data) });
    await car.remotes.resume();
    await car.give(old);
    expect(car.reports).toEqual([]);
    expect(car.actuated).toEqual([]);
  });

  test('with neither file nor copy, commands issued before the loss are not answered, even after the next start', async () => {
    const before = carOf();
    const { clock } = before;
    const old = signed(commandOf(clock, 'Doors', { state: 'Locked' }, { expires: clock.now() + 3_600_000 }));
    await before.give(old);
    const unknown = carOf({ clock, document: disk(undefined, 1), quality: 'none' });
    await unknown.remotes.resume();
    await unknown.give(old);
    expect(unknown.reports).toEqual([]);
    // The file is readable again and still records the loss.
    const car = carOf({ clock, document: disk(unknown.document.data) });
    await car.remotes.resume();
    await car.give(old);
    expect(car.reports).toEqual([]);
    expect(car.remotes.intake.unanswered).toBe(1);
    const next = carOf({ clock, document: disk(car.document.data) });
    await next.remotes.resume();
    await next.give(old);
    expect(next.reports).toEqual([]);
    clock.advance(6 * 60_000);
    next.repeat();
    expect((await next.order('Doors', { state: 'Locked' })).at(-1)).toBe('Success');
    expect([...unknown.actuated, ...car.actuated, ...next.actuated]).toEqual(['doors.lock']);
  });

  test('a settled loss discards commands issued up to and including its time', () => {
    const ledger = new Ledger(disk(undefined, 1));
    ledger.settle(5_000);
    expect([4_999, 5_000, 5_001].map((issued) => ledger.forgot(issued))).toEqual([true, true, false]);
  });

  test('power cuts leave nothing doubtful, but a restored old copy does once the other knows of a newer one', async () => {
    const step = fc.constantFrom('state', 'commit', 'file');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
        const document = disk();
        const ledger = new Ledger(document);
        const doubtful = (file: LedgerData, copy: Copy): boolean => {
          const next = new Ledger(disk(file));
          next.recall(copy);
          return next.doubtful;
        };
        let memory = copyOf(ledger);
        await ledger.mark(async () => {
          memory = copyOf(ledger);
        });
        /** The first of both, and whether the other has since recorded a newer one. */
        const [file, copy] = [document.data, memory];
        let [committed, filed, knowsCommit, knowsFile] = [false, false, false, false];
        for (const [n, next] of steps.entries()) {
          if (next === 'state') ledger.set(record(`command ${n}`, 'Success'));
          else if (next === 'commit') {
            memory = copyOf(ledger);
            ledger.committed(ledger.revision);
            committed = true;
            knowsFile ||= filed;
          } else {
            await ledger.write();
            filed = true;
            knowsCommit ||= committed;
          }
          expect(doubtful(document.data, memory), `cut after ${steps.slice(0, n + 1)}`).toBe(false);
          expect(doubtful(document.data, copy), `older copy after ${steps.slice(0, n + 1)}`).toBe(knowsCommit);
          expect(doubtful(file, memory), `older file after ${steps.slice(0, n + 1)}`).toBe(knowsFile);
        }
      }),
    );
  });

  test.each<[string, unknown]>([
    ['a list', []],
    ['nothing', null],
    ['other members', { counters: {} }],
  ])('a ledger file that contains %s counts as damaged', async (_name, data) => {
    const car = carOf({ document: disk(data as LedgerData) });
    await car.remotes.resume();
    expect(await car.order('Doors', { state: 'Locked' })).toEqual([]);
  });
});
