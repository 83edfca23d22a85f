import { readFileSync } from 'node:fs';

/** Returns a page whose section from `<!-- NAME: npm run SCRIPT -->` to `<!-- /NAME -->` is replaced by `text`. */
export function withSection(file: string, name: string, text: string, script = 'generate'): string {
  const page = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const begin = `<!-- ${name}: npm run ${script} -->`;
  const end = `<!-- /${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${file} has no ${begin} … ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n${page.slice(to)}`;
}
