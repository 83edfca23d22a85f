/** What a section of the benchmark gives, and how it is written down. */

/** How much is measured. */
export interface Size {
  /** Frames or lines. */
  readonly frames: number;
  /** Rounds that count, after some that warm up. */
  readonly rounds: number;
  /** Only what a row of targets needs, in the shortest time that still gives a figure. */
  readonly quick: boolean;
}

interface Row {
  readonly cells: readonly string[];
}

/** One comparison: a table with what was measured and what it stands against. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Sentences under the table: what was made sure of, what was left out and why. */
  readonly notes: readonly string[];
  /** What of it the project wants to reach. */
  readonly targets?: readonly BenchmarkTarget[];
  /** A drawing beside the page. */
  readonly drawing?: Drawing;
}

/** A bound on one figure of a section. */
export interface BenchmarkTarget {
  /** What is measured, with its unit. */
  readonly what: string;
  readonly measured: number;
  readonly bound: number;
  /** Which side of the bound is wanted. */
  readonly wanted: 'at least' | 'at most';
  /** The same figure for the part of the work that nothing can leave out, measured in the same run. */
  readonly floor?: number;
  /** Why it is not reached, in a sentence; told only when it is not. Default: where to look. */
  readonly why?: string;
}

export interface Drawing {
  /** Name of the file in docs/. */
  readonly file: string;
  /** What it shows, for those who do not see it. */
  readonly title: string;
  readonly svg: string;
}

export interface Section {
  /** For the command line. */
  readonly name: string;
  readonly title: string;
  /** What is measured, against what, on which data. */
  readonly text: string;
  /** @param scratch folder that is removed afterwards. */
  run(size: Size, scratch: string): Promise<readonly Table[]>;
}

/** Markdown of one table. */
export function markdown(table: Table): string {
  const lines = [
    `### ${table.title}`,
    '',
    `| ${table.columns.join(' | ')} |`,
    `|${table.columns.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`,
    ...table.rows.map((row) => `| ${row.cells.join(' | ')} |`),
  ];
  if (table.notes.length > 0) lines.push('', ...table.notes.map((note) => `- ${note}`));
  if (table.drawing !== undefined) lines.push('', `![${table.drawing.title}](${table.drawing.file})`);
  return `${lines.join('\n')}\n`;
}
