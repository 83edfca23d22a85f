/** The store: records per second, bytes on the medium, and the time that opening a backlog takes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { type Contestant, contest, disagreeing, figure, median, ratioTo } from './contest.ts';
import { installPeers } from './peers.ts';
import type { BenchmarkTarget, Section, Size, Table } from './section.ts';

/** Peers by their name in store-program.ts. The first one is the reference. */
const peers = {
  sqlite: 'SQLite (node:sqlite), WAL, synchronous FULL',
  lmdb: 'LMDB, a transaction each',
  lowdb: 'lowdb as it comes, nothing waits for the medium',
  file: 'append + fdatasync, nothing else',
  medium: 'fdatasync alone, into a file of that length',
  vigie: '**vigie**',
} as const;

type Peer = keyof typeof peers;

/** Operations on the messages in each benchmark case. */
const flows = {
  steady: 'messages are sent and deleted',
  backlog: 'a backlog that grows',
} as const;

type Flow = keyof typeof flows;

/** Number of 200-byte messages that fill the outbox, according to the outbox's own accounting. */
const backlog = Math.floor((64 * 2 ** 20) / 232);

export const storing: Section = {
  name: 'store',
  title: 'The store',
  text: `Messages of 200 bytes, each commit on the medium (fdatasync) before the next begins. SQLite is the module of Node, with the same library as better-sqlite3; each message is a row with class, number, kind and time. Bytes written are
those of the process (\`write_bytes\` of /proc/self/io, in whole pages), without the metadata of the file system.
The medium alone is the limit of every store that waits for it at each commit; SQLite, whose log begins anew every 1,000 pages, mostly overwrites it too.
While connected, each commit also deletes acknowledged messages, except the last thousand; offline it deletes no message.
A commit of 100 corresponds to 1,000 messages a second with a commit every 100 ms.`,
  async run(size, scratch) {
    const program = await bundle('store-program.ts', scratch);
    const tables: Table[] = [];
    for (const flow of ['steady', 'backlog'] as const) {
      for (const batch of size.quick ? [1] : [1, 100]) tables.push(await compare(flow, batch, size, program, scratch));
    }
    if (!size.quick) tables.push(opening(program, scratch));
    return tables;
  },
};

async function compare(flow: Flow, batch: number, size: Size, program: string, scratch: string): Promise<Table> {
  const count = batch === 1 ? size.frames / 1000 : size.frames / 50;
  const without = size.quick ? 'LMDB and lowdb are left out of a quick run.' : installPeers();
  // At every commit, lowdb writes all records that wait: a backlog would take hours.
  const left: readonly Peer[] = [
    ...(without === undefined ? [] : ['lmdb' as const]),
    ...(flow === 'backlog' || size.quick ? ['lowdb' as const] : []),
  ];
  const kinds = (Object.keys(peers) as Peer[]).filter((kind) => !left.includes(kind));
  const run = (kind: Peer, name: string): string[] => {
    const directory = join(scratch, `store-${flow}-${batch}-${kind}-${name}`);
    mkdirSync(directory, { recursive: true });
    return ['--disable-warning=ExperimentalWarning', program, kind, directory, String(count), String(batch), flow];
  };
  const contestants = kinds.map((kind): Contestant => {
    const slow = kind === 'lowdb' ? { rounds: 3 } : {};
    return { name: peers[kind], command: process.execPath, arguments: run(kind, 'speed'), ...slow };
  });
  const standings = await contest(contestants, size.rounds);
  const different = disagreeing(standings);
  if (different.length > 0) throw new Error(`storing: ${different.join()} kept another number of messages`);
  const [reference] = standings;
  const written = kinds.map((kind) =>
    Number(execFileSync(process.execPath, [...run(kind, 'written'), 'written'], { encoding: 'utf8' })),
  );
  const ratio = (kind: Peer): number => {
    const standing = standings[kinds.indexOf(kind)];
    return reference === undefined || standing === undefined ? Number.NaN : ratioTo(reference, standing);
  };
  const title = `${flows[flow]}, a commit for ${batch === 1 ? 'every message' : `${batch} messages`}`;
  const why = `waiting for the medium alone, with only the bytes written, is ${figure(ratio('medium'))} of SQLite in the same rounds`;
  const [own, medium] = [standings[kinds.indexOf('vigie')], standings[kinds.indexOf('medium')]];
  const ofMedium = own === undefined || medium === undefined ? Number.NaN : ratioTo(medium, own);
  const targets: BenchmarkTarget[] = [
    batch === 1
      ? {
          what: `${title}: speed, of the medium alone`,
          measured: ofMedium,
          bound: 0.8,
          wanted: 'at least',
          floor: 1,
          why,
        }
      : { what: `${title}: speed, of SQLite`, measured: ratio('vigie'), bound: 1.3, wanted: 'at least', why },
  ];
  if (batch > 1) {
    const measured = written[kinds.indexOf('vigie')] ?? Number.NaN;
    targets.push({ what: `${title}: bytes written a byte stored`, measured, bound: 1.6, wanted: 'at most' });
  }
  return {
    title,
    columns: ['store', 'thousand messages/s', 'slowest to fastest round', 'of SQLite', 'bytes written a byte stored'],
    rows: standings.map(({ name, times }, i) => {
      const rate = (time: number | undefined) => figure((count / (time ?? Number.NaN)) * 1e6);
      const range = `${rate(times.at(-1))} to ${rate(times[0])}`;
      return { cells: [name, rate(median(times)), range, figure(ratio(kinds[i]!)), figure(written[i] ?? Number.NaN)] };
    }),
    notes: [`${count.toLocaleString('en')} messages a round.`, ...(without === undefined ? [] : [without])],
    targets,
  };
}

function opening(program: string, scratch: string): Table {
  const directory = join(scratch, 'store-open');
  mkdirSync(directory);
  const run = (...rest: string[]): string =>
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', program, 'vigie', directory, ...rest], {
      encoding: 'utf8',
    });
  const empty = JSON.parse(run('0', '1', 'backlog', 'open')) as { ms: number; memory: number };
  run(String(backlog - (backlog % 1000)), '1000', 'backlog', 'written');
  const full = Array.from(
    { length: 5 },
    () => JSON.parse(run('0', '1', 'backlog', 'open')) as typeof empty & { count: number },
  );
  const middle = median(full.map(({ ms }) => ms).sort((a, b) => a - b));
  const memory = median(full.map((one) => one.memory).sort((a, b) => a - b));
  return {
    title: 'opening a backlog of 64 MiB',
    columns: ['store', 'messages', 'process start to open, ms', 'resident, MiB'],
    rows: [
      { cells: ['empty', '0', figure(empty.ms), figure(empty.memory)] },
      { cells: ['**64 MiB**', (full[0]?.count ?? 0).toLocaleString('en'), figure(middle), figure(memory)] },
    ],
    notes: ['The files are in the page cache, as after a restart of the agent. Resident memory includes Node itself.'],
    targets: [{ what: 'opening a backlog of 64 MiB: ms', measured: middle, bound: 1000, wanted: 'at most' }],
  };
}
