/** Each number arrives or is in a gap message, whatever damage the journal files suffer between two starts. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs, stride } from '../../rig/runs.ts';
import {
  type Damage,
  damaged,
  faultsOf,
  filesIn,
  type Generations,
  type Left,
  ofNewest,
  putFiles,
  Run,
  segmentsOf,
  startThrice,
  talked,
} from './journal-rig.ts';

let root: string;
let made = 0;
const folder = (): string => join(root, String(made++));
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'vigie-damage-'));
});
afterAll(() => rmSync(root, { recursive: true }));

test('an undamaged journal loses nothing, and its starts report nothing', async () => {
  for (const stopped of [true, false]) {
    for (let seed = 1; seed <= runs(3, 9); seed++) {
      const directory = folder();
      const left = await talked(directory, seed, 60, stopped);
      expect(segmentsOf(left.files).length).toBeGreaterThan(2);
      const after = await startThrice(directory, left.receiver);
      expect(faultsOf(after, left.unacknowledged)).toEqual([]);
      for (const { log, doubtful } of after.starts) expect([log, doubtful]).toEqual([[], false]);
    }
  }
});

test('messages of a missing segment are in exactly one gap message, the log names them, and later starts are quiet', async () => {
  let lost = 0;
  for (const [seed, stopped] of [
    [3, true],
    [5, false],
  ] as const) {
    const left = await talked(folder(), seed, 60, stopped);
    for (const name of segmentsOf(left.files).slice(0, -1)) {
      const directory = folder();
      const files = new Map(left.files);
      files.delete(name);
      putFiles(directory, files);
      const after = await startThrice(directory, left.receiver);
      expect(faultsOf(after, left.unacknowledged)).toEqual([]);
      const [first, ...later] = after.starts.map(({ log }) => log.filter(({ event }) => event === 'outbox.lost'));
      const gaps = after.receiver.gaps.filter((gap) => gap.lost === undefined).sort((a, b) => a.class - b.class);
      expect(first?.map(({ fields }) => [fields?.['class'], fields?.['messages']])).toEqual(
        gaps.map((gap) => [gap.class, gap.count]),
      );
      expect(later).toEqual([[], []]);
      lost += gaps.reduce((sum, { count }) => sum + count, 0);
    }
  }
  expect(lost).toBeGreaterThan(20);
});

/** Descriptions of everything that is wrong after this damage. */
async function trouble(left: Left, damage: Damage, generations: Generations): Promise<string[]> {
  const directory = folder();
  putFiles(directory, damaged(left.files, damage, generations));
  const after = await startThrice(directory, left.receiver);
  rmSync(directory, { recursive: true });
  const faults = faultsOf(after, ofNewest(left.files, damage) ? left.recent : left.unacknowledged);
  const [, ...later] = after.starts;
  for (const { log, doubtful } of later) {
    if (doubtful) faults.push('a later start is in doubt of commands');
    for (const { event, fields } of log) faults.push(`a later start says ${event} ${JSON.stringify(fields)}`);
  }
  return faults;
}

test('every number arrives or is in one gap message if any segment is missing, empty, swapped or copied', async () => {
  for (const [seed, stopped] of [
    [3, true],
    [5, false],
    [8, true],
  ].slice(0, runs(1, 3)) as [number, boolean][]) {
    const left = await talked(folder(), seed, 60, stopped);
    const { length } = segmentsOf(left.files);
    for (let segment = 0; segment < length; segment++) {
      const damages: Damage[] = (['missing', 'empty', 'zeros'] as const).map((kind) => ({ kind, segment, at: 0 }));
      damages.push({ kind: 'doubled', segment });
      for (let other = 0; other < length; other++) {
        if (other !== segment) damages.push({ kind: 'copied', segment, other });
        if (other > segment) damages.push({ kind: 'swapped', segment, other });
      }
      for (const damage of damages) {
        expect([damage, stopped, await trouble(left, damage, 'both')]).toEqual([damage, stopped, []]);
      }
    }
  }
});

