/** How costs grow with the number of signals, monitors, records or kilometres. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';
import { figure } from './contest.ts';
import { writeDrive } from './drive-log.ts';
import { exponent } from './exponent.ts';
import { type Panel, type PlotLine, plot } from './plot.ts';
import type { BenchmarkTarget, Section, Size, Table } from './section.ts';

const bench = fileURLToPath(new URL('../../config/vehicles/bench', import.meta.url));

/** A quantity that can grow, and the costs of each amount of it. */
interface Growth {
  readonly title: string;
  /** The quantity that is counted. */
  readonly x: string;
  /** Name and unit of each cost, and its values by amount. */
  readonly costs: readonly PlotLine[];
  readonly notes: readonly string[];
}

export const growing: Section = {
  name: 'growth',
  title: 'Growth',
  text: `This section shows the cost of a growing amount, from little to more than a car has. Each amount runs in its own process; the figure is the least processor time of several runs, because other work of the machine only adds to it. The exponent is the slope of a straight
line through the logarithms of the upper half of the amounts, where fixed costs no longer count: 1 is linear, 0 does not grow. In the drawing the dashed lines are linear.`,
  async run(size, scratch) {
    const program = await bundle('growth-program.ts', scratch);
    const rounds = Math.ceil(size.rounds / 6);
    const growths = [
      signals(program, rounds, size),
      monitors(await bundle('monitors-program.ts', scratch), rounds, size),
      records(program, rounds, size, scratch),
      await logs(program, rounds, size, scratch),
    ];
    const tables = growths.map(table);
    const last = tables.at(-1) as Table;
    return [
      ...tables.slice(0, -1),
      { ...last, drawing: { file: 'growth.svg', title: 'Growth of costs', svg: plot(growths.map(panel)) } },
    ];
  },
};

function signals(program: string, rounds: number, { frames }: Size): Growth {
  const amounts = [64, 256, 1024, 4096, ...(frames >= 1_000_000 ? [16_384, 65_536] : [])];
  const costs = each(amounts, rounds, (amount) => measure(program, 'signals', amount));
  return {
    title: 'Signals that a profile wants',
    x: 'signals',
    costs: [
      line('each decoded once, µs', costs, 'decoding'),
      line('description read, tables made, ms', costs, 'loading'),
    ],
    notes: [
      'Eight signals a message, no frame equal to the last of its identifier.',
      'A signal has 84 bytes of tables, so that from some 10,000 signals on they are larger than a second-level cache of 1 MiB: each then costs more for the same work. Cars have a few thousand.',
    ],
  };
}

function monitors(program: string, rounds: number, { frames }: Size): Growth {
  const amounts = [125, 250, 500, 1000, ...(frames >= 1_000_000 ? [2000] : [])];
  const costs = each([0, ...amounts], rounds, (amount) => ({ changes: changes(program, amount) }));
  const [[, base], ...points] = line('a change of Status, ns', costs, 'changes').points as [
    readonly [number, number],
    ...(readonly [number, number])[],
  ];
  return {
    title: 'Monitors',
    x: 'monitors',
    costs: [{ name: 'a change of Status, ns', points: points.map(([amount, cost]) => [amount, cost - base] as const) }],
    notes: ['As in the section on monitors, less the cost of the same car without monitors.'],
  };
}

/** Returns the time of one change of Status in ns. A round of the program is five seconds with 10,000 changes each. */
function changes(program: string, amount: number): number {
  const input = `${'round\n'.repeat(4)}${'cost\n'.repeat(5)}`;
  const said = execFileSync(process.execPath, [program, String(amount), 'car'], { input, stdio: 'pipe' });
  return Math.min(...said.toString('utf8').trim().split('\n').slice(4).map(Number)) / 50_000;
}

function records(program: string, rounds: number, { frames }: Size, scratch: string): Growth {
  const amounts = [1000, 3000, 10_000, 30_000, ...(frames >= 1_000_000 ? [100_000, 300_000] : [])];
  const costs = each(amounts, rounds, (amount) => {
    const folder = mkdtempSync(join(scratch, 'growth-'));
    try {
      return measure(program, 'records', amount, folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  return {
    title: 'Records on disk',
    x: 'records',
    costs: [
      line('all written, ms', costs, 'keeping'),
      line('the store opened, ms', costs, 'opening'),
      line('ten of one period read, µs', costs, 'reading'),
    ],
    notes: ['Records of some 170 bytes, a hundred in a commit.'],
  };
}

async function logs(program: string, rounds: number, { frames }: Size, scratch: string): Promise<Growth> {
  const amounts = [0.01, 0.03, 0.1, 0.3, 1, ...(frames >= 1_000_000 ? [3] : [])].map((share) => share * frames);
  const files = new Map<number, string>();
  for (const amount of amounts) {
    const file = join(scratch, `growth-${amount}.log`);
    await writeDrive(amount, file);
    files.set(amount, file);
  }
  const costs = each(amounts, rounds, (amount) => measure(program, 'log', amount, files.get(amount) as string, bench));
  return {
    title: 'Frames of a log',
    x: 'frames',
    costs: [
      line('replayed by a whole process, s', costs, 'replaying'),
      line('largest resident memory, MiB', costs, 'memory'),
    ],
    notes: ['The bench car’s day, through the whole agent.'],
  };
}

type Costs = ReadonlyMap<number, readonly Readonly<Record<string, number>>[]>;

/** In every round, runs all amounts one after the other. */
function each(amounts: readonly number[], rounds: number, run: (amount: number) => Record<string, number>): Costs {
  const costs = new Map(amounts.map((amount) => [amount, [] as Record<string, number>[]]));
  for (let round = 0; round < rounds; round++) for (const amount of amounts) costs.get(amount)?.push(run(amount));
  return costs;
}

function measure(program: string, ...rest: readonly (string | number)[]): Record<string, number> {
  const said = execFileSync(process.execPath, [program, ...rest.map(String)], { stdio: 'pipe' });
  return JSON.parse(said.toString('utf8')) as Record<string, number>;
}

function line(name: string, costs: Costs, key: string): PlotLine {
  const least = (runs: readonly Readonly<Record<string, number>>[]): number =>
    Math.min(...runs.map((run) => run[key] ?? Number.NaN));
  return { name, points: [...costs].map(([amount, runs]) => [amount, least(runs)] as const) };
}

/** Largest exponent that counts as linear growth. It allows for the cost of caches that no longer hold all data. */
const LINEAR = 1.1;

function table({ title, x, costs, notes }: Growth): Table {
  const amounts = costs[0]?.points.map(([amount]) => amount) ?? [];
  return {
    title,
    columns: [x, ...costs.map(({ name }) => name)],
    rows: [
      ...amounts.map((amount, i) => ({
        cells: [amount.toLocaleString('en'), ...costs.map(({ points }) => figure(points[i]?.[1] ?? Number.NaN))],
      })),
      { cells: ['**exponent**', ...costs.map(({ points }) => `**${exponent(points).toFixed(2)}**`)] },
    ],
    notes,
    targets: costs.map(({ name, points }): BenchmarkTarget => {
      const what = `${title.toLowerCase()}: ${name.replace(/, [^,]+$/, '')}, exponent`;
      const why = 'see the note under its table';
      return { what, measured: exponent(points), bound: LINEAR, wanted: 'at most', why };
    }),
  };
}

/** Times below the clock's resolution are omitted: a logarithmic axis cannot show them. */
function panel({ title, x, costs }: Growth): Panel {
  const lines = costs.map(({ name, points }) => ({ name, points: points.filter(([, cost]) => cost > 0) }));
  return { title, x, y: 'cost', lines };
}
