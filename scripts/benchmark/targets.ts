/** Targets of the project, with the measured figures: the first table of the page. */
import { figure } from './contest.ts';
import type { BenchmarkTarget, Table } from './section.ts';

/** Returns true if the figure is on the right side of the bound; false if it could not be measured. */
export function isMet({ measured, bound, wanted }: BenchmarkTarget): boolean {
  return wanted === 'at least' ? measured >= bound : measured <= bound;
}

/** Returns by how much the bound is missed, in % of the bound. */
export function missedBy({ measured, bound, wanted }: BenchmarkTarget): number {
  const over = wanted === 'at least' ? bound - measured : measured - bound;
  return (over / bound) * 100;
}

/** @param targets targets by the section that measures them */
export function targetTable(targets: ReadonlyMap<string, readonly BenchmarkTarget[]>): Table {
  const all = [...targets].flatMap(([section, of]) => of.map((target) => ({ section, target })));
  const missed = all.filter(({ target }) => !isMet(target));
  return {
    title: `${all.length - missed.length} of ${all.length} reached`,
    columns: ['section', 'what', 'wanted', 'measured', 'floor', 'of the floor', ''],
    rows: all.map(({ section, target }) => ({
      cells: [
        section,
        target.what,
        `${target.wanted} ${amount(target.bound)}`,
        amount(target.measured),
        amount(target.floor ?? Number.NaN),
        target.floor === undefined || target.floor === 0 ? '' : amount(target.measured / target.floor),
        verdict(target),
      ],
    })),
    notes: [
      ...missed.map(({ target }) => `${target.what}: ${reason(target)}`),
      'The floor is the same figure for what no program can leave out, measured in the same run.',
    ],
  };
}

function reason({ measured, why }: BenchmarkTarget): string {
  if (Number.isNaN(measured))
    return 'what it is compared with is not installed; the note under its table says what brings it';
  return why ?? 'its table below shows what was measured beside it';
}

/** Targets of the first version that were replaced, either by stricter ones or by ones that can be reached. */
export const replacedTable: Table = {
  title: 'Targets that were replaced',
  columns: ['section', 'before', 'now', 'why'],
  rows: [
    [
      'The whole agent over a log',
      '1 million frames/s of a whole process',
      'half of reading and decoding alone, once the process runs',
      'a process of a second is a third start, and a ratio holds on other machines',
    ],
    [
      'The whole agent over a log',
      '1/8 of the time of python-can reading alone',
      '0.18, and a first frame within four times the start of Node',
      'an eighth is less than Node needs to start and to compile the agent',
    ],
    [
      'Round trip of a command',
      'median 3 ms, 99 of 100 within 10 ms',
      'twice mqtt.js and three waits for the medium',
      'milliseconds are those of a machine and its medium, a ratio holds on others',
    ],
    [
      'The store',
      '1.3 times SQLite at a commit for every message',
      '0.8 of the medium alone',
      'no store that waits for the medium at each commit is faster than the medium',
    ],
    ['Footprint', '45 MiB of private memory, 3 % of a core', '40 MiB, 2 %', 'the first version reached them'],
    [
      'Footprint',
      'a first publish within 600 ms',
      '2.5 times the four libraries alone',
      'a ratio holds on other machines',
    ],
    [
      'Bytes over the air',
      '60 µs of CPU for 200 readings',
      '1.5 times zlib alone',
      'the compression is what no encoding can leave out',
    ],
    ['Reading messages', '30, 15 and 15 µs', 'three times decompression alone', 'a ratio holds on other machines'],
  ].map((cells) => ({ cells })),
  notes: [],
};

/** Targets that need a fleet, a cluster or all tests. Other programs than the benchmark measure them. */
export const elsewhereTable: Table = {
  title: 'Targets that other programs measure',
  columns: ['what', 'wanted', 'measured by'],
  rows: [
    [
      'processor of one hub a message, its commit included',
      'at most 120 µs',
      '`npm run fleet`, [hub](../../docs/hub-operations.md#how-large)',
    ],
    [
      'bytes a reading in the database of a hub, at 200 readings a message',
      'at most 3.5',
      '`npm run fleet`, [hub](../../docs/hub-operations.md#how-large)',
    ],
    [
      '10,000 driving cars while hubs and PostgreSQL are killed',
      'none lost, none twice',
      '`npm run fleet`, [hub](../../docs/hub-operations.md#how-large)',
    ],
    [
      'three nodes of RabbitMQ or NATS while one is killed',
      'none lost, none twice',
      '`npm run fleet`, [hub](../../docs/hub-operations.md#how-large)',
    ],
    ['private memory over a simulated week', 'flat', '`npm run week`'],
    ['`npm test` on two idle cores', 'at most 8 minutes', '`npm test`'],
  ].map((cells) => ({ cells })),
  notes: [],
};

function verdict(target: BenchmarkTarget): string {
  if (Number.isNaN(target.measured)) return '**not measured**';
  if (isMet(target)) return 'reached';
  const by = missedBy(target);
  return Number.isFinite(by) ? `**missed by ${figure(by)} %**` : '**missed**';
}

/** Formats a number with three significant digits; integers, including 0, unchanged. */
function amount(value: number): string {
  return Number.isNaN(value) ? '' : Number(Math.abs(value) < 1000 ? value.toPrecision(3) : value).toLocaleString('en');
}
