/** The software bills of materials of the packages. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { beforeAll, expect, test } from 'vitest';
import { packageLicences } from '../../../scripts/package/licences.ts';
import { type SbomSubject, sbomOf } from '../../../scripts/package/sbom.ts';
import { targetNamed } from '../../../scripts/package/targets.ts';

interface Bill {
  readonly specVersion: string;
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly { readonly name: string; readonly group?: string; readonly version: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

const host = targetNamed('x64');
const subjects: readonly SbomSubject[] = [
  { kind: 'executable', target: host },
  { kind: 'script', target: targetNamed('armhf') },
  { kind: 'npm' },
];
let isValid: ValidateFunction;

beforeAll(() => {
  const library = dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json'));
  const schema = (name: string): object =>
    JSON.parse(readFileSync(join(library, 'res/schema', name), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // Formats that ajv-formats lacks. The schema has `idn-email` for authors and contacts; a bill has none.
  ajv.addFormat('idn-email', () => false);
  ajv.addFormat('iri-reference', (text) => URL.canParse(text, 'https://example.org'));
  // The schema files refer to each other by these names.
  for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json']) {
    const { $id: _, ...content } = schema(name) as { readonly $id?: string };
    ajv.addSchema(content, `http://cyclonedx.org/schema/${name}`);
  }
  isValid = ajv.compile(schema('bom-1.6.SNAPSHOT.schema.json'));
});

function bill(subject: SbomSubject): Bill {
  return JSON.parse(sbomOf(subject)) as Bill;
}

function versions({ components }: Bill): ReadonlyMap<string, string> {
  return new Map(
    components.map(({ group, name, version }) => [group === undefined ? name : `${group}/${name}`, version]),
  );
}

test.each(subjects)('the bill of materials of $kind is valid by the schema of CycloneDX 1.6', (subject) => {
  const made = bill(subject);
  expect(made.specVersion).toBe('1.6');
  isValid(made);
  expect(isValid.errors ?? []).toEqual([]);
});

test('the schema of CycloneDX 1.6 refuses a bill of materials with an unknown field', () => {
  expect(isValid({ ...bill({ kind: 'npm' }), unknown: 1 })).toBe(false);
});

test('the bill of materials of an executable contains its Node and OpenSSL', () => {
  const found = versions(bill({ kind: 'executable', target: host }));
  expect(found.get('Node.js')).toBe(host.node.version);
  // The tests run on the Node that the x64 executable contains.
  const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
  const script = 'console.log(JSON.stringify(process.versions))';
  const carried = JSON.parse(spawnSync(node, ['-e', script], { encoding: 'utf8' }).stdout) as NodeJS.ProcessVersions;
  expect(carried.node).toBe(host.node.version);
  expect(found.get('OpenSSL')).toBe(carried.openssl);
  expect(found.get('libuv')).toBe(carried.uv);
  expect(`${found.get('V8')}`).toBe(carried.v8.replace(/-.*/, ''));
});

test('the bills of materials of the plain program and of the npm package contain no Node', () => {
  for (const subject of subjects.slice(1)) expect([...versions(bill(subject)).keys()]).not.toContain('Node.js');
});

test('a bill of materials has each package with a shipped licence, and every dependency has its component', () => {
  const made = bill({ kind: 'npm' });
  const licensed = [...packageLicences().matchAll(/^={79}\n(\S+) (\S+) .*\n={79}$/gm)].map(([, name]) => name);
  expect(new Set(versions(made).keys())).toEqual(new Set(licensed));
  const refs = new Set(made.dependencies.map(({ ref }) => ref));
  expect(made.dependencies.flatMap(({ dependsOn = [] }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
  const root = made.dependencies.find(({ ref }) => ref === made.metadata.component['bom-ref']);
  expect(root?.dependsOn).toHaveLength(made.components.length);
});

test('the same sources give the same bill of materials', () => {
  for (const subject of subjects) expect(sbomOf(subject)).toBe(sbomOf(subject));
});

test('a bill of materials names no registry but the public one', () => {
  const hosts = sbomOf({ kind: 'npm' }).matchAll(/"url": "(https?:\/\/[^/]*)/g);
  expect(new Set([...hosts].map(([, host]) => host))).toEqual(new Set(['https://registry.npmjs.org']));
});

test('vigie --sbom in a clone explains how to make the bills of materials', () => {
  const main = fileURLToPath(new URL('../../../main.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [main, '--sbom'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, expect.stringContaining('`npm run sbom`')]);
});
