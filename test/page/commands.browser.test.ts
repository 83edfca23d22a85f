import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

describePeer('chromium', 'the page commands the car', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--scenario', 'parked');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const newest = (page: Page) => page.getByRole('region', { name: 'History' }).locator('.run').first();

  const lock = (page: Page) => card(page, 'Doors').getByRole('button', { name: 'Lock', exact: true });

  /**
   * States of the command that `ask` sends. The car has two seconds to show the effect. If a busy machine makes it
   * late, the doors are unlocked and the command is sent again.
   */
  async function asked(page: Page, ask: () => Promise<void>): Promise<string[]> {
    for (let attempt = 1; ; attempt++) {
      await card(page, 'Doors').waitFor();
      const before = await page.locator('.run').count();
      await ask();
      await expect.poll(() => page.locator('.run').count(), { timeout: 60_000 }).toBeGreaterThan(before);
      await newest(page)
        .getByText(/^(Done|Already so|The car did not carry it out)$/)
        .waitFor();
      const states = await newest(page).locator('.steps li > span').allTextContents();
      if (states.at(-1) === 'Done' || attempt === 5) return states;
      await browsed.send('doors', 'unlock');
      await card(page, 'Doors').getByText('unlocked', { exact: true }).waitFor();
    }
  }

  test('a click locks the car: the states arrive in order and the car confirms it', async () => {
    const page = await browsed.open('#commands');
    const states = await asked(page, () => lock(page).click());
    expect(states).toEqual(['Accepted', 'Sent to the car', 'Done']);
    await newest(page)
      .getByText(/^Confirmed by .* doorsState\.lockedStates\.$/)
      .waitFor();
    // A bench has no sign-in.
    expect(await newest(page).locator('.run-title').textContent()).toMatch(/^Doors: Lock on the page [0-9a-f-]{36}$/);
    await card(page, 'Doors').getByText('locked', { exact: true }).waitFor();
    await browsed.bench.says('command Doors: Success');
    await page.close();
  });

  test('unlock asks for confirmation: no sends nothing, yes unlocks, with the keyboard alone', async () => {
    const page = await browsed.open();
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    // The history is loaded when it shows this command.
    await browsed.send('horn', 'on');
    await newest(page).getByText(/^Horn/).waitFor();
    const before = await page.locator('.run').count();
    const unlock = card(page, 'Doors').getByRole('button', { name: /^Unlock/ });
    await unlock.focus();
    await page.keyboard.press('Enter');
    const question = page.getByRole('group', { name: /Unlock the doors\?/ });
    await question.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    await unlock.focus();
    await page.keyboard.press('Enter');
    await question.waitFor();
    // The dialog has the focus.
    await page.keyboard.press('Enter');
    await card(page, 'Doors').getByText('unlocked', { exact: true }).waitFor();
    // One command, although the dialog was answered twice.
    await expect.poll(() => page.locator('.run').count(), { timeout: 60_000 }).toBe(before + 1);
    await page.close();
  });

  test('a redraw between g and its letter does not lose the shortcut', async () => {
    const page = await browsed.open('#car');
    const current = page.getByRole('tab', { selected: true });
    await page.keyboard.press('g');
    await page.evaluate("location.hash = 'wire'");
    await current.getByText('The wire').waitFor();
    await page.keyboard.press('k');
    await current.getByText('Commands').waitFor({ timeout: 10_000 });
    await page.close();
  });

  test('a redrawn confirmation keeps the focus on the answer no', async () => {
    const page = await browsed.open('#commands');
    await card(page, 'Doors')
      .getByRole('button', { name: /^Unlock/ })
      .click();
    const no = page.getByRole('group', { name: /Unlock the doors\?/ }).getByRole('button', { name: 'Cancel' });
    await no.focus();
    const before = await page.locator('.run').count();
    // Every command redraws the cards.
    await browsed.send('horn', 'on');
    await expect.poll(() => page.locator('.run').count(), { timeout: 60_000 }).toBeGreaterThan(before);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.close();
  });

  test('a command from another client appears with its states', async () => {
    const page = await browsed.open('#commands');
    await card(page, 'Doors').waitFor();
    await browsed.send('horn', 'on');
    await newest(page).getByText('Horn: Sound the horn', { exact: true }).waitFor();
    await newest(page).getByText('through the broker, by bench', { exact: true }).waitFor();
    await newest(page)
      .getByText(/^(Done|Already so|The car did not carry it out)$/)
      .waitFor();
    await page.close();
  });

  test('axe finds nothing on the commands, also during a confirmation', async () => {
    const page = await browsed.open('#commands');
    await card(page, 'Doors')
      .getByRole('button', { name: /^Unlock/ })
      .click();
    await page.getByRole('group', { name: /Unlock the doors\?/ }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    await page.close();
  });

  test('the browser reports no error on the commands', () => {
    expect(browsed.complaints).toEqual([]);
  });
});

describePeer('chromium', 'the page shows why a car that drives refuses', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse();
  });
  afterAll(() => browsed.close());

  test('a driving car shows the refusing interlock with its value, and refuses the command if sent anyway', async () => {
    const page = await browsed.open('#commands');
    const doors = page.getByRole('region', { name: 'Doors', exact: true });
    await doors
      .getByText(/refused, the car must be stationary \(kinetic\.speed is [\d.]+\skm\/h; the limit is 6\skm\/h\)/)
      .waitFor();
    const immobilization = page.getByRole('region', { name: 'Immobiliser', exact: true });
    await immobilization.getByRole('button', { name: /^Immobilize/ }).click();
    await immobilization.getByRole('group').getByRole('button', { name: 'Immobilize' }).click();
    const newest = page.locator('.run').first();
    await newest.getByText('The car is in use', { exact: true }).waitFor();
    await newest.getByText(/^refused: /).waitFor();
    await page.close();
  });
});
