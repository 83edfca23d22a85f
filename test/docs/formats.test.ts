import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formats, logFormats, packings } from '../../adapters/can/log/formats.ts';
import { readmeWithFormats } from '../../scripts/readme-formats.ts';
import { vigie } from '../rig/bench.ts';

test('README.md contains the generated list of log formats', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(readme).toBe(readmeWithFormats());
  for (const format of logFormats) expect(readme).toContain(`| ${formats[format].name} |`);
});

test('the help of decode names every log format and every compression', async () => {
  const { stdout } = await vigie('decode', '--help');
  const help = stdout.replace(/\s+/g, ' ');
  for (const name of [...logFormats.map((format) => formats[format].name), ...packings]) expect(help).toContain(name);
});
