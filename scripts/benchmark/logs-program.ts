/**
 * Our log reader, and typical script code, as programs for contest.ts. Arguments: `vigie`, `readline`, `rows`, `values`
 * or `inspect`; the log; and for `values` the network description.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { SQLOutputValue } from 'node:sqlite';
import { DbcDecoder, REPEATED, type Readings } from '../../adapters/can/dbc/index.ts';
import { Traffic } from '../../adapters/can/inspect/index.ts';
import { openLog } from '../../adapters/can/log/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import { answer, Digest, type Work } from './answers.ts';
import { everySignal, readNetwork } from './network.ts';

const [way = '', file = '', network = ''] = process.argv.slice(2);

/** Reads the whole log once. The frames are available only in the batches. */
async function read(): Promise<number> {
  const log = await openLog(file);
  let count = 0;
  for await (const batch of log.batches()) count += batch.count;
  await log.close();
  return count;
}

async function digestOfLog(): Promise<string> {
  const digest = new Digest();
  const log = await openLog(file);
  let place = 0;
  for await (const { count, at, id, length, offset, data } of log.batches()) {
    for (let i = 0; i < count; i++, place++) {
      digest.add(place, 0, Math.round((at[i] as number) * 1000));
      digest.add(place, 1, id[i] as number);
      digest.add(place, 2, length[i] as number);
      const from = offset[i] as number;
      for (let byte = 0; byte < (length[i] as number); byte++) digest.add(place, 3 + byte, data[from + byte] as number);
    }
  }
  await log.close();
  return digest.toString();
}

/** Regular expression for the lines of a candump log. */
const pattern = /^\((\d+)\.(\d{6})\) (\S+) ([0-9A-F]{3}|[0-9A-F]{8})#((?:[0-9A-F]{2}){0,8})$/;

async function readLines(take: (micros: number, id: number, data: Buffer) => void): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [, seconds, micros, , id = '', data = ''] = pattern.exec(line) ?? [];
    const number = Number.parseInt(id, 16);
    const identifier = id.length === 8 ? (number | EXTENDED) >>> 0 : number;
    take(Number(seconds) * 1e6 + Number(micros), identifier, Buffer.from(data, 'hex'));
  }
}

/** Stores the newest value of each signal, and counts changes. */
class Changes {
  count = 0;
  readonly #values: Float64Array;

  constructor(signals: number) {
    this.#values = new Float64Array(signals).fill(Number.NaN);
  }

  take(readings: Readings): void {
    const { values } = readings;
    for (let i = 0; i < readings.count; i++) {
      let at = readings.begin(i);
      if (at === REPEATED) continue;
      const signals = readings.signals(i);
      const step = readings.step(i);
      for (let k = 0; k < signals.length; k++, at += step) {
        const signal = signals[k] as number;
        const value = values[at] as number;
        if (this.#values[signal] === value) continue;
        this.#values[signal] = value;
        this.count++;
      }
    }
  }
}

async function changes(): Promise<number> {
  const database = readNetwork(network);
  const wanted = everySignal(database);
  const log = await openLog(file);
  const decoder = new DbcDecoder(wanted, [{ database }], log.buses);
  const changes = new Changes(wanted.length);
  for await (const batch of log.batches()) changes.take(decoder.read(batch));
  await log.close();
  return changes.count;
}

/** Runs `vigie inspect` on a log, with counters and checksums. */
async function inspected(): Promise<{
  readonly frames: number;
  readonly identifiers: number;
  readonly protected: number;
}> {
  const log = await openLog(file);
  const traffic = new Traffic();
  for await (const batch of log.batches()) traffic.add(batch, log.buses);
  await log.close();
  const found = traffic.messages.map((message) => message.findProtection());
  return {
    frames: traffic.messages.reduce((sum, { frames }) => sum + frames, 0),
    identifiers: found.length,
    protected: found.filter(({ counters, checksum }) => counters.length > 0 || checksum !== undefined).length,
  };
}

/** Iterates over the rows of a python-can database and does nothing else with them. */
async function readRows(take: (row: readonly SQLOutputValue[]) => void): Promise<void> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { readOnly: true });
  const statement = database.prepare('SELECT ts, arbitration_id, extended, remote, error, dlc, data FROM messages');
  statement.setReturnArrays(true);
  for (const row of statement.iterate()) take(row as unknown as SQLOutputValue[]);
  database.close();
}

let kept = 0;
const ways: Readonly<Record<string, Work>> = {
  vigie: {
    check: digestOfLog,
    round: async () => {
      kept = await read();
    },
  },
  readline: {
    check: async () => {
      const digest = new Digest();
      let place = 0;
      await readLines((micros, id, data) => {
        digest.add(place, 0, micros);
        digest.add(place, 1, id);
        digest.add(place, 2, data.length);
        data.forEach((byte, i) => {
          digest.add(place, 3 + i, byte);
        });
        place++;
      });
      return digest.toString();
    },
    round: () =>
      readLines((micros) => {
        kept = micros;
      }),
  },
  rows: {
    check: async () => {
      const digest = new Digest();
      let place = 0;
      await readRows((row) => {
        const [seconds, id, extended, , , , data] = row;
        const bytes = data as Uint8Array;
        digest.add(place, 0, Math.round(Number(seconds) * 1e6));
        digest.add(place, 1, (Number(id) | (extended === 1 ? EXTENDED : 0)) >>> 0);
        digest.add(place, 2, bytes.length);
        bytes.forEach((byte, i) => {
          digest.add(place, 3 + i, byte);
        });
        place++;
      });
      return digest.toString();
    },
    round: () =>
      readRows((row) => {
        kept = row[0] as number;
      }),
  },
  inspect: {
    check: async () => Object.values(await inspected()).join(' '),
    round: async () => {
      kept = (await inspected()).frames;
    },
  },
  values: {
    check: async () => `${await changes()} 0 0`,
    round: async () => {
      kept = await changes();
    },
  },
};

const work = ways[way];
if (work === undefined) throw new Error(`'${way}' is none of ${Object.keys(ways).join(', ')}`);
await answer(work);
if (!Number.isFinite(kept)) throw new Error('the log was not read');
