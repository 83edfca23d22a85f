/** Parses YAML 1.2 (core schema) to plain data, with the line of every field. */

import { readFileSync, statSync } from 'node:fs';
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  type YAMLError,
} from 'yaml';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { pointer } from './findings.ts';

/** Size in bytes of the largest file. Profiles of real cars have about 50 KiB. */
const MOST_BYTES = 1 << 20;
/** Maximum depth. The composer recurses, and V8 aborts if it compiles a regular expression near the stack limit. */
const DEEPEST = 64;
/** Maximum number of open levels. The parser also recurses to close them: thousands overflow the stack. */
const STEEPEST = 512;
/** Maximum number of nodes: aliases multiply contents. */
const MOST_NODES = 200_000;

export interface YamlContents {
  readonly data: unknown;
  /** 1-based line by JSON Pointer: the line of a field's key, or of the start of a list item. */
  readonly lines: ReadonlyMap<string, number>;
}

export interface YamlReading {
  /** Undefined if the text is not YAML: its fields are then unknown. */
  readonly contents?: YamlContents;
  readonly diagnostics: Diagnostic[];
}

/** Reads a YAML file. Reports a failure to read it as a finding. */
export function readYamlFile(file: string): YamlReading {
  let raw: Uint8Array;
  try {
    const found = statSync(file);
    if (found.isDirectory()) return only(file, 0, 'is a folder', 'name the file in it');
    if (!found.isFile()) return only(file, 0, 'is not a regular file', 'write its contents to a file');
    const { size } = found;
    if (size > MOST_BYTES) return only(file, 0, `is ${size} bytes long`, `keep it below ${MOST_BYTES} bytes`);
    raw = readFileSync(file);
  } catch (error) {
    return only(file, 0, `cannot be read: ${reason(error)}`, 'check the path and its rights');
  }
  try {
    return readYaml(file, new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return only(file, 0, 'is not UTF-8 text', 'save it as UTF-8');
  }
}

/** Returns the reason for a failed file operation. */
export function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read it';
  if (code === 'EISDIR') return 'it is a folder';
  return code ?? String(error);
}

/** Parses YAML text. `file` is used only in findings. */
export function readYaml(file: string, text: string): YamlReading {
  if (text.length > MOST_BYTES) return only(file, 0, 'is too long', `keep it below ${MOST_BYTES} bytes`);
  const lines = new LineCounter();
  const lexemes = [...new Lexer().lex(text)];
  const steep = tooSteep(lexemes);
  if (steep !== undefined) return only(file, steep, `is nested deeper than ${DEEPEST}`);
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens = [...lexemes.flatMap((lexeme) => [...parser.next(lexeme)]), ...parser.end()];
  const deep = tooDeep(tokens);
  if (deep !== undefined) return only(file, lines.linePos(deep).line, `is nested deeper than ${DEEPEST}`);
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    stringKeys: true,
    resolveKnownTags: false,
    // The parser would compare each key with all others of the map; `plain` finds duplicates faster.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) return only(file, 0, 'is empty');
  const tabs = document.errors.filter(({ code }) => code === 'TAB_AS_INDENT');
  const [first] = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  if (first !== undefined) {
    // If the text is not YAML, its fields are unknown. Most further errors are caused by the tabs or the first error.
    return { diagnostics: (tabs.length > 0 ? tabs : [first]).map((error) => describe(file, error, lines)) };
  }
  const diagnostics = document.warnings.map((error) => describe(file, error, lines));
  if (second !== undefined) {
    const line = lines.linePos(second.range[0]).line;
    const fix = 'remove it and the line `---`';
    diagnostics.push({ file, line, severity: 'error', message: 'a second document begins here', fix });
  }
  try {
    const { contents, twice } = plain(document as Document, lines);
    for (const line of twice) {
      diagnostics.push({
        file,
        line,
        severity: 'error',
        message: 'this member is there twice',
        fix: 'keep one of them',
      });
    }
    return { contents, diagnostics };
  } catch (error) {
    if (!(error instanceof AliasFault)) throw error;
    diagnostics.push({ file, line: error.line, severity: 'error', message: error.message, fix: 'write it out' });
    return { diagnostics };
  }
}

function only(file: string, line: number, message: string, fix?: string): YamlReading {
  return { diagnostics: [{ file, line, severity: 'error', message, ...defined({ fix }) }] };
}

