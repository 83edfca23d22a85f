/** Cost of the agent on a unit: time to the first message, memory, processor time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CloudClient, EmbeddedBroker } from '../../adapters/mqtt/index.ts';
import { privateBytesIn } from '../../adapters/service/process.ts';
import { bundleProgram } from '../bundle.ts';
import { makePackage } from '../package/deb.ts';
import { makeExecutable } from '../package/executable.ts';
import { installFor } from '../package/install.ts';
import { targets as units } from '../package/targets.ts';
import { bundle } from './bundle.ts';
import { figure, median } from './contest.ts';
import { writeDrive } from './drive-log.ts';
import type { BenchmarkTarget, Section, Table } from './section.ts';

const VIN = 'VF3FTPRNTCAR00001';
/** Number of frames per second on one bus at 500 kbit/s, about half of a full bus. */
const FRAMES_A_SECOND = 2_000;
/** Time in ms between two deliveries of frames. */
const SLICE = 10;
/** Clock ticks per second of the kernel's processor times (sysconf(_SC_CLK_TCK), the same on every Linux). */
const TICKS = 100;

export interface ProcessCost {
  /** Time in s from the start of the process until a subscriber receives its first message. */
  readonly first: number;
  readonly privateMiB: number;
  readonly residentMiB: number;
  /** Processor use in per cent of one core. */
  readonly cpu: number;
}

export const footprint: Section = {
  name: 'footprint',
  title: 'Footprint',
  text: `\`vigie run\` as a process, bundled by \`npm run bundle\`: with the environment of the service's unit, connected to a broker, one bus at ${FRAMES_A_SECOND.toLocaleString('en')} frames/s
of a drive of the bench car that come as candump text through a pipe. The floor is the libraries that every such agent needs (mqtt, cbor-x, lowdb, node-schedule), loaded, connected and idle.`,
  async run(size, scratch) {
    await bundleProgram();
    const { quick } = size;
    const seconds = quick ? 15 : 30;
    const log = join(scratch, 'footprint.log');
    await writeDrive(FRAMES_A_SECOND * (seconds + 10), log);
    const lines = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const broker = new EmbeddedBroker({ port: 0 });
    await broker.start();
    const watcher = await CloudClient.connect(broker.url);
    try {
      const floor = await bundle('./footprint-floor.ts', scratch);
      const costs: ProcessCost[] = [];
      const floors: ProcessCost[] = [];
      for (let round = 0; round < (quick ? 1 : 3); round++) {
        costs.push(await agent(round, lines, broker.url, watcher, scratch, seconds));
        floors.push(
          await measured(spawn(process.execPath, [floor, broker.url]), 'floor/1', watcher, 3, () => undefined),
        );
      }
      const row = (name: string, of: readonly ProcessCost[]): { cells: string[] } => {
        const of1 = (value: (cost: ProcessCost) => number): string =>
          figure(median(of.map(value).sort((a, b) => a - b)));
        return {
          cells: [
            name,
            of1(({ first }) => first * 1000),
            of1(({ privateMiB }) => privateMiB),
            of1(({ residentMiB }) => residentMiB),
            of1(({ cpu }) => cpu),
          ],
        };
      };
      return [
        {
          title: `${seconds} s at ${FRAMES_A_SECOND.toLocaleString('en')} frames/s`,
          columns: ['process', 'start to first publish, ms', 'private, MiB', 'resident, MiB', '% of one core'],
          rows: [row('**vigie run**', costs), row('the four libraries alone, idle', floors)],
          notes: [
            'Private memory is not shared with other processes (smaps_rollup): the unit has this much less.',
            'As published by others: Greengrass lite 15.8 MB (C), thin-edge 34 MiB (Rust), Signal K 132 MB and 12.9 % of a Raspberry Pi 3B (Node).',
          ],
          targets: targets(costs, floors),
        },
        ...(quick ? [] : [await packages(scratch)]),
      ];
    } finally {
      await watcher.close();
      await broker.stop();
    }
  },
};

function targets(costs: readonly ProcessCost[], floors: readonly ProcessCost[]): BenchmarkTarget[] {
  const middle = (all: readonly ProcessCost[], value: (cost: ProcessCost) => number): number =>
    median(all.map(value).sort((a, b) => a - b));
  const of = (value: (cost: ProcessCost) => number): number => middle(costs, value);
  const start = figure(middle(floors, ({ first }) => first * 1000));
  const why = `the speed of this machine in this run counts; in it the four libraries alone started in ${start} ms`;
  const floor = figure(middle(floors, ({ privateMiB }) => privateMiB));
  const memory = `the four libraries alone, idle, have ${floor} MiB of it`;
  return [
    {
      what: 'private memory, MiB',
      measured: of(({ privateMiB }) => privateMiB),
      bound: 40,
      wanted: 'at most',
      floor: middle(floors, ({ privateMiB }) => privateMiB),
      why: memory,
    },
    {
      what: '% of one core',
      measured: of(({ cpu }) => cpu),
      bound: 2,
      wanted: 'at most',
      floor: middle(floors, ({ cpu }) => cpu),
      why,
    },
    {
      what: 'start to first publish, ms',
      measured: of(({ first }) => first * 1000),
      bound: 2.5 * middle(floors, ({ first }) => first * 1000),
      wanted: 'at most',
      floor: middle(floors, ({ first }) => first * 1000),
      why,
    },
  ];
}

