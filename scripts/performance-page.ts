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

/**
 * Figures of other programs that the page shows. `table`: first words of the title of a table. `target`: first words of the
 * target for the same work, if the section has one for it.
 */
interface Comparison {
  readonly work: string;
  readonly section: string;
  readonly table: string;
  readonly column: string;
  readonly target?: string;
}

const comparisons: readonly Comparison[] = [
  {
    work: 'decoding, every frame new, million frames/s',
    section: 'Decoding CAN',
    table: 'bench car, every frame new',
    column: 'million frames/s',
    target: 'bench car, every frame new',
  },
  {
    work: 'candump text to frames, million lines/s',
    section: 'Reading logs',
    table: 'candump text to frames',
    column: 'million lines/s',
    target: 'the same: speed, of sscanf',
  },
  {
    work: 'a million frames through the whole agent, seconds',
    section: 'The whole agent over a log',
    table: '',
    column: 'seconds',
    target: 'time of the process',
  },
  {
    work: 'every sample, bytes a reading',
    section: 'Bytes over the air',
    table: 'Every sample, recorded',
    column: 'bytes a reading, 200 a batch',
    target: 'recorded drives, every sample, 200 a batch',
  },
  {
    work: 'a backlog, thousand messages/s',
    section: 'Handing over a backlog',
    table: 'at most 100',
    column: 'thousand messages/s',
    target: 'a backlog, 100 under way',
  },
  {
    work: 'a command, median, ms',
    section: 'Round trip of a command',
    table: 'single',
    column: 'median, ms',
    target: 'a single command',
  },
  {
    work: 'a commit for 100 messages, thousand messages/s',
    section: 'The store',
    table: 'messages are sent and deleted, a commit for 100',
    column: 'thousand messages/s',
    target: 'messages are sent and deleted, a commit for 100 messages: speed',
  },
  {
    work: 'frames missing under load',
    section: 'CAN under load',
    table: '',
    column: 'missing',
    target: 'frames missing',
  },
  { work: 'a whole Status over HTTP, reads/s', section: 'The interface over HTTP', table: '', column: 'reads/s' },
  { work: 'private memory, MiB', section: 'Footprint', table: '', column: 'private, MiB', target: 'private memory' },
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

/** A target with its measured figure, as the results have it. */
interface TargetRow {
  readonly section: string;
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  readonly floor: string;
  readonly ofFloor: string;
  readonly isMissed: boolean;
}

/**
 * Returns the table of the page: each comparison with other programs, each target with a floor, and each missed target.
 * @param results text of `scripts/benchmark/results.md`. Comparisons that it does not contain are omitted: not every
 * machine has all peers.
 */
export function figuresOf(results: string): string {
  const tables = tablesOf(results);
  const targets = tables.find(({ section }) => section === 'Targets');
  if (targets === undefined) throw new Error('scripts/benchmark/results.md has no table of targets');
  const machine = /^Measured on .*$/m.exec(results)?.[0] ?? '';
  const told = `${targets.title.replace(' reached', '')} targets are reached; \`scripts/benchmark/results.md\` has all of them.`;
  return [machine, told, '', ...figureRows(tables, targetsIn(targets)), ...absentPeers(results)].join('\n');
}

function figureRows(tables: readonly ResultTable[], targets: readonly TargetRow[]): readonly string[] {
  const shown = new Set<TargetRow>();
  const compared = comparisons.flatMap(({ work, section, table, column, target }) => {
    const found = tables.find((one) => one.section === section && one.title.startsWith(table));
    const index = found?.columns.indexOf(column) ?? -1;
    if (found === undefined || index < 0) return [];
    const figures = found.rows.map(([name = '', ...rest]) => ({ name, figure: rest[index - 1] ?? '' }));
    const isOwn = ({ name }: { readonly name: string }): boolean => name.includes('vigie');
    const own = figures.find(({ name }) => name.startsWith('**vigie')) ?? figures.find(isOwn);
    const others = figures.filter((one) => !isOwn(one)).map(({ name, figure }) => `${name}: ${figure}`);
    const wanted = targets.find(
      (one) => target !== undefined && one.section === section && one.what.startsWith(target),
    );
    if (wanted !== undefined) shown.add(wanted);
    return [rowOf(`**${work}**`, own?.figure ?? '', others.join('; '), wanted, true)];
  });
  const rest = targets.filter((one) => !shown.has(one) && (one.isMissed || one.floor !== ''));
  return [
    '| work | Vigie | other programs | floor | of the floor | target |',
    '|---|---:|---|---:|---:|---|',
    ...compared,
    ...rest.map((one) => rowOf(`${one.section}: ${one.what}`, one.measured, '', one, false)),
  ];
}

/** @param named true if the target is for another figure than the row's, so that its row must say which */
function rowOf(work: string, own: string, others: string, target: TargetRow | undefined, named: boolean): string {
  const bound = target?.wanted.replace('at least', '≥').replace('at most', '≤') ?? '';
  const outcome = target?.isMissed === true ? `**missed** with ${target.measured}` : `${target?.measured} reached`;
  const told = target === undefined ? '' : named ? `${target.what} ${bound}: ${outcome}` : `${bound}: ${outcome}`;
  return `| ${[work, own, others, target?.floor ?? '', target?.ofFloor ?? '', told].join(' | ')} |`;
}

function targetsIn({ columns, rows }: ResultTable): readonly TargetRow[] {
  return rows.map((cells) => {
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? '';
    const [section, what, wanted, measured, floor] = ['section', 'what', 'wanted', 'measured', 'floor'].map(cell);
    const outcome = { ofFloor: cell('of the floor'), isMissed: cells.at(-1) !== 'reached' };
    return { section, what, wanted, measured, floor, ...outcome } as TargetRow;
  });
}

/** Returns a paragraph with the programs that were not installed, if any. */
function absentPeers(results: string): readonly string[] {
  const absent = new Set(results.match(/^- [Nn]o .* brings? (?:it|them).*$/gm) ?? []);
  return absent.size === 0 ? [] : ['', 'Not measured beside it:', '', ...absent];
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
