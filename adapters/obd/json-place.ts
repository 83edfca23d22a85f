/** A step into a JSON document: a member name or an index. */
export type Step = string | number;

/** The path as people write it, e.g. `commands[3].signals[0].fmt`; the document itself is `the file`. */
export function pathText(path: readonly Step[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text === '' ? 'the file' : text;
}

const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|([^\s{}[\],:"]+))/gy;

/**
 * The 1-based line on which the value at `path` begins; the line of its nearest parent when there is no such
 * value. `text` must be valid JSON (`JSON.parse` has taken it). Walks tokens, so depth costs no stack.
 */
export function lineOf(text: string, path: readonly Step[]): number {
  let found = 0;
  let depth = 0;
  let matched = 0;
  let name: string | undefined;
  let index = -1;
  const arrays: boolean[] = [];
  const indexes: number[] = [];
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const mark = token[1];
    const begin = TOKEN.lastIndex - (mark ?? token[2] ?? token[3] ?? '').length;
    if (mark === '}' || mark === ']') {
      depth--;
      if (depth < matched) break;
      arrays.pop();
      index = indexes.pop() ?? -1;
      continue;
    }
    if (mark === ',') {
      if (arrays.at(-1) === true) index++;
      name = undefined;
      continue;
    }
    if (mark === ':') continue;
    if (mark === undefined && arrays.at(-1) === false && name === undefined) {
      name = JSON.parse(token[2] ?? '""') as string;
      continue;
    }
    if (depth === matched && depth > 0) {
      const step = path[depth - 1];
      const here = arrays.at(-1) === true ? index : name;
      if (step === here) {
        found = begin;
        if (depth === path.length) break;
        matched++;
      }
    } else if (depth === 0) {
      found = begin;
      if (path.length === 0) break;
      matched = 1;
    }
    if (mark === '{' || mark === '[') {
      depth++;
      arrays.push(mark === '[');
      indexes.push(index);
      index = 0;
      name = undefined;
    }
  }
  return lineAt(text, found);
}

/** The 1-based line of an offset in `text`. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

const STRICT_TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)))/y;

/** What the grammar of RFC 8259 allows next. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end' | 'nothing';

/** The 1-based line of the first token that JSON does not allow there; the last line when the text ends too early. */
export function lineOfSyntaxError(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  STRICT_TOKEN.lastIndex = 0;
  for (let end = 0; ; ) {
    const token = STRICT_TOKEN.exec(text);
    const next: Expected | undefined =
      token === null ? undefined : follow(expected, token[1] ?? (token[2] === undefined ? '0' : '"'), open);
    if (next === undefined) return lineAt(text, end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0));
    end = STRICT_TOKEN.lastIndex;
    expected = next;
  }
}

/** `mark` is a punctuation mark, `"` for a string or `0` for another plain value; undefined: not allowed here. */
function follow(expected: Expected, mark: string, open: string[]): Expected | undefined {
  if (expected === ':') return mark === ':' ? 'value' : undefined;
  if (mark === '"' && expected.startsWith('name')) return ':';
  if (mark === ',' && expected === ', or end') return open.at(-1) === '{' ? 'name' : 'value';
  const closes = expected === ', or end' || (mark === '}' ? expected === 'name or }' : expected === 'value or ]');
  if ((mark === '}' || mark === ']') && closes && open.pop() === (mark === '}' ? '{' : '[')) return after(open);
  if (!expected.startsWith('value')) return undefined;
  if (mark === '"' || mark === '0') return after(open);
  if (mark !== '{' && mark !== '[') return undefined;
  open.push(mark);
  return mark === '{' ? 'name or }' : 'value or ]';
}

function after(open: readonly string[]): Expected {
  return open.length === 0 ? 'nothing' : ', or end';
}
