/** One name for one thing: no two files export types of the same name. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { remoteActions, remoteTypes } from '../../protocol/remote/table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rooms = ['protocol', 'agent', 'adapters', 'config', 'hub', 'assembly', 'commands', 'scripts'];

/** Generated files, and packages that the benchmark installs next to its own files. */
const foreign = new Set(['generated', 'node_modules']);

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return foreign.has(entry.name) ? [] : sources(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

/** Files by the names of the types that they export. */
function declarations(files: readonly (readonly [path: string, text: string])[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [path, text] of files) {
    for (const [, name = ''] of text.matchAll(/^export (?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm)) {
      found.set(name, [...(found.get(name) ?? []), path]);
    }
  }
  return found;
}

const repeated = (found: Map<string, string[]>): Record<string, string[]> =>
  Object.fromEntries([...found].filter(([, paths]) => paths.length > 1));

test('two files that export a type of the same name are found', () => {
  const files = [
    ['a.ts', 'export interface Place {}\nexport type Other = Place;\ninterface Own {}'],
    ['b.ts', '/** Doc */\nexport abstract class Place {}\nexport interface Own {}'],
    ['c.ts', "export type { Other } from './a.ts';"],
  ] as const;
  expect(repeated(declarations(files))).toEqual({ Place: ['a.ts', 'b.ts'] });
});

test('no type name is exported by two files', () => {
  const files = rooms.flatMap(sources).map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
  const found = declarations(files);
  expect(found.size).toBeGreaterThan(500);
  expect(repeated(found)).toEqual({});
});

/** Names that a file contains as a string or as a key. */
function mentioned(text: string, names: readonly string[]): string[] {
  return names.filter((name) => new RegExp(`'${name}'|\\n\\s*${name}:`).test(text));
}

test('a second list of kinds or of actions is found', () => {
  const list = "x = {\n  Horn: 1,\n  Doors: 2,\n};\ny = ['Lights', 'horn.on'];";
  expect(mentioned(list, remoteTypes)).toEqual(['Horn', 'Doors', 'Lights']);
  expect(mentioned(list, [...remoteActions.keys()])).toEqual(['horn.on']);
});

test('only the table of kinds lists the kinds of command and their actions', () => {
  const files = rooms.flatMap(sources).filter((path) => !path.startsWith('protocol/remote/'));
  const lists = files.filter((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return mentioned(text, remoteTypes).length > 4 || mentioned(text, [...remoteActions.keys()]).length > 1;
  });
  expect(lists).toEqual([]);
});

/** Files that store messages or records in memory. */
function memoryStores(files: readonly (readonly [path: string, text: string])[]): string[] {
  const store = /implements (RecordStore|OutboxStore)\b|: (RecordStore|OutboxStore) = \{|memory: Memory; records/;
  return files.filter(([, text]) => store.test(text)).map(([path]) => path);
}

test('a second store in memory is found', () => {
  const files = [
    ['a.ts', 'class Kept implements RecordStore {'],
    ['b.ts', 'const records: RecordStore = { put() {} };'],
    ['c.ts', 'function close(records: RecordStore): void {}'],
  ] as const;
  expect(memoryStores(files)).toEqual(['a.ts', 'b.ts']);
});

test('only one store keeps messages and records in memory, also for tests', () => {
  const files = [...rooms, 'test/rig', 'test/agent'].flatMap(sources);
  const found = memoryStores(files.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const));
  // A counter around another store is not a store, and a store that never responds is for tests of waiting.
  expect(found).toEqual([
    'agent/health/metered-store.ts',
    'adapters/store/memory.ts',
    'test/agent/health/health.test.ts',
  ]);
});

/** Files that traverse the members of a schema. */
function schemaWalks(files: readonly (readonly [path: string, text: string])[]): string[] {
  return files.filter(([, text]) => /Object\.(entries|values)\(\w*\.?properties\b/.test(text)).map(([path]) => path);
}

test('a traversal of a schema is found', () => {
  const files = [
    ['a.ts', 'Object.entries(properties ?? {})'],
    ['b.ts', 'Object.values(schema.properties ?? {})'],
    ['c.ts', 'const { properties } = feature;'],
  ] as const;
  expect(schemaWalks(files)).toEqual(['a.ts', 'b.ts']);
});

test('only one file traverses schemas, and only the listed ones compile them', () => {
  const files = rooms.flatMap(sources).map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
  expect(schemaWalks(files).toSorted()).toEqual([
    // `walk.ts` traverses. The others compile a schema to a codec, a writer, JSON Schema, slots, or lines of a page.
    'protocol/cbor/annotations.ts',
    'protocol/interface/json/writer.ts',
    'protocol/interface/schemas/derive.ts',
    'protocol/interface/schemas/json.ts',
    'protocol/schema/walk.ts',
    'protocol/slot-plan.ts',
    'scripts/hub-settings.ts',
    'scripts/inspect-lines.ts',
  ]);
});
