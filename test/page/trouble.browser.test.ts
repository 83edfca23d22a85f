/** Messages and recovery of the page when car, network or clock misbehave. */
import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse } from './browser.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Names from a car are text, never HTML, however long. */
const HOSTILE = `<img src=x onerror="document.title=1">${'W'.repeat(200)}`;

describePeer('chromium', 'the page in trouble', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--scenario', 'parked');
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  const events = (route: Route, ...all: readonly (readonly [name: string, data: object])[]): Promise<void> =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: all.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
    });

  test('a proxy’s error page instead of the car shows a lost connection, and the page reconnects', async () => {
    const page = await browsed.context.newPage();
    await page.route('**/vigie/v1/car', (route) => route.fulfill({ status: 502, body: '<html>Bad Gateway</html>' }));
    await page.goto(browsed.url);
    const alert = page.getByRole('alert');
    await alert.getByText('It answered 502.').waitFor();
    expect(await alert.textContent()).not.toContain('html');
    await page.unroute('**/vigie/v1/car');
    await page.getByRole('heading', { name: /Vigie bench car/ }).waitFor();
    await alert.waitFor({ state: 'detached' });
    await page.getByTestId('link').getByText('online').waitFor();
  });

  test('a stream that breaks in the middle of an event is reported as lost and read again', async () => {
    const page = await browsed.context.newPage();
    await page.route('**/live', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: 'event: change\ndata: {"path":"kinetic.sp' }),
    );
    await page.goto(browsed.url);
    await page.getByRole('alert').getByText('The car closed the stream.').waitFor();
    await page.unroute('**/live');
    await page.getByRole('treeitem', { name: /^speed/ }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('a request without an answer ends after 20 s with the reason', async () => {
    const page = await browsed.context.newPage();
    await page.clock.install();
    let asked: () => void = () => undefined;
    const asks = new Promise<void>((resolve) => {
      asked = resolve;
    });
    await page.route('**/live', () => asked());
    await page.goto(browsed.url);
    await asks;
    await page.clock.fastForward(21_000);
    await page
      .getByRole('alert')
      .getByText(/No answer for 20 s\. A browser opens six connections/)
      .waitFor();
    await page.unroute('**/live');
    await page.getByRole('treeitem', { name: /^speed/ }).waitFor();
  });

  test('a view whose stream is refused beyond the limit of 16 shows it, and loads once one is free', async () => {
    const ends = new AbortController();
    const taken: Response[] = [];
    const ask = (): Promise<Response> => fetch(`${browsed.url}/vigie/v1/outbox`, { signal: ends.signal });
    // Streams of closed pages count for a moment longer.
    while (taken.length < 16) {
      const response = await ask();
      if (response.ok) taken.push(response);
      else await response.text();
    }
    expect((await ask()).ok).toBe(false);
    const page = await browsed.open('#wire');
    await page
      .getByRole('alert')
      .getByText(/This page lost the outbox .* all live streams are taken/)
      .waitFor();
    ends.abort();
    await page.getByRole('heading', { name: 'Numbers' }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('a signal of a car whose clock was set back by a day is shown and plotted', async () => {
    const page = await browsed.open('#bus');
    const now = Date.now();
    let count = 0;
    await page.route('**/bus/signals?*', (route) => {
      const value = ++count === 1 ? 11 : 22;
      const at = count === 1 ? now : now - DAY + count;
      return events(route, ['values', { values: [{ signal: 0, at, value }] }]);
    });
    await page.getByRole('row', { name: /0x050 SAFETY/ }).click();
    const shown = page.locator('[data-signal]').filter({ hasText: '22' });
    await shown.first().waitFor();
  });

  test('the speed plot of the last minute begins before the page was opened', async () => {
    const page = await browsed.context.newPage();
    await page.route('**/telemetry?*', async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { _embedded: { telemetries: object[] } };
      const createdAt = new Date(Date.now() - DAY).toISOString();
      answer._embedded.telemetries.unshift({ createdAt, vehicle: { kinetic: { speed: 88 } } });
      await route.fulfill({ response, json: answer });
    });
    await page.goto(browsed.url);
    await page.getByRole('img', { name: 'Speed of the last minute, at most 88.0 km/h.' }).waitFor();
  });

  test('long names with HTML in them are text, and make no view wider than the screen', async () => {
    const page = await browsed.context.newPage();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.route('**/vigie/v1/car', async (route) => {
      // A comparison of clocks sends a HEAD request.
      if (route.request().method() === 'HEAD') return route.fallback();
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), title: HOSTILE } });
    });
    const at = new Date().toISOString();
    await page.route('**/live', (route) =>
      events(route, ['change', { path: `custom.${HOSTILE}`, value: HOSTILE, at }]),
    );
    const frame = { key: 1, bus: HOSTILE, id: 1, extended: false, message: HOSTILE, sender: HOSTILE, every: 10 };
    const signal = { name: HOSTILE, unit: HOSTILE, factor: 1, offset: 0, bits: [0, 1], comment: HOSTILE };
    await page.route('**/vigie/v1/bus', (route) =>
      events(
        route,
        ['privacy', { shown: true }],
        ['identifiers', { anew: true, identifiers: [{ ...frame, comment: HOSTILE, signals: [signal] }] }],
        ['frames', { frames: [{ key: 1, count: 1, length: 1, data: '01', changed: '01' }] }],
      ),
    );
    await page.goto(browsed.url);
    const width = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth');
    await page.getByRole('treeitem').filter({ hasText: HOSTILE }).first().waitFor();
    expect(await width()).toBe(390);
    await page.goto(`${browsed.url}/#bus`);
    // By keys, because the strip about the stream, which ends at once here, moves the rows.
    await page.getByRole('row', { name: /0x001/ }).press('Enter');
    await page.getByRole('button', { name: `Plot ${HOSTILE}` }).press('Enter');
    await page.getByRole('button', { name: `Remove ${HOSTILE}` }).waitFor();
    expect(await width()).toBe(390);
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
  });

  /** A page with a running clock that can be set. `ages` returns the age of its newest value, and of one that stays. */
  async function openWithClock(): Promise<readonly [page: Page, ages: () => Promise<string>]> {
    const page = await browsed.context.newPage();
    await page.clock.install();
    // The last request of the start. Each answer contains the car's time.
    const read = page.waitForResponse(/telemetry\?/);
    await page.goto(browsed.url);
    await read;
    await page.getByTestId('link').waitFor();
    const [connection, age] = [
      page.getByTestId('connection'),
      page.locator('[data-row="doorsState.lockedStates"] .age'),
    ];
    await age.waitFor();
    return [page, async () => `${await connection.textContent()}, ${await age.textContent()}`];
  }

  test('ages stay right when the machine’s clock is set while the page is open', async () => {
    const [page, ages] = await openWithClock();
    await expect.poll(ages, { timeout: 20_000 }).toMatch(/ \d+ (s|min)$/);
    for (const by of [HOUR, -HOUR]) {
      await page.clock.setSystemTime(Date.now() + by);
      await page.clock.runFor(2_000);
      await expect.poll(ages, { timeout: 20_000 }).toMatch(/^Live newest value (now|\d+ s), \d+ (s|min)$/);
    }
  });

  test('ages follow the car’s clock when it is set while the page is open', async () => {
    const [page, ages] = await openWithClock();
    // Every answer contains the time, except an open stream.
    await page.route('**/*', async (route) => {
      if (route.request().headers()['accept'] === 'text/event-stream') return route.fallback();
      const response = await route.fetch();
      await route.fulfill({
        response,
        headers: { ...response.headers(), date: new Date(Date.now() + HOUR).toUTCString() },
      });
    });
    await page.clock.runFor(30_000);
    await expect.poll(ages, { timeout: 20_000 }).toMatch(/^Live newest value (59 min|1\.0 h), /);
  });

  test('changes after the car’s clock was set back are shown', async () => {
    const page = await browsed.context.newPage();
    const dated = (path: string, value: unknown, ms: number): readonly [string, object] => [
      'change',
      { path, value, at: new Date(ms).toISOString() },
    ];
    await page.route('**/live', (route) => {
      const now = Date.now();
      const gears = Array.from({ length: 20 }, (_, index) =>
        dated('transmission.gearbox.ratio', `Ratio${1 + (index % 2)}`, now + HOUR + index),
      );
      const speed = (value: number, ms: number): readonly [string, object] => dated('kinetic.speed', value, ms);
      const after = [speed(60, now), speed(61, now + 200), dated('transmission.gearbox.ratio', 'Neutral', now)];
      return events(route, ...gears, speed(99, now + HOUR), ...after);
    });
    await page.goto(browsed.url);
    await page.locator('.changes li').first().getByText('Neutral').waitFor();
    await page.getByRole('img', { name: 'Speed of the last minute, at most 61.0 km/h.' }).waitFor();
  });

  test('a page without a network shows since when, and shows the car again when it is back', async () => {
    const page = await browsed.context.newPage();
    // Before the page sets a timer: a timer of the real clock does not follow `fastForward`.
    await page.clock.install();
    await page.goto(`${browsed.url}/#commands`);
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Doors' }).waitFor();
    // The offline mode of Chromium sometimes lets requests pass.
    await page.route('**', (route) => route.abort('internetdisconnected'));
    // Open connections stay until they have been silent for too long. An event that arrives meanwhile restarts the wait.
    const alert = page.getByRole('alert').getByText(/This page lost the car/);
    const isLost = async (): Promise<boolean> => {
      await page.clock.fastForward(60_000);
      return alert.isVisible();
    };
    await expect.poll(isLost, { timeout: 60_000, interval: 1_000 }).toBe(true);
    await page.getByRole('button', { name: 'Lock', exact: true, disabled: true }).waitFor();
    await page.unroute('**');
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Lock', exact: true, disabled: false }).waitFor();
  });
});
