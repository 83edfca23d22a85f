/** List of generated files: the path of each and the function that makes it. One line per file. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneModule from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { configurationSchema } from '../config/configuration-schema.ts';
import { configurationEditorSchema, hubEditorSchema, profileEditorSchema } from '../config/editor-schema.ts';
import { bare } from '../config/fields.ts';
import { hubSchema } from '../config/hub-schema.ts';
import { profileSchema } from '../config/profile-schema.ts';
import { statusPaths, statusTypes } from '../config/status-paths.ts';
import { asyncApi } from '../protocol/interface/asyncapi.ts';
import { openApi } from '../protocol/interface/openapi.ts';
import { requestNames } from '../protocol/interface/operation.ts';
import { checkedBody, checkedCommands } from '../protocol/interface/schemas/requests.ts';
import { slots } from '../protocol/slots.ts';
import { signedCommandCddl, vigieCddl } from '../protocol/vigie-cddl.ts';
import { languages } from '../protocol/words/languages.ts';
import { dictionaryOf } from '../protocol/words/table.ts';
import { accessPage } from './access-page.ts';
import { commandsPage } from './command-checks.ts';
import { declarationFiles } from './declarations.ts';
import { hubPage } from './hub-settings.ts';
import { architecturePage, readmeWithRooms } from './imports/drawing.ts';
import { inspectPage } from './inspect-lines.ts';
import { logEventsPage } from './log-page.ts';
import { pageFile, pageLicences, pageScript, pageStyle, pageWorker } from './page.ts';
import { performancePage } from './performance-page.ts';
import { readmeWithFormats } from './readme-formats.ts';
import { tripPage } from './trip-page.ts';

/** Ajv is a CommonJS package: its default export is the function or an object with it, depending on the loader. */
const standalone = ((standaloneModule as { default?: unknown }).default ?? standaloneModule) as (
  ajv: Ajv2020,
  names: Record<string, string>,
) => string;

export interface Artefact {
  /** Path relative to the project's root. */
  readonly file: string;
  make(): string | Uint8Array | Promise<string>;
}

export const artefacts: readonly Artefact[] = [
  { file: 'protocol/generated/vigie.cddl', make: vigieCddl },
  { file: 'protocol/generated/signed-command.cddl', make: signedCommandCddl },
  {
    file: 'config/generated/validators.js',
    make: () => validators({ profile: bare(profileSchema), configuration: bare(configurationSchema) }),
  },
  {
    file: 'config/generated/validators.d.ts',
    make: () => declarations(['profile', 'configuration'], { name: 'Validator', from: '../validator.ts' }),
  },
  // Separate from the other validators, because the car does not load it.
  { file: 'config/generated/hub-validator.js', make: () => validators({ hub: bare(hubSchema) }) },
  {
    file: 'config/generated/hub-validator.d.ts',
    make: () => declarations(['hub'], { name: 'Validator', from: '../validator.ts' }),
  },
  {
    file: 'protocol/generated/requests.js',
    make: () => validators(requestSchemas(), { short: true, shared: checkedCommands() }),
  },
  {
    file: 'protocol/generated/requests.d.ts',
    make: () => declarations(requestNames, { name: 'BodyValidator', from: '../interface/validator.ts' }),
  },
  { file: 'protocol/generated/openapi.json', make: () => document(openApi()) },
  { file: 'protocol/generated/asyncapi.json', make: () => document(asyncApi()) },
  { file: 'protocol/generated/slots.json', make: () => document(slotTable()) },
  { file: 'config/generated/profile.schema.json', make: profileEditorSchema },
  { file: 'config/generated/vigie.schema.json', make: configurationEditorSchema },
  { file: 'config/generated/hub.schema.json', make: hubEditorSchema },
  { file: 'docs/access.md', make: accessPage },
  { file: 'docs/hub-reference.md', make: hubPage },
  { file: 'config/generated/status-paths.md', make: statusPaths },
  { file: 'protocol/generated/status-paths.ts', make: statusTypes },
  { file: 'README.md', make: readmeWithFormats },
  { file: 'README.md', make: readmeWithRooms },
  { file: 'docs/commands.md', make: commandsPage },
  { file: 'docs/architecture.md', make: architecturePage },
  { file: 'docs/inspect.md', make: inspectPage },
  { file: 'docs/log-events.md', make: logEventsPage },
  { file: 'docs/performance.md', make: performancePage },
  { file: 'docs/trips.md', make: tripPage },
  { file: 'page/generated/index.html', make: pageFile('index.html') },
  { file: 'page/generated/hub.html', make: pageFile('hub.html') },
  { file: 'page/generated/icon.svg', make: pageFile('icon.svg') },
  { file: 'page/generated/icon.png', make: pageFile('icon.png') },
  { file: 'page/generated/page.webmanifest', make: pageFile('page.webmanifest') },
  // Must come before the script, which contains the English words.
  ...languages.map((language) => ({
    file: `page/generated/words-${language}.json`,
    make: () => `${JSON.stringify(dictionaryOf(language))}\n`,
  })),
  { file: 'page/generated/page.js', make: pageScript },
  { file: 'page/generated/worker.js', make: pageWorker },
  { file: 'page/generated/page.css', make: pageStyle },
  { file: 'page/generated/licences.txt', make: pageLicences },
  ...declarationFiles,
];

