/** Reading logs in formats other than candump text. The tests' writers create each log. */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { pcap, pcapng } from '../../test/adapters/can/log/capture-writers.ts';
import type { Frame } from '../../test/adapters/can/log/frames.ts';
import { type Mdf4, mdf4 } from '../../test/adapters/can/log/mdf4-writer.ts';
import { sqlite } from '../../test/adapters/can/log/sqlite-writer.ts';
import {
  busmaster,
  canalyzerCsv,
  candumpScreen,
  canHacker,
  plainLines,
  pythonCsv,
} from '../../test/adapters/can/log/tool-writers.ts';
import { asc, blf, cando, canServer, crtd, gvret, kvaser, slcan, trc } from '../../test/adapters/can/log/writers.ts';
import { zip } from '../../test/adapters/can/log/zip-writer.ts';
import { type Contestant, cells, contest, disagreeing, median, type Standing } from './contest.ts';
import { pythonCan, pythonReader } from './reference.ts';
import type { BenchmarkTarget, Size, Table } from './section.ts';
import type { BusTraffic } from './traffic.ts';

/** Largest number of frames that the writers of the tests support. */
const MOST_FRAMES = 200_000;
/** Target for each format in million frames/s. SQLite is limited by the iteration over its rows. */
const WANTED = 1;
const SQLITE = 'SQLite of python-can';

const plain: Mdf4 = { sorted: true, bytes: 'fixed', time: 'nanoseconds', ide: 'bit', packing: 'plain' };
const socketCan = { linkType: 227, little: true, nano: false } as const;
const BLOCK = 4_000_000;

/** Start in ms since 1970 of logs in BLF, ASC, TRC and MDF4: their writers cannot represent earlier times. */
const START = 1_436_509_052_000;

interface Written {
  readonly name: string;
  readonly file: string;
  readonly content: Uint8Array | string;
  /** If true, python-can reads the same frames from this file, but different times from ASC and TRC files. */
  readonly python?: boolean;
  /**
   * If true, the file has no date, or its times are coarser, so only the numbers of frames and bytes are compared.
   * Tests compare the rest.
   */
  readonly otherTimes?: boolean;
}

function everyFormat(frames: readonly Frame[]): Written[] {
  const capture = pcap(frames, socketCan);
  return [
    { name: 'Vector BLF', file: 'drive.blf', content: blf(frames, 128 * 1024, true), python: true },
    { name: 'Vector ASC', file: 'drive.asc', content: asc(frames, 'hex', 'absolute') },
    { name: 'PEAK TRC', file: 'drive.trc', content: trc(frames) },
    { name: 'candump on the screen', file: 'screen.txt', content: candumpScreen(frames) },
    { name: 'CRTD', file: 'drive.crtd', content: crtd(frames) },
    { name: 'GVRET CSV', file: 'gvret.csv', content: gvret(frames) },
    { name: 'CSV of python-can', file: 'python.csv', content: pythonCsv(frames) },
    { name: 'CSV of CANalyzer', file: 'canalyzer.csv', content: canalyzerCsv(frames), otherTimes: true },
    { name: 'plain lines', file: 'plain.txt', content: plainLines(frames), otherTimes: true },
    { name: 'Kvaser text', file: 'kvaser.txt', content: kvaser(frames), otherTimes: true },
    { name: 'CANHacker', file: 'hacker.trc', content: canHacker(frames, 'older'), otherTimes: true },
    { name: 'CarBus Analyzer', file: 'carbus.trc', content: canHacker(frames, 'newer'), otherTimes: true },
    { name: 'BUSMASTER', file: 'busmaster.log', content: busmaster(frames), otherTimes: true },
    { name: 'slcan', file: 'slcan.txt', content: slcan(frames), otherTimes: true },
    { name: 'CANDO', file: 'drive.can', content: cando(frames), otherTimes: true },
    { name: 'CANServer 3', file: 'server.log', content: canServer(frames, 3), otherTimes: true },
    { name: 'MDF4, sorted', file: 'sorted.mf4', content: mdf4(frames, plain) },
    {
      name: 'MDF4, sorted, packed and transposed',
      file: 'packed.mf4',
      content: mdf4(frames, { ...plain, bytes: 'sd', packing: 'transposed', blockSize: BLOCK }),
    },
    {
      name: 'MDF4, unsorted',
      file: 'unsorted.mf4',
      content: mdf4(frames, { ...plain, sorted: false, bytes: 'records' }),
    },
    { name: 'pcap', file: 'drive.pcap', content: capture },
    { name: 'pcapng', file: 'drive.pcapng', content: pcapng(frames, socketCan) },
    { name: 'pcap, .gz', file: 'drive.pcap.gz', content: gzipSync(capture) },
    { name: 'pcap, .zst', file: 'drive.pcap.zst', content: zstdCompressSync(capture) },
    { name: 'pcap, .zip', file: 'drive.zip', content: zip([{ name: 'drive.pcap', data: capture }]) },
    { name: SQLITE, file: 'drive.db', content: sqlite(frames), python: true },
  ];
}

