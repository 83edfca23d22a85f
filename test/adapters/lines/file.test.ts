import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileLine } from '../../../adapters/lines/index.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { Heard } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-file-line-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Advances the clock by polling intervals until `holds` returns true. */
async function looking(clock: VirtualClock, holds: () => boolean): Promise<void> {
  while (!holds()) await clock.settle(250, 250);
}

describe('a growing file', () => {
  it('is read from its start and as it grows, and continues there when it is reopened', async () => {
    const path = join(folder, 'grows');
    const clock = new VirtualClock();
    const open = fileLine({ path, clock });
    writeFileSync(path, 'a'.repeat(200_000));
    const first = new Heard();
    const line = await open(first);
    await looking(clock, () => first.text.length === 200_000);
    appendFileSync(path, 'b');
    await looking(clock, () => first.text.endsWith('b'));
    await line.close();
    appendFileSync(path, 'c');
    const second = new Heard();
    const again = await open(second);
    await looking(clock, () => second.text === 'c');
    await again.close();
    expect([first.text.length, first.closings, second.closings]).toEqual([200_001, [], []]);
  });

  it.each<[string, RegExp, (path: string) => void]>([
    ['cut', /cut/, (path) => writeFileSync(path, 'n')],
    [
      'replaced',
      /replaced/,
      (path) => {
        renameSync(path, `${path}.1`);
        writeFileSync(path, 'n');
      },
    ],
    [
      'removed',
      /ENOENT/,
      (path) => {
        rmSync(path);
      },
    ],
  ])('that was %s ends the line, and the new content is read from its start', async (name, reason, change) => {
    const path = join(folder, name);
    const clock = new VirtualClock();
    const open = fileLine({ path, clock });
    writeFileSync(path, 'old content');
    const first = new Heard();
    await open(first);
    await looking(clock, () => first.text === 'old content');
    change(path);
    await looking(clock, () => first.closings.length > 0);
    expect(first.closings).toEqual([expect.stringMatching(reason)]);
    if (name === 'removed') {
      await expect(open(new Heard())).rejects.toMatchObject({ code: 'input.unreadable' });
      writeFileSync(path, 'n');
    }
    const second = new Heard();
    const line = await open(second);
    await looking(clock, () => second.text === 'n');
    await line.close();
  });

  it('cannot be written to', async () => {
    const path = join(folder, 'written');
    writeFileSync(path, '');
    const line = await fileLine({ path, clock: new VirtualClock() })(new Heard());
    await expect(line.write(new Uint8Array(1))).rejects.toThrow(/written: nothing can be written there/);
    await line.close();
  });

  it.each([
    ['/dev/null', /it is a device; write serial:/],
    [folder, /it is a directory/],
    [join(folder, 'absent'), /there is no such device or file/],
  ])('%s is refused', async (path, message) => {
    await expect(fileLine({ path, clock: new VirtualClock() })(new Heard())).rejects.toThrow(message);
  });
});

it('a named pipe waits for writers, survives them, and can be closed', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const heard = new Heard();
  const line = await fileLine({ path, clock: new VirtualClock() })(heard);
  for (const text of ['one', 'two']) {
    const writer = await open(path, 'w');
    await writer.writeFile(text);
    await writer.close();
    await heard.until(() => heard.text.endsWith(text));
  }
  await expect(line.write(new Uint8Array(1))).rejects.toMatchObject({ code: 'input.unreadable' });
  await line.close();
  await line.close();
  expect([heard.text, heard.closings]).toEqual(['onetwo', []]);
});
