/**
 * Scans the text of a network description. White space, including line ends, only separates tokens, except after a
 * fault: scanning then continues at the next line that starts with a keyword.
 */

/** Symbols that start a statement, from the `new_symbols` list of the format and the sections themselves. */
const keywords = new Set(
  `VERSION NS_ BS_ BU_ BO_ SG_ BO_TX_BU_ EV_ ENVVAR_DATA_ EV_DATA_ SGTYPE_ SGTYPE_VAL_ SIG_TYPE_REF_ SIG_GROUP_
  SIG_VALTYPE_ SIGTYPE_VALTYPE_ SG_MUL_VAL_ VAL_ VAL_TABLE_ CM_ BA_DEF_ BA_DEF_DEF_ BA_ BA_DEF_REL_ BA_DEF_DEF_REL_
  BA_REL_ BA_DEF_SGTYPE_ BA_SGTYPE_ BU_SG_REL_ BU_EV_REL_ BU_BO_REL_ CAT_DEF_ CAT_ FILTER NS_DESC_`.split(/\s+/),
);

export function isKeyword(word: string): boolean {
  return keywords.has(word);
}

/** Thrown where the text does not continue as expected. The parser catches it and reports a diagnostic. */
export class SyntaxFault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.name = 'Fault';
    this.at = at;
  }
}

const space = /[ \t\r\n\v\f\u00a0\ufeff]*/y;
const blank = /[ \t\r\v\f\u00a0]*/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
/**
 * Names in real files may begin with digits, and contain dots, dashes and non-ASCII letters. Only the characters that
 * are excluded here end a name.
 */
