import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible, VIN } from './browser.ts';

describePeer('chromium', 'the page shows the car', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--scenario', 'parked');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('the page shows the name of the car, the connection, the age of the values and the state of the link', async () => {
    const page = await browsed.open();
    await page.getByRole('heading', { name: /Vigie bench car/ }).waitFor();
    await page.getByText(VIN).waitFor();
    await page.getByText(/newest value/).waitFor();
    await page.getByTestId('link').getByText('online').waitFor();
    await page.close();
  });

  test('a change in the car appears in the drawing, in the list and among the changes, without a reload', async () => {
    const page = await browsed.open();
    const facts = page.getByRole('region', { name: 'From above' }).getByRole('listitem');
    const value = page.getByRole('treeitem', { name: /^lockedStates/ });
    for (const [verb, fact, name] of [
      ['lock', 'Locked', 'Locked'],
      ['unlock', 'Unlocked', 'Unlocked'],
    ] as const) {
      await browsed.send('doors', verb);
      await facts
        .getByText(fact, { exact: true })
        .or(facts.filter({ hasText: new RegExp(`^${fact}$`) }))
        .first()
        .waitFor();
      await value.getByText(name, { exact: true }).waitFor();
      await page.getByRole('img', { name: new RegExp(`The car from above\\. ${fact}\\.`) }).waitFor();
    }
    await page.getByRole('listitem').filter({ hasText: 'Locked → Unlocked' }).first().waitFor();
    await page.close();
  });

  test('changes are worded in the reader’s language, also after a reload', async () => {
    const page = await browsed.open();
    const changes = page.locator('.changes li');
    const lock = page.getByRole('treeitem', { name: /^lockedStates/ });
    await lock.waitFor();
    await browsed.send('doors', 'lock');
    await browsed.send('doors', 'unlock');
    await changes.filter({ hasText: 'Locks' }).filter({ hasText: 'locked → unlocked' }).first().waitFor();
    const language = page.getByRole('combobox', { name: 'Names of values in' });
    await language.selectOption('Deutsch');
    await changes.filter({ hasText: 'Schlösser' }).filter({ hasText: 'verriegelt → entriegelt' }).first().waitFor();
    await page.reload();
    // The page shows only changes of values that it already has.
    await lock.waitFor();
    await browsed.send('doors', 'lock');
    await changes.filter({ hasText: 'entriegelt → verriegelt' }).first().waitFor();
    expect(await page.evaluate('document.querySelector(".changes ol").lang')).toBe('de');
    await expectAccessible(page);
    await language.selectOption('English');
    await changes.filter({ hasText: 'unlocked → locked' }).first().waitFor();
    const worded = await page.locator('.changes li > .what, .changes li > .step').allTextContents();
    expect(worded.filter((text) => /\b[a-z]+[A-Z]|\bPT\d|Rlka|Artiv|Bsm/.test(text))).toEqual([]);
    // The list of all values has interface names. The filter also matches the reader's language.
    await page.getByRole('searchbox', { name: 'Filter values' }).fill('boot closed');
    await page.locator('[data-row="doorsState.opening.Trunk.state"]').waitFor();
    await expect.poll(() => page.locator('[role=treeitem][aria-level="2"]').count()).toBe(1);
    await page.close();
  });

  test('a changed value is tinted for a moment in its existing row', async () => {
    const page = await browsed.open();
    await page.getByRole('treeitem', { name: /^lockedStates/ }).waitFor();
    // Passed as text, because the types of a browser are not those of this test.
    await page.evaluate(`(async () => {
      const row = document.querySelector('[data-row="doorsState.lockedStates"]');
      row.scrollIntoView();
      // By then the page has noticed that the row is visible: its observer was registered earlier.
      await new Promise((resolve) => {
        new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && resolve()).observe(row);
      });
      const shown = row.querySelector('.shown');
      const before = shown.textContent;
      window.rested = new Promise((resolve) => {
        let tinted = false;
        const observer = new MutationObserver(() => {
          if (shown.classList.contains('flash')) tinted ||= shown.textContent !== before;
          else if (tinted) resolve(row === document.querySelector('[data-row="doorsState.lockedStates"]'));
        });
        observer.observe(shown, { attributes: true, characterData: true, childList: true, subtree: true });
      });
    })()`);
    // One of the two commands changes the locks, whatever their state.
    await browsed.send('doors', 'lock');
    await browsed.send('doors', 'unlock');
    expect(await page.evaluate('window.rested')).toBe(true);
    await page.close();
  });

  test('a value out of view is updated too, and correct when scrolled into view', async () => {
    const page = await browsed.open();
    await page.setViewportSize({ width: 1440, height: 700 });
    const row = page.locator('[data-row="doorsState.lockedStates"]');
    await row.waitFor({ state: 'attached' });
    for (const [verb, state] of [
      ['lock', 'Locked'],
      ['unlock', 'Unlocked'],
    ] as const) {
      await page.evaluate('document.querySelector(\'[data-row="kinetic.moving"]\').scrollIntoView()');
      await browsed.send('doors', verb);
      await expect.poll(() => row.locator('.shown').textContent(), { timeout: 60_000 }).toBe(state);
      await row.scrollIntoViewIfNeeded();
      expect(await row.locator('.shown').textContent()).toBe(state);
    }
    await page.close();
  });

  test('the filter finds values by path, unit and message while typing, and reports when none matches', async () => {
    const page = await browsed.open();
    const rows = page.locator('[role=treeitem][aria-level="2"]');
    const filter = page.getByRole('searchbox', { name: 'Filter values' });
    await page
      .getByRole('treeitem', { name: /^speed/ })
      .first()
      .waitFor();
    await filter.pressSequentially('mot');
    await page.getByRole('treeitem', { name: /mileage/ }).waitFor({ state: 'detached' });
    await filter.fill('MOTION Speed km/h');
    await expect.poll(() => rows.count()).toBe(1);
    await filter.fill('no such value');
    await page.getByText('No value matches. Clear the filter to see all.').waitFor();
    await filter.fill('');
    await page.getByRole('treeitem', { name: /mileage/ }).waitFor();
    await page.close();
  });

  test('a click on a value shows its bus, message, signal and bits', async () => {
    const page = await browsed.open();
    await page
      .getByRole('treeitem', { name: /^speed/ })
      .first()
      .click();
    await page.getByText('body › 0x0A8 MOTION › Speed').waitFor();
    await page.getByText('from ESP, every 20 ms').waitFor();
    await page.getByText('16 bits from byte 0, bit 7, big-endian. Value = raw × 0.01. Stale after 5 s.').waitFor();
    await page.close();
  });

  test('the keyboard alone reaches the filter, walks the tree, closes a group and shows a source', async () => {
    const page = await browsed.open();
    await page
      .getByRole('treeitem', { name: /^speed/ })
      .first()
      .waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('kinetic');
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent');
    for (let tab = 0; tab < 3; tab++) await page.keyboard.press('Tab');
    await expect.poll(focused).toMatch(/^kinetic/);
    await page.keyboard.press('End');
    await expect.poll(focused).toMatch(/^moving/);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused).toMatch(/^speed/);
    await page.keyboard.press('Enter');
    await page.getByText('body › 0x0A8 MOTION › Speed').waitFor();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(focused).toMatch(/^kinetic/);
    await page.close();
  });

  test('on the narrowest phone no view is wider than the screen', async () => {
    const page = await browsed.open();
    await page.setViewportSize({ width: 320, height: 640 });
    // Each tab is visible without scrolling.
    for (const tab of await page.getByRole('tab').all()) {
      const { x = -1, width = 0 } = (await tab.boundingBox()) ?? {};
      expect([await tab.textContent(), x >= 0, x + width <= 320]).toEqual([expect.anything(), true, true]);
    }
    for (const [view, heading] of [
      ['car', 'All values'],
      ['bus', 'Identifiers'],
      ['journey', 'Time line'],
      ['commands', 'Doors'],
      ['wire', 'Numbers'],
      ['exits', 'No exits'],
      ['scenes', 'Scenes'],
    ] as const) {
      await page.goto(`${browsed.url}/#${view}`);
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      expect([view, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([view, 320]);
    }
    await page.close();
  });

  test('the page can be installed on a home screen: the browser accepts its manifest and icons', async () => {
    const page = await browsed.open();
    const session = await browsed.context.newCDPSession(page);
    const { url, errors } = await session.send('Page.getAppManifest');
    expect([url, errors]).toEqual([`${browsed.url}/page/page.webmanifest`, []]);
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual([]);
    for (const icon of ['icon.svg', 'icon.png']) {
      expect(
        await page.evaluate(`new Promise((done) => {
        const image = Object.assign(new Image(), { onload: () => done(true), onerror: () => done(false) });
        image.src = '/page/${icon}';
      })`),
      ).toBe(true);
    }
    await page.close();
  });

  test('axe finds nothing on the car in light and dark, on wide and phone screens', async () => {
    const page = await browsed.open();
    await page
      .getByRole('treeitem', { name: /^speed/ })
      .first()
      .click();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    await page.close();
  });

  test('the browser reports no error and requests nothing from other hosts than the bench', () => {
    expect(browsed.complaints).toEqual([]);
  });

  test('a page that loses the car shows it, and no value counts as fresh', async () => {
    const page = await browsed.open();
    await page
      .getByRole('treeitem', { name: /^speed/ })
      .first()
      .waitFor();
    await browsed.bench.end('SIGINT');
    await page
      .getByRole('alert')
      .getByText(/This page lost the car/)
      .waitFor();
    await page.getByText(/\d+ values, \d+ stale/).waitFor();
    await page.getByTestId('connection').getByText('Lost', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.close();
  });
});
