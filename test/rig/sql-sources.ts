/** Extracts SQL from the strings of sources. */
import { readFileSync } from 'node:fs';

/** Text that marks a statement on tables, or a part of one. */
const SQL = /\b(FROM|INTO|UPDATE|WHERE|JOIN|VALUES|ORDER BY|EXISTS|AND|LIMIT)\b|[=<>] [?$]/;

/** Normalises parameters and line breaks. */
export function plainSql(text: string): string {
  return text.replace(/\$\d+/g, '?').replace(/\s+/g, ' ').trim();
}

/** Pieces of SQL in the files: the parts of each string between its expressions. */
export function sqlIn(files: readonly string[]): { readonly file: string; readonly piece: string }[] {
  return files.flatMap((file) =>
    stringsIn(readFileSync(file, 'utf8'))
      .filter((parts) => SQL.test(parts.join('')))
      .flatMap((parts) => parts.map((part) => ({ file, piece: plainSql(part) })))
      .filter(({ piece }) => piece !== ''),
  );
}

/** Strings of TypeScript, each as the parts between its expressions. Strings within expressions are separate. */
function stringsIn(source: string): string[][] {
  const found: string[][] = [];
  let at = 0;
  /** Reads code to its end, or to the brace that ends a template expression. */
  const code = (isExpression: boolean): void => {
    for (let depth = 0; at < source.length; at++) {
      const two = source.slice(at, at + 2);
      const one = source[at] ?? '';
      if (two === '//') at = source.indexOf('\n', at);
      else if (two === '/*') at = source.indexOf('*/', at) + 1;
      else if (one === '/' && /[(,=:[!&|?{};]\s*$/.test(source.slice(0, at))) skipPattern();
      else if (one === "'" || one === '"' || one === '`') string(one);
      else if (one === '{') depth++;
      else if (one === '}' && isExpression && depth-- === 0) return;
      else if (one === '}' && !isExpression) depth--;
    }
  };
  const skipPattern = (): void => {
    for (at++; source[at] !== '/'; at++) if (source[at] === '\\') at++;
  };
  const string = (quote: string): void => {
    const parts = [''];
    found.push(parts);
    for (at++; source[at] !== quote; at++) {
      if (source[at] === '\\') at++;
      else if (quote === '`' && source.startsWith('${', at)) {
        at += 2;
        code(true);
        parts.push('');
        continue;
      }
      parts.push(`${parts.pop()}${source[at]}`);
    }
  };
  code(false);
  return found;
}
