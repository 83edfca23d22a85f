/** Results of a section of the benchmark, and their form on the page. */

/** How much is measured. */
export interface Size {
  /** Frames or lines. */
  readonly frames: number;
  /** Rounds that count, after some that warm up. */
  readonly rounds: number;
  /** Only the figures that a row of targets needs, in the shortest sufficient time. */
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
  /** Targets of the project for this section. */
  readonly targets?: readonly BenchmarkTarget[];
  /** A drawing next to the page. */
  readonly drawing?: Drawing;
}

/** A bound on one figure of a section. */
export interface BenchmarkTarget {
  /** Measured quantity, with its unit. */
  readonly what: string;
  readonly measured: number;
  readonly bound: number;
  /** Which side of the bound is wanted. */
  readonly wanted: 'at least' | 'at most';
  /** The same figure for the part of the work that nothing can leave out, measured in the same run. */
  readonly floor?: number;
  /** Reason why it is not reached, in a sentence. Printed only then. Default: where to look. */
  readonly why?: string;
}

export interface Drawing {
  /** Name of the file in docs/. */
  readonly file: string;
  /** Content of the drawing, for readers who do not see it. */
  readonly title: string;
  readonly svg: string;
}

export interface Section {
  /** For the command line. */
  readonly name: string;
  readonly title: string;
  /** Measured work, its peers, and its data. */
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
