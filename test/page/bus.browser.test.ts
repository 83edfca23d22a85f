import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

describePeer('chromium', 'the page shows the buses', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse();
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  test('each identifier has a row with a growing count, and its changing bits glow', async () => {
    const page = await browsed.open('#bus');
    const row = page.getByRole('row', { name: /0x0A8 MOTION/ });
    await row.waitFor();
    const count = async (): Promise<number> =>
      Number((await row.getByRole('gridcell').nth(2).textContent())?.replaceAll(/\D/g, ''));
    const before = await count();
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(before);
    // Each frame has a counter.
    await row.locator('.byte.glow').first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    const stopped = await page.getByRole('button', { name: 'Pause', pressed: true });
    await stopped.click();
    const again = await count();
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(again);
  });

  test('the filter finds identifiers by number, message and signal while typing, and reports when none matches', async () => {
    const page = await browsed.open('#bus');
    const grid = page.getByRole('grid', { name: 'Identifiers' });
    await grid.getByRole('row', { name: /0x0A8/ }).waitFor();
    const rows = grid.locator('tbody tr');
    const filter = page.getByRole('searchbox', { name: 'Filter identifiers' });
    for (const text of ['0a8', 'motion', 'GearRatio', 'motion speed']) {
      await filter.fill('');
      await expect.poll(() => rows.count(), { timeout: 60_000 }).toBeGreaterThan(5);
      await filter.pressSequentially(text);
      await expect.poll(() => rows.allTextContents(), { timeout: 60_000 }).toEqual([expect.stringContaining('0x0A8')]);
    }
    await filter.fill('no such identifier');
    await page.getByText('No identifier matches. Clear the filter to see all.').waitFor();
  });

  test('with the keyboard alone an identifier is selected, two signals plotted, the cursor moved and the plot zoomed', async () => {
    const page = await browsed.open('#bus');
    const row = page.getByRole('row', { name: /0x0A8 MOTION/ });
    await row.waitFor();
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('filter');
    await page.keyboard.type('0A8');
    await page.getByRole('row', { name: /STEERING/ }).waitFor({ state: 'detached' });
    // The pause button, then the row.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.row')).toBe('body/0A8');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'MOTION' }).waitFor();
    for (const name of ['Plot Speed', 'Plot Acceleration']) {
      await page.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name, pressed: true }).waitFor();
    }
    const moment = page.getByRole('slider', { name: 'Moment in the plot' });
    await expect
      .poll(() => moment.getAttribute('aria-valuetext'), { timeout: 60_000 })
      .toMatch(/Speed [\d,.]+ km\/h, Acceleration −?[\d.]+ m\/s²/);
    await page.locator('.plot canvas').waitFor();
    // The cursor needs at least two readings.
    const bounds = async (name: string): Promise<number> => Number(await moment.getAttribute(name));
    await expect
      .poll(async () => (await bounds('aria-valuemax')) - (await bounds('aria-valuemin')), { timeout: 60_000 })
      .toBeGreaterThan(500);
    await moment.focus();
    await page.keyboard.press('Home');
    const shown = async (): Promise<number> => Number(await moment.getAttribute('aria-valuenow'));
    const first = Number(await moment.getAttribute('aria-valuemin'));
    await expect.poll(shown, { timeout: 60_000 }).toBe(first);
    await page.keyboard.press('ArrowRight');
    await expect.poll(shown, { timeout: 60_000 }).toBeGreaterThan(first);
    await page.getByRole('button', { name: 'Zoom in' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: '60 s', pressed: false }).waitFor();
    await page.getByRole('button', { name: '30 s' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: '30 s', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Remove Speed' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Plot Speed', pressed: false }).waitFor();
  });

  test('Space pauses and resumes the stream, and Escape clears selection and filter', async () => {
    const page = await browsed.open('#bus');
    await page.getByRole('row', { name: /0x0A8 MOTION/ }).waitFor();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause', pressed: true }).waitFor();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause', pressed: false }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter identifiers' }).fill('MOTION');
    await page.getByRole('row', { name: /STEERING/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /0x0A8 MOTION/ }).click();
    await page.getByRole('heading', { name: 'MOTION' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'MOTION' }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /STEERING/ }).waitFor();
  });

  test('values of the plotted signals are exported as CSV, and a drag over the plot zooms', async () => {
    const page = await browsed.open('#bus');
    await page.getByRole('row', { name: /0x0A8 MOTION/ }).click();
    await page.getByRole('button', { name: 'Plot Speed' }).click();
    const value = page.locator('[data-plotted="body/0A8/Speed"]');
    await expect.poll(() => value.textContent(), { timeout: 60_000 }).toMatch(/^[\d,.]+ km\/h$/);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('signals.csv');
    const [head, row] = readFileSync(await saved.path(), 'utf8').split('\r\n');
    expect(head).toBe('time,MOTION.Speed [km/h]');
    expect(row).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,\d+(\.\d+)?$/);
    await page.locator('.u-over').scrollIntoViewIfNeeded();
    const over = await page.locator('.u-over').boundingBox();
    if (over === null) throw new Error('the plot is not drawn');
    const y = over.y + over.height / 2;
    await page.mouse.move(over.x + over.width * 0.3, y);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width * 0.6, y, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: '60 s', pressed: false }).waitFor();
  });

  test('a page without access to the buses, because of privacy or scopes, shows the reason', async () => {
    const page = await browsed.context.newPage();
    const reason = 'The driver chose Full privacy, so the car sends no frames.';
    await page.route('**/vigie/v1/bus', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `event: privacy\ndata: ${JSON.stringify({ shown: false, reason })}\n\n`,
      }),
    );
    await page.goto(`${browsed.url}/#bus`);
    await page.getByText(reason).waitFor();
    await page.unroute('**/vigie/v1/bus');
    await page.route('**/vigie/v1/bus', (route) =>
      route.fulfill({ status: 403, json: { code: 40300, message: 'needs the scope data:bus' } }),
    );
    await page.getByRole('alert').getByText('The car does not show its buses: needs the scope data:bus.').waitFor();
    await page.unroute('**/vigie/v1/bus');
    await page.getByRole('row', { name: /0x0A8 MOTION/ }).waitFor();
  });

  test('axe finds nothing on the buses in light and dark, on wide and phone screens, and the browser reports no error', async () => {
    const page = await browsed.open('#bus');
    await page.getByRole('row', { name: /0x0A8 MOTION/ }).click();
    await page.getByRole('button', { name: 'Plot Speed' }).click();
    await page.locator('.plot canvas').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    // Status 403 comes from the test in which the car refuses access.
    expect(browsed.complaints.filter((one) => !one.includes('403'))).toEqual([]);
  });
});
