import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

describePeer('chromium', 'the first view shows incidents until a person has seen them', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--scene', 'alarm');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('an alarm is on the drawing and in the list, and the list keeps it until a reader presses Seen', async () => {
    const page = await browsed.open();
    const list = page.getByRole('region', { name: 'Not seen yet' });
    const facts = page.getByRole('region', { name: 'From above' });
    const sounding = facts.getByRole('listitem').filter({ hasText: 'Alarm is sounding: somebody inside' });
    await sounding.waitFor();
    expect(await sounding.locator('.mark.bad').count()).toBe(1);
    expect(await facts.getByText('Alarm armed').count()).toBe(0);
    await facts.locator('path.rings').waitFor();
    await list.getByRole('listitem').filter({ hasText: 'Alarm: somebody inside' }).waitFor();
    // The alarm ends after 20 s. It is still unseen, so it stays, even after a reload.
    await sounding.waitFor({ state: 'detached' });
    await page.reload();
    await list.getByRole('button', { name: 'Seen: Alarm: somebody inside' }).click();
    await list.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('tab', { name: 'The journey' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Alarm: somebody inside' }).first().waitFor();
    await page.getByRole('tab', { name: 'The car' }).click();
    await facts.getByText(/^(Locked|Unlocked)$/).waitFor();
    expect(await list.count()).toBe(0);
  });

  test('a collision is a star on its side of the drawing, and a line in the reader’s language', async () => {
    const page = await browsed.open('#scenes');
    await page.getByRole('button', { name: 'Crash' }).click();
    await page.getByRole('tab', { name: 'The car' }).click();
    const collision = page.getByRole('region', { name: 'Not seen yet' }).getByRole('listitem');
    await collision.filter({ hasText: 'Collision: at the front' }).waitFor();
    await page.locator('path.impact').waitFor();
    await expectAccessible(page);
    for (const width of [360, 390, 600, 768, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      for (const panel of await page.locator('.panel').all()) {
        const { height } = (await panel.boundingBox()) ?? { height: 0 };
        expect(height, `${await panel.getAttribute('aria-labelledby')} at ${width} px`).toBeGreaterThan(80);
      }
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.getByRole('combobox', { name: 'Names of values in' }).selectOption('Deutsch');
    const german = page.getByRole('region', { name: 'Noch nicht gesehen' });
    await german.getByRole('listitem').filter({ hasText: 'Kollision: vorn' }).waitFor();
    await german.getByRole('button', { name: /^Gesehen: Kollision/ }).click();
    await page.locator('path.impact').waitFor({ state: 'detached' });
    expect(browsed.complaints).toEqual([]);
  });
});