function framesOf({ at, id, length, data }: BusTraffic, count: number): Frame[] {
  const first = at[0] ?? 0;
  return Array.from({ length: count }, (_, i) => ({
    at: START + Math.round(((at[i] as number) - first) * 1000) / 1000,
    id: id[i] as number,
    bus: 'can0',
    flags: 0,
    length: length[i] as number,
    data: Buffer.from(data.subarray(i * 8, i * 8 + (length[i] as number))).toString('hex'),
  }));
}

/** @param program the bundled file of logs-program.ts */
export async function otherFormats(program: string, traffic: BusTraffic, size: Size, scratch: string): Promise<Table> {
  const count = Math.min(size.frames, traffic.count, MOST_FRAMES);
  const python = pythonCan();
  const notes: string[] = [];
  const ours = (name: string, way: string, path: string): Contestant => ({
    name,
    command: process.execPath,
    arguments: [program, way, path],
  });
  const contestants: Contestant[] = [];
  const timeless = new Set<string>();
  for (const { name, file, content, python: known, otherTimes } of everyFormat(framesOf(traffic, count))) {
    const path = join(scratch, file);
    writeFileSync(path, content);
    contestants.push(ours(name, 'vigie', path));
    if (otherTimes === true) timeless.add(name);
    if (name === SQLITE) contestants.push(ours(`${name}: iterating its rows alone`, 'rows', path));
    if (known === true && 'program' in python) {
      const command = python.program;
      const theirs = [pythonReader, 'rounds', path];
      contestants.push({ name: `${name}: python-can ${python.version}`, command, arguments: theirs, rounds: 1 });
    }
    notes.push(`${name}: ${Math.round(statSync(path).size / 1e5) / 10} MB.`);
  }
  if (!('program' in python)) notes.push(python.missing);
  const standings = await contest(contestants, size.rounds);
  const sizeOf = ({ outcome }: Standing) => outcome.split(' ')[0];
  const different = [
    ...disagreeing(standings.filter(({ name }) => !timeless.has(name))),
    ...standings.filter((one) => sizeOf(one) !== sizeOf(standings[0] as Standing)).map(({ name }) => name),
  ];
  if (different.length > 0) throw new Error(`reading other formats: ${different.join()} gave other frames`);
  const floor = standings.find(({ name }) => name.includes('alone'));
  return {
    title: 'other formats to frames',
    columns: ['format', 'million frames/s', 'slowest to fastest round'],
    rows: standings.map((one) => ({ cells: cells(one, count, undefined).slice(0, 3) })),
    notes: [
      `${count.toLocaleString('en')} frames; all gave the same identifiers and payloads, and the same times where the format keeps them.`,
      ...notes,
    ],
    targets: standings.filter(({ name }) => !name.includes(':')).map((one) => target(one, floor, count)),
  };
}

function target(one: Standing, floor: Standing | undefined, count: number): BenchmarkTarget {
  if (one.name === SQLITE && floor !== undefined) {
    const what = `${SQLITE}: speed, of iterating its rows alone`;
    return { what, measured: median(floor.times) / median(one.times), bound: 0.8, wanted: 'at least' };
  }
  const measured = (count / median(one.times)) * 1000;
  return { what: `${one.name} to frames: million frames/s`, measured, bound: WANTED, wanted: 'at least' };
}