/** Messages for people who do not know how YAML is parsed. They replace the parser's messages for experts. */
const syntax: Readonly<Partial<Record<YAMLError['code'], readonly [message: string, fix: string]>>> = {
  TAB_AS_INDENT: ['a tab stands where the line is indented', 'indent with spaces'],
  NON_STRING_KEY: ['a list or map stands where a name must', 'quote it if it is a text'],
  MULTILINE_IMPLICIT_KEY: ['this line has no name with a colon and a space', 'write `name: value`'],
  BLOCK_AS_IMPLICIT_KEY: [
    'this value contains a colon and a space, or the line below is indented too far',
    'quote the value, or indent the line below as this one',
  ],
};

function describe(file: string, error: YAMLError, lines: LineCounter): Diagnostic {
  const line = lines.linePos(error.pos[0]).line;
  const severity = error.name === 'YAMLWarning' ? 'warning' : 'error';
  const [message, fix] = syntax[error.code] ?? [error.message];
  return { file, line, severity, message, ...defined({ fix }) };
}

/**
 * Returns the line on which more than {@link STEEPEST} levels may be open, judging by brackets and by the columns of
 * `-`, `?` and `:`. May overestimate the number of levels, but never underestimates it.
 */
function tooSteep(lexemes: readonly string[]): number | undefined {
  const columns: number[] = [];
  let brackets = 0;
  let column = 0;
  let line = 1;
  for (const lexeme of lexemes) {
    if (lexeme === '[' || lexeme === '{') brackets++;
    else if (lexeme === ']' || lexeme === '}') brackets = Math.max(0, brackets - 1);
    else if (lexeme === '-' || lexeme === '?' || lexeme === ':') {
      while (columns.length > 0 && (columns.at(-1) as number) >= column) columns.pop();
      columns.push(column);
    }
    if (columns.length + brackets > STEEPEST) return line;
    for (let end = lexeme.indexOf('\n'); end >= 0; end = lexeme.indexOf('\n', end + 1)) line++;
    column = lexeme.includes('\n') ? 0 : column + lexeme.length;
  }
  return undefined;
}

/** Returns the offset of the first token deeper than {@link DEEPEST}, or undefined if there is none. */
function tooDeep(tokens: readonly CST.Token[]): number | undefined {
  const open: [CST.Token | null | undefined, number][] = tokens.map((token) => [token, 0]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next;
    if (token === null || token === undefined) continue;
    if (depth > DEEPEST) return token.offset;
    if (token.type === 'document') open.push([token.value, depth]);
    else if ('items' in token) {
      for (const { key, value } of token.items) open.push([key, depth + 1], [value, depth + 1]);
    }
  }
  return undefined;
}

class AliasFault extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** Converts a document to plain data. Also returns the lines of repeated field names. */
function plain(document: Document, counter: LineCounter): { contents: YamlContents; twice: readonly number[] } {
  const lines = new Map<string, number>();
  const twice: number[] = [];
  let nodes = 0;

  function lineOf(node: unknown, otherwise: number): number {
    const offset = (node as Node | null | undefined)?.range?.[0];
    return offset === undefined ? otherwise : counter.linePos(offset).line;
  }

  /** `line` is the line that contains the field's name. Within an alias, every line is the line of the alias. */
  function convert(node: unknown, at: string, line: number, aliased: boolean, depth: number): unknown {
    if (++nodes > MOST_NODES) throw new AliasFault('aliases (`*name`) make this document too large', line);
    if (depth > DEEPEST) throw new AliasFault('an alias (`*name`) contains itself or nests too deeply', line);
    if (isAlias(node)) {
      const target = node.resolve(document);
      if (target === undefined) throw new AliasFault(`nothing above is named &${node.source}`, lineOf(node, line));
      return convert(target, at, line, true, depth + 1);
    }
    if (isScalar(node)) return node.value;
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const place = at + pointer(index);
        const itemLine = aliased ? line : lineOf(item, line);
        lines.set(place, itemLine);
        return convert(item, place, itemLine, aliased, depth + 1);
      });
    }
    if (isMap(node)) {
      const result: Record<string, unknown> = {};
      for (const { key, value } of node.items) {
        const name = String(isScalar(key) ? key.value : key);
        const place = at + pointer(name);
        const keyLine = aliased ? line : lineOf(key, line);
        if (!aliased && Object.hasOwn(result, name)) twice.push(keyLine);
        lines.set(place, keyLine);
        const member = convert(value, place, keyLine, aliased, depth + 1);
        // A plain assignment to `__proto__` would be lost instead of reported.
        Object.defineProperty(result, name, { value: member, enumerable: true, writable: true, configurable: true });
      }
      return result;
    }
    return null;
  }

  return { contents: { data: convert(document.contents, '', 1, false, 0), lines }, twice };
}
