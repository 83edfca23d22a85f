/** The switch for notifications on the page of a hub, for all cars and for one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vapidKeys } from '../adapters/callbacks/push-service.ts';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, VIN } from './browser.ts';
import { subscribeAt } from './push-device.ts';

describePeer('chromium', 'the page of a hub turns notifications on and off', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--cars', '2');
    const keys = { p256dh: vapidKeys().publicKey, auth: 'A'.repeat(22) };
    await browsed.context.addInitScript(subscribeAt({ endpoint: 'https://127.0.0.1:9/push/hub', keys }));
    await browsed.context.grantPermissions(['notifications'], { origin: browsed.url });
  });
  afterAll(() => browsed.close());

  test('notifications can be turned on for all cars, off for one, and off for all, which leaves no callback', async () => {
    const page = await browsed.open();
    const toggle = page.getByRole('switch', { name: 'Notifications on this device' });
    const [on, off] = [true, false].map((checked) => page.getByRole('switch', { checked }));
    await toggle.click();
    await on?.waitFor();
    await page.goto(`${browsed.url}/#cars/${VIN}/car`);
    await page.reload();
    await on?.click();
    await off?.waitFor();
    await page.goto(`${browsed.url}/#cars`);
    await page.reload();
    await page.getByText('(1/2)').waitFor();
    await toggle.click();
    await on?.click();
    await off?.waitFor();
    expect(await (await fetch(`${browsed.url}/user/callbacks`)).json()).toMatchObject({ total: 0 });
    expect(browsed.complaints).toEqual([]);
  });
});
