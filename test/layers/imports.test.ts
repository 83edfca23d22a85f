/** Writes each forbidden import into a source and expects a refusal; each allowed import must pass. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { importFaults } from '../../scripts/imports/checker.ts';
import { rooms } from '../../scripts/imports/rules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const adapters = readdirSync(join(root, 'adapters'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** Rooms that adapters and the rooms below them may not import. */
const above = ['assembly', 'hub/start', 'commands', 'scripts'];

/** [importing file, imported file], with the kind of both. */
const forbidden: [string, string][] = [
  ...['agent', 'hub/core', 'adapters/can', 'config', ...above].map((to): [string, string] => ['protocol', to]),
  ...['hub/core', 'adapters/can', 'config', ...above].map((to): [string, string] => ['agent', to]),
  ...['agent', 'adapters/can', 'config', ...above].map((to): [string, string] => ['hub/core', to]),
  ...['agent', 'hub/core', 'adapters/can', ...above].map((to): [string, string] => ['config', to]),
  ...adapters.flatMap((from) =>
    [
      'config',
      'hub/core',
      'hub/http',
      ...above,
      ...adapters.filter((to) => to !== from).map((to) => `adapters/${to}`),
    ].map((to): [string, string] => [`adapters/${from}`, to]),
  ),
  ...['agent', 'hub/core', 'adapters/can', 'config', ...above].map((to): [string, string] => ['page', to]),
  ['assembly', 'commands'],
  ...['core', 'database', 'broker', 'http', 'start'].map((part): [string, string] => ['assembly', `hub/${part}`]),
  ['hub/http', 'hub/database'],
  ['hub/http', 'adapters/mqtt'],
  ['hub/broker', 'hub/database'],
  ['hub/database', 'adapters/http'],
  ['assembly', 'scripts'],
  ['commands', 'scripts'],
];
const allowed: [string, string][] = [
  ['agent', 'protocol'],
  ['hub/core', 'protocol'],
  ['page', 'protocol'],
  ['config', 'protocol'],
  ['hub/start', 'assembly'],
  ['hub/start', 'hub/database'],
  ['hub/http', 'hub/core'],
  ['hub/http', 'adapters/http'],
  ['hub/database', 'hub/core'],
  ['assembly', 'config'],
  ['assembly', 'agent'],
  ['commands', 'assembly'],
  ['commands', 'hub/core'],
  ['commands', 'config'],
  ['commands', 'agent'],
  ...adapters.flatMap((from): [string, string][] => [
    [`adapters/${from}`, 'agent'],
    [`adapters/${from}`, 'protocol'],
    ['assembly', `adapters/${from}`],
    ['commands', `adapters/${from}`],
  ]),
];

/** Every form in which one file names another. */
const forms = [
  ['value', (path: string) => `import { target } from '${path}';\n`],
  ['type', (path: string) => `import type { Target } from '${path}';\n`],
  ['side effect', (path: string) => `import '${path}';\n`],
  ['export', (path: string) => `export { target } from '${path}';\n`],
  ['export of all types', (path: string) => `export type * from '${path}';\n`],
  ['import at run time', (path: string) => `export const target = () => import('${path}');\n`],
  ['type of a module', (path: string) => `export type Target = typeof import('${path}');\n`],
] as const;

test('the linter reads every folder with sources, and nothing else in it', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as { files: { includes: string[] } };
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { include: string[] };
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[a-z]/.test(entry.name))
    .map((entry) => entry.name)
    .filter((name) => !['node_modules', 'dist', 'coverage', 'docs'].includes(name));
  const sources = folders.filter((name) =>
    readdirSync(join(root, name), { recursive: true }).some((file) => String(file).endsWith('.ts')),
  );
  // Code for browsers is type-checked with their library (page/tsconfig.json).
  const checked = (name: string): boolean => include.includes(name) || existsSync(join(root, name, 'tsconfig.json'));
  expect(sources.filter((name) => !checked(name) || !files.includes.includes(`${name}/**`))).toEqual([]);
  expect(files.includes).not.toContain('**');
  expect(sources.filter((name) => !Object.keys(rooms).some((room) => room.split('/')[0] === name))).toEqual([]);
});

describe('import rules', () => {
  test.each(forbidden)('%s may not import %s', (from, to) => {
    for (const [file, path] of [
      [`${from}/a.ts`, to],
      [`${from}/deep/a.ts`, to],
    ] as const) {
      for (const [form, write] of forms) {
        expect(faultsOf(file, write(upTo(file, `${path}/target.ts`))), `${file}: ${form}`).toHaveLength(1);
      }
    }
  });

  test.each(allowed)('%s may import %s', (from, to) => {
    for (const [, write] of forms) {
      expect(faultsOf(`${from}/a.ts`, write(upTo(`${from}/a.ts`, `${to}/target.ts`)))).toEqual([]);
    }
  });

  test.each(['protocol', 'agent', 'hub/core', 'page'])('%s uses no module of Node', (room) => {
    expect(faultsOf(`${room}/a.ts`, "import { readFileSync } from 'node:fs';\n")).toHaveLength(1);
    expect(faultsOf(`${room}/a.ts`, "import fs from 'fs';\n")).toHaveLength(1);
  });

  test('core and page use only the packages in the table', () => {
    expect(faultsOf('agent/a.ts', "import { decode } from 'cbor-x';\n")).toHaveLength(1);
    expect(faultsOf('protocol/a.ts', "import { decode } from 'cbor-x/index-no-eval';\n")).toEqual([]);
    expect(faultsOf('page/a.ts', "import { useState } from 'preact/hooks';\n")).toEqual([]);
    expect(faultsOf('page/a.ts', "import { Type } from 'typebox';\n")).toHaveLength(1);
  });

  test('only commands know a command line', () => {
    expect(faultsOf('assembly/a.ts', "import { Command } from 'commander';\n")).toHaveLength(1);
    expect(faultsOf('commands/a.ts', "import { Command } from 'commander';\n")).toEqual([]);
  });

  test('a computed import path is refused, except in tools', () => {
    expect(faultsOf('commands/a.ts', 'export const load = (path: string) => import(path);\n')).toHaveLength(1);
    expect(faultsOf('test/a.ts', 'export const load = (path: string) => import(path);\n')).toEqual([]);
  });

  test('a file outside all rooms is refused', () => {
    expect(faultsOf('elsewhere/a.ts', "import '../agent/target.ts';\n")).toHaveLength(1);
    expect(faultsOf('commands/a.ts', "import '../elsewhere/target.ts';\n")).toHaveLength(1);
  });

  test('an import cycle is refused, including types', () => {
    const files = new Map([
      ['protocol/a.ts', "import type { B } from './b.ts';\n\nexport type A = B | 1;\n"],
      ['protocol/b.ts', "export type { C as B } from './c.ts';\n"],
      ['protocol/c.ts', "export type C = import('./a.ts').A | 2;\n"],
      ['protocol/d.ts', "import './a.ts';\n"],
    ]);
    expect(importFaults(files)).toEqual([
      'imports in a circle: protocol/a.ts -> protocol/b.ts -> protocol/c.ts -> protocol/a.ts',
    ]);
  });
});

function faultsOf(file: string, text: string): readonly string[] {
  return importFaults(new Map([[file, text]]));
}

/** Specifier of `target` in `file`. */
function upTo(file: string, target: string): string {
  return `${'../'.repeat(file.split('/').length - 1)}${target}`;
}