test('a segment file with a wrong number in its name is found by its header, and nothing is lost', async () => {
  for (const [seed, stopped] of [
    [3, true],
    [5, false],
  ] as const) {
    const left = await talked(folder(), seed, 60, stopped);
    for (const name of segmentsOf(left.files)) {
      for (const manifests of ['both', 'none'] as const) {
        const directory = folder();
        const files = new Map([...left.files].filter(([file]) => manifests === 'both' || !file.startsWith('manifest')));
        files.set('00007777.journal', files.get(name)!);
        files.delete(name);
        putFiles(directory, files);
        const after = await startThrice(directory, left.receiver);
        const faults = [name, manifests, faultsOf(after, left.unacknowledged)];
        const events = after.starts.map(({ log }) => log.map(({ event }) => event));
        expect([...faults, ...events]).toEqual([name, manifests, [], ['store.misnamed'], [], []]);
        expect(after.starts.some(({ doubtful }) => doubtful)).toBe(false);
      }
    }
  }
});

test('numbers in a waiting gap message neither arrive nor are reported again if their record is lost', async () => {
  // The record is in a segment that is overwritten by a copy of another, or in a newest one that is cut in its first
  // group.
  for (const [seed, rounds, damage] of [
    [1, 32, { kind: 'copied', segment: 0, other: 3 }],
    [367_004_370, 26, { kind: 'cut', segment: 4, at: 105 }],
  ] as const) {
    expect([damage, await trouble(await talked(folder(), seed, rounds, false), damage, 'both')]).toEqual([damage, []]);
  }
});

test('every number arrives or is in one gap message if a small segment is cut or changed at any byte', async () => {
  const directory = folder();
  const left = await talked(directory, 7, 1, true);
  // The next start truncates the last segment to its content and begins another.
  const run = await Run.begin(directory, 2, left.receiver, 1 << 20);
  run.sayAll();
  await run.commit();
  await run.end();
  const files = filesIn(directory);
  const names = segmentsOf(files);
  const segment = names.length - 2;
  const { length } = files.get(names[segment]!)!;
  expect(length).toBeLessThan(600);
  for (let byte = 0; byte < length; byte += stride(11)) {
    const damages: Damage[] = [
      { kind: 'cut', segment, at: byte },
      { kind: 'flip', segment, at: 8 * byte + (byte % 8) },
    ];
    for (const damage of damages) {
      expect([damage, await trouble({ ...left, files }, damage, 'both')]).toEqual([damage, []]);
    }
  }
});

const places = { segment: fc.nat(20), other: fc.nat(20), at: fc.nat() };
const anyDamage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constantFrom('missing', 'empty', 'zeros', 'doubled'), ...places }),
  fc.record({ kind: fc.constantFrom('flip', 'cut'), ...places }),
  fc.record({ kind: fc.constantFrom('flip', 'cut'), ...places }),
  fc.record({ kind: fc.constantFrom('swapped', 'copied'), ...places }),
) as fc.Arbitrary<Damage>;

test('every number arrives or is in one gap message whatever happens to a segment and the manifest', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1 << 30 }),
      fc.integer({ min: 5, max: 90 }),
      fc.boolean(),
      fc.array(fc.tuple(anyDamage, fc.constantFrom<Generations>('both', 'newest', 'older', 'newest damaged', 'none')), {
        minLength: 6,
        maxLength: 6,
      }),
      async (seed, rounds, stopped, damages) => {
        const left = await talked(folder(), seed, rounds, stopped);
        for (const [damage, generations] of damages) {
          // No other file knows the newest segment, so only one of the two may be lost.
          const known = !ofNewest(left.files, damage) || generations === 'both' || generations === 'newest';
          const given = known ? generations : 'both';
          expect([damage, given, await trouble(left, damage, given)]).toEqual([damage, given, []]);
        }
      },
    ),
    { numRuns: runs(8, 250) },
  );
});
