/** New data of a car at a hub reaches its page: by a stream, or by polling if the stream breaks. */
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { packFrames } from '../../protocol/captures/capture.ts';
import { portableDeflate } from '../../protocol/columns/deflate.ts';
import type { Body, BodyKind } from '../../protocol/schema/message.ts';
import { payloadOf, trip } from '../hub/messages.ts';
import { twoFrames } from '../protocol/real-columns.ts';
import { Observer } from '../rig/car.ts';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

const VIN = 'VF3VGEHVB00000001';

/** Names from a car are text, never HTML. */
const HOSTILE = '<img src="x" onerror="document.title=1"> O2 sensor';

describePeer('chromium', 'a car on the page of a hub', () => {
  let browsed: Browsed;
  let car: Observer;
  const seqs = new Map<string, number>();

  beforeAll(async () => {
    browsed = await browse('--cars', '1', '--scenario', 'parked');
    car = await Observer.connect(/mqtt:\/\/127\.0\.0\.1:\d+/.exec(browsed.bench.output)?.[0] ?? '', 4);
    await tellSpeed(50);
    // The hub answers once it has stored the message.
    while (!(await fetch(`${browsed.url}/vigie/v1/vehicles/${VIN}/car`)).ok);
  });
  afterEach(() => browsed.closePages());
  afterAll(async () => {
    await car.close();
    await browsed.close();
  });

  /** Publishes the message as the car. */
  function tell<K extends BodyKind>(kind: K, body: Body<K>): Promise<void> {
    const seq = seqs.get(kind) ?? 0;
    seqs.set(kind, seq + 1);
    return car.send(`vigie/1/${VIN}/up/${kind}`, Buffer.from(payloadOf(kind, body, { seq, at: Date.now() })));
  }

  function tellSpeed(speed: number): Promise<void> {
    return tell('status', { full: true, status: { kinetic: { createdAt: Date.now(), speed } } } as never);
  }

  test('the journey of a car has its fault codes and captures, and saves the frames', async () => {
    const at = Date.now() - 60_000;
    await tell('fault', {
      id: '2a',
      createdAt: at,
      active: true,
      code: 'P0143',
      unit: '7E8',
      group: 'Powertrain',
      status: ['Stored'],
      firstSeenAt: at,
      lastSeenAt: at,
      text: HOSTILE,
    });
    await tell('capture', {
      id: '3a',
      part: 0,
      last: true,
      cause: 'collision',
      of: '4a',
      at,
      from: at - 1_000,
      to: at + 1_000,
      buses: ['body', 'chassis'],
      ...packFrames(twoFrames, at, portableDeflate),
    });
    const page = await browsed.open(`#cars/${VIN}/journey`);
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByText(`P0143: ${HOSTILE} (control unit 7E8)`).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    await events.getByText('Captured 2 frames around a collision').waitFor();
    await expectAccessible(page);
    const saving = page.waitForEvent('download');
    await events.getByRole('button', { name: 'Save frames' }).click();
    const download = await saving;
    expect(download.suggestedFilename()).toBe('capture-3a.log');
    expect(await readFile(await download.path(), 'utf8')).toMatch(/^\(\d+\.\d+\) /);
  });

  test('on the narrowest phone no hub view is wider than the screen, and a link leads back to all cars', async () => {
    const page = await browsed.open();
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole('grid', { name: 'Cars' }).waitFor();
    const width = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth');
    expect(await width()).toBe(320);
    for (const [view, heading] of [
      ['car', 'All values'],
      ['journey', 'Time line'],
      ['commands', 'Doors'],
      ['wire', 'Numbers'],
    ] as const) {
      await page.goto(`${browsed.url}/#cars/${VIN}/${view}`);
      await page.getByRole('heading', { name: heading }).waitFor();
      // The longest time since the last message.
      await page.evaluate("document.querySelector('[data-testid=heard] b').textContent = '23 h 59 min ago'");
      expect([view, await width()]).toEqual([view, 320]);
    }
    await page.getByRole('link', { name: 'All cars' }).click();
    await page.getByRole('grid', { name: 'Cars' }).waitFor();
  });

  test('changes and events arrive by the stream, without requests', async () => {
    const page = await browsed.open(`#cars/${VIN}/car`);
    const speed = page.getByTestId('speed');
    await speed.getByText('50.0', { exact: true }).waitFor();
    // From here on no request for values is answered.
    await page.route('**/values', () => undefined);
    const times: number[] = [];
    for (const value of [51, 52, 53, 54, 55]) {
      const told = Date.now();
      await tellSpeed(value);
      await speed.getByText(`${value}.0`, { exact: true }).waitFor();
      times.push(Date.now() - told);
    }
    console.info(`hub: ${times.sort((a, b) => a - b)[2]} ms (median of 5) from the message of a car to the page`);
    await page.getByTestId('heard').getByText('now').waitFor();
  });

  test('without the stream the page polls, without a message to the reader', async () => {
    const page = await browsed.context.newPage();
    await page.route('**/live', (route) => route.abort());
    await page.goto(`${browsed.url}/#cars/${VIN}/car`);
    const speed = page.getByTestId('speed');
    for (const value of [61, 62]) {
      await tellSpeed(value);
      await speed.getByText(`${value}.0`, { exact: true }).waitFor();
    }
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    const streaming = page.waitForResponse(/\/live$/);
    await page.unroute('**/live');
    await streaming;
    await tellSpeed(63);
    await speed.getByText('63.0', { exact: true }).waitFor();
  });

  test('a new event soon appears in the list of all cars and in the journey of its car', async () => {
    const fleet = await browsed.open();
    const journey = await browsed.open(`#cars/${VIN}/journey`);
    await journey.getByRole('heading', { name: 'Time line' }).waitFor();
    const times: number[] = [];
    for (const index of [1, 2, 3]) {
      const told = Date.now();
      const record = { id: `b${index}`, createdAt: told, firstSeenAt: told, lastSeenAt: told, active: true };
      await tell('fault', { ...record, code: `P010${index}`, unit: '7E8', group: 'Powertrain', status: ['Stored'] });
      await fleet.getByText(`${VIN} reports the fault P010${index}`).waitFor();
      await journey.getByText(`P010${index} (control unit 7E8)`).waitFor();
      times.push(Date.now() - told);
    }
    console.info(`hub: ${times.sort((a, b) => a - b)[1]} ms (median of 3) from an event of a car to its journey`);
  });

  test('the class of a trip that a person chooses is kept at the hub, and in the file of trips', async () => {
    const times = { createdAt: Date.now(), startedAt: Date.now() - 90_000, stoppedAt: Date.now() - 60_000 };
    await tell('trip', trip('0123456789abcdef01234567', { ...times, done: true, distance: 7 }));
    const page = await browsed.open(`#cars/${VIN}/journey`);
    const choice = page.getByRole('combobox', { name: 'Class of the trip' });
    expect(await choice.inputValue()).toBe('none');
    const kept = page.waitForResponse(/trip-classes\/0123456789abcdef01234567\?class=commute$/);
    await choice.selectOption('Commute');
    expect((await kept).status()).toBe(200);
    await page.reload();
    await expect.poll(() => choice.inputValue(), { timeout: 60_000 }).toBe('commute');
    await expectAccessible(page);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save CSV of all trips' }).click();
    expect(await readFile(await (await saving).path(), 'utf8')).toContain('0123456789abcdef01234567,commute,');
  });
});
