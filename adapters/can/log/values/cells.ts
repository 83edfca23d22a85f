/** Splits a line of a table into cells, and reads the numbers in them. */

/** Splits at a separator. Cells in double quotes may contain it; two double quotes inside mean one. */
export function cellsOf(line: string, separator: string): string[] {
  if (!line.includes('"')) return line.split(separator).map((cell) => cell.trim());
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line[i] as string;
    if (quoted) {
      if (character !== '"') cell += character;
      else if (line[i + 1] === '"') {
        cell += '"';
        i++;
      } else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === separator) {
      cells.push(cell.trim());
      cell = '';
    } else cell += character;
  }
  cells.push(cell.trim());
  return cells;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const COMMA_NUMBER = /^[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+(e[+-]?\d+)?$/i;
/** Strings that tools write for a missing value. */
const ABSENT = /^(-+|nan|n\/?a|null|none|no ?data|\?|inf(inity)?|-inf(inity)?|∞|-∞)?$/i;
const WORDS: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['false', 0],
  ['on', 1],
  ['off', 0],
  ['yes', 1],
  ['no', 0],
]);

/** Returns true for a number with a decimal comma: `12,5`, `1.234,5`. */
export function hasDecimalComma(cell: string): boolean {
  return COMMA_NUMBER.test(cell);
}

/** Returns true if the comma of such a number may also separate thousands: `1,234`. */
export function mayBeThousands(cell: string): boolean {
  return /^[+-]?[1-9]\d{0,2}(,\d{3})+$/.test(cell);
}

/**
 * Returns the number in a cell; null for an intentionally missing value; undefined for other text. On and off, true and
 * false, yes and no are 1 and 0.
 */
export function cellValue(cell: string, decimalComma: boolean): number | null | undefined {
  let text = cell;
  if (decimalComma && text.includes(',')) {
    if (!hasDecimalComma(text)) return undefined;
    text = text.replaceAll('.', '').replace(',', '.');
  }
  if (NUMBER.test(text)) {
    const number = Number(text);
    return Number.isFinite(number) ? number : null;
  }
  if (ABSENT.test(text)) return null;
  return WORDS.get(text.toLowerCase());
}
