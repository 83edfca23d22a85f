/** Running the whole agent on a log, as a process from its start to its exit. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../bundle.ts';
import { makeExecutable } from '../package/executable.ts';
import { installFor } from '../package/install.ts';
import { targets as units } from '../package/targets.ts';
import { bundle } from './bundle.ts';
import { figure, median } from './contest.ts';
import { writeDrive } from './drive-log.ts';
import { pythonCan, pythonReader } from './reference.ts';
import type { BenchmarkTarget, Section, Size } from './section.ts';
import { stagesOf } from './stages.ts';

interface Run {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly rounds: number;
}

/** Name of the shipped bench car profile. */
const benchCar = 'bench';

/** Used even in a quick run: the first few hundred thousand frames would only measure the warm-up of the agent. */
const FRAMES = 1_000_000;

export const replaying: Section = {
  name: 'replay',
  title: 'The whole agent over a log',
  text: `\`vigie replay\` as a process from start to exit, bundled by \`npm run bundle\`: reading, decoding, Status, recorders,
outbox, messages as CBOR, for a drive of the bench car with all its events. The peer is python-can, also as a process, which reads the same log and does nothing with the frames.`,
  async run(size, scratch) {
    const log = join(scratch, 'replay.log');
    const short = join(scratch, 'short.log');
    const driven = await writeDrive(FRAMES, log);
    await writeDrive(FRAMES / 10, short);
    await bundleProgram();
    const python = pythonCan();
    const rounds = Math.ceil(size.rounds / 2);
    const runs = [replay('**vigie replay**', log, rounds), replay('vigie replay, a tenth of the log', short, rounds)];
    if ('program' in python) {
      const name = `python-can ${python.version}, reading alone`;
      runs.push({ name, command: python.program, arguments: [pythonReader, 'once', log], rounds: size.quick ? 1 : 2 });
    }
    runs.push(await firstFrame(log, size, scratch, rounds));
    const floor = { command: process.execPath, rounds };
    const program = await bundle('replay-floor.ts', scratch);
    const profile = fileURLToPath(new URL(`../../config/vehicles/${benchCar}`, import.meta.url));
    runs.push(
      { ...floor, name: FLOOR, arguments: [program, log, profile] },
      { ...floor, name: `${FLOOR}, a tenth of the log`, arguments: [program, short, profile] },
    );
    runs.push({ name: NODE_ALONE, command: process.execPath, arguments: ['--eval', '0'], rounds });
    const ended: Ended[][] = runs.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, run] of runs.entries()) if (round < run.rounds) ended[i]?.push(await once(run));
    }
    const times = ended.map((list) => median(list.map(({ seconds }) => seconds).sort((a, b) => a - b)));
    const time = (name: string): number => times[runs.findIndex((run) => run.name.startsWith(name))] ?? Number.NaN;
    const [own = Number.NaN, tenth = Number.NaN] = times;
    const floorRate = rateOf(time(FLOOR), time(`${FLOOR}, a tenth`));
    const peaks = ended.map((list) => Math.max(...list.map(({ memory }) => memory)));
    return [
      {
        title: `${FRAMES.toLocaleString('en')} frames, ${Math.round(driven / 60)} minutes of driving`,
        columns: [
          'process',
          'seconds',
          'fastest to slowest',
          'million frames/s',
          'peak memory, MB',
          'times the time of vigie',
        ],
        rows: runs.map(({ name }, i) => {
          const seconds = times[i] ?? Number.NaN;
          const all = name.includes('tenth') ? FRAMES / 10 : FRAMES;
          const frames = name.startsWith(ONE_FRAME) || name === NODE_ALONE ? 1 : all;
          const spread = (ended[i] ?? []).map((one) => one.seconds);
          return {
            cells: [
              name,
              figure(seconds),
              `${figure(Math.min(...spread))} to ${figure(Math.max(...spread))}`,
              frames === 1 ? '' : figure(frames / seconds / 1e6),
              figure(peaks[i] ?? Number.NaN),
              figure(seconds / own),
            ],
          };
        }),
        notes: [
          'The tenth of the log shows the cost of the start, and that memory does not grow with the log.',
          `What the whole log takes longer than its tenth is the agent once it runs: ${figure(rateOf(own, tenth))} million frames/s, ${figure(floorRate)} for reading and decoding alone.`,
          ...('program' in python ? [] : [python.missing]),
        ],
        targets: targets({
          own,
          tenth,
          first: time(ONE_FRAME),
          node: time(NODE_ALONE),
          floorRate,
          other: time('python-can'),
          peaks,
        }),
      },
      await stagesOf(log, FRAMES, benchCar, scratch),
    ];
  },
};

