import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

describePeer('chromium', 'the page unplugs the car of the bench', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--scenario', 'parked');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('an unplugged car gives no frame and takes no command until it is plugged in, and no number is missing', async () => {
    const page = await browsed.open('#wire');
    const unplug = page.getByRole('button', { name: 'Unplug the car' });
    await unplug.focus();
    await unplug.press('Enter');
    await page.getByText('no frame comes in').waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'The car' }).click();
    const speed = page.locator('[data-row="kinetic.speed"]');
    await expect.poll(() => speed.getAttribute('data-stale'), { timeout: 60_000 }).toBe('true');
    expect((await browsed.send('horn', 'on')).status).toBe(1);
    await page.getByRole('tab', { name: 'The wire' }).click();
    await page.getByRole('button', { name: 'Plug the car in' }).click();
    await unplug.waitFor();
    await page.getByRole('tab', { name: 'The car' }).click();
    await expect.poll(() => speed.getAttribute('data-stale'), { timeout: 60_000 }).toBe('false');
    const sounded = await browsed.send('horn', 'on');
    expect(sounded.status, sounded.stderr).toBe(0);
    await page.getByRole('tab', { name: 'The wire' }).click();
    expect(await page.getByTestId('missing').textContent()).toBe('0');
    expect(browsed.complaints).toEqual([]);
  });
});
