/** Tables for people, as wide as their terminal. */

export interface TableColumn {
  readonly title: string;
  readonly align: 'left' | 'right';
  /** Where the width does not suffice, the column with the lowest number is left out first; undefined: never. */
  readonly dispensable?: number;
  /** Where even that does not suffice, its cells are broken into several lines. */
  readonly breakable?: boolean;
}

export interface Row {
  /** One for each column; a cell of several lines has them one below the other. */
  readonly cells: readonly (string | readonly string[])[];
  /** Details after the cells: next to them if there is room, otherwise below. Broken between words. */
  readonly details: readonly string[];
}

const GAP = '  ';
/** Details narrower than this are hard to read next to the cells, and go below. */
const NARROW = 24;
/** A column is not broken to less. */
const NARROWEST = 12;
const INDENT = '    ';

/**
 * Lines of a table, its titles first. No line is wider than `width` unless the columns that are never left out are.
 * Details go beside the cells if all of them fit there unbroken or there is room for some words; else below.
 */
export function tableLines(columns: readonly TableColumn[], rows: readonly Row[], width: number): string[] {
  const widths = columns.map(({ title }, c) =>
    rows.reduce((most, { cells }) => Math.max(most, ...linesOf(cells[c]).map(lengthOf)), lengthOf(title)),
  );
  // A column that is empty in all rows is omitted.
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

/** Joins phrases by commas into lines of at most `width` characters; a phrase that is longer is broken between words. */
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

/** A name from a file, without what would steer a terminal. */
export function printable(name: string): string {
  return name.replace(/\p{Cc}/gu, '?');
}

/** Three hexadecimal digits of an 11-bit identifier, eight of a 29-bit one, as candump writes them. */
export function identifierText(id: number, extended: boolean): string {
  return id
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0');
}

/** Bytes are counted from 0, bits of a byte from its least significant. */
export function placeText(start: number, bits: number): string {
  const first = start & 7;
  if (bits === 1) return `byte ${start >>> 3} bit ${first}`;
  return bits === 8 ? `byte ${start >>> 3}` : `byte ${start >>> 3} bits ${first}-${first + bits - 1}`;
}
