/**
 * Boolean expressions over trigger names (interface 3.19.2 triggerParam.boolExp) as truth tables:
 *
 *     expression = term *("|" term)          term = factor *("&" factor)
 *     factor     = *"!" (name | "(" expression ")")
 *
 * Blanks are ignored. Bit r of a table is the value in row r, in which bit i of r is trigger i: a table of
 * five triggers fits into a 32-bit integer; with fewer triggers, rows that differ only in unused bits are equal.
 */
import { malformed, unknown } from './input.ts';

const LONGEST = 512;
const DEEPEST = 32;
const ALL = 0xffff_ffff;

/** Columns of the triggers: the value of trigger i in each of the 32 rows. */
export const columns: readonly number[] = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000];

/**
 * Returns the table of an expression over the triggers `names`, at most five.
 * @throws VigieError `input.malformed` if it is not an expression, or is always true or always false;
 * `input.unknown` if a name is not that of a trigger. Positions count characters from 1.
 */
export function truthTable(expression: string, names: readonly string[], where = 'boolExp'): number {
  if (expression.length > LONGEST) throw malformed(where, `must have at most ${LONGEST} characters`);
  const parser = new Parser(expression, names, where);
  const table = parser.whole();
  if (table === ALL) throw malformed(where, 'is always true: it would tell nothing');
  if (table === 0) throw malformed(where, 'is never true: it would tell nothing');
  return table;
}

class Parser {
  readonly #text: string;
  readonly #names: readonly string[];
  readonly #where: string;
  #at = 0;
  #depth = 0;

  constructor(text: string, names: readonly string[], where: string) {
    this.#text = text;
    this.#names = names;
    this.#where = where;
  }

  whole(): number {
    const table = this.#expression();
    if (this.#next() === undefined) return table;
    if (this.#next() === ')') throw this.#fault('a closing parenthesis without an opening one');
    throw this.#fault(`expected & or |, found ${this.#found()}`);
  }

  #expression(): number {
    let table = this.#term();
    while (this.#take('|')) table = (table | this.#term()) >>> 0;
    return table;
  }

  #term(): number {
    let table = this.#factor();
    while (this.#take('&')) table = (table & this.#factor()) >>> 0;
    return table;
  }

  #factor(): number {
    let negated = false;
    while (this.#take('!')) negated = !negated;
    const table = this.#operand();
    return negated ? ~table >>> 0 : table;
  }

  #operand(): number {
    const from = this.#at;
    if (!this.#take('(')) return this.#name();
    if (++this.#depth > DEEPEST) throw this.#fault(`deeper than ${DEEPEST} levels`);
    const opened = this.#at;
    const table = this.#expression();
    if (!this.#take(')')) {
      const missing = this.#next() === undefined ? 'the text ends' : `found ${this.#found()}`;
      throw this.#fault(`the parenthesis opened at character ${Math.max(from + 1, opened)} is not closed: ${missing}`);
    }
    this.#depth--;
    return table;
  }

  #name(): number {
    this.#next();
    const name = /^[a-zA-Z]+[._-]?[0-9]*/.exec(this.#text.slice(this.#at))?.[0];
    if (name === undefined) throw this.#fault(`expected the name of a trigger, ! or (, found ${this.#found()}`);
    const index = this.#names.indexOf(name);
    const column = columns[index];
    if (column === undefined) {
      const names = this.#names.join(', ');
      throw unknown(this.#where, `character ${this.#at + 1}: no trigger is named ${name}; there are ${names}`);
    }
    this.#at += name.length;
    return column;
  }

  /** Returns the next character that is not a blank, or undefined at the end. */
  #next(): string | undefined {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text[this.#at];
  }

  #take(character: string): boolean {
    if (this.#next() !== character) return false;
    this.#at++;
    return true;
  }

  #found(): string {
    const next = this.#next();
    return next === undefined ? 'the end' : JSON.stringify(next);
  }

  #fault(rule: string): Error {
    return malformed(this.#where, `character ${this.#at + 1}: ${rule}`);
  }
}

/** Values of a trigger or an expression. */
export const FALSE = 0;
export const TRUE = 1;
export const UNKNOWN = 2;
export type Truth = typeof FALSE | typeof TRUE | typeof UNKNOWN;

/**
 * Returns the value of an expression if trigger i is `truths[i]`: true or false if the unknown triggers do not matter.
 */
export function judge(table: number, truths: readonly Truth[]): Truth {
  let rows = ALL;
  for (let i = 0; i < truths.length; i++) {
    const truth = truths[i] as Truth;
    if (truth !== UNKNOWN) rows &= truth === TRUE ? (columns[i] as number) : ~(columns[i] as number);
  }
  // Compare as signed integers, because & returns those.
  const met = table & rows;
  return met === 0 ? FALSE : met === (rows | 0) ? TRUE : UNKNOWN;
}
