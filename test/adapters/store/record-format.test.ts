/** The format number of the stored records. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimFormat, FORMAT, readFormat } from '../../../adapters/store/record-format.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-format-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
/** A folder with records as an agent leaves it. */
const records = async (): Promise<void> => {
  await claimFormat(folder);
  write('starts.json', '[]');
};

test('a new folder gets the number in both files without a fault, and keeps it', async () => {
  expect(readFormat(folder)).toEqual({ format: FORMAT });
  expect(readFormat(join(folder, 'absent'))).toEqual({ format: FORMAT });
  write('lock', '');
  expect(await claimFormat(folder)).toEqual({});
  expect([read('version'), read('version.copy')]).toEqual([`${FORMAT}\n`, `${FORMAT}\n`]);
  await records();
  expect(await claimFormat(folder)).toEqual({});
});

test('a folder used only by a hub counts as new for an agent', async () => {
  mkdirSync(join(folder, 'hub'));
  expect(readFormat(folder)).toEqual({ format: FORMAT });
  expect(await claimFormat(folder)).toEqual({});
});

test('records of a newer agent are refused and left unchanged, whichever file contains its number', async () => {
  await records();
  for (const [name, other] of [
    ['version', 'version.copy'],
    ['version.copy', 'version'],
  ] as const) {
    write(name, '99\n');
    write(other, '');
    expect(readFormat(folder)).toMatchObject({ format: 99 });
    await expect(claimFormat(folder)).rejects.toThrow(/have format 99, this agent knows 1: run the newer agent/);
    expect([read(name), read(other)]).toEqual(['99\n', '']);
  }
});

test.each(['', 'two', '\u0000\u0001', '0', '-1', '1.5', '1234567'])(
  'a file version containing %j is moved aside and written again',
  async (text) => {
    await records();
    write('version', text);
    const before = readdirSync(folder);
    expect(await claimFormat(folder)).toEqual({ fault: expect.stringMatching(/version must hold the number/) });
    expect([read('version'), read('version.damaged')]).toEqual([`${FORMAT}\n`, text]);
    expect(readdirSync(folder)).toEqual([...before, 'version.damaged'].sort());
    expect(await claimFormat(folder)).toEqual({});
    write('version', 'three');
    await claimFormat(folder);
    expect([read('version.damaged'), read('version.damaged.2')]).toEqual([text, 'three']);
  },
);

test('one missing file, or both, are reported and written again', async () => {
  await records();
  rmSync(join(folder, 'version'));
  expect(await claimFormat(folder)).toEqual({ fault: `${join(folder, 'version')} is gone` });
  rmSync(join(folder, 'version.copy'));
  rmSync(join(folder, 'version'));
  expect((await claimFormat(folder)).fault).toMatch(/version is gone; .*version\.copy is gone/);
  expect([read('version'), read('version.copy')]).toEqual([`${FORMAT}\n`, `${FORMAT}\n`]);
});

test('a folder in place of the file version is moved aside with its contents', async () => {
  await records();
  rmSync(join(folder, 'version'));
  mkdirSync(join(folder, 'version'));
  write(join('version', 'kept'), 'k');
  expect(await claimFormat(folder)).toEqual({ fault: expect.any(String) });
  expect([read('version'), read(join('version.damaged', 'kept'))]).toEqual([`${FORMAT}\n`, 'k']);
});

test('a failure to write the number is reported, and the records stay usable', async () => {
  await records();
  write('version', '');
  // A folder cannot be replaced by a file, which simulates a disk that refuses the write.
  mkdirSync(join(folder, 'version.next'));
  expect(await claimFormat(folder)).toEqual({
    fault: expect.any(String),
    refused: expect.stringContaining('version.next'),
  });
  expect(read('version')).toBe('');
});

test('files that cannot be read do not count as damaged and stay unchanged', async () => {
  await records();
  for (const name of ['version', 'version.copy']) {
    // A link to itself: the system refuses to open it with ELOOP.
    rmSync(join(folder, name));
    symlinkSync(name, join(folder, name));
    const before = readdirSync(folder);
    const refusal = { code: 'store.unreadable', where: join(folder, name) };
    expect(() => readFormat(folder)).toThrow(expect.objectContaining(refusal));
    await expect(claimFormat(folder)).rejects.toMatchObject(refusal);
    expect(readdirSync(folder)).toEqual(before);
    rmSync(join(folder, name));
    write(name, '1\n');
  }
});
