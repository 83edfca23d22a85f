import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browseInFirefox } from './browser.ts';

describePeer('firefox-esr', 'the page in Firefox', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browseInFirefox('--scenario', 'parked');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('in Firefox a change in the car appears in drawing and list, and a click on a value shows its signal', async () => {
    const page = await browsed.open('#car');
    for (const [verb, state] of [
      ['lock', 'Locked'],
      ['unlock', 'Unlocked'],
    ] as const) {
      await browsed.send('doors', verb);
      await page
        .getByRole('treeitem', { name: /^lockedStates/ })
        .getByText(state, { exact: true })
        .waitFor();
      await page.getByRole('img', { name: new RegExp(`The car from above\\. ${state}\\.`) }).waitFor();
    }
    await page
      .getByRole('treeitem', { name: /^speed/ })
      .first()
      .click();
    await page.getByText('body › 0x0A8 MOTION › Speed').waitFor();
  });

  test('in Firefox a click sends a command that takes effect, and the keyboard sends another one', async () => {
    await browsed.send('doors', 'unlock');
    const page = await browsed.open('#commands');
    const doors = page.getByRole('region', { name: 'Doors' });
    const shown = doors.locator('header');
    await shown.getByText('unlocked', { exact: true }).waitFor();
    await doors.getByRole('button', { name: 'Lock', exact: true }).click();
    await shown.getByText('locked', { exact: true }).waitFor();
    // The car itself is locked, not only its state on the page.
    await browsed.send('doors', 'lock');
    await page.locator('.run').first().getByText('Already so', { exact: true }).waitFor();
    await doors.getByRole('button', { name: 'Unlock …' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Unlock');
    await page.keyboard.press('Enter');
    await shown.getByText('unlocked', { exact: true }).waitFor();
  });

  test('in Firefox the keyboard alone filters the buses and plots a signal', async () => {
    const page = await browsed.open('#bus');
    await page.getByRole('row', { name: /0x0A8 MOTION/ }).waitFor();
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('filter');
    await page.keyboard.type('0A8');
    await page.getByRole('row', { name: /STEERING/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /0x0A8 MOTION/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Plot Speed' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.plot canvas').waitFor();
    await expect
      .poll(() => page.locator('[data-plotted="body/0A8/Speed"]').textContent(), { timeout: 60_000 })
      .toMatch(/^[\d,.]+ km\/h$/);
  });

  test('in Firefox a click pulls and restores the plug, and the tabs lead to the journey and the scenes', async () => {
    const page = await browsed.open('#wire');
    await page.getByRole('button', { name: 'Pull the plug' }).click();
    await page.getByTestId('link').getByText('offline').waitFor();
    await page.getByRole('button', { name: 'Plug it in' }).click();
    await page.getByTestId('link').getByText('online').waitFor();
    await page.getByRole('tab', { name: 'The journey' }).click();
    await page.getByRole('heading', { name: 'Time line' }).waitFor();
    await page.getByRole('tab', { name: 'Scenes' }).click();
    await page.getByRole('button', { name: 'Door open' }).waitFor();
    expect(browsed.complaints).toEqual([]);
  });
});