/** Returns the types of generated validators. */
function declarations(names: readonly string[], type: { readonly name: string; readonly from: string }): string {
  const lines = names.map((name) => `export declare const ${name}: ${type.name};\n`).join('');
  const header = '// Generated by `npm run generate`; do not edit.';
  return `${header}\nimport type { ${type.name} } from '${type.from}';\n\n${lines}`;
}

/** Returns the schemas of request bodies. */
function requestSchemas(): Record<string, object> {
  return Object.fromEntries(requestNames.map((name) => [name, checkedBody(name)]));
}

/**
 * Returns the slots in the form in which catalogs describe custom signals, for receivers in other languages. Strings
 * and whole values are not part of telemetry.
 */
function slotTable(): object {
  return slots.map(({ id, path, kind, unit, resolution, values }) => {
    const known = kind === 'instant' || unit === '1' ? undefined : unit;
    const names = values?.map((name, count) => ({ count, name }));
    return { id: id.toString(16), path, kind, unit: known, resolution, names };
  });
}

/** Formats a JSON document for other programs. */
function document(value: object): string {
  return `${JSON.stringify(value, undefined, 1)}\n`;
}

interface ValidatorOptions {
  /** If true, reports only the first fault. */
  readonly short?: boolean;
  /** Schemas to which others refer by name. */
  readonly shared?: Readonly<Record<string, object>>;
}

/** Minimum length in characters of a repeated part of a schema for which one shared function is made. */
const WORTH_SHARING = 40;

/** Returns an equivalent schema with repeated parts moved to `$defs`, which reduces the code to a tenth. */
function sharing(schema: object): object {
  const counts = new Map<string, number>();
  const count = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const text = JSON.stringify(part);
    if (isSchema(part) && text.length >= WORTH_SHARING) counts.set(text, (counts.get(text) ?? 0) + 1);
    for (const inner of Object.values(part)) count(inner);
  };
  count(schema);
  const names = new Map<string, string>();
  const $defs: Record<string, unknown> = {};
  const share = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(share);
    const text = JSON.stringify(part);
    // A separate function could not report the property name in which it found the fault.
    const inside = (): unknown =>
      Object.fromEntries(
        Object.entries(part).map(([key, inner]) => [key, key === 'propertyNames' ? inner : share(inner)]),
      );
    if ((counts.get(text) ?? 0) < 2) return inside();
    let name = names.get(text);
    if (name === undefined) {
      name = `part${names.size}`;
      names.set(text, name);
      $defs[name] = inside();
    }
    return { $ref: `#/$defs/${name}` };
  };
  return { ...(share(schema) as object), $defs };
}

function isSchema(part: object): boolean {
  return 'type' in part && (typeof part.type === 'string' || Array.isArray(part.type));
}

/**
 * Generates validators as plain code, with one export per schema, so that the unit compiles none and can run with code
 * generation from strings disallowed. The code is bundled, because the parts of Ajv that it needs are CommonJS.
 */
export async function validators(schemas: Record<string, object>, options: ValidatorOptions = {}): Promise<string> {
  const { short = false, shared = {} } = options;
  const code = { source: true, esm: true };
  const ajv = new Ajv2020({
    code,
    strict: false,
    allErrors: !short,
    messages: false,
    inlineRefs: false,
    verbose: false,
  });
  for (const [name, schema] of Object.entries(shared)) ajv.addSchema(schema, name);
  const names: Record<string, string> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    ajv.addSchema(short ? schema : sharing(schema), name);
    names[name] = name;
  }
  const contents = standalone(ajv, names);
  const bundle = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    // Keep module names relative to this tree, wherever its node_modules folder really is.
    preserveSymlinks: true,
    mainFields: ['module', 'main'],
    write: false,
    minify: true,
    banner: { js: '// Generated by `npm run generate`; do not edit.' },
  });
  return bundle.outputFiles[0]!.text;
}
