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
