/** The list of log formats in README.md, made from the list that recognises them. */
import { readFileSync } from 'node:fs';
import { fileFormats, formats, logFormats, packings } from '../adapters/can/log/formats.ts';

const begin = '<!-- formats: npm run generate -->';
const end = '<!-- /formats -->';

/** README.md with the list as it is now. */
export function readmeWithFormats(): string {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no ${begin} … ${end}`);
  return `${readme.slice(0, from + begin.length)}\n\n${formatTable()}\n${readme.slice(to)}`;
}

function formatTable(): string {
  const rows = logFormats.map((format) => {
    const { name, extensions, tools, note } = formats[format];
    const files = extensions.map((extension) => `\`.${extension}\``).join(', ');
    return `| ${name} | ${files} | ${tools} | ${note ?? ''} |\n`;
  });
  const packed = packings.map((packing) => `\`${packing}\``).join(', ');
  return `| format | files | written by | |\n|---|---|---|---|\n${rows.join('')}\nEach also packed: ${packed}.\n${copied()}\n`;
}

function copied(): string {
  const names = fileFormats.map((format) => formats[format].name).join(' and ');
  return `${names} are read at any position of a file: from a pipe or\npacked they are copied to the folder for temporary files (\`TMPDIR\`) first.`;
}
