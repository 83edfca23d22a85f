/** Types the commands of the pages, and compares the output with the pages. */
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stages } from '../../scripts/ci/stages.ts';
import { testNeeding } from '../needs.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { findPeer } from '../rig/peers.ts';
import { bring } from './brought.ts';
import { blocksOf, printedAs, type Session, sessionsOf } from './page.ts';
import { Shell } from './shell.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = ['.', 'docs']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.md'));
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

/** The bench that all pages use, in a folder like the reader's. */
let home: Shell;
let bench: VigieProcess;
let http: string;
beforeAll(async () => {
  home = new Shell();
  const data = join(home.folder, 'bench');
  bench = new VigieProcess(['bench', '--data', data, '--port', '0', '--http', '0', '--scenario', 'parked']);
  await bench.says('Ctrl-C ends the bench.');
  http = /HTTP interface: http:\/\/(127\.0\.0\.1:\d+)/.exec(bench.output)?.[1] as string;
});
afterAll(async () => {
  await bench.end('SIGINT');
  home.remove();
});

/** Programs in the pages that a machine with Node and npm may lack. */
const programs = ['curl', 'jq', 'openssl', 'python3', 'socat'];

function starts(text: string, program: string): boolean {
  return new RegExp(`(?:^|[|;&(] *|\\$\\()${program}\\b`, 'm').test(text);
}

const typed = pages
  .map((name) => [name, sessionsOf(read(name))] as const)
  .filter(([, sessions]) => sessions.length > 0);

test('there are pages with commands', () => {
  expect(typed.map(([name]) => name)).toEqual(
    expect.arrayContaining(['README.md', 'docs/interface.md', 'docs/tutorial.md']),
  );
});

describe.each(typed)('%s', (name, sessions) => {
  let shell: Shell;
  beforeAll(async () => {
    shell = new Shell();
    shell.link('.vigie', home.folder);
    await bring(name, shell.folder);
  });
  afterAll(() => shell.remove());

  const absentFor = ({ commands }: Session): string | undefined =>
    programs.find((program) => commands.some(({ text }) => starts(text, program)) && findPeer(program) === undefined);
  describe.each(sessions.map((session) => [session.line, session] as const))('line %d', (_, session) => {
    const absent = absentFor(session);
    testNeeding(absent === undefined, `${absent} is not installed`, 'works as it stands', () => works(session));
  });

  async function works(session: Session): Promise<void> {
    let output = '';
    for (const command of session.commands) {
      const text = command.text.replaceAll('127.0.0.1:8080', http);
      const ended = await shell.type({ ...command, text });
      // A car that refuses makes the command fail, and the page states that in a comment.
      const allowed = command.comment.includes('refused') ? [0, 1] : [0];
      expect(allowed, `${name}:${command.line}: ${text}\n${ended.output}`).toContain(ended.status);
      output += ended.output;
    }
    if (session.printed !== undefined && !printedAs(session.printed, output)) expect(output).toBe(session.printed);
  }

  test('files that the pages leave in the folder do not affect `npm run check`', () => {
    // In a checkout the reader types in the project folder.
    for (const rules of ['biome.json', '.gitignore', 'scripts/lint']) {
      cpSync(join(root, rules), join(shell.folder, rules), { recursive: true });
    }
    const { status, stdout, stderr } = spawnSync(
      join(root, 'node_modules/.bin/biome'),
      ['check', '--no-errors-on-unmatched'],
      { cwd: shell.folder, encoding: 'utf8' },
    );
    expect(status, stdout + stderr).toBe(0);
  });
});

describe('examples that are not typed', () => {
  test('examples that are not typed have another fence or are indented', () => {
    const known = ['sh', 'text', 'yaml', 'json', 'sql', 'js', 'ts', 'mermaid', ''];
    for (const name of pages) {
      for (const { language, line } of blocksOf(read(name))) expect(known, `${name}:${line}`).toContain(language);
    }
  });

  test('examples that are not typed name existing commands and options', async () => {
    const { stdout } = await vigie('--help');
    const names = [...stdout.matchAll(/^ {2}([a-z]+) .*[a-z]/gm)].map(([, name]) => name as string);
    const used = new Map<string, { readonly option: string; readonly where: string }[]>();
    for (const name of pages) {
      const mentions = read(name).matchAll(
        /(?:^ {4}|`|npx )vigie ([a-z]+(?: make| list| add| remove| forget| open| token| keys renew| keys end| rollout| status| audit)?)(?![a-z-])([^`\n#|&]*)/gm,
      );
      for (const [text, command = '', rest = ''] of mentions) {
        const where = `${name}: ${text.trim()}`;
        expect(names, where).toContain(command.split(' ')[0]);
        const options = [...rest.matchAll(/--[a-z]+/g)].map(([option]) => ({ option, where }));
        used.set(command, [...(used.get(command) ?? []), ...options]);
      }
    }
    const checked = [...used].map(async ([command, options]) => {
      if (options.length === 0) return;
      const help = (await vigie(...command.split(' '), '--help')).stdout;
      for (const { option, where } of options) expect(help, where).toContain(option);
    });
    expect(checked.length).toBeGreaterThan(4);
    await Promise.all(checked);
  });

  test('npm commands in examples are scripts of the project', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const name of pages) {
      for (const [line, script = ''] of read(name).matchAll(/npm (?:run )?((?!ci|install)[a-z:-]+)\b/g)) {
        const used = line.startsWith('npm run') || ['start', 'test'].includes(script);
        if (used) expect(Object.keys(scripts), `${name}: ${line}`).toContain(script);
      }
    }
    // The two commands of the README: the bench of these tests, and the tests that CI runs.
    expect(scripts['start']).toBe('node scripts/vigie.js bench');
    expect(read('.ci/run')).toContain('\nnpm ci\n');
    const commands = stages.map(({ command }) => command.join(' '));
    for (const command of ['npm test', 'npm run test:bare']) expect(commands).toContain(command);
  });
});
