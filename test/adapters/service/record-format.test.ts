/** The number of the format of the records. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimFormat, FORMAT, readFormat } from '../../../adapters/service/record-format.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-format-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
/** A folder with records, as an agent leaves it. */
const records = (): void => {
  claimFormat(folder);
  write('starts.json', '[]');
};

test('a new folder gets the number in both files without a fault, and keeps them', () => {
  expect(readFormat(folder)).toEqual({ format: FORMAT });
  expect(readFormat(join(folder, 'absent'))).toEqual({ format: FORMAT });
  write('lock', '');
  expect(claimFormat(folder)).toEqual({});
  expect([read('version'), read('version.copy')]).toEqual([`${FORMAT}\n`, `${FORMAT}\n`]);
  records();
  expect(claimFormat(folder)).toEqual({});
});

test('records of a newer agent are refused and left as they are, by either file', () => {
  records();
  for (const [name, other] of [
    ['version', 'version.copy'],
    ['version.copy', 'version'],
  ] as const) {
    write(name, '99\n');
    write(other, '');
    expect(readFormat(folder)).toMatchObject({ format: 99 });
    expect(() => claimFormat(folder)).toThrow(/have format 99, this agent knows 1: run the newer agent/);
    expect([read(name), read(other)]).toEqual(['99\n', '']);
  }
});

test.each(['', 'two', '\u0000\u0001', '0', '-1', '1.5', '1234567'])(
  'a file version that holds %j is kept aside and written again',
  (text) => {
    records();
    write('version', text);
    const before = readdirSync(folder);
    expect(claimFormat(folder)).toEqual({ fault: expect.stringMatching(/version must hold the number/) });
    expect([read('version'), read('version.damaged')]).toEqual([`${FORMAT}\n`, text]);
    expect(readdirSync(folder)).toEqual([...before, 'version.damaged'].sort());
    expect(claimFormat(folder)).toEqual({});
    write('version', 'three');
    claimFormat(folder);
    expect([read('version.damaged'), read('version.damaged.2')]).toEqual([text, 'three']);
  },
);

test('a missing file is named and written again, and so are both', () => {
  records();
  rmSync(join(folder, 'version'));
  expect(claimFormat(folder)).toEqual({ fault: `${join(folder, 'version')} is gone` });
  rmSync(join(folder, 'version.copy'));
  rmSync(join(folder, 'version'));
  expect(claimFormat(folder).fault).toMatch(/version is gone; .*version\.copy is gone/);
  expect([read('version'), read('version.copy')]).toEqual([`${FORMAT}\n`, `${FORMAT}\n`]);
});

test('a folder in place of the file version is kept aside with its contents', () => {
  records();
  rmSync(join(folder, 'version'));
  mkdirSync(join(folder, 'version'));
  write(join('version', 'kept'), 'k');
  expect(claimFormat(folder)).toEqual({ fault: expect.any(String) });
  expect([read('version'), read(join('version.damaged', 'kept'))]).toEqual([`${FORMAT}\n`, 'k']);
});

test('a disk that refuses the number is reported, and the records can be worked with', () => {
  records();
  write('version', '');
  // A folder that cannot be replaced by a file stands for a disk that refuses.
  mkdirSync(join(folder, 'version.next'));
  expect(claimFormat(folder)).toEqual({
    fault: expect.any(String),
    refused: expect.stringContaining('version.next'),
  });
  expect(read('version')).toBe('');
});
