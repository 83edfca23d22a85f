/** Reading logs: from candump text to frames, and to the values that changed. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { type Contestant, cells, contest, disagreeing, median, ratioTo, type Standing } from './contest.ts';
import { otherFormats } from './log-formats.ts';
import { benchNetwork, readNetwork, writeTables } from './network.ts';
import { compile, type Found, pythonCan, pythonReader } from './reference.ts';
import type { BenchmarkTarget, Section, Size, Table } from './section.ts';
import { makeTraffic, writeCandump } from './traffic.ts';

export const readingLogs: Section = {
  name: 'logs',
  title: 'Reading logs',
  text: `A candump log on the disk (in the page cache), every line to a frame with time, identifier and payload. vigie
checks every character and reports lines that are not frames; so does the C hand scanner, but not sscanf.`,
  async run(size, scratch) {
    const network = readNetwork(benchNetwork);
    const log = join(scratch, 'drive.log');
    const tables = join(scratch, 'logs.tables');
    const traffic = makeTraffic(network, size.frames, 'drive');
    writeCandump(traffic, log, 'body');
    writeTables(network, tables);
    const program = await bundle('logs-program.ts', scratch);
    const reference = compile('candump', scratch);
    return [
      await frames(program, reference, log, size),
      await values(program, reference, log, tables, size),
      await inspecting(program, log, size),
      ...(size.quick ? [] : [await otherFormats(program, traffic, size, scratch)]),
    ];
  },
};

const OURS = '**vigie**';

function ours(name: string, program: string, ...args: readonly string[]): Contestant {
  return { name, command: process.execPath, arguments: [program, ...args] };
}

async function frames(program: string, reference: Found, log: string, size: Size): Promise<Table> {
  const python = pythonCan();
  const notes: string[] = [];
  const contestants: Contestant[] = [];
  if ('program' in reference) {
    const command = reference.program;
    contestants.push({ name: 'C, fgets and sscanf', command, arguments: ['sscanf', log] });
    contestants.push({ name: 'C, hand scanner with read()', command, arguments: ['read', log] });
    contestants.push({ name: 'C, hand scanner in memory', command, arguments: ['memory', log] });
  } else notes.push(reference.missing);
  contestants.push(ours(OURS, program, 'vigie', log));
  contestants.push({ ...ours('JavaScript, readline and a regular expression', program, 'readline', log), rounds: 3 });
  if ('program' in python) {
    const { program: command, version } = python;
    contestants.push({ name: `python-can ${version}`, command, arguments: [pythonReader, 'rounds', log], rounds: 1 });
  } else notes.push(python.missing);
  const standings = await contest(contestants, size.rounds);
  const different = disagreeing(standings);
  if (different.length > 0) throw new Error(`reading logs: ${different.join()} gave other frames`);
  const [first] = standings;
  const megabytes = Math.round(statSync(log).size / 1e6);
  return {
    title: 'candump text to frames',
    columns: ['reader', 'million lines/s', 'slowest to fastest round', 'of sscanf'],
    rows: standings.map((one) => ({ cells: cells(one, size.frames, 'program' in reference ? first : undefined) })),
    notes: [
      `${size.frames.toLocaleString('en')} lines, ${megabytes} MB; all gave the same times, identifiers and payloads.`,
      ...notes,
    ],
    targets: standings
      .filter(({ name }) => name === OURS)
      .flatMap((own): BenchmarkTarget[] => [
        { what: 'candump text to frames: million lines/s', measured: rate(own, size), bound: 12, wanted: 'at least' },
        ...('program' in reference && first !== undefined
          ? [
              {
                what: 'the same: speed, of sscanf',
                measured: ratioTo(first, own),
                bound: 3.5,
                wanted: 'at least' as const,
              },
            ]
          : []),
      ]),
  };
}

/** Returns the rate in millions per second. */
function rate({ times }: Standing, { frames: count }: Size): number {
  return (count / median(times)) * 1000;
}

async function values(program: string, reference: Found, log: string, tables: string, size: Size): Promise<Table> {
  const contestants: Contestant[] = [];
  if ('program' in reference) {
    contestants.push({
      name: 'C, hand scanner with read() and tables',
      command: reference.program,
      arguments: ['values', log, tables],
    });
  }
  contestants.push(ours(OURS, program, 'values', log, benchNetwork));
  const standings = await contest(contestants, size.rounds);
  const different = disagreeing(standings);
  if (different.length > 0) throw new Error(`log to values: ${different.join()} counted other changes`);
  const [first] = standings;
  const changed = Number(first?.outcome.split(' ')[0]);
  return {
    title: 'candump text to frames, to values, to the values that changed',
    columns: ['', 'million frames/s', 'slowest to fastest round', 'of C'],
    rows: standings.map((one) => ({ cells: cells(one, size.frames, 'program' in reference ? first : undefined) })),
    notes: [
      `Every signal of every frame; ${changed.toLocaleString('en')} times a value changed.`,
      ...('program' in reference ? [] : [reference.missing]),
    ],
    targets: standings
      .filter(({ name }) => name === OURS)
      .map((own) => {
        const what = 'candump text to values that changed: million frames/s';
        return { what, measured: rate(own, size), bound: 6, wanted: 'at least' };
      }),
  };
}

async function inspecting(program: string, log: string, size: Size): Promise<Table> {
  const standings = await contest([ours(OURS, program, 'inspect', log)], size.rounds);
  const [frames = 0, identifiers = 0] = (standings[0]?.outcome ?? '').split(' ').map(Number);
  if (frames !== size.frames) throw new Error(`inspecting: ${frames} frames were seen of ${size.frames}`);
  return {
    title: 'candump text to what `vigie inspect` shows',
    columns: ['', 'million frames/s', 'slowest to fastest round', ''],
    rows: standings.map((one) => ({ cells: cells(one, size.frames, undefined) })),
    notes: [
      `Counts, periods, lengths and changed bits of ${identifiers} identifiers, and trials for counters and checksums.`,
    ],
    targets: standings.map((own) => {
      const what = 'candump text to the output of inspect: million frames/s';
      return { what, measured: rate(own, size), bound: 1, wanted: 'at least' };
    }),
  };
}