const name = /[^\s:;,"|@()[\]]+/y;
const number = /[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
/** A line that starts with a keyword. */
const statement =
  /\n(?=[ \t]*(?:VERSION|NS_|BS_|BU_|BO_|SG_|BO_TX_BU_|EV_|ENVVAR_DATA_|EV_DATA_|SGTYPE_|SGTYPE_VAL_|SIG_TYPE_REF_|SIG_GROUP_|SIG_VALTYPE_|SIGTYPE_VALTYPE_|SG_MUL_VAL_|VAL_|VAL_TABLE_|CM_|BA_DEF_|BA_DEF_DEF_|BA_|BA_DEF_REL_|BA_DEF_DEF_REL_|BA_REL_|BA_DEF_SGTYPE_|BA_SGTYPE_|CAT_DEF_|CAT_|FILTER)(?:[ \t:\r\n]|$))/g;
/** A line that is unlikely to be prose in a comment: a keyword, followed by text that fits only its statement. */
const unmistakable =
  /\n(?:BO_ +\d+ +\S+ *: *\d|[ \t]*SG_ +\S+ *\S* *: *\d+\||CM_ +(?:"|BU_ |BO_ +\d|SG_ +\d|EV_ )|BA_DEF_ |BA_(?:DEF_DEF_)? +"|VAL_ +\d|SIG_VALTYPE_ +\d)/g;
const closed = /"\s*;/g;

/** Finds the next match, and caches the last result so that the time to scan a file grows only with its size. */
class NextMatch {
  readonly #pattern: RegExp;
  readonly #text: string;
  #from = 0;
  #found = -1;

  constructor(pattern: RegExp, text: string) {
    this.#pattern = new RegExp(pattern);
    this.#text = text;
  }

  /** Returns the index of the first match at or after `from`, or the length of the text. */
  after(from: number): number {
    if (from < this.#from || from > this.#found) {
      this.#pattern.lastIndex = from;
      this.#found = this.#pattern.exec(this.#text)?.index ?? this.#text.length;
      this.#from = from;
    }
    return this.#found;
  }
}

export class Scanner {
  readonly text: string;
  at = 0;
  readonly #lines: number[] = [0];
  readonly #statements: NextMatch;
  readonly #unmistakable: NextMatch;
  readonly #closed: NextMatch;

  constructor(text: string) {
    this.text = text;
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) this.#lines.push(i + 1);
    this.#statements = new NextMatch(statement, text);
    this.#unmistakable = new NextMatch(unmistakable, text);
    this.#closed = new NextMatch(closed, text);
  }

  /** Returns the 1-based line of a position. */
  line(at: number = this.at): number {
    let low = 0;
    let high = this.#lines.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#lines[middle]! <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** Line of the last character before this position that is not white space. */
  get lineOfLast(): number {
    let at = this.at;
    while (at > 0 && /\s/.test(this.text[at - 1]!)) at--;
    return this.line(Math.max(0, at - 1));
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match[0];
  }

  /** Skips white space and the `//` comments of hand-written files. */
  skipSpace(): void {
    for (;;) {
      this.#take(space);
      if (!this.text.startsWith('//', this.at)) return;
      const eol = this.text.indexOf('\n', this.at);
      this.at = eol < 0 ? this.text.length : eol;
    }
  }

  get ended(): boolean {
    this.skipSpace();
    return this.at >= this.text.length;
  }

  /** True if the next token is on the line of the last token. */
  get sameLine(): boolean {
    const from = this.at;
    this.#take(blank);
    const same = this.at < this.text.length && this.text[this.at] !== '\n';
    this.at = from;
    return same;
  }

  /** True if the next token is not the first on its line. */
  get indented(): boolean {
    this.skipSpace();
    return this.at > 0 && this.text[this.at - 1] !== '\n';
  }

  /** Returns the next non-blank character without consuming it; empty at the end. */
  peek(): string {
    this.skipSpace();
    return this.text[this.at] ?? '';
  }

  /** Returns the next word without consuming it. */
  peekWord(): string {
    this.skipSpace();
    const from = this.at;
    const found = this.#take(word) ?? '';
    this.at = from;
    return found;
  }

  /** Consumes `character` if it is next. */
  accept(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at++;
    return true;
  }

  expect(character: string): void {
    if (!this.accept(character)) throw this.#missing(`'${character}'`);
  }

  word(): string {
    this.skipSpace();
    return this.#take(word) ?? this.#fail('a keyword');
  }

  name(what: string): string {
    return this.acceptName() ?? this.#fail(what);
  }

  acceptName(): string | undefined {
    this.skipSpace();
    return this.#take(name);
  }

  /** Consumes a number if it is next. */
  acceptNumber(): number | undefined {
    this.skipSpace();
    const found = this.#take(number);
    if (found === undefined) return undefined;
    // Number() accepts no sign before 0x.
    const value = /^[+-]0[xX]/.test(found) ? Number(found.slice(1)) * (found[0] === '-' ? -1 : 1) : Number(found);
    return value;
  }

  number(what: string): number {
    return this.acceptNumber() ?? this.#fail(what);
  }

  /** Reads a whole number of at least 0. */
  count(what: string): number {
    const at = this.at;
    const value = this.number(what);
    if (Number.isInteger(value) && value >= 0) return value;
    throw new SyntaxFault(at, `${what} is ${value}, not a whole number from 0 up`);
  }

  /** Consumes all text up to one of the characters in `stops` on this line. */
  until(stops: string): string {
    const from = this.at;
    while (this.at < this.text.length && this.text[this.at] !== '\n' && !stops.includes(this.text[this.at]!)) this.at++;
    return this.text.slice(from, this.at).trim();
  }

  /**
   * Reads a quoted string, which may span lines. `\"` is a quote inside it. If `last`, the string ends its statement,
   * so a quote that is not followed by `;` is part of it. Reports faults to `odd`.
   */
  string(last: boolean, odd: (message: string) => void): string {
    this.skipSpace();
    const start = this.at;
    if (this.text[start] !== '"') throw this.#missing('a text in quotes');
    // If a statement begins before the string ends, the closing quote is missing.
    const next = (last ? this.#unmistakable : this.#statements).after(start);
    const quote = this.#closingQuote(start + 1, next);
    const proper = last ? this.#closed.after(start + 1) : quote;
    const end = proper < next ? proper : quote;
    if (end >= next) {
      const eol = this.text.indexOf('\n', start);
      this.at = eol < 0 ? this.text.length : eol;
      odd('a text has no closing quote; it was taken to end with its line');
      return this.text.slice(start + 1, this.at).replace(/["';\s]{1,9}$/, '');
    }
    this.at = end + 1;
    if (end !== quote) odd('a text has quotes inside that are not written \\"; they were kept as part of it');
    return this.text
      .slice(start + 1, end)
      .replaceAll('\\"', '"')
      .replaceAll('\r\n', '\n');
  }

  /** Returns the index of the quote that closes a string, or `limit`. */
  #closingQuote(from: number, limit: number): number {
    for (let i = this.text.indexOf('"', from); i >= 0 && i < limit; i = this.text.indexOf('"', i + 1)) {
      if (this.text[i - 1] !== '\\' || i === from) return i;
      // A path may end with a backslash. Then the quote after it closes the string.
      if (/^[ \t]*;[ \t]*(?:[\r\n]|$)/.test(this.text.slice(i + 1, i + 40))) return i;
    }
    return limit;
  }

  /** Skips past the next `;` outside quotes, but not past a line that starts a statement. */
  skipStatement(): void {
    const next = this.#nextStatement();
    for (let i = this.at; i < next; i++) {
      const c = this.text[i];
      if (c === ';') {
        this.at = i + 1;
        return;
      }
      if (c === '"') {
        const end = this.text.indexOf('"', i + 1);
        if (end < 0 || end >= next) break;
        i = end;
      }
    }
    this.at = next;
  }

  /** Skips to the next line that starts a statement. */
  recover(): void {
    this.at = this.#nextStatement();
  }

  #nextStatement(): number {
    // The fault may be noticed only at the first token of the next statement, after the end of the faulty line.
    let from = this.at;
    while (from > 0 && /\s/.test(this.text[from - 1]!)) from--;
    return Math.min(this.#statements.after(from) + 1, this.text.length);
  }

  #fail(what: string): never {
    throw this.#missing(what);
  }

  #missing(what: string): SyntaxFault {
    const from = this.at;
    const found = this.text
      .slice(from, from + 20)
      .split(/[\r\n]/, 1)[0]!
      .trim();
    return new SyntaxFault(from, `expected ${what}, found ${found === '' ? 'the end of the line' : `'${found}'`}`);
  }
}
