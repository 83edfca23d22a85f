/**
 * `npm run bundle`: the program as the car runs it, in `dist/`. JavaScript in one entry and a file for each command,
 * so that a command loads what it needs and nothing else, with the shipped profiles beside it. `scripts/vigie.js`
 * takes it when it is as new as what it was made of.
 *
 * From the sources Node strips types while it starts, which takes most of the start, and the machine code then tests
 * at every access to an array whether its buffer was detached; bundled it does not.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { HUB_FILE, pageFiles } from '../adapters/http/documents.ts';
import { prepare, preparedFile } from '../config/prepared.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** How every program of the project is bundled, those that are measured too. */
export const bundling = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  outExtension: { '.js': '.mjs' },
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'error',
  alias: {
    // Node's own streams instead of the copy of them that packages bring for other platforms.
    'readable-stream': 'node:stream',
    // Its other form requires its parts by names that a bundler cannot see.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  },
  // They load machine code that lies beside them.
  external: ['koffi', 'serialport'],
  // Packages in CommonJS ask for Node's own modules with require.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
  },
} satisfies BuildOptions;

/** Used part of mqtt: without its connections over WebSockets and proxies, because we have our own. */
const ofMqtt = `
export { default as MqttClient } from 'mqtt/lib/client';
export { ReasonCodes } from 'mqtt/lib/handlers/ack';
export { ErrorWithReasonCode } from 'mqtt/lib/shared';
export { default as Store } from 'mqtt/lib/store';
`;

/** Used part of undici: requests over our own connections, not `fetch`, WebSockets, caches and mocks. */
const ofUndici = `
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import request from 'undici/lib/api/api-request.js';
Dispatcher.prototype.request = request;
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
`;

/** Used part of prom-client: without its process metrics and OpenTelemetry. */
const ofMetrics = `
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Registry from 'prom-client/lib/registry.js';
export default { Counter, Gauge, Registry };
`;

const taken: Readonly<Record<string, string>> = {
  mqtt: ofMqtt,
  'prom-client': ofMetrics,
  undici: ofUndici,
  // By which mqtt keeps time in browsers.
  'worker-timers': '',
};

/** Leaves out of packages what the program has no use for: 600 kB that would be kept in memory. */
export const slimming: Plugin = {
  name: 'slimming',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(mqtt|prom-client|undici|worker-timers)$/ }, ({ path }) => ({ path, namespace: 'slim' }));
    // undici has its parser twice; that without SIMD runs on every processor.
    onResolve({ filter: /\/llhttp_simd-wasm\.js$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace('_simd', '')),
    }));
    onLoad({ filter: /./, namespace: 'slim' }, ({ path }) => ({ contents: taken[path] ?? '', resolveDir: root }));
  },
};

/** Modules that take milliseconds to load, and the members of them that are called, if ever, long after the start. */
const deferred: Readonly<Record<string, { readonly members: readonly string[]; readonly by: RegExp }>> = {
  // zlib of Node does its work in the car.
  fflate: { members: ['deflateSync', 'inflateSync'], by: /./ },
  // A replay signs and verifies nothing.
  'node:crypto': {
    members: [
      'createHash',
      'createPrivateKey',
      'createPublicKey',
      'generateKeyPairSync',
      'randomBytes',
      'randomInt',
      'randomUUID',
      'sign',
      'verify',
    ],
    by: /\/(adapters\/keys\/[^/]+|adapters\/can\/log\/spool|assembly\/directory)\.ts$/,
  },
  // commander starts other programs for commands that are executables of their own.
  'node:child_process': { members: ['spawn'], by: /\/node_modules\/commander\// },
  // To take over all members, as bundled code does, loads worker threads and what compares texts.
  'node:util': { members: ['getSystemErrorName', 'isDeepStrictEqual', 'promisify'], by: /^(?!.*\/node_modules\/)/ },
};

/** Loads modules when one of their members is called. */
export const deferring: Plugin = {
  name: 'deferring',
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: /^(fflate|node:child_process|node:crypto|node:util)$/ },
      ({ path, importer, namespace, kind }) =>
        namespace === 'deferred' || kind === 'dynamic-import' || deferred[path]?.by.test(importer) !== true
          ? undefined
          : { path, namespace: 'deferred' },
    );
    onLoad({ filter: /./, namespace: 'deferred' }, ({ path }) => {
      const members = deferred[path]?.members.map(
        (name) => `export const ${name} = (...all) => load().${name}(...all);`,
      );
      return {
        contents: ['let loaded;', `const load = () => (loaded ??= require('${path}'));`, ...(members ?? [])].join('\n'),
        resolveDir: root,
      };
    });
  },
};

