/** The key of the unit's own interface: kept across starts, and replaced if its files are unusable. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OwnKey, ownKey } from '../../../adapters/keys/index.ts';
import { MemoryLog } from '../../rig/log.ts';

let folder: string;
let directory: string;
let log: MemoryLog;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-own-key-'));
  directory = join(folder, 'interface-key');
  log = new MemoryLog();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (at = directory): Promise<OwnKey | undefined> => ownKey(at, 'interface', ['Doors'], log);
const signs = async (own: OwnKey | undefined): Promise<boolean> =>
  (await own?.signer.sign((counter) => Uint8Array.of(counter & 0xff))) !== undefined;

test('the key is the same at every start', async () => {
  const first = await open();
  expect((await open())?.key.kid).toBe(first?.key.kid);
  expect(log.lines).toEqual([]);
});

test.each<[string, () => void]>([
  ['a trust file that is damaged', () => writeFileSync(join(directory, 'trust.json'), '{')],
  ['a private key that is damaged', () => writeFileSync(join(directory, 'interface.pem'), 'no key')],
  ['a private key that is gone', () => rmSync(join(directory, 'interface.pem'))],
  ['a trust file that is gone', () => rmSync(join(directory, 'trust.json'))],
  ['a private key that others can read', () => chmodSync(join(directory, 'interface.pem'), 0o644)],
  [
    'a file in place of the folder',
    () => {
      rmSync(directory, { recursive: true });
      writeFileSync(directory, '');
    },
  ],
])('%s is moved aside and a new key is made', async (_, damage) => {
  for (const times of [1, 2]) {
    const kid = (await open())?.key.kid;
    damage();
    const own = await open();
    expect(own?.key.kid).not.toBe(kid);
    expect(await signs(own)).toBe(true);
    expect(readdirSync(folder).filter((name) => name.includes('damaged'))).toHaveLength(times);
    expect((await open())?.key.kid).toBe(own?.key.kid);
  }
  expect(log.lines.map(({ level }) => level)).toEqual(['error', 'error']);
});

test('a file that cannot be read does not count as damaged: the key is kept', async () => {
  const kid = (await open())?.key.kid;
  for (const name of ['interface.pem', 'trust.json']) {
    const file = join(directory, name);
    const contents = readFileSync(file);
    // A link to itself: the system refuses to open it with ELOOP.
    rmSync(file);
    symlinkSync(name, file);
    await expect(open()).rejects.toMatchObject({ code: 'store.unreadable', where: file });
    rmSync(file);
    writeFileSync(file, contents, { mode: 0o600 });
    expect((await open())?.key.kid).toBe(kid);
  }
  expect(log.lines).toEqual([]);
});

test('a disk that cannot be written leaves the unit without a key', async () => {
  const nowhere = join(folder, 'file', 'interface-key');
  writeFileSync(join(folder, 'file'), '');
  expect(await open(nowhere)).toBeUndefined();
  expect(log.lines.map(({ level }) => level)).toEqual(['error', 'error']);
  expect(existsSync(nowhere)).toBe(false);
});
