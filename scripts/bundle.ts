/**
 * `npm run bundle`: builds the program, as the car runs it, into `dist/`: JavaScript with one entry and a file for each
 * command, so that a command loads only what it needs, and the shipped profiles next to it. `scripts/vigie.js` runs
 * this bundle if it is not older than its sources.
 *
 * From the sources, Node strips the types at startup, which takes most of the startup time; and the machine code then
 * checks at every array access whether the buffer was detached. The bundle has neither cost.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { HUB_FILE, pageFiles } from '../adapters/http/documents.ts';
import { prepare, preparedFile } from '../config/prepared.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Bundler options for every program of the project, including the programs of the benchmark. */
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
    // Use Node's own streams instead of the copy that packages contain for other platforms.
    'readable-stream': 'node:stream',
    // The CommonJS form requires its parts by names that a bundler cannot resolve.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  },
  // These packages load machine code from files next to them.
  external: ['koffi', 'serialport'],
  // CommonJS packages load Node's own modules with require.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
  },
} satisfies BuildOptions;

/** The part of mqtt that is used, without its WebSocket and proxy connections, because the program has its own. */
const ofMqtt = `
export { default as MqttClient } from 'mqtt/lib/client';
export { ReasonCodes } from 'mqtt/lib/handlers/ack';
export { ErrorWithReasonCode } from 'mqtt/lib/shared';
export { default as Store } from 'mqtt/lib/store';
`;

/** The used part of undici: requests over our own connections, without `fetch`, WebSockets, caches and mocks. */
const ofUndici = `
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import request from 'undici/lib/api/api-request.js';
Dispatcher.prototype.request = request;
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
`;

/** The part of prom-client that is used, without its process metrics and OpenTelemetry. */
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
  // Timers that mqtt uses in browsers.
  'worker-timers': '',
};

/** Removes unused parts of packages, 600 kB that would otherwise stay in memory. */
export const slimming: Plugin = {
  name: 'slimming',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(mqtt|prom-client|undici|worker-timers)$/ }, ({ path }) => ({ path, namespace: 'slim' }));
    // undici contains its parser twice. The one without SIMD runs on every processor.
    onResolve({ filter: /\/llhttp_simd-wasm\.js$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace('_simd', '')),
    }));
    onLoad({ filter: /./, namespace: 'slim' }, ({ path }) => ({ contents: taken[path] ?? '', resolveDir: root }));
  },
};

/** Modules that take milliseconds to load, with the functions of theirs that are called long after startup or never. */
const deferred: Readonly<Record<string, { readonly members: readonly string[]; readonly by: RegExp }>> = {
  // In the car, Node's zlib does this work.
  fflate: { members: ['deflateSync', 'inflateSync'], by: /./ },
  // A replay neither signs nor verifies.
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
  // commander spawns programs for commands that are separate executables.
  'node:child_process': { members: ['spawn'], by: /\/node_modules\/commander\// },
  // Importing everything, as bundled code does, would also load worker threads and the code that compares texts.
  'node:util': { members: ['getSystemErrorName', 'isDeepStrictEqual', 'promisify'], by: /^(?!.*\/node_modules\/)/ },
};

/** Loads a module only when one of these functions is first called. */
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
 * Files that the program reads at run time, by their path relative to the program: the shipped profiles, the page, the
 * HTTP API document, and Swagger UI, which shows that document.
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
 * Loads Node's own modules with `require`. When a module is imported, Node reads all its exports at once, and some of
 * them load code that the program never uses: `node:http` loads undici, which alone costs 6 MiB of private memory and
 * 20 ms.
 */
export const requiring: Plugin = {
  name: 'requiring',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      // A module that is imported dynamically is a separate entry: otherwise the bundler would keep only its `default`.
      kind === 'import-statement' ? { path, namespace: 'required' } : { path, external: true },
    );
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }));
  },
};

/**
 * Contents of the files next to the program, by path: those of {@link filesBeside}, and parsed profiles
 * (config/prepared.ts).
 */
export function contentsBeside(): ReadonlyMap<string, Uint8Array> {
  const files = filesBeside();
  const contents = new Map(files.map(([place, from]): [string, Uint8Array] => [place, readFileSync(from)]));
  for (const [place, from] of files) {
    const prepared = place.endsWith('.yaml') ? prepare(from) : undefined;
    if (prepared !== undefined) contents.set(preparedFile(place), Buffer.from(prepared));
  }
  return contents;
}

/**
 * Bundles the program into a folder, from which it first removes older files. Returns which input went into which
 * output file.
 */
export async function bundleProgram(folder: string = dist): Promise<Metafile> {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    // Other scripts write to this folder, too: executables and packages (scripts/package.ts), the library
    // (scripts/library.ts), the site (scripts/site.ts) and the files of a release (scripts/release.ts).
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
  // Sources that the launcher checks for changes. The lock file represents all packages.
  writeFileSync(join(folder, 'sources.json'), JSON.stringify([...sources, ...own, 'package-lock.json'].sort()));
  return metafile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleProgram();