/**
 * Files that the program reads at run time, by their place beside it: the shipped profiles, the page, the document of
 * the HTTP interface and Swagger UI, which shows it.
 */
function filesBeside(): readonly (readonly [place: string, from: string])[] {
  const config = join(root, 'config');
  const profiles = readdirSync(join(config, 'vehicles'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const swaggerUi = ['swagger-ui.css', 'swagger-ui-bundle.js'];
  return [
    ...profiles.map((file) => [relative(config, file), file] as const),
    ['documents/openapi.json', join(root, 'protocol/generated/openapi.json')],
    ...[HUB_FILE, ...pageFiles.map(([name]) => name)].map(
      (name) => [`documents/page/${name}`, join(root, 'page/generated', name)] as const,
    ),
    ...swaggerUi.map(
      (name) => [`documents/swagger-ui/${name}`, join(root, 'node_modules/swagger-ui-dist', name)] as const,
    ),
  ];
}

/**
 * Takes Node's own modules with `require`. Of a module that is imported, Node reads every member at once, and some of
 * them load what the program has no use for: `node:http` undici, which alone is 6 MiB of private memory and 20 ms.
 */
export const requiring: Plugin = {
  name: 'requiring',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      // A module that is imported later is an entry of its own: otherwise the bundler leaves it only `default`.
      kind === 'import-statement' ? { path, namespace: 'required' } : { path, external: true },
    );
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }));
  },
};

/** Files next to the program, by place: {@link filesBeside}, and the contents of profiles (config/prepared.ts). */
export function contentsBeside(): ReadonlyMap<string, Uint8Array> {
  const files = filesBeside();
  const contents = new Map(files.map(([place, from]): [string, Uint8Array] => [place, readFileSync(from)]));
  for (const [place, from] of files) {
    const prepared = place.endsWith('.yaml') ? prepare(from) : undefined;
    if (prepared !== undefined) contents.set(preparedFile(place), Buffer.from(prepared));
  }
  return contents;
}

/** Bundles the program into a folder, of which nothing older is left; tells what went into which file. */
export async function bundleProgram(folder: string = dist): Promise<Metafile> {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    // Executables, packages (scripts/package.ts), the library (scripts/library.ts), the site (scripts/site.ts) and the files of
    // a release (scripts/release.ts) are made elsewhere and lie there too.
    if (!/^(?:vigie[-_]|(?:library|site|release)$)/.test(name)) rmSync(join(folder, name), { recursive: true });
  }
  const { metafile } = await build({
    ...bundling,
    entryPoints: [join(root, 'main.ts')],
    absWorkingDir: root,
    outdir: folder,
    splitting: true,
    chunkNames: '[name]-[hash]',
    metafile: true,
    plugins: [slimming, deferring, requiring],
  });
  for (const [place, contents] of contentsBeside()) {
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    writeFileSync(join(folder, place), contents);
  }
  const own = filesBeside()
    .map(([, from]) => relative(root, from))
    .filter((file) => !file.startsWith('node_modules'));
  const sources = Object.keys(metafile.inputs).filter(
    (file) => !/node_modules\/|^(slim|required|deferred):/.test(file),
  );
  // Sources that the launcher compares. The lock file represents all packages.
  writeFileSync(join(folder, 'sources.json'), JSON.stringify([...sources, ...own, 'package-lock.json'].sort()));
  return metafile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleProgram();
