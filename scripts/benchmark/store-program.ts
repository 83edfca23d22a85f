/**
 * A store as a program of contest.ts. Arguments: `vigie`, `sqlite`, `lmdb`, `lowdb`, `file` or `medium`; directory;
 * records per round; records per commit; `backlog`, which removes nothing, or `steady`, in which each commit also
 * removes as many records as it adds, except the last thousand. With `written` or `open` as a sixth argument, the
 * program measures something else once, prints it, and ends.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { JSONFilePreset } from 'lowdb/node';
import { openStore } from '../../adapters/store/index.ts';
import { answer } from './answers.ts';
import { peer as peerOf } from './peers.ts';

const [kind = '', directory = '', countText = '', batchText = '', flow, measure] = process.argv.slice(2);
const count = Number(countText);
const batch = Number(batchText);
/** Number of records that remain at least. */
const kept = flow === 'steady' ? 1_000 : Number.POSITIVE_INFINITY;

interface Peer {
  /** Stores a record of 200 bytes. */
  append(seq: number, payload: Uint8Array): void;
  /** Removes the records from number `from` to number `to` with the next commit. */
  remove(from: number, to: number): void;
  /** Resolves when appended records and removals are on the medium. */
  commit(): Promise<void> | void;
  /** Number of the next record. */
  readonly first: number;
  /** Number of stored records. */
  size(): number;
  close(): Promise<void> | void;
}

async function vigie(): Promise<Peer> {
  const { outbox, close } = await openStore(directory);
  return {
    append: (seq, payload) => outbox.append({ class: 5, seq, kind: 'telemetry', at: seq, retain: false, payload }),
    remove(from, to) {
      for (let seq = from; seq <= to; seq++) outbox.acknowledge(5, seq);
    },
    commit: () => outbox.commit(),
    first: outbox.nextSeq(5),
    size: () => [...outbox.entries()].length,
    close,
  };
}

function sqlite(): Peer {
  const database = new DatabaseSync(join(directory, 'records.db'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS records (class INTEGER, seq INTEGER, kind TEXT, at REAL, payload BLOB,
      PRIMARY KEY (class, seq)) WITHOUT ROWID`);
  const insert = database.prepare('INSERT INTO records VALUES (5, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM records WHERE class = 5 AND seq BETWEEN ? AND ?');
  const several = batch > 1 || kept < Number.POSITIVE_INFINITY;
  let begun = false;
  return {
    append(seq, payload) {
      if (!begun && several) database.exec('BEGIN');
      begun = true;
      insert.run(seq, 'telemetry', seq, payload);
    },
    remove: (from, to) => void remove.run(from, to),
    commit() {
      if (several) database.exec('COMMIT');
      begun = false;
    },
    first: Number(database.prepare('SELECT coalesce(max(seq) + 1, 0) AS n FROM records').get()?.['n']),
    size: () => Number(database.prepare('SELECT count(*) AS n FROM records').get()?.['n']),
    close: () => database.close(),
  };
}

/** The part of lmdb that is used here. */
interface Lmdb {
  open(options: object): {
    put(key: number, value: unknown): unknown;
    remove(key: number): unknown;
    transactionSync(work: () => void): void;
    getCount(): number;
    getKeys(options: object): Iterable<number>;
    close(): Promise<void>;
  };
}

/** Uses one transaction per commit. It is on the medium when the commit returns (mdb_txn_commit). */
function lmdb(): Peer {
  const database = (peerOf('lmdb') as Lmdb).open({ path: join(directory, 'lmdb'), overlappingSync: false });
  let work: (() => void)[] = [];
  return {
    append(seq, payload) {
      const record = { kind: 'telemetry', at: seq, payload: payload.slice() };
      work.push(() => database.put(seq, record));
    },
    remove(from, to) {
      work.push(() => {
        for (let seq = from; seq <= to; seq++) database.remove(seq);
      });
    },
    commit() {
      const all = work;
      work = [];
      database.transactionSync(() => {
        for (const one of all) one();
      });
    },
    first: [...database.getKeys({ reverse: true, limit: 1 })].reduce((_, last) => last + 1, 0),
    size: () => database.getCount(),
    close: () => database.close(),
  };
}

/** lowdb with its own file adapter, which at each commit rewrites the whole file and does not sync it. */
async function lowdb(): Promise<Peer> {
  const database = await JSONFilePreset(join(directory, 'lowdb.json'), {
    records: [] as { class: number; seq: number; kind: string; at: number; payload: string }[],
  });
  return {
    append(seq, payload) {
      const text = Buffer.from(payload).toString('base64');
      database.data.records.push({ class: 5, seq, kind: 'telemetry', at: seq, payload: text });
    },
    remove: (from, to) => void database.data.records.splice(0, to - from + 1),
    commit: () => database.write(),
    first: (database.data.records.at(-1)?.seq ?? -1) + 1,
    size: () => database.data.records.length,
    close: () => undefined,
  };
}

/** Size in bytes of the preallocated file. When it is full, it is overwritten from the start. */
const room = 8 << 20;

/**
 * One write and one fdatasync per commit, at the end of the file. With `beforehand`, all blocks of the file are already
 * allocated, so that the file system changes no metadata: no store that persists each commit can be faster.
 */
function file(beforehand: boolean): Peer {
  const descriptor = openSync(join(directory, 'records'), 'w');
  const gathered = new Uint8Array(200 * batch);
  if (beforehand) {
    // Writes page by page: the page cache counts, and may write, in units of one such write.
    for (let page = 0; page < room; page += 4096) writeSync(descriptor, new Uint8Array(4096), 0, 4096, page);
    fdatasyncSync(descriptor);
  }
  let at = 0;
  let length = 0;
  let count = 0;
  return {
    append(_, payload) {
      gathered.set(payload, length);
      length += payload.length;
      count++;
    },
    remove: () => undefined,
    commit() {
      if (beforehand && at + length > room) at = 0;
      writeSync(descriptor, gathered, 0, length, at);
      at += length;
      fdatasyncSync(descriptor);
      length = 0;
    },
    first: 0,
    size: () => Math.min(count, kept),
    close: () => closeSync(descriptor),
  };
}

const stores: Readonly<Record<string, () => Peer | Promise<Peer>>> = {
  vigie,
  sqlite,
  lmdb,
  lowdb,
  file: () => file(false),
  medium: () => file(true),
};
const open = stores[kind];
if (open === undefined) throw new Error(`no ${kind}; there are ${Object.keys(stores).join(', ')}`);
const peer = await open();
let next = peer.first;

async function round(): Promise<void> {
  const payload = new Uint8Array(200);
  for (let i = 0; i < count; i += batch) {
    for (let k = 0; k < batch; k++) {
      payload.fill(next & 0xff);
      peer.append(next++, payload);
    }
    if (next - batch >= kept) peer.remove(next - kept - batch, next - kept - 1);
    await peer.commit();
  }
}

/** Returns how many bytes this process has caused to be written to the medium, in whole pages (Linux, proc(5)). */
function written(): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

if (measure === 'written') {
  const before = written();
  await round();
  await peer.close();
  console.log((written() - before) / (count * 200));
} else if (measure === 'open') {
  console.log(
    JSON.stringify({ count: peer.size(), memory: process.memoryUsage().rss / 2 ** 20, ms: performance.now() }),
  );
  await peer.close();
} else {
  await answer({
    check: async () => {
      const before = peer.size();
      await round();
      return String(peer.size() - before);
    },
    round,
  });
  await peer.close();
}
