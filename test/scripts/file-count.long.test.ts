import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/file-count/index.ts', import.meta.url));
const page = readFileSync(new URL('../../scripts/file-count/files.md', import.meta.url), 'utf8');

/** Listed files by title. */
function listsOf(text: string): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, string[]>();
  for (const [, title = '', count, list = ''] of text.matchAll(/^\*\*(.+): (\d+)\*\*\n\n((?:- .+\n)+)/gm)) {
    const files = [...list.matchAll(/^- `(.+\/)` (.+)$/gm)].flatMap(([, folder = '', names = '']) =>
      names.split(', ').map((name) => `${folder}${name}.ts`),
    );
    expect(files, title).toHaveLength(Number(count));
    lists.set(title, files);
  }
  return lists;
}

/** Margin for disk work that finishes while a command is counted, in files. */
const DISK = 4;

test('a frame and a command call no more of our files than files.md lists', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const measured = listsOf(stdout);
  const written = listsOf(page);
  expect([...written.keys()]).toEqual([...measured.keys()]);
  expect(measured.size).toBe(6);
  for (const [title, files] of measured) {
    const listed = written.get(title) ?? [];
    const news = files.filter((file) => !listed.includes(file));
    const advice = `${title}: ${news.join(', ')}. If that has a reason, run \`npm run count-files -- --write\``;
    const spread = title.startsWith('For each frame') ? 0 : DISK;
    expect(files.length, advice).toBeLessThanOrEqual(listed.length + spread);
  }
}, 120_000);