/** Million frames/s once the process runs, by the times in s for the whole log and for a tenth of it. */
function rateOf(whole: number, tenth: number): number {
  return (0.9 * FRAMES) / (whole - tenth) / 1e6;
}

interface Measured {
  /**
   * Durations in s for the whole log, a tenth of it, its first frame, Node without a program, and python-can. NaN if
   * unavailable.
   */
  readonly own: number;
  readonly tenth: number;
  readonly first: number;
  readonly node: number;
  readonly other: number;
  /** Rate of reading and decoding alone, as {@link rateOf}. */
  readonly floorRate: number;
  /** Peak memory in MB of the same runs. */
  readonly peaks: readonly number[];
}

function targets({ own, tenth: start, first, node, floorRate, other, peaks }: Measured): BenchmarkTarget[] {
  const [whole = Number.NaN, tenth = Number.NaN] = peaks;
  return [
    {
      what: 'speed once it runs, of reading and decoding alone',
      measured: rateOf(own, start) / floorRate,
      bound: 0.5,
      wanted: 'at least',
      why: 'the table of the parts shows where the time goes: no part has most of it',
    },
    {
      what: 'start to exit with one frame, times Node alone',
      measured: first / node,
      bound: 4,
      wanted: 'at most',
      why: 'the program and the profile have to be loaded',
    },
    { what: 'peak memory, of that for a tenth of the log', measured: whole / tenth, bound: 1.1, wanted: 'at most' },
    {
      what: 'time of the process, of python-can reading alone',
      measured: own / other,
      bound: 0.18,
      wanted: 'at most',
      why: `a tenth of the log takes ${figure(start)} s: starting, and compiling what a car needs`,
    },
  ];
}

const ONE_FRAME = 'vigie replay, one frame';
const FLOOR = 'reading and decoding alone';
const NODE_ALONE = 'Node alone, without a program';

function replay(name: string, log: string, rounds: number): Run {
  const launcher = fileURLToPath(new URL('../vigie.js', import.meta.url));
  return { name, command: process.execPath, arguments: [launcher, ...replayOf(log)], rounds };
}

function replayOf(log: string): readonly string[] {
  return ['replay', log, '--profile', benchCar, '--cbor', '/dev/null'];
}

/** Uses the executable, which takes a minute to build; in a quick run, uses the bundle instead. */
async function firstFrame(log: string, size: Size, scratch: string, rounds: number): Promise<Run> {
  const one = join(scratch, 'one.log');
  writeFileSync(one, `${readFileSync(log, 'utf8').split('\n', 1)[0]}\n`);
  const target = units.find(({ arch }) => arch === process.arch);
  if (size.quick || target === undefined) return replay(`${ONE_FRAME}, the bundle`, one, rounds);
  installFor([target]);
  const command = join(scratch, 'vigie-replay');
  await makeExecutable(target, command);
  return { name: `${ONE_FRAME}, the executable`, command, arguments: replayOf(one), rounds };
}

interface Ended {
  readonly seconds: number;
  /** Largest resident set in MB. */
  readonly memory: number;
}

/** Runs a process to its end and samples its memory (only on Linux; elsewhere the result is NaN). */
function once({ name, command, arguments: args }: Run): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    let memory = Number.NaN;
    const look = setInterval(() => {
      memory = peak(child.pid) ?? memory;
    }, 20);
    child.on('error', reject);
    child.on('exit', (code) => {
      const seconds = (performance.now() - from) / 1000;
      clearInterval(look);
      if (code === 0) resolve({ seconds, memory });
      else reject(new Error(`${name} ended with ${code}: ${complaints}`));
    });
  });
}

/** Returns the largest resident set so far in MB. Undefined if /proc has no such value or the process has ended. */
function peak(pid: number | undefined): number | undefined {
  try {
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found) / 1024;
  } catch {
    return undefined;
  }
}
