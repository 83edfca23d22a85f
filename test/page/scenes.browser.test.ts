import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

describePeer('chromium', 'the page plays scenes on the bench', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--scene', 'door-open');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('the bench begins with the scene of its option, and the page shows it', async () => {
    const page = await browsed.open('#scenes');
    await page.getByRole('button', { name: 'Door open', pressed: true }).waitFor();
    await page.getByRole('tab', { name: 'The car' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Driver’s door open' }).first().waitFor();
  });

  test('a key plays a scene, and the journey shows the result', async () => {
    const page = await browsed.open('#scenes');
    const lowBattery = page.getByRole('button', { name: 'Low battery' });
    await lowBattery.focus();
    await lowBattery.press('Enter');
    await page.getByRole('button', { name: 'Low battery', pressed: true }).waitFor();
    await page.getByRole('tab', { name: 'The journey' }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: /battery/i })
      .first()
      .waitFor();
  });

  test('the journey shows that the driver hides the position', async () => {
    const page = await browsed.open('#scenes');
    await page.getByRole('button', { name: 'Private' }).click();
    await page.getByRole('button', { name: 'Private', pressed: true }).waitFor();
    await page.getByRole('tab', { name: 'The journey' }).click();
    await page.getByTestId('private').getByText('The driver hides the position.').waitFor();
  });

  test('axe finds nothing on the scenes, also on a phone, and the browser reports no error', async () => {
    const page = await browsed.open('#scenes');
    await page.getByRole('button', { name: 'Tunnel' }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(browsed.complaints).toEqual([]);
  });
});
