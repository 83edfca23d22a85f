/** Shipped profiles whose contents were parsed when the program was bundled. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { prepare, preparedFile } from '../../config/prepared.ts';
import { loadProfile } from '../../config/profile.ts';
import { shippedNames, shippedProfiles } from '../../config/shipped.ts';

const shipped = mkdtempSync(join(tmpdir(), 'vigie-prepared-'));
afterAll(() => rmSync(shipped, { recursive: true, force: true }));

const load = (name: string) => loadProfile(name, { shipped });
const file = join(shipped, 'bench/profile.yaml');
const contents = (): string => prepare(file) as string;
/** Prepared contents that differ from those of the file. */
const told = (): string => contents().replace('"name":"bench"', '"name":"prepared"');

beforeEach(() => {
  rmSync(shipped, { recursive: true });
  cpSync(shippedProfiles, shipped, { recursive: true });
});

test.each(shippedNames(shippedProfiles))('%s is equal whether it was prepared or not', (name) => {
  const read = load(name);
  expect(read.profile).toBeDefined();
  const yaml = join(shipped, name, 'profile.yaml');
  writeFileSync(preparedFile(yaml), prepare(yaml) as string);
  expect(load(name)).toEqual(read);
});

test('prepared contents are used', () => {
  writeFileSync(preparedFile(file), told());
  expect(load('bench').profile?.name).toBe('prepared');
});

describe('the file itself is used', () => {
  test('if it was edited later', () => {
    writeFileSync(preparedFile(file), told());
    writeFileSync(file, readFileSync(file, 'utf8').replace('name: bench', 'name: mine'));
    expect(load('bench').profile?.name).toBe('mine');
  });

  test('if its prepared contents are truncated or invalid', () => {
    for (const text of [contents().slice(0, 1_000), '', 'null', '{}', '[]', '{"text":1}']) {
      writeFileSync(preparedFile(file), text);
      expect(load('bench').profile?.name, text).toBe('bench');
    }
  });

  test('if it is not a shipped profile', () => {
    writeFileSync(preparedFile(file), told());
    expect(loadProfile(file, { shipped: shippedProfiles }).profile?.name).toBe('bench');
  });
});

test.each([
  ['has faults', 'profile: 1\nname: [1'],
  ['contains numbers that JSON cannot represent', 'profile: .inf'],
])('no prepared contents are made for a file that %s', (_, text) => {
  writeFileSync(file, text);
  expect(prepare(file)).toBeUndefined();
});
