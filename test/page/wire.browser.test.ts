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

  test('with the plug pulled the backlog grows, with the plug in it drains, and no number is missing', async () => {
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

  test('axe finds nothing on the wire, and the browser found no fault', async () => {
    const page = await browsed.open('#wire');
    await page.getByRole('table').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    expect(browsed.complaints).toEqual([]);
    await page.close();
  });
});
