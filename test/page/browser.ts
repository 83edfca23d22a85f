/** A real Chromium, or Debian's Firefox, on a real bench, for the tests of the page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, firefox, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { findPeer } from '../rig/peers.ts';

export const VIN = 'VF3VGEBENCH000001';

/** What Chromium needs as root in a container; nothing of it may speak to anybody but the bench. */
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--no-first-run',
  '--disable-sync',
  '--disable-component-update',
];

/** Longest wait for something to appear, ms: a busy machine is no failure. */
const PATIENCE = 60_000;

/** A Chromium with a profile of its own, in `folder`, and `options` of Playwright. */
export async function launchChromium(
  folder: string,
  options: { readonly ignoreHTTPSErrors?: boolean } = {},
): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: findPeer('chromium') ?? '',
    args: SWITCHES,
    locale: 'en-GB',
    viewport: { width: 1440, height: 900 },
    ...options,
  });
  context.setDefaultTimeout(PATIENCE);
  return context;
}

export interface Browsed {
  readonly url: string;
  readonly context: BrowserContext;
  readonly bench: VigieProcess;
  /** Directory of the bench. */
  readonly data: string;
  /** Requests to anybody but the bench, and what the browser complained of. */
  readonly complaints: readonly string[];
  /** A new page at `hash`, e.g. `#car`, that shows the car. */
  open(hash?: string): Promise<Page>;
  send(...words: readonly string[]): Promise<{ readonly status: number | null; readonly stderr: string }>;
  /** Closes what a test left open: six connections are all that the browser has for the bench. */
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the bench and Chromium. */
export function browse(...options: readonly string[]): Promise<Browsed> {
  return browseIn((folder) => launchChromium(join(folder, 'browser')), options);
}

/** Starts the bench and Firefox, which Playwright drives by WebDriver BiDi; see firefox-relay.ts. */
export function browseInFirefox(...options: readonly string[]): Promise<Browsed> {
  return browseIn(async (folder) => {
    const program = join(folder, 'firefox.sh');
    const relay = fileURLToPath(new URL('firefox-relay.ts', import.meta.url));
    // Firefox refuses to run in the home of another user.
    const start = `HOME='${folder}' FIREFOX='${findPeer('firefox-esr')}' exec '${process.execPath}' '${relay}' "$@"`;
    writeFileSync(program, `#!/bin/sh\n${start}\n`, { mode: 0o755 });
    const browser = await firefox.launch({ channel: 'moz-firefox', executablePath: program });
    return browser.newContext({ viewport: { width: 1440, height: 900 } });
  }, options);
}

async function browseIn(
  launch: (folder: string) => Promise<BrowserContext>,
  options: readonly string[],
): Promise<Browsed> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-page-'));
  const data = join(folder, 'bench');
  const bench = new VigieProcess(['bench', '--data', data, '--port', '0', '--http', '0', ...options]);
  await bench.says('Ctrl-C ends the bench.');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(bench.output)?.[0] ?? '';
  const context = await launch(folder);
  context.setDefaultTimeout(PATIENCE);
  const complaints: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) complaints.push(`request: ${request.url()}`);
  });
  context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`));
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  return {
    url,
    context,
    bench,
    data,
    complaints,
    open: async (hash = '') => {
      const page = await context.newPage();
      await page.goto(`${url}/${hash}`);
      await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
      return page;
    },
    send: (...words) => vigie('send', VIN, ...words, '--data', data),
    closePages: async () => {
      for (const page of context.pages().slice(1)) await page.close();
    },
    close: async () => {
      const browser = context.browser();
      await context.close();
      await browser?.close();
      await bench.end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeViolation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Expects that axe finds nothing, in both colour schemes. */
export async function expectAccessible(page: Page): Promise<void> {
  // The policy of the page forbids scripts of others; the test adds axe past it.
  await page.evaluate(axe);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const violations = (await page.evaluate(
      'axe.run(document).then(({ violations }) => violations)',
    )) as AxeViolation[];
    const found = violations.map(
      ({ id, help, nodes }) =>
        `${id} (${colorScheme}): ${help}\n${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
    );
    expect(found).toEqual([]);
  }
}
