import { readFileSync } from 'node:fs';

/** A page with the section between `<!-- NAME: npm run SCRIPT -->` and `<!-- /NAME -->` replaced by `text`. */
export function withSection(file: string, name: string, text: string, script = 'generate'): string {
  const page = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const begin = `<!-- ${name}: npm run ${script} -->`;
  const end = `<!-- /${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${file} has no ${begin} … ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n${page.slice(to)}`;
}
