/**
 * The linter keeps the rooms apart; here each forbidden direction is written down in a scratch file and must be
 * refused, so that a rule that was loosened or never matched is noticed.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const adapters = readdirSync(join(root, 'adapters'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** Rooms that no adapter, and nothing below them, imports. */
const above = ['assembly', 'commands', 'scripts'];

/** [importing file, imported file] with what both are. */
const forbidden: [string, string][] = [
  ...['agent', 'hub', 'adapters/can', 'config', ...above].map((to): [string, string] => ['protocol', to]),
  ...['hub', 'adapters/can', 'config', ...above].map((to): [string, string] => ['agent', to]),
  ...['agent', 'adapters/can', 'config', ...above].map((to): [string, string] => ['hub', to]),
  ...['agent', 'hub', 'adapters/can', ...above].map((to): [string, string] => ['config', to]),
  ...adapters.flatMap((from) =>
    ['config', ...above, ...adapters.filter((to) => to !== from).map((to) => `adapters/${to}`)].map(
      (to): [string, string] => [`adapters/${from}`, to],
    ),
  ),
  ...['agent', 'hub', 'adapters/can', 'config', ...above].map((to): [string, string] => ['page', to]),
  ['assembly', 'commands'],
  ['assembly', 'scripts'],
  ['commands', 'scripts'],
];
const allowed: [string, string][] = [
  ['agent', 'protocol'],
  ['hub', 'protocol'],
  ['page', 'protocol'],
  ['config', 'protocol'],
  ['assembly', 'hub'],
  ['assembly', 'config'],
  ['assembly', 'agent'],
  ['commands', 'assembly'],
  ['commands', 'hub'],
  ['commands', 'config'],
  ['commands', 'agent'],
  ...adapters.flatMap((from): [string, string][] => [
    [`adapters/${from}`, 'agent'],
    [`adapters/${from}`, 'hub'],
    [`adapters/${from}`, 'protocol'],
    ['assembly', `adapters/${from}`],
    ['commands', `adapters/${from}`],
  ]),
];

/** Uses of `Date` that can read the clock, and those that are the calendar. */
const clocks = [
  ['clock-now', 'Date.now()'],
  ['clock-taken', 'Date.now'],
  ['clock-new', 'new Date()'],
  ['clock-bare', 'new Date'],
  ['clock-text', 'Date()'],
  ['clock-within', 'new Date(Date.now()).toISOString()'],
  ['clock-alias', 'Date'],
  ['clock-handed-on', 'Reflect.construct(Date, [])'],
] as const;
const calendars = [
  ['calendar-day', 'new Date(0).getUTCDay()'],
  ['calendar-moment', 'Date.UTC(2026, 0, 31, 8)'],
  ['calendar-parse', "Date.parse('2026-01-31T08:00:00Z')"],
] as const;

/** What only a program with a command line of its own may do. */
const commandLine = [
  ['argv', 'process.argv'],
  ['exit', 'process.exit(1)'],
  ['signals', "process.on('SIGTERM', () => undefined)"],
  ['output', "process.stdout.write('')"],
  ['diagnostics', "process.stderr.write('')"],
  ['console', "console.log('')"],
] as const;

/** What writes the JSON of the interface a second time. */
const secondSerialisers = [
  ['adapters/http', 'moment', 'new Date(0).toISOString()'],
  ['adapters/callbacks', 'moment', 'new Date(0).toISOString()'],
  ['agent', 'moment', 'new Date(0).toISOString()'],
  ['protocol', 'moment', 'new Date(0).toISOString()'],
  ['adapters/http', 'writer', 'writerOf<object>({})'],
  ['adapters/callbacks', 'writer', 'writerOf<object>({})'],
  ['agent', 'writer', 'writerOf<object>({})'],
  ['adapters/http', 'schema', 'write(alertSchema, 1)'],
  ['adapters/callbacks', 'schema', 'write(alertSchema, 1)'],
  ['adapters/http', 'position', "{ type: 'Feature' }"],
  ['adapters/callbacks', 'position', "{ type: 'Feature' }"],
] as const;

