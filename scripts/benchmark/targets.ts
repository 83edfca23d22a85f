/** What the project wants to reach, beside what was reached: the first table of the page. */
import { figure } from './contest.ts';
import type { BenchmarkTarget, Table } from './section.ts';

/** Whether the figure is on the side that is wanted; what could not be measured is not. */
export function isMet({ measured, bound, wanted }: BenchmarkTarget): boolean {
  return wanted === 'at least' ? measured >= bound : measured <= bound;
}

/** By how much of the bound it is missed, %. */
export function missedBy({ measured, bound, wanted }: BenchmarkTarget): number {
  const over = wanted === 'at least' ? bound - measured : measured - bound;
  return (over / bound) * 100;
}

/** @param targets by the section that measured them */
export function targetTable(targets: ReadonlyMap<string, readonly BenchmarkTarget[]>): Table {
  const all = [...targets].flatMap(([section, of]) => of.map((target) => ({ section, target })));
  const missed = all.filter(({ target }) => !isMet(target));
  return {
    title: `${all.length - missed.length} of ${all.length} reached`,
    columns: ['section', 'what', 'wanted', 'measured', ''],
    rows: all.map(({ section, target }) => ({
      cells: [
        section,
        target.what,
        `${target.wanted} ${amount(target.bound)}`,
        amount(target.measured),
        verdict(target),
      ],
    })),
    notes: missed.map(({ target }) => `${target.what}: ${target.why ?? 'not known why'}`),
  };
}

function verdict(target: BenchmarkTarget): string {
  if (Number.isNaN(target.measured)) return '**not measured**';
  if (isMet(target)) return 'reached';
  const by = missedBy(target);
  return Number.isFinite(by) ? `**missed by ${figure(by)} %**` : '**missed**';
}

/** Three digits that matter; whole numbers as they are, 0 too. */
function amount(value: number): string {
  return Number.isNaN(value) ? '' : Number(Math.abs(value) < 1000 ? value.toPrecision(3) : value).toLocaleString('en');
}
