/** The whole agent over a log, as a process from start to exit. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../bundle.ts';
import { figure, median } from './contest.ts';
import { writeDrive } from './drive-log.ts';
import { pythonCan, pythonReader } from './reference.ts';
import type { BenchmarkTarget, Section } from './section.ts';
import { stagesOf } from './stages.ts';

interface Run {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly rounds: number;
}

/** The profile of the bench car as it is shipped. */
const benchCar = 'bench';

export const replaying: Section = {
  name: 'replay',
  title: 'The whole agent over a log',
  text: `\`vigie replay\` as a process from start to exit, bundled by \`npm run bundle\`: reading, decoding, Status, recorders,
outbox, messages as CBOR, for a drive of the bench car with all its events. The peer is python-can, also as a process, which reads the same log and does nothing with the frames.`,
  async run(size, scratch) {
    const log = join(scratch, 'replay.log');
    const short = join(scratch, 'short.log');
    const driven = await writeDrive(size.frames, log);
    await writeDrive(size.frames / 10, short);
    await bundleProgram();
    const python = pythonCan();
    const rounds = Math.ceil(size.rounds / 2);
    const runs = [replay('**vigie replay**', log, rounds), replay('vigie replay, a tenth of the log', short, rounds)];
    if ('program' in python) {
      const name = `python-can ${python.version}, reading alone`;
      runs.push({ name, command: python.program, arguments: [pythonReader, 'once', log], rounds: 2 });
    }
    const ended: Ended[][] = runs.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, run] of runs.entries()) if (round < run.rounds) ended[i]?.push(await once(run));
    }
    const times = ended.map((list) => median(list.map(({ seconds }) => seconds).sort((a, b) => a - b)));
    const [own = Number.NaN, start = Number.NaN, other = Number.NaN] = times;
    const peaks = ended.map((list) => Math.max(...list.map(({ memory }) => memory)));
    return [
      {
        title: `${size.frames.toLocaleString('en')} frames, ${Math.round(driven / 60)} minutes of driving`,
        columns: ['process', 'seconds', 'million frames/s', 'peak memory, MB', 'times the time of vigie'],
        rows: runs.map(({ name }, i) => {
          const seconds = times[i] ?? Number.NaN;
          const frames = i === 1 ? size.frames / 10 : size.frames;
          return {
            cells: [
              name,
              figure(seconds),
              figure(frames / seconds / 1e6),
              figure(peaks[i] ?? Number.NaN),
              figure(seconds / own),
            ],
          };
        }),
        notes: [
          'The tenth of the log shows the cost of the start, and that memory does not grow with the log.',
          ...('program' in python ? [] : [python.missing]),
        ],
        targets: targets({ frames: size.frames, own, start, other, peaks }),
      },
      await stagesOf(log, size.frames, benchCar, scratch),
    ];
  },
};

interface Measured {
  readonly frames: number;
  /** Seconds of the whole log, of a tenth of it, and of python-can; NaN where there is none. */
  readonly own: number;
  readonly start: number;
  readonly other: number;
  /** MB, of the same. */
  readonly peaks: readonly number[];
}

function targets({ frames, own, start, other, peaks }: Measured): BenchmarkTarget[] {
  const [whole = Number.NaN, tenth = Number.NaN] = peaks;
  return [
    {
      what: 'million frames/s',
      measured: frames / own / 1e6,
      bound: 1,
      wanted: 'at least',
      why: `the speed of this machine in this run counts; in it python-can took ${figure(other)} s to read the same`,
    },
    { what: 'peak memory, of that for a tenth of the log', measured: whole / tenth, bound: 1.1, wanted: 'at most' },
    {
      what: 'time of the process, of python-can reading alone',
      measured: own / other,
      bound: 1 / 8,
      wanted: 'at most',
      why: `an eighth of its time is ${figure(other / 8)} s, and a tenth of the log takes ${figure(start)} s: starting, and compiling what a car needs`,
    },
  ];
}

function replay(name: string, log: string, rounds: number): Run {
  const launcher = fileURLToPath(new URL('../vigie.js', import.meta.url));
  const args = [launcher, 'replay', log, '--profile', benchCar, '--cbor', '/dev/null'];
  return { name, command: process.execPath, arguments: args, rounds };
}

interface Ended {
  readonly seconds: number;
  /** Largest resident set, MB. */
  readonly memory: number;
}

/** Runs a process to its end, looking at its memory now and then (Linux only; elsewhere it stays unknown). */
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

/** Largest resident set so far, MB; undefined where /proc does not say, or no longer. */
function peak(pid: number | undefined): number | undefined {
  try {
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found) / 1024;
  } catch {
    return undefined;
  }
}
