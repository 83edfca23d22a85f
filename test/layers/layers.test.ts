/** Breaks each linter rule for a room in a scratch file, so that a rule that no longer matches is noticed. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Uses of `Date` that can read the clock, and uses that only compute with the calendar. */
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

/** Operations that only a program with its own command line may use. */
const commandLine = [
  ['argv', 'process.argv'],
  ['exit', 'process.exit(1)'],
  ['signals', "process.on('SIGTERM', () => undefined)"],
  ['output', "process.stdout.write('')"],
  ['diagnostics', "process.stderr.write('')"],
  ['console', "console.log('')"],
] as const;

/** Code that writes the JSON of the interface a second time. */
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

/** All cases are written into one tree and linted once, because a linter start per case would take minutes. */
let scratch: string;
let faults: Map<string, string[]>;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'vigie-layers-'));
  const configuration = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
  delete configuration.$schema;
  delete configuration.vcs;
  writeFileSync(join(scratch, 'biome.json'), JSON.stringify(configuration));
  cpSync(join(root, 'scripts/lint'), join(scratch, 'scripts/lint'), { recursive: true });
  for (const room of ['agent', 'hub/core', 'assembly', 'adapters/http', 'adapters/callbacks']) {
    mkdirSync(join(scratch, room), { recursive: true });
  }
  mkdirSync(join(scratch, 'protocol/interface/json'), { recursive: true });
  for (const [file, line] of [
    ...secondSerialisers.map(
      ([room, name, use]) => [`${room}/second-${name}.ts`, `export const used = ${use};\n`] as const,
    ),
    ['protocol/interface/json/first.ts', 'export const used = [new Date(0).toISOString(), writerOf(alertSchema)];\n'],
    ['hub/core/timer.ts', 'export const used = setTimeout;\n'],
    ['hub/core/clock.ts', 'export const used = Date.now();\n'],
    ...[...clocks, ...calendars].map(([name, use]) => [`agent/${name}.ts`, `export const used = ${use};\n`] as const),
    ...commandLine.map(([name, use]) => [`assembly/cli-${name}.ts`, `export const used = ${use};\n`] as const),
    ['assembly/process.ts', 'export const used = [process.env, process.pid, process.execPath];\n'],
    ['protocol/timer.ts', 'export const used = setTimeout;\n'],
  ] as const) {
    writeFileSync(join(scratch, file), line);
  }
  faults = lint();
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the linter', () => {
  test('the core uses no timer', () => {
    expect(faults.get('hub/core/timer.ts')).toContain('lint/style/noRestrictedGlobals');
    expect(faults.get('hub/core/clock.ts')).toContain('plugin');
    expect(faults.get('protocol/timer.ts')).toContain('lint/style/noRestrictedGlobals');
  });

  test.each(clocks)('the core does not read the clock of the machine (%s: %s)', (name) => {
    expect(faults.get(`agent/${name}.ts`)).toContain('plugin');
  });

  test.each(commandLine)('code that builds an agent leaves process control to its program (%s: %s)', (name) => {
    expect(faults.get(`assembly/cli-${name}.ts`)).toContain('plugin');
  });

  test('code that builds an agent may read environment variables', () => {
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
