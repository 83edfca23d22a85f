/** Modules that the unit in the car loads, as Node reports them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { logFormats } from '../../adapters/can/log/formats.ts';
import { VigieProcess } from '../rig/bench.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
/** The project directory may have any name. */
const root = new URL('../..', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'vigie-loaded-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** URLs of the modules that `vigie run` has loaded when it is ready. */
async function loadedWith(input: string): Promise<string[]> {
  const configuration = join(folder, 'vigie.yaml');
  writeFileSync(
    configuration,
    `configuration: 1\nvin: VF3VGELDED0000001\nprofile: bench\ndata: .\ncan: [${input}]\nmqtt: { url: 'mqtt://127.0.0.1:1' }\n`,
  );
  const urls = await loadedBy(['run', '-c', configuration], 'ready:', `${input.replace(/\W/g, '')}.txt`);
  expect(urls.some((url) => url.endsWith('/commands/run.ts'))).toBe(true);
  return urls;
}

let live: Promise<string[]> | undefined;
/** URLs of the modules that a unit on a live bus has loaded. One start serves all tests. */
function loadedOnLiveBus(): Promise<string[]> {
  live ??= loadedWith('{ bus: body, socketcan: vigie-none }');
  return live;
}

/** URLs of the modules that a command has loaded when it has printed `ready`. */
async function loadedBy(words: readonly string[], ready: string, file: string): Promise<string[]> {
  const list = join(folder, file);
  writeFileSync(list, '');
  const hook = `import { registerHooks } from 'node:module'; import { appendFileSync } from 'node:fs';
    registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + '\\n'); return next(url, context); } });`;
  const unit = new VigieProcess([main, ...words], `--import=data:text/javascript,${encodeURIComponent(hook)}`);
  try {
    await unit.says(ready);
  } finally {
    await unit.end('SIGTERM');
  }
  return readFileSync(list, 'utf8').split('\n');
}

/** File names among them from adapters/can/log. */
function logReaders(urls: readonly string[]): string[] {
  return urls.filter((url) => url.includes('/adapters/can/log/')).map((url) => basename(url, '.ts'));
}

test('a unit on a live bus loads no log readers', async () => {
  const urls = await loadedOnLiveBus();
  // It loads neither value tables, nor the VIN request, because a VIN is configured.
  expect(
    urls.filter((url) => /\/log\/values\/|\/(scan|standard-answers|car-vin|obd-connection)\.ts$/.test(url)),
  ).toEqual([]);
  // Its profile has no custom signals.
  expect(urls.filter((url) => /\/agent\/signals\/|\/protocol\/signals\/(?!hash|vss)/.test(url))).toEqual([]);
  // Nobody has requested a collection.
  expect(urls.filter((url) => /\/agent\/collect\/|\/assembly\/(collector|collected-signals)\.ts$/.test(url))).toEqual(
    [],
  );
  // Nor captures.
  expect(urls.filter((url) => /\/(agent|protocol)\/captures\//.test(url))).toEqual([]);
  const loaded = logReaders(urls);
  expect(loaded).toEqual(expect.arrayContaining(['source']));
  for (const module of ['reader', 'formats', 'input', 'unpacked', 'zip', ...logFormats]) {
    expect(loaded).not.toContain(module);
  }
});

test('a unit in the car loads no hub, SQLite, PostgreSQL client or certificate issuer', async () => {
  const urls = await loadedOnLiveBus();
  // Modules of Node are in the list too.
  expect(urls).toContain('node:fs');
  expect(
    urls.filter((url) =>
      /^\/(hub|adapters\/certificates)\/|sqlite|\/node_modules\/(pg|@peculiar|reflect-metadata)/.test(
        url.replace(root, '/'),
      ),
    ),
  ).toEqual([]);
});

test('a hub on SQLite loads no PostgreSQL client', async () => {
  const words = ['hub', '--data', join(folder, 'hub'), '--port', '0', '--http', '0'];
  const urls = await loadedBy(words, 'Ctrl-C ends', 'hub.txt');
  expect(urls).toContain('node:sqlite');
  expect(urls.filter((url) => /\/node_modules\/pg|\/database\/postgres\//.test(url))).toEqual([]);
  // Nor certificates, without --tls.
  expect(urls.filter((url) => /\/adapters\/certificates\/|@peculiar/.test(url))).toEqual([]);
});

test('a unit without an interface loads no page code and none of its readers', async () => {
  const urls = await loadedOnLiveBus();
  const own = urls.map((url) => url.replace(root, '/'));
  const page =
    /^\/page\/|\/adapters\/http\/(server|documents|own-routes|origins|snapshots)\.ts|\/interface\/own\/|own-view|preact/;
  expect(own.filter((url) => page.test(url))).toEqual([]);
});

test('a unit that plays a log loads only the reader of its format', async () => {
  const log = join(folder, 'drive.log');
  writeFileSync(log, '(1.0) can0 123#11\n');
  const urls = await loadedWith(`{ bus: body, log: ${log} }`);
  expect(urls.filter((url) => /\/(can|commands)\/(inspect|suggest)\b/.test(url))).toEqual([]);
  const loaded = logReaders(urls);
  expect(loaded).toEqual(expect.arrayContaining(['reader', 'formats', 'candump']));
  for (const module of ['unpacked', 'zip', 'spool', 'file-log', ...logFormats.filter((name) => name !== 'candump')]) {
    expect(loaded).not.toContain(module);
  }
});
