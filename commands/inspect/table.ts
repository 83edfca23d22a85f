/** Formats tables for people so that they fit the terminal. */

export interface TableColumn {
  readonly title: string;
  readonly align: 'left' | 'right';
  /** Order in which columns are removed if the width does not suffice, lowest first. If undefined, never removed. */
  readonly dispensable?: number;
  /** True if cells may be broken into several lines when the table is still too wide after columns were removed. */
  readonly breakable?: boolean;
}

export interface Row {
  /** One cell for each column. A cell of several lines is an array. */
  readonly cells: readonly (string | readonly string[])[];
  /** Details after the cells: next to them if there is room, otherwise below. Broken between words. */
  readonly details: readonly string[];
}

const GAP = '  ';
/** Smallest width of details next to the cells. Narrower ones are hard to read, and are printed below. */
const NARROW = 24;
/** Smallest width into which the cells of a column are broken. */
const NARROWEST = 12;
const INDENT = '    ';

/**
 * Returns the lines of a table, titles first. No line exceeds `width` unless the columns that are never removed do.
 * Details are next to the cells if all of them fit there unbroken or there is room for some words; otherwise they are
 * below.
 */
export function tableLines(columns: readonly TableColumn[], rows: readonly Row[], width: number): string[] {
  const widths = columns.map(({ title }, c) =>
    rows.reduce((most, { cells }) => Math.max(most, ...linesOf(cells[c]).map(lengthOf)), lengthOf(title)),
  );
  // Omit columns that are empty in all rows.
  const shown = [...columns.keys()].filter((c) =>
    rows.some(({ cells }) => linesOf(cells[c]).some((line) => line !== '')),
  );
  const total = (): number => shown.reduce((sum, c) => sum + widths[c]! + GAP.length, -GAP.length);
  const dispensable = shown
    .filter((c) => columns[c]!.dispensable !== undefined)
    .sort((a, b) => columns[a]!.dispensable! - columns[b]!.dispensable!);
  for (const c of dispensable) if (total() > width) shown.splice(shown.indexOf(c), 1);
  const broken = shown.find((c) => columns[c]!.breakable === true);
  if (broken !== undefined && total() > width) {
    widths[broken] = Math.max(NARROWEST, widths[broken]! - (total() - width));
  }
  const room = width - total() - GAP.length;
  const longest = rows.reduce((most, { details }) => Math.max(most, lengthOf(details.join(', '))), 0);
  const beside = longest <= room || room >= NARROW;

  const line = (texts: readonly string[], rest: string): string =>
    [...shown.map((c) => pad(texts[c] ?? '', widths[c]!, columns[c]!.align)), rest].join(GAP).trimEnd();
  const lines = [
    line(
      columns.map(({ title }) => title),
      '',
    ),
  ];
  for (const { cells, details } of rows) {
    const given = cells.map((cell, c) =>
      c === broken ? linesOf(cell).flatMap((text) => pieces(text, widths[c]!)) : linesOf(cell),
    );
    const wrapped = wrap(details, beside ? room : Math.max(NARROW, width - INDENT.length));
    const height = Math.max(...given.map(({ length }) => length), beside ? wrapped.length : 0);
    for (let k = 0; k < height; k++) {
      lines.push(
        line(
          given.map((cell) => cell[k] ?? ''),
          beside ? (wrapped[k] ?? '') : '',
        ),
      );
    }
    if (!beside) lines.push(...wrapped.map((text) => INDENT + text));
  }
  return lines;
}

/** Joins phrases with commas into lines of at most `width` characters. A longer phrase is broken between words. */
export function wrap(phrases: readonly string[], width: number): string[] {
  const words = phrases.flatMap((phrase, i) => `${phrase}${i < phrases.length - 1 ? ',' : ''}`.split(' '));
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(...pieces(word, width));
  }
  return lines;
}

function pieces(word: string, width: number): string[] {
  const characters = [...word];
  const count = Number.isFinite(width) ? Math.max(1, Math.ceil(characters.length / width)) : 1;
  return Array.from({ length: count }, (_, i) => characters.slice(i * width || 0, (i + 1) * width).join(''));
}

function linesOf(cell: string | readonly string[] | undefined): readonly string[] {
  return cell === undefined ? [] : typeof cell === 'string' ? [cell] : cell;
}

function pad(text: string, width: number, align: TableColumn['align']): string {
  const blank = ' '.repeat(Math.max(0, width - lengthOf(text)));
  return align === 'left' ? text + blank : blank + text;
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Returns a name from a file, without control characters, which could change the state of a terminal. */
export function printable(name: string): string {
  return name.replace(/\p{Cc}/gu, '?');
}

/** Formats an identifier as candump does: three hexadecimal digits for 11 bits, and eight for 29 bits. */
export function identifierText(id: number, extended: boolean): string {
  return id
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0');
}

/** Formats the position of a field. Bytes are counted from 0, and the bits of a byte from the least significant one. */
export function placeText(start: number, bits: number): string {
  const first = start & 7;
  if (bits === 1) return `byte ${start >>> 3} bit ${first}`;
  return bits === 8 ? `byte ${start >>> 3}` : `byte ${start >>> 3} bits ${first}-${first + bits - 1}`;
}
