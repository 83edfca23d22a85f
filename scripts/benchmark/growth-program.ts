/**
 * Measures the cost of one size of something, as a process that then exits. Prints a line of JSON that maps names to
 * numbers. Arguments: kind (`signals`, `records` or `log`), count, and for `records` an empty folder, for `log` the log
 * and the profile.
 *
 * Measures the processor time of the process and not wall time, so that other load on the machine does not count.
 */
import { readFileSync } from 'node:fs';
import { DbcDecoder, parseDbc } from '../../adapters/can/dbc/index.ts';
import { openStore } from '../../adapters/store/index.ts';
import { EXTENDED, type FrameBatch } from '../../agent/ports.ts';
import { replayCommand } from '../../commands/replay.ts';

const [what = '', countText = '', place = '', profile = ''] = process.argv.slice(2);
const count = Number(countText);
/** Number of one-byte signals in a message. */
const BYTES = 8;
/** Minimum number of decoded frames, so that the measured time is long compared with the clock's resolution. */
const FRAMES = 400_000;
/** 2026-01-01T00:00:00Z. */
const start = 1_767_225_600_000;

/** Returns the processor time of all threads in ms. */
async function cost(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function signals(): Promise<object> {
  const messages = Array.from({ length: count / BYTES }, (_, i) => {
    const lines = Array.from({ length: BYTES }, (_, k) => ` SG_ S${k} : ${8 * k}|8@1+ (0.5,-40) [0|0] "" X`);
    return `BO_ ${EXTENDED + 0x1_0000 + i} M${i}: ${BYTES} X\n${lines.join('\n')}\n`;
  });
  const description = new TextEncoder().encode(`VERSION ""\n\nBU_: X\n\n${messages.join('\n')}`);
  const wanted = messages.flatMap((_, i) =>
    Array.from({ length: BYTES }, (_, k) => ({ message: `M${i}`, signal: `S${k}` })),
  );
  let decoder: DbcDecoder | undefined;
  const loading = await cost(() => {
    const { database } = parseDbc(description, 'growth.dbc');
    decoder = new DbcDecoder(wanted, [{ database }], ['body']);
  });
  // Two bus cycles with different payloads, so that no frame equals the previous one with its identifier.
  const cycles = [cycle(messages.length, 1), cycle(messages.length, 2)];
  let values = 0;
  const decode = (times: number): void => {
    for (let i = 0; i < times; i++) {
      for (const batch of cycles[i % 2] as FrameBatch[]) {
        const readings = (decoder as DbcDecoder).read(batch);
        for (let frame = 0; frame < readings.count; frame++) values += readings.signals(frame).length;
      }
    }
  };
  const times = 2 * Math.ceil(FRAMES / messages.length / 2);
  decode(times);
  values = 0;
  const decoding = await cost(() => decode(times));
  if (values !== times * count) throw new Error(`${values} values instead of ${times * count}`);
  return { decoding: (decoding / times) * 1000, loading };
}

/** Returns one frame for each message. */
function cycle(messages: number, seed: number): FrameBatch[] {
  const batches: FrameBatch[] = [];
  for (let from = 0; from < messages; from += 4096) {
    const length = Math.min(4096, messages - from);
    batches.push({
      count: length,
      at: Float64Array.from({ length }, (_, i) => start + from + i),
      id: Uint32Array.from({ length }, (_, i) => EXTENDED + 0x1_0000 + from + i),
      bus: new Uint8Array(length),
      flags: new Uint8Array(length),
      length: new Uint8Array(length).fill(BYTES),
      offset: Uint32Array.from({ length }, (_, i) => i * BYTES),
      data: Uint8Array.from({ length: length * BYTES }, (_, i) => (i * seed) & 0xff),
    });
  }
  return batches;
}

async function records(): Promise<object> {
  const options = { records: { growth: { bytes: 2 ** 30 } }, now: () => start };
  const store = await openStore(place, options);
  const keeping = await cost(async () => {
    for (let i = 0; i < count; i++) {
      const at = start + i * 1000;
      const position = { longitude: 2.35, latitude: 48.85 };
      store.records.put('growth', { id: `${i}`, at, record: { distance: i % 977, position, text: 'x'.repeat(120) } });
      if (i % 100 === 99) await store.outbox.commit();
    }
    await store.outbox.commit();
  });
  await store.close();
  let again: Awaited<ReturnType<typeof openStore>> | undefined;
  const opening = await cost(async () => {
    again = await openStore(place, options);
  });
  const { records: kept, close } = again as Awaited<ReturnType<typeof openStore>>;
  if ([...kept.list('growth')].length !== count) throw new Error('a record is missing');
  const pages = 200;
  // Reads pages of ten records each, evenly spaced over the stored range.
  const page = (): void => {
    for (let i = 0; i < pages; i++) {
      const from = start + Math.floor(((count - 10) * i) / pages) * 1000;
      if ([...kept.list('growth', from, from + 10_000)].length !== 10) throw new Error('a record is missing');
    }
  };
  page();
  const reading = await cost(page);
  await close();
  return { keeping, opening, reading: (reading / pages) * 1000 };
}

/** Measures the whole process, from its start. */
async function log(): Promise<object> {
  await replayCommand().parseAsync([place, '--profile', profile, '--cbor', '/dev/null'], { from: 'user' });
  const { user, system } = process.cpuUsage();
  // getrusage(2) would also include the process that started this one.
  const most = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  return { replaying: (user + system) / 1e6, memory: most / 1024 };
}

const kinds: Readonly<Record<string, () => Promise<object>>> = { signals, records, log };
const kind = kinds[what];
if (kind === undefined) throw new Error(`no ${what}; there are ${Object.keys(kinds).join(', ')}`);
console.log(JSON.stringify(await kind()));
