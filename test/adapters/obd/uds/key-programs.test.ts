/** Programs that compute keys: they are really started, and refused if other users could have replaced them. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hexOf } from '../../../../adapters/obd/hex.ts';
import { keyPrograms } from '../../../../adapters/obd/uds/index.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, script: string, mode = 0o755): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), mode);
}

const seed = Uint8Array.of(0x0a, 0xff);

async function keyOf(name: string, { constant = new Uint8Array(0), signal = new AbortController().signal } = {}) {
  const { hooks, problems } = keyPrograms(folder);
  expect(problems).toEqual([]);
  const key = await hooks.get(name)?.({ seed, constant, level: 0x11, signal });
  return key === undefined ? undefined : hexOf(key);
}

describe('a key program', () => {
  it('receives level, seed and constant, and prints the key', async () => {
    program('acme', 'read -r level seed constant; echo "$level$seed$constant"');
    expect(await keyOf('acme', { constant: Uint8Array.of(0x5a) })).toBe('110AFF5A');
    expect(await keyOf('acme')).toBe('110AFF');
  });

  it('has no arguments, and only the search path as environment', async () => {
    process.env['TEST_SECRET'] = '1';
    try {
      program('acme', `read -r line; [ $# = 0 ] && [ -n "$PATH" ] && [ -z "$TEST_SECRET" ] && echo 01`);
      expect(await keyOf('acme')).toBe('01');
    } finally {
      delete process.env['TEST_SECRET'];
    }
  });

  it.each([
    ['that fails', 'echo 0102; exit 3', /it ended with status 3/],
    ['that prints no key', 'echo "no such seed"', /not a key in hexadecimal/],
    ['that prints nothing', 'true', /not a key in hexadecimal/],
    ['that prints half a byte', 'echo 012', /not a key in hexadecimal/],
    ['that prints for ever', 'while :; do echo 0102030405060708; done', /it gave no key/],
    ['that reads nothing', 'exec <&-; exit 1', /it ended with status 1/],
    ['that kills itself', 'kill -9 $$', /it gave no key: SIGKILL/],
  ])('%s ends the command, and its output is not logged', async (_, script, message) => {
    program('acme', script);
    const failed = keyOf('acme');
    await expect(failed).rejects.toMatchObject({ code: 'command.actuation', where: join(folder, 'acme') });
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.not.toThrow(/0102/);
  });

  it('that hangs is ended when its key is no longer needed', async () => {
    program('acme', 'exec sleep 600');
    const over = new AbortController();
    const failed = keyOf('acme', { signal: over.signal });
    over.abort();
    await expect(failed).rejects.toThrow(/it was ended before it gave a key/);
  });
});

describe('the folder of key programs', () => {
  it('yields the programs by name, and skips invalid names', () => {
    program('acme', 'true');
    program('.hidden', 'true');
    program('acme.old', 'true');
    program('9', 'true');
    mkdirSync(join(folder, 'more'), { mode: 0o755 });
    const { hooks, problems } = keyPrograms(folder);
    expect([...hooks.keys()]).toEqual(['acme']);
    expect(problems).toEqual([]);
  });

  it('reports faulty programs, and offers the others', () => {
    program('acme', 'true');
    program('open', 'true', 0o777);
    program('text', 'true', 0o644);
    const { hooks, problems } = keyPrograms(folder);
    expect([...hooks.keys()]).toEqual(['acme']);
    expect(problems.map(({ code, message }) => `${code} ${message}`).sort()).toEqual([
      expect.stringMatching(/^configuration.wrong .*open: users other than the owner .*chmod go-w/),
      expect.stringMatching(/^configuration.wrong .*text: .*make it executable/),
    ]);
  });

  it.each(['xor', 'add', 'complement'])('refuses a program named %s, which is a built-in method', (name) => {
    program('acme', 'true');
    program(name, 'echo 01');
    const { hooks, problems } = keyPrograms(folder);
    expect([...hooks.keys()]).toEqual(['acme']);
    expect(problems).toMatchObject([{ code: 'configuration.wrong', where: join(folder, name) }]);
    expect(problems[0]?.message).toMatch(new RegExp(`never started: ${name} is .*rename it`));
  });

  it('yields no program if others can write to it, or if it is missing', () => {
    program('acme', 'true');
    chmodSync(folder, 0o777);
    expect(keyPrograms(folder)).toMatchObject({ hooks: new Map(), problems: [{ code: 'configuration.wrong' }] });
    const away = keyPrograms(join(folder, 'away'));
    expect(away).toMatchObject({ hooks: new Map(), problems: [{ code: 'input.unreadable' }] });
  });
});
