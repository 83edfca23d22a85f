/** List of log formats in README.md, generated from the list of formats that Vigie recognises. */
import { fileFormats, formats, logFormats, packings } from '../adapters/can/log/formats.ts';
import { withSection } from './generated-section.ts';

/** Returns README.md with an up-to-date list. */
export function readmeWithFormats(): string {
  return withSection('README.md', 'formats', formatTable());
}

function formatTable(): string {
  const rows = logFormats.map((format) => {
    const { name, extensions, tools, note } = formats[format];
    const files = extensions.map((extension) => `\`.${extension}\``).join(', ');
    return `| ${name} | ${files} | ${[tools, note ?? []].flat().join('; ')} |\n`;
  });
  const packed = packings.map((packing) => `\`${packing}\``).join(', ');
  return `| format | files | written by |\n|---|---|---|\n${rows.join('')}\nEach also packed: ${packed}.\n${copied()}\n`;
}

function copied(): string {
  const names = fileFormats.map((format) => formats[format].name).join(' and ');
  return `${names} are read at any position of a file: from a pipe or\npacked they are copied to the folder for temporary files (\`TMPDIR\`) first.`;
}
