/**
 * `npm run screenshots -- FOLDER NAME …`: captures every view of the page, or the named views, on a phone, a small and
 * a wide screen, light and dark, for people to review. The car is that of the bench, the hub's cars are those of `bench
 * --cars 5`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { findPeer } from '../test/rig/peers.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const WIDTHS = [390, 820, 1440];
const SCHEMES = ['light', 'dark'] as const;
/** Delay in ms before a screenshot, in which plots and lists fill. */
const SETTLED = 4_000;
/** Delay in ms after a change of colours: transitions must end, and maps are redrawn once a second. */
const RECOLOURED = 1_500;
/** Longest wait in ms until something appears: a busy machine must not make this fail. */
const PATIENCE = 300_000;

interface Shot {
  readonly name: string;
  readonly hash: string;
  /** Called before the screenshot. */
  readonly act?: (page: Page) => Promise<void>;
}

const car: readonly Shot[] = [
  { name: 'car', hash: '#car' },
  {
    name: 'bus',
    hash: '#bus',
    act: async (page) => {
      await page.getByRole('row', { name: /0x0A8 MOTION/ }).click();
      await page.getByRole('button', { name: 'Plot Speed' }).click();
    },
  },
  { name: 'commands', hash: '#commands' },
  { name: 'wire', hash: '#wire' },
  { name: 'scenes', hash: '#scenes' },
  {
    // This view comes last, because the car has then driven some distance.
    name: 'journey',
    hash: '#journey',
    act: async (page) => {
      await page.getByRole('img', { name: /^Track from/ }).waitFor({ timeout: 180_000 });
    },
  },
];
const hub: readonly Shot[] = [
  { name: 'hub', hash: '' },
  {
    name: 'hub-commands',
    hash: '',
    act: async (page) => {
      await page.getByRole('checkbox', { name: 'Choose all cars of this page' }).check();
      await page.getByRole('button', { name: 'Horn: Sound the horn …' }).click();
      await page.getByRole('group', { name: /^Send/ }).getByRole('button').first().click();
    },
  },
  { name: 'hub-car', hash: '#cars/VF3VGEBENCH000001/car' },
  { name: 'hub-wire', hash: '#cars/VF3VGEBENCH000001/wire' },
];

const [folder, ...names] = process.argv.slice(2);
if (folder === undefined) {
  console.error('npm run screenshots -- FOLDER NAME …: where the pictures go, and which; without a name all');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
await shoot(folder, car, []);
await shoot(folder, hub, ['--cars', '5']);

/** Captures the views of one bench. */
async function shoot(target: string, all: readonly Shot[], options: readonly string[]): Promise<void> {
  const shots = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  if (shots.length === 0) return;
  const data = mkdtempSync(join(tmpdir(), 'vigie-screenshots-'));
  const bench = spawn(process.execPath, [main, 'bench', '--data', data, '--port', '0', '--http', '0', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve) => {
    let said = '';
    bench.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ctrl-C ends the bench.')) resolve(/http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '');
    });
  });
  const browser = await chromium.launch({
    executablePath: findPeer('chromium') ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  for (const { name, hash, act } of shots) {
    for (const width of WIDTHS) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, locale: 'en-GB' });
      page.setDefaultTimeout(PATIENCE);
      await page.goto(`${url}/${hash}`);
      await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
      await act?.(page);
      // The screenshot is taller than the window, and the browser draws only visible rows. The page's policy forbids
      // injected style elements, so the script adopts a constructed style sheet.
      await page.evaluate(`(() => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync('.row { content-visibility: visible !important }');
        document.adoptedStyleSheets = [sheet];
      })()`);
      await page.waitForTimeout(SETTLED);
      // Otherwise the page's header would cover the middle of the screenshot.
      await page.evaluate('scrollTo(0, 0)');
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(RECOLOURED);
        const path = join(target, `${name}-${width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: true });
        console.log(path);
      }
      await page.close();
    }
  }
  await browser.close();
  bench.kill('SIGINT');
  await new Promise((resolve) => bench.once('exit', resolve));
  rmSync(data, { recursive: true, force: true });
}
