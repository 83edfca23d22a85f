/** Tables of docs/performance.md, generated from the results of the benchmark. */
import { readFileSync } from 'node:fs';
import { withSection } from './generated-section.ts';

/** A table in the results, with its cells by row. */
interface ResultTable {
  readonly section: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Figures that the page compares with those of other programs. `table`: first words of the title of a table. */
type Comparison = readonly [work: string, section: string, table: string, column: string];

const comparisons: readonly Comparison[] = [
  ['decoding, every frame new', 'Decoding CAN', 'bench car, every frame new', 'million frames/s'],
  ['candump text to frames', 'Reading logs', 'candump text to frames', 'million lines/s'],
  ['a million frames through the whole agent', 'The whole agent over a log', '', 'seconds'],
  ['every sample, 200 a batch', 'Bytes over the air', 'Every sample', 'bytes a reading, 200 a batch'],
  ['handing over a backlog', 'Handing over a backlog', 'at most 100', 'thousand messages/s'],
  ['round trip of a command', 'Round trip of a command', 'single', 'median, ms'],
  ['a commit for 100 messages', 'The store', 'messages are sent and deleted, a commit for 100', 'thousand messages/s'],
  ['CAN under load', 'CAN under load', '', 'missing'],
  ['HTTP, a whole Status', 'The interface over HTTP', '', 'reads/s'],
  ['memory', 'Footprint', '', 'private, MiB'],
  ['5,008 custom signals, 4,000 frames/s', 'Custom signals and captures', '', '% of one core'],
];

/** Returns docs/performance.md with up-to-date tables. */
export function performancePage(): string {
  const results = readFileSync(new URL('benchmark/results.md', import.meta.url), 'utf8');
  const requests = readFileSync(new URL('fleet/requests.md', import.meta.url), 'utf8');
  return withSection('docs/performance.md', 'figures', `${figuresOf(results)}\n\n${requestRows(requests)}`);
}

/** Returns the table of `scripts/fleet/requests.md` with a title and its conditions. */
function requestRows(requests: string): string {
  const [, conditions = '', table = ''] = /\n\n(\d+ requests[^|]*)\n\n(\|.*)\n$/s.exec(requests) ?? [];
  return ['### Pages of a hub on PostgreSQL', '', conditions, '', table].join('\n');
}

/**
 * Returns the table of comparisons and that of missed targets.
 * @param results text of `scripts/benchmark/results.md`. Comparisons that it does not contain are omitted: not every
 * machine has all peers.
 */
export function figuresOf(results: string): string {
  const tables = tablesOf(results);
  const targets = tables.find(({ section }) => section === 'Targets');
  if (targets === undefined) throw new Error('scripts/benchmark/results.md has no table of targets');
  const machine = /^Measured on .*$/m.exec(results)?.[0] ?? '';
  const head = `### ${targets.title}`;
  return [machine, '', ...comparisonRows(tables), '', head, '', REACHED_ELSEWHERE, '', ...missedRows(targets)].join(
    '\n',
  );
}

function comparisonRows(tables: readonly ResultTable[]): readonly string[] {
  const rows = comparisons.flatMap(([work, section, table, column]) => {
    const found = tables.find((one) => one.section === section && one.title.startsWith(table));
    const index = found?.columns.indexOf(column) ?? -1;
    if (found === undefined || index < 0) return [];
    const figures = found.rows.map((cells) => `${cells[0]}: ${cells[index]}`);
    return [`| ${work}, ${column.replace(/, 200 a batch$/, '')} | ${figures.join('; ')} |`];
  });
  return ['| work | measured |', '|---|---|', ...rows];
}

const REACHED_ELSEWHERE = 'These were missed; `scripts/benchmark/results.md` has all of them.';

const FLOOR_COLUMNS = ['floor', 'of the floor'];

function missedRows({ columns, rows }: ResultTable): readonly string[] {
  const cell = (cells: readonly string[], name: string): string => cells[columns.indexOf(name)] ?? '';
  const floors = rows.some((cells) => cell(cells, 'floor') !== '');
  const head = ['target', 'measured', ...(floors ? FLOOR_COLUMNS : [])];
  const lines: string[] = [];
  let section = '';
  for (const cells of rows.filter((one) => one.at(-1) !== 'reached')) {
    const title = cell(cells, 'section') === section ? '' : `**${cell(cells, 'section')}**: `;
    section = cell(cells, 'section');
    const wanted = cell(cells, 'wanted').replace('at least', '≥').replace('at most', '≤');
    const more = floors ? FLOOR_COLUMNS.map((name) => ` ${cell(cells, name)} |`).join('') : '';
    lines.push(`| ${title}${cell(cells, 'what')} ${wanted} | ${cell(cells, 'measured')}, ${cells.at(-1)} |${more}`);
  }
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...lines];
}

function tablesOf(results: string): readonly ResultTable[] {
  return results.split(/^## /m).flatMap((text) => {
    const section = text.slice(0, text.indexOf('\n'));
    return text.split(/^### /m).flatMap((part, index) => {
      const rows = [...part.matchAll(/^\| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | '));
      const [columns, ...others] = rows;
      if (index === 0 || columns === undefined) return [];
      return [{ section, title: part.slice(0, part.indexOf('\n')), columns, rows: others }];
    });
  });
}