/** Measures the sizes of the executable and the Debian package, which are built as by `npm run package`. */
async function packages(scratch: string): Promise<Table> {
  const made: { name: string; executable: number; debian: number }[] = [];
  installFor(units);
  for (const target of units) {
    const executable = join(scratch, `vigie-linux-${target.name}`);
    const debian = `${executable}.deb`;
    await makeExecutable(target, executable);
    await makePackage(target, { path: executable, kind: 'executable' }, debian, 'small');
    made.push({ name: target.name, executable: statSync(executable).size / 1e6, debian: statSync(debian).size / 1e6 });
  }
  return {
    title: 'Installed size',
    columns: ['unit', 'executable, MB', 'Debian package, MB'],
    rows: made.map(({ name, executable, debian }) => ({ cells: [name, figure(executable), figure(debian)] })),
    notes: ['The executable contains Node, and needs only the C library of the unit.'],
    targets: made.map(({ name, debian }) => {
      return { what: `Debian package for ${name}, MB`, measured: debian, bound: 30, wanted: 'at most' };
    }),
  };
}

async function agent(
  round: number,
  lines: readonly string[],
  url: string,
  watcher: CloudClient,
  scratch: string,
  seconds: number,
): Promise<ProcessCost> {
  const folder = join(scratch, `footprint-${round}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'vigie.yaml');
  const inputs = "can: [{ bus: body, log: '-' }]";
  writeFileSync(
    file,
    `configuration: 1\nvin: ${VIN}\nprofile: bench\ndata: ./records\n${inputs}\nmqtt: { url: ${url} }\nlog: { level: error }\n`,
  );
  // Like `npx vigie`, which reuses the compiled code that the previous start has cached.
  const main = fileURLToPath(new URL('../vigie.js', import.meta.url));
  const child = spawn(process.execPath, [main, 'run', '-c', file], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, ...environmentOfUnit() },
  });
  let next = 0;
  return measured(child, `vigie/1/${VIN}/up/+`, watcher, seconds, () => {
    const until = next + (FRAMES_A_SECOND * SLICE) / 1000;
    child.stdin?.write(`${lines.slice(next, until).join('\n')}\n`);
    next = until % lines.length;
  });
}

/**
 * Reads the environment that the unit sets for Node and the C library: one variable per line, quoted if it contains
 * spaces (systemd.exec(5)).
 */
export function environmentOfUnit(): Record<string, string> {
  const unit = readFileSync(new URL('../service/vigie.service', import.meta.url), 'utf8');
  const found = [...unit.matchAll(/^Environment="?([A-Z_]+)=([^"\n]+)"?$/gm)];
  if (found.length === 0) throw new Error('the unit sets nothing');
  return Object.fromEntries(found.map(([, name, value]) => [name, value]));
}

/** Measures a process from its start. After its first message, calls `feed` every {@link SLICE} ms. */
export async function measured(
  child: ChildProcess,
  filter: string,
  watcher: CloudClient,
  seconds: number,
  feed: () => void,
): Promise<ProcessCost> {
  const started = performance.now();
  let subscription: { close(): Promise<void> } | undefined;
  const published = new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the process ended before it published anything')));
    watcher
      .subscribe(filter, (_topic, _payload, { retained }) => {
        if (!retained) resolve(performance.now());
      })
      .then((made) => {
        subscription = made;
      }, reject);
  });
  try {
    const first = ((await published) - started) / 1000;
    const begun = performance.now();
    let slices = 0;
    const feeding = setInterval(() => {
      // If the timer was late, deliver several slices of frames.
      for (const due = Math.floor((performance.now() - begun) / SLICE); slices < due; slices++) feed();
    }, SLICE);
    // Wait until the work of the start is over and the heap has reached its final size.
    await passed(Math.min(5, seconds / 2));
    const before = ticksOf(child);
    const since = performance.now();
    await passed(seconds);
    const cpu = (ticksOf(child) - before) / TICKS / ((performance.now() - since) / 1000);
    clearInterval(feeding);
    return { first, ...memoryOf(child), cpu: cpu * 100 };
  } finally {
    await subscription?.close();
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

/** Returns user and system time in ticks (proc(5), fields 14 and 15 of stat). */
function ticksOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function memoryOf({ pid }: ChildProcess): { privateMiB: number; residentMiB: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const resident = Number(/^Rss: +([0-9]+) kB$/m.exec(text)?.[1]);
  return { privateMiB: privateBytesIn(text) / 2 ** 20, residentMiB: resident / 1024 };
}

function passed(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
}
