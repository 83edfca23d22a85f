/** The format of the folder of records, up and down. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatOf, type Migration, migrate, migrations, newest } from '../../../adapters/service/data-format.ts';
import { mendFormat, needsNoStep } from '../../../adapters/service/format-mending.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-format-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

test('a new folder has the newest format at once; one from before the number has the first', () => {
  expect(formatOf(folder)).toBeUndefined();
  expect(migrate(folder)).toEqual([]);
  expect(formatOf(folder)).toBe(newest());
  rmSync(join(folder, 'version'));
  write('boot.json', '{}');
  expect(formatOf(folder)).toBe(1);
  expect(migrate(folder)).toHaveLength(newest() - 1);
  expect(read('version')).toBe(`${newest()}\n`);
  expect(migrate(folder)).toEqual([]);
});

test('a new folder needs no step, nor does one of the newest format without a number; one of an older agent does', () => {
  expect(needsNoStep(folder)).toBe(true);
  write('boot.json', '{}');
  expect(needsNoStep(folder)).toBe(false);
  migrate(folder);
  rmSync(join(folder, 'version'));
  expect(needsNoStep(folder)).toBe(true);
  write('version', '1\n');
  expect(needsNoStep(folder)).toBe(false);
});

test('what an older format does not know is there again after the way down and up', () => {
  write('boot.json', 'b');
  migrate(folder);
  write('configuration.json', 'c');
  write(join('configuration', '1.yaml'), 'y');
  expect(migrate(folder, migrations, 1)).toHaveLength(newest() - 1);
  expect(formatOf(folder)).toBe(1);
  expect(existsSync(join(folder, 'configuration.json'))).toBe(false);
  migrate(folder);
  expect([read('boot.json'), read('configuration.json'), read(join('configuration', '1.yaml'))]).toEqual([
    'b',
    'c',
    'y',
  ]);
});

test('a folder of a newer agent is left alone, and so is one whose number cannot be read', () => {
  write('version', '99\n');
  expect(() => migrate(folder)).toThrow(/newer agent/);
  expect(read('version')).toBe('99\n');
  write('version', 'two');
  expect(() => migrate(folder)).toThrow(/number of the format/);
  rmSync(join(folder, 'version'));
  mkdirSync(join(folder, 'version'));
  expect(() => migrate(folder)).toThrow();
  rmSync(join(folder, 'version'), { recursive: true });
  expect(() => migrate(folder, migrations, 0)).toThrow(/formats are/);
  expect(() => migrate(folder, migrations, newest() + 1)).toThrow(/formats are/);
});

test('property: cut off anywhere, the way is begun again and comes to the same', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 6 }), fc.integer({ min: 1, max: 4 }), (cuts, to) => {
      const here = mkdtempSync(join(folder, 'run-'));
      writeFileSync(join(here, 'records'), 'r');
      const planned = [...cuts];
      /** Fails when its turn to be cut has come, before or after its work. */
      const cut = (): void => {
        if (planned.shift() === 1) throw new Error('the power is gone');
      };
      const step = (number: number): Migration => ({
        to: number,
        what: `step ${number}`,
        names: [`part-${number}`],
        up(place) {
          cut();
          writeFileSync(join(place, `part-${number}`), 'x');
          cut();
        },
        down(place) {
          cut();
          rmSync(join(place, `part-${number}`), { force: true });
          cut();
        },
      });
      const steps = [2, 3, 4].map(step);
      const go = (target: number): void => {
        for (let tries = 0; ; tries++) {
          try {
            migrate(here, steps, target);
            return;
          } catch (error) {
            if (tries > 20) throw error;
          }
        }
      };
      go(4);
      go(to);
      expect(formatOf(here)).toBe(to);
      const parts = readdirSync(here).filter((name) => name.startsWith('part-'));
      expect(parts).toEqual([2, 3, 4].filter((number) => number <= to).map((number) => `part-${number}`));
      expect(readFileSync(join(here, 'records'), 'utf8')).toBe('r');
    }),
    { numRuns: 50 },
  );
});

describe('a number that cannot be read', () => {
  /** A folder of the newest format, as an agent leaves it. */
  const records = (): void => {
    write('boot.json', '{}');
    migrate(folder);
    write('starts.json', '[]');
  };

  test.each([
    ['is empty', ''],
    ['is something else', 'two'],
    ['is bytes', '\u0000\u0001'],
    ['is 0', '0'],
  ])('that %s is made up for by its copy, and put aside', (_, text) => {
    records();
    write('version', text);
    const before = readdirSync(folder);
    expect(mendFormat(folder)).toEqual({ format: newest(), said: expect.stringContaining('version.copy') });
    expect([read('version'), read('version.damaged')]).toEqual([`${newest()}\n`, text]);
    expect(readdirSync(folder)).toEqual([...before, 'version.damaged'].sort());
    expect(mendFormat(folder)).toBeUndefined();
    expect(migrate(folder)).toEqual([]);
    // The next one that is damaged has a place of its own.
    write('version', 'three');
    mendFormat(folder);
    expect([read('version.damaged'), read('version.damaged.2')]).toEqual([text, 'three']);
  });

  test('without a copy it is made up for by what only that format has', () => {
    records();
    write('version', 'x');
    write('version.copy', 'x');
    expect(mendFormat(folder)).toMatchObject({ format: newest(), said: expect.stringContaining('has in it') });
    expect([read('version'), read('version.copy')]).toEqual([`${newest()}\n`, `${newest()}\n`]);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    write('boot.json', '{}');
    write('version', 'x');
    expect(mendFormat(folder)).toMatchObject({ format: 1 });
  });

  test('of a newer agent is still that of a newer agent', () => {
    records();
    write('version.copy', '99\n');
    write('version', '');
    expect(mendFormat(folder)).toMatchObject({ format: 99 });
    expect(() => migrate(folder)).toThrow(/newer agent/);
  });

  test('that is gone is not taken for the first format', () => {
    records();
    rmSync(join(folder, 'version'));
    expect(mendFormat(folder)).toMatchObject({ format: newest(), said: expect.stringContaining('version is gone') });
    expect(read('version')).toBe(`${newest()}\n`);
  });

  test('because a folder has its name is made up for too', () => {
    records();
    rmSync(join(folder, 'version'));
    mkdirSync(join(folder, 'version'));
    write(join('version', 'kept'), 'k');
    expect(mendFormat(folder)).toEqual({ format: newest(), said: expect.any(String) });
    expect([read('version'), read(join('version.damaged', 'kept'))]).toEqual([`${newest()}\n`, 'k']);
  });

  test('on a disk that takes nothing is known all the same', () => {
    records();
    write('version', '');
    // A folder that cannot be replaced by a file stands for a disk that refuses.
    mkdirSync(join(folder, 'version.next'));
    expect(mendFormat(folder)).toMatchObject({ format: newest(), refused: expect.stringContaining('version.next') });
    expect(read('version')).toBe('');
  });

  test('is not made up for where nothing is wrong: an older folder gets its copy, an empty one nothing', () => {
    expect([mendFormat(folder), readdirSync(folder)]).toEqual([undefined, []]);
    records();
    rmSync(join(folder, 'version.copy'));
    expect(mendFormat(folder)).toBeUndefined();
    expect(read('version.copy')).toBe(`${newest()}\n`);
  });
});
