import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

describePeer('chromium', 'the page shows the wire', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse();
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('the backlog grows while the plug is pulled, drains when it is back, and no number is missing', async () => {
    const page = await browsed.open('#wire');
    const backlog = async (): Promise<number> => Number(await page.getByTestId('backlog').textContent());
    await page.getByRole('button', { name: 'Pull the plug' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('not connected').waitFor();
    await page.getByTestId('link').getByText('offline').waitFor();
    await expect.poll(backlog, { timeout: 60_000 }).toBeGreaterThan(3);
    await page.getByRole('button', { name: 'Plug it in' }).click();
    await page.getByTestId('link').getByText('online').waitFor();
    await expect.poll(backlog, { timeout: 60_000 }).toBeLessThan(3);
    expect(await page.getByTestId('missing').textContent()).toBe('0');
    await page.close();
  });

  test('the chart shows the backlog of an outage, and keeps it when the broker returns and on other views', async () => {
    const page = await browsed.open('#wire');
    const outage = page.getByTestId('outage');
    await outage.getByText('No outage since this page was opened.').waitFor();
    await page.getByRole('button', { name: 'Pull the plug' }).click();
    await outage.getByText('is not back').waitFor();
    await page.getByRole('img', { name: /At most ([4-9]|\d\d+) messages waited/ }).waitFor();
    await page.getByRole('tab', { name: 'The car' }).click();
    await page.getByRole('tab', { name: 'The wire' }).click();
    await page.getByRole('button', { name: 'Plug it in' }).click();
    const kept = page.getByRole('img', { name: /for \d+ (s|min)\. At most \d+ messages waited; all were sent within/ });
    await kept.waitFor();
    const [words, drawn] = [await outage.textContent(), await kept.locator('.outage').getAttribute('height')];
    expect(Number(drawn)).toBeGreaterThan(0);
    // The full height of the curve, which shows the waiting messages.
    const heights = (await kept.locator('.curve').getAttribute('d'))?.match(/(?<=V)[\d.]+/g)?.map(Number) ?? [];
    expect(Math.max(...heights) - Math.min(...heights)).toBeGreaterThan(10);
    await page.getByRole('tab', { name: 'The car' }).click();
    await page.getByRole('tab', { name: 'The wire' }).click();
    expect(await outage.textContent()).toBe(words);
    await page.getByRole('button', { name: 'Pull the plug' }).click();
    await outage.getByText('is not back').waitFor();
    await page.getByRole('button', { name: 'Plug it in' }).click();
    await page.getByTestId('link').getByText('online').waitFor();
  });

  test('published bytes are shown next to those of the same messages as JSON', async () => {
    const page = await browsed.open('#wire');
    const text = (await page.getByTestId('sizes').textContent()) ?? '';
    const [, share] = /^[\d.,]+ [kM]?B on the air, [\d.,]+ [kM]?B as JSON:(\d+) %$/.exec(text) ?? [];
    expect(Number(share), text).toBeGreaterThan(0);
    expect(Number(share), text).toBeLessThan(100);
  });

  test('axe finds nothing on the wire, and the browser reports no error', async () => {
    const page = await browsed.open('#wire');
    await page.getByRole('table').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    expect(browsed.complaints).toEqual([]);
    await page.close();
  });

  test('on a phone a one-word heading stays on one line', async () => {
    const page = await browsed.open('#wire');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('heading', { name: 'Numbers' }).waitFor();
    for (const name of ['Bytes', 'Numbers']) {
      const heading = page.getByRole('heading', { name, exact: true });
      const { height } = (await heading.boundingBox()) ?? { height: 0 };
      expect([name, Math.round(height / 20.3)]).toEqual([name, 1]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
