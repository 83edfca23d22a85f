/** Permissions of the files of a hub, under a umask that lets every user of the machine read. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { SqliteDatabase } from '../../../hub/database/index.ts';
import { startHub } from '../../../hub/start/hub.ts';
import { openRegistry } from '../../../hub/start/registry.ts';
import { vigie } from '../../rig/bench.ts';
import { MemoryLog } from '../../rig/log.ts';

const FILES = ['hub.sqlite', 'hub.sqlite-wal', 'hub.sqlite-shm'];
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

function folder(): string {
  const above = mkdtempSync(join(tmpdir(), 'vigie-hub-folder-'));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  return above;
}

function modesIn(data: string): Record<string, string> {
  const paths = ['', ...FILES].map((name) => [name, join(data, name)] as const);
  return Object.fromEntries(paths.filter(([, path]) => existsSync(path)).map(([name, path]) => [name, modeOf(path)]));
}

const CLOSED = { '': '700', ...Object.fromEntries(FILES.map((name) => [name, '600'])) };

test('only the user of a hub can read the directory and database that it creates', async () => {
  const data = join(folder(), 'hub');
  const hub = await startHub({ data, port: 0, http: 0, clock: new SystemClock(), log: new MemoryLog() });
  onTestFinished(() => hub.stop());
  expect(modesIn(data)).toEqual(CLOSED);
});

test('only the user of a hub can read the database that `hub add --new` creates', async () => {
  const data = join(folder(), 'hub');
  const words = ['add', 'VF3VGEHVBF0000001', '--fleet', 'north', '--new', '--data', data];
  expect(await vigie('hub', ...words)).toMatchObject({ status: 0 });
  expect(modesIn(data)).toMatchObject({ '': '700', 'hub.sqlite': '600' });
});

test('a hub and its commands restrict a directory and database that every user could read', async () => {
  const data = join(folder(), 'hub');
  mkdirSync(data, { mode: 0o755 });
  const database = await SqliteDatabase.open(join(data, FILES[0] as string));
  onTestFinished(() => database.close());
  const open = (): void => {
    chmodSync(data, 0o755);
    for (const name of FILES) chmodSync(join(data, name), 0o644);
  };
  open();
  const registry = await openRegistry({ data }, new MemoryLog());
  expect(modesIn(data)).toEqual(CLOSED);
  await registry.close();
  open();
  const hub = await startHub({ data, port: 0, http: 0, clock: new SystemClock(), log: new MemoryLog() });
  onTestFinished(() => hub.stop());
  expect(modesIn(data)).toEqual(CLOSED);
});

test('a shared directory such as /tmp stays open; the hub warns and restricts its own files', async () => {
  const data = join(folder(), 'shared');
  mkdirSync(data);
  chmodSync(data, 0o1777);
  const log = new MemoryLog();
  const registry = await openRegistry({ data }, log);
  onTestFinished(() => registry.close());
  expect(modesIn(data)).toMatchObject({ '': '1777', 'hub.sqlite': '600' });
  expect(log.lines.filter(({ event }) => event === 'hub.data.readable')).toHaveLength(1);
});