/** Everything is written into one tree and linted once: a linter start per pair would take minutes. */
let scratch: string;
let faults: Map<string, string[]>;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'vigie-layers-'));
  const configuration = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
  delete configuration.$schema;
  delete configuration.vcs;
  writeFileSync(join(scratch, 'biome.json'), JSON.stringify(configuration));
  cpSync(join(root, 'scripts/lint'), join(scratch, 'scripts/lint'), { recursive: true });
  for (const room of new Set([...forbidden, ...allowed].flat())) {
    mkdirSync(join(scratch, room, 'deep'), { recursive: true });
    writeFileSync(join(scratch, room, 'target.ts'), 'export const target = 1;\n');
  }
  for (const pair of [...forbidden, ...allowed]) {
    for (const depth of ['', 'deep/']) {
      const file = importing(pair, depth);
      const up = '../'.repeat(file.split('/').length - 1);
      mkdirSync(dirname(join(scratch, file)), { recursive: true });
      writeFileSync(
        join(scratch, file),
        `import { target } from '${up}${pair[1]}/target.ts';\n\nexport const used = target;\n`,
      );
    }
  }
  mkdirSync(join(scratch, 'protocol/interface/json'), { recursive: true });
  for (const [file, line] of [
    ...secondSerialisers.map(
      ([room, name, use]) => [`${room}/second-${name}.ts`, `export const used = ${use};\n`] as const,
    ),
    ['protocol/interface/json/first.ts', 'export const used = [new Date(0).toISOString(), writerOf(alertSchema)];\n'],
    ['page/node.ts', "import { readFileSync } from 'node:fs';\n\nexport const used = readFileSync;\n"],
    ['hub/node.ts', "import { readFileSync } from 'node:fs';\n\nexport const used = readFileSync;\n"],
    ['hub/timer.ts', 'export const used = setTimeout;\n'],
    ['hub/clock.ts', 'export const used = Date.now();\n'],
    ['agent/node.ts', "import { readFileSync } from 'node:fs';\n\nexport const used = readFileSync;\n"],
    ...[...clocks, ...calendars].map(([name, use]) => [`agent/${name}.ts`, `export const used = ${use};\n`] as const),
    ...commandLine.map(([name, use]) => [`assembly/cli-${name}.ts`, `export const used = ${use};\n`] as const),
    ['assembly/process.ts', 'export const used = [process.env, process.pid, process.execPath];\n'],
    ['protocol/timer.ts', 'export const used = setTimeout;\n'],
    ['protocol/cycle-a.ts', "import type { B } from './cycle-b.ts';\n\nexport type A = B | 1;\n"],
    ['protocol/cycle-b.ts', "import type { A } from './cycle-a.ts';\n\nexport type B = A | 2;\n"],
  ] as const) {
    writeFileSync(join(scratch, file), line);
  }
  faults = lint();
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('the linter reads every folder of the project that has sources, and nothing else that lies there', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as { files: { includes: string[] } };
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { include: string[] };
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[a-z]/.test(entry.name))
    .map((entry) => entry.name)
    .filter((name) => !['node_modules', 'dist', 'coverage', 'docs'].includes(name));
  const sources = folders.filter((name) =>
    readdirSync(join(root, name), { recursive: true }).some((file) => String(file).endsWith('.ts')),
  );
  // What runs in browsers is checked against their library (page/tsconfig.json).
  const checked = (name: string): boolean => include.includes(name) || existsSync(join(root, name, 'tsconfig.json'));
  expect(sources.filter((name) => !checked(name) || !files.includes.includes(`${name}/**`))).toEqual([]);
  expect(files.includes).not.toContain('**');
});

describe('imports go one way', () => {
  test.each(forbidden)('%s may not import %s', (...pair) => {
    for (const depth of ['', 'deep/']) {
      expect(faults.get(importing(pair, depth)), importing(pair, depth)).toContain('lint/style/noRestrictedImports');
    }
  });

  test.each(allowed)('%s may import %s', (...pair) => {
    expect(faults.get(importing(pair, '')) ?? []).toEqual([]);
  });

  test('the core uses no node module or timer, and no cycle exists, types included', () => {
    expect(faults.get('agent/node.ts')).toContain('lint/correctness/noNodejsModules');
    expect(faults.get('page/node.ts')).toContain('lint/correctness/noNodejsModules');
    expect(faults.get('hub/node.ts')).toContain('lint/correctness/noNodejsModules');
    expect(faults.get('hub/timer.ts')).toContain('lint/style/noRestrictedGlobals');
    expect(faults.get('hub/clock.ts')).toContain('plugin');
    expect(faults.get('protocol/timer.ts')).toContain('lint/style/noRestrictedGlobals');
    expect(faults.get('protocol/cycle-a.ts')).toContain('lint/suspicious/noImportCycles');
  });

  test.each(clocks)('the core does not read the clock of the machine (%s: %s)', (name) => {
    expect(faults.get(`agent/${name}.ts`)).toContain('plugin');
  });

  test.each(commandLine)('what builds an agent leaves the process to the program around it (%s: %s)', (name) => {
    expect(faults.get(`assembly/cli-${name}.ts`)).toContain('plugin');
  });

  test('what builds an agent may read variables of the process', () => {
    expect(faults.get('assembly/process.ts') ?? []).toEqual([]);
  });

  test.each(secondSerialisers)('%s does not write the JSON of the interface a second time (%s)', (room, name) => {
    expect(faults.get(`${room}/second-${name}.ts`)).toContain('plugin');
  });

  test('protocol/interface/json writes the JSON of the interface', () => {
    expect(faults.get('protocol/interface/json/first.ts') ?? []).not.toContain('plugin');
  });

  test.each(calendars)('the core may use the calendar (%s: %s)', (name) => {
    expect(faults.get(`agent/${name}.ts`) ?? []).toEqual([]);
  });
});

function importing([from, to]: readonly [string, string], depth: string): string {
  return `${from}/${depth}imports-${to.replace('/', '-')}.ts`;
}

function lint(): Map<string, string[]> {
  const binary = join(root, 'node_modules/@biomejs/biome/bin/biome');
  let report: string;
  try {
    report = execFileSync(process.execPath, [binary, 'lint', '--reporter=json', '--max-diagnostics=none'], {
      cwd: scratch,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    report = (error as { stdout: string }).stdout;
  }
  const found = new Map<string, string[]>();
  for (const { category, location } of JSON.parse(report).diagnostics as {
    category: string;
    location: { path: string | { file: string } };
  }[]) {
    const path = typeof location.path === 'string' ? location.path : location.path.file;
    found.set(path, [...(found.get(path) ?? []), category]);
  }
  return found;
}
