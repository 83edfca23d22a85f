/**
 * `npm run fleet:requests`: measures pages of the interface of a hub on PostgreSQL with one and with 20 million messages,
 * and writes `scripts/fleet/requests.md`. Starts no further step after `--minutes`: the same command then continues, and
 * exits with 3 until all is measured. The databases remain in the folder: delete its `figures.json` to measure again.
 *
 *     npm run fleet:requests -- --folder /tmp/requests
 *     npm run fleet:requests -- --folder /tmp/few --sizes 50x200,250x400 --rounds 10     # prints the table only
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresRig } from '../../test/rig/postgres.ts';
import { fillDatabase, MIN_MESSAGES } from './fill.ts';
import { measureRequests } from './requests.ts';
import { type FilledSize, requestTable, type SizeFigures } from './requests-table.ts';

/** Figures of the sizes that are measured, in `figures.json` of the folder. */
type Measured = Record<string, SizeFigures>;

const DEFAULTS = {
  folder: join(tmpdir(), 'vigie-requests'),
  sizes: '1000x1000,10000x2000',
  rounds: '100',
  minutes: '6',
};
/** Exit code if steps are left. */
const UNFINISHED = 3;

/** Settings while a database is filled. If the machine stops, its folder must be deleted. */
const FILLING = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  shared_buffers: '1GB',
  maintenance_work_mem: '256MB',
  max_wal_size: '512MB',
  checkpoint_timeout: '30min',
};

const began = performance.now();
const { values } = parseArgs({
  options: Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, { type: 'string' as const }])),
});
const given = { ...DEFAULTS, ...values } as typeof DEFAULTS;
const [rounds, minutes] = [positive('rounds', given.rounds), positive('minutes', given.minutes)];
const sizes = given.sizes.split(',').map(sizeOf);
const file = join(given.folder, 'figures.json');
const proceed = (): boolean => performance.now() - began < minutes * 60_000;

const measured = await measureAll();
if (measured === undefined) {
  console.log('Not finished: run the same command again.');
  process.exitCode = UNFINISHED;
} else {
  const text = requestTable(sizes.map((size) => ({ ...size, ...(measured[nameOf(size)] as SizeFigures) })));
  if (given.sizes === DEFAULTS.sizes) writeFileSync(new URL('requests.md', import.meta.url), text);
  console.log(text);
}

/** @returns undefined if steps are left */
async function measureAll(): Promise<Measured | undefined> {
  mkdirSync(given.folder, { recursive: true });
  const known = knownFigures();
  for (const size of sizes.filter((one) => known[nameOf(one)]?.rounds !== rounds)) {
    const fill = { ...size, proceed, say: console.log };
    const isFilled = await withServer(FILLING, size, (url) => fillDatabase({ ...fill, url }));
    if (!isFilled || !proceed()) return undefined;
    // So that no data of the filling is written while requests are measured.
    execFileSync('sync');
    const pages = await withServer({ fsync: 'on' }, size, (url) => measureRequests(url, size.cars, rounds));
    known[nameOf(size)] = { rounds, pages, load: loadavg()[0] ?? 0, cores: availableParallelism() };
    writeFileSync(file, JSON.stringify(known));
  }
  return known;
}

async function withServer<T>(
  settings: Readonly<Record<string, string>>,
  size: FilledSize,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const server = new PostgresRig({ folder: given.folder, settings });
  await server.start();
  try {
    return await work(await server.database(`hub_${nameOf(size)}`));
  } finally {
    await server.stop();
  }
}

function knownFigures(): Measured {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Measured;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

function nameOf({ cars, messages }: FilledSize): string {
  return `${cars}x${messages}`;
}

function sizeOf(text: string): FilledSize {
  const [, cars, messages] = /^(\d+)x(\d+)$/.exec(text)?.map(Number) ?? [];
  if (cars === undefined || cars === 0 || messages === undefined || messages < MIN_MESSAGES) {
    return refuse(`--sizes needs CARSxMESSAGES with at least ${MIN_MESSAGES} messages for each car, not ${text}`);
  }
  return { cars, messages };
}

function positive(name: string, text: string): number {
  const number = Number(text);
  return number > 0 ? number : refuse(`--${name} needs a number above 0, not ${text}`);
}

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}
