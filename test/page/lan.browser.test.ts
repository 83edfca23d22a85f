/** The page of `vigie bench --lan` in a browser that has accepted its certificate. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VigieProcess } from '../rig/bench.ts';
import { describePeer } from '../rig/peers.ts';
import { launchChromium } from './browser.ts';

describePeer('chromium', 'the page of a bench in the local network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-page-lan-'));
  const data = join(folder, 'bench');
  let bench: VigieProcess;
  let [first, second]: (BrowserContext | undefined)[] = [];
  let url: string;
  beforeAll(async () => {
    bench = new VigieProcess(['bench', '--lan', '--data', data, '--port', '0', '--http', '0', '--scenario', 'parked']);
    await bench.says('which this bench has made itself');
    url = `https://127.0.0.1:${/In the local network: https:\/\/[\d.]+:(\d+)\//.exec(bench.output)?.[1]}`;
    // The user has compared its fingerprint.
    first = await launchChromium(join(folder, 'first'), { ignoreHTTPSErrors: true });
    second = await launchChromium(join(folder, 'second'), { ignoreHTTPSErrors: true });
  });
  afterAll(async () => {
    await first?.close();
    await second?.close();
    await bench.end('SIGINT');
    rmSync(folder, { recursive: true, force: true });
  });
  const tokenPrinted = (): string => [...bench.output.matchAll(/\?token=([\w-]+)/g)].at(-1)?.[1] ?? '';

  test('the printed token permanently admits one browser, which sees and commands the car, and no other browser', async () => {
    const token = tokenPrinted();
    const page = await (first as BrowserContext).newPage();
    expect((await page.goto(`${url}/`))?.status()).toBe(403);
    await page.goto(`${url}/?token=${token}`);
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    // The token is removed from the address, which a reader may share.
    expect(page.url()).toBe(`${url}/`);
    await page.getByRole('tab', { name: 'Commands' }).click();
    const horn = page.getByRole('region', { name: 'Horn' });
    await horn.getByRole('button', { name: 'Sound the horn' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Done' }).first().waitFor();
    await page.reload();
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();

    const other = await (second as BrowserContext).newPage();
    expect((await other.goto(`${url}/?token=${token}`))?.status()).toBe(403);
    await bench.says('a browser was let in; for another one: https://');
    await other.goto(`${url}/?token=${tokenPrinted()}`);
    await other.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
  });
});
