/** Commands on the pages that are not typed unchanged. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { evidenceOf, hasWord, isStage, notRun, reading, runBy, untypedOf } from './untyped.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = ['.', 'docs']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.md'));
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const commands = pages.flatMap((name) => untypedOf(read(name)).map((command) => ({ name, ...command })));

test('every untyped command is run by a test, or the page states that it needs root, hardware or a network', () => {
  const wrong = commands.flatMap(({ name, line, text, needs }) => {
    if (needs !== undefined || isStage(text) || Object.hasOwn(notRun, text)) return [];
    const files = runBy.filter(([beginning]) => beginning.test(text)).map(([, file]) => file);
    const where = `${name}:${line}: ${text}`;
    if (files.length === 0) return [`${where}: no test runs it, and the page does not say why`];
    const missing = files.map((file) => {
      const content = read(file);
      return reading.includes(file) ? [] : evidenceOf(text).filter((word) => !hasWord(content, word));
    });
    return missing.some((words) => words.length === 0)
      ? []
      : [`${where}: ${files.join()} lacks ${missing.join(' / ')}`];
  });
  expect(wrong.join('\n')).toBe('');
});

test('the list of tests that run commands names existing files and only commands on pages', () => {
  expect(commands.length).toBeGreaterThan(60);
  for (const text of Object.keys(notRun)) expect(commands.map((one) => one.text)).toContain(text);
  for (const [beginning, file] of runBy) {
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(
      commands.some(({ text }) => beginning.test(text)),
      String(beginning),
    ).toBe(true);
  }
});

test('a comment after a command or in the first line of a block states its needs', () => {
  const page = [
    '    # needs root',
    '    systemctl start vigie',
    '    ip link show',
    '',
    'Then:',
    '',
    '    vigie scan can0      # needs hardware: an adapter',
    '    curl -X POST \\',
    '      http://127.0.0.1/resend',
    '    name: value',
    '',
    '```sh',
    '    npm run never',
    '```',
  ].join('\n');
  expect(untypedOf(page)).toEqual([
    { line: 2, text: 'systemctl start vigie', needs: 'root' },
    { line: 3, text: 'ip link show', needs: 'root' },
    { line: 7, text: 'vigie scan can0', needs: 'hardware' },
    { line: 8, text: 'curl -X POST http://127.0.0.1/resend', needs: undefined },
  ]);
});
