/** Results of a section of the benchmark, and their format on the page. */

/** Size of the measurement. */
export interface Size {
  /** Number of frames or lines. */
  readonly frames: number;
  /** Number of counted rounds, which follow some warm-up rounds. */
  readonly rounds: number;
  /** If true, measures only the figures that targets need, in the shortest time that suffices. */
  readonly quick: boolean;
}

interface Row {
  readonly cells: readonly string[];
}

/** One comparison: a table with the results and the figures with which they are compared. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Sentences under the table: what was verified, what was omitted, and why. */
  readonly notes: readonly string[];
  /** Targets of the project for this section. */
  readonly targets?: readonly BenchmarkTarget[];
  /** A drawing that is stored next to the page. */
  readonly drawing?: Drawing;
}

/** A bound on one figure of a section. */
export interface BenchmarkTarget {
  /** Measured quantity, with its unit. */
  readonly what: string;
  readonly measured: number;
  readonly bound: number;
  /** Side of the bound on which the figure should be. */
  readonly wanted: 'at least' | 'at most';
  /** The same figure for the unavoidable part of the work, measured in the same run. */
  readonly floor?: number;
  /**
   * Sentence with the reason why the target is not met, printed only in that case. Default: a reference to further
   * details.
   */
  readonly why?: string;
}

export interface Drawing {
  /** Name of the file in docs/. */
  readonly file: string;
  /** Text description of the drawing. */
  readonly title: string;
  readonly svg: string;
}

export interface Section {
  /** Name on the command line. */
  readonly name: string;
  readonly title: string;
  /** Description of the measured work, of its peers, and of the data. */
  readonly text: string;
  /** @param scratch folder that is removed afterwards */
  run(size: Size, scratch: string): Promise<readonly Table[]>;
}

/** Formats one table as Markdown. */
export function markdown(table: Table): string {
  const lines = [
    `### ${table.title}`,
    '',
    `| ${table.columns.join(' | ')} |`,
    `|${table.columns.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`,
    ...table.rows.map((row) => `| ${row.cells.join(' | ')} |`),
  ];
  if (table.notes.length > 0) lines.push('', ...table.notes.map((note) => `- ${note}`));
  if (table.drawing !== undefined) lines.push('', `![${table.drawing.title}](../../docs/${table.drawing.file})`);
  return `${lines.join('\n')}\n`;
}
