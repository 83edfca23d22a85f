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

/** Switches that Chromium needs as root in a container, and that restrict it to requests to the bench. */
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--no-first-run',
  '--disable-sync',
  '--disable-component-update',
];

/** Maximum wait for an element, ms, long enough for a busy machine. */
const PATIENCE = 60_000;

/** Starts Chromium with a separate profile in `folder` and `options` of Playwright. */
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
  /** Requests to other hosts than the bench, and errors in the browser console. */
  readonly complaints: readonly string[];
  /** Opens a new page at `hash`, e.g. `#car`, that shows the car. */
  open(hash?: string): Promise<Page>;
  send(...words: readonly string[]): Promise<{ readonly status: number | null; readonly stderr: string }>;
  /** Closes the pages of a test: the browser has only six connections to the bench. */
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the bench and Chromium. */
export function browse(...options: readonly string[]): Promise<Browsed> {
  return browseIn((folder) => launchChromium(join(folder, 'browser')), options);
}

/** Starts the bench and Firefox, which Playwright controls by WebDriver BiDi; see firefox-relay.ts. */
export function browseInFirefox(...options: readonly string[]): Promise<Browsed> {
  return browseIn(async (folder) => {
    const program = join(folder, 'firefox.sh');
    const relay = fileURLToPath(new URL('firefox-relay.ts', import.meta.url));
    // Firefox refuses to run in the home directory of another user.
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

/** Checks with axe in both colour schemes. */
export async function expectAccessible(page: Page): Promise<void> {
  // The page's content policy forbids foreign scripts, so the test evaluates axe directly.
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
