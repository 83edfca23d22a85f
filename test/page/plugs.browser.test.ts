import type { Page } from 'playwright-core';
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

  test('an unplugged car sends no frame and accepts no command until it is plugged in, and no number is missing', async () => {
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

describePeer('chromium', 'the page kills the agent of the bench', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse();
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  /** Number in a row and column of the named table. */
  const cell = async (page: Page, table: string, row: string, column: string): Promise<number> => {
    const found = page.getByRole('region', { name: table }).getByRole('table');
    const heads = await found.getByRole('columnheader').allTextContents();
    const cells = await found
      .getByRole('row', { name: new RegExp(`^${row}`) })
      .locator('th, td')
      .allTextContents();
    const place = heads.findIndex((head) => head.replaceAll('\u00ad', '') === column);
    return Number(cells[place]?.replaceAll(/\D/g, ''));
  };
  const classNames = ['state', 'telemetry', 'way'];

  test('an agent killed without a broker sends its backlog when both are back, and the broker gets every number', async () => {
    const page = await browsed.open('#wire');
    const backlog = async (): Promise<number> => Number(await page.getByTestId('backlog').textContent());
    const own = page.getByRole('button', { name: 'Prepare a power cut (own process)' });
    await own.focus();
    await own.press('Enter');
    await page.getByText('has a process of its own:').waitFor();
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    await page.getByTestId('link').getByText('online').waitFor();
    await page.getByRole('button', { name: 'Pull the plug' }).click();
    await page.getByTestId('link').getByText('offline').waitFor();
    // Attempts begin within 4 s of each other, so this time is that of the outage.
    await page.getByText(/not connected for ([6-9]|\d\d) s/).waitFor();
    await expect.poll(backlog, { timeout: 60_000 }).toBeGreaterThan(5);

    const killed = Number(/has a process of its own: (\d+)/.exec((await page.textContent('.chain')) ?? '')?.[1]);
    const kill = page.getByRole('button', { name: 'Kill the process' });
    // Passed as text, because the types of a browser are not those of this test.
    await page.evaluate(`
      window.contradictions = [];
      new MutationObserver(() => {
        const text = document.body.innerText;
        const away = /The agent (was killed|is starting)|This page lost|not connected for now|now ago/.exec(text)?.[0];
        if (away !== undefined && text.includes('has a process of its own')) window.contradictions.push(away);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    `);
    await kill.focus();
    await kill.press('Enter');
    await page.getByText('its process was killed').waitFor();
    await page.getByRole('alert').getByText('The agent was killed. Start it again under The wire.').waitFor();
    expect(() => process.kill(killed, 0)).toThrow('ESRCH');
    await expectAccessible(page);
    // The bench serves the page, and shows the plugs also on a newly opened page.
    const another = await browsed.context.newPage();
    await another.goto(`${browsed.url}/#wire`);
    await another.getByText('its process was killed').waitFor();
    await another.getByRole('heading', { name: /Vigie bench car/ }).waitFor();
    await another.getByRole('tab', { name: 'Scenes' }).click();
    await another.getByRole('button', { name: 'Crash' }).waitFor();
    expect(await another.getByRole('alert').count()).toBe(1);
    await another.close();
    const made = await Promise.all(classNames.map((name) => cell(page, 'Outbox by class', name, 'Made')));

    await page.getByRole('button', { name: 'Plug it in' }).click();
    await page.getByRole('button', { name: 'Start it again' }).click();
    await page.getByText('has a process of its own:').waitFor();
    await page.getByTestId('link').getByText('online').waitFor();
    expect(await page.evaluate('window.contradictions')).toEqual([]);
    await expect.poll(backlog, { timeout: 60_000 }).toBeLessThan(3);
    for (const [index, name] of classNames.entries()) {
      const below = (): Promise<number> => cell(page, 'Received by class', name, 'All below');
      await expect.poll(below, { timeout: 60_000 }).toBeGreaterThanOrEqual(made[index] ?? 0);
    }
    expect(await page.getByTestId('received-missing').textContent()).toBe('0');
    expect(await page.getByTestId('missing').textContent()).toBe('0');
    await expectAccessible(page);
  });

  test('bus and commands work with an agent in its own process', async () => {
    const page = await browsed.open('#bus');
    await page
      .getByRole('row', { name: /MOTION/ })
      .first()
      .waitFor();
    expect((await browsed.send('doors', 'lock')).status).toBe(0);
  });
});
