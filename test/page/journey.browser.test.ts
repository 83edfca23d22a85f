import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../adapters/store/index.ts';
import type { StoredRecord } from '../../agent/ports.ts';
import type { Alert } from '../../protocol/schema/alert.ts';
import type { Collision } from '../../protocol/schema/collision.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import type { Trip } from '../../protocol/schema/trip.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { slotByPath } from '../../protocol/slots.ts';
import { MemoryLog } from '../rig/log.ts';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

const MINUTE = 60_000;
/** The trip with a track takes 20 minutes. After 10 minutes it has a gap, and after 5 minutes an alert begins. */
const BEGIN = Math.floor(Date.now() / 1000) * 1000 - 60 * MINUTE;
const POINTS = 21;

const points: readonly Waypoint[] = Array.from({ length: POINTS }, (_, minute) => ({
  at: BEGIN + minute * MINUTE,
  latitude: 48.85 + minute / 1_000,
  longitude: 2.29 + minute / 1_000,
  altitude: 35,
  speed: 40 + minute,
  type: 'Acquire',
  ...(minute === 10 ? { gap: true } : {}),
}));

const seen: Trip = {
  id: '1a',
  createdAt: BEGIN,
  startedAt: BEGIN,
  stoppedAt: BEGIN + 20 * MINUTE,
  done: true,
  distance: 12.5,
  duration: 1_200,
  energyConsumptions: [
    { type: 'Fuel', consumption: 31 },
    { type: 'Electric', consumption: 1_840 },
  ],
};
const hidden: Trip = {
  id: '1b',
  createdAt: BEGIN + 30 * MINUTE,
  startedAt: BEGIN + 30 * MINUTE,
  stoppedAt: BEGIN + 40 * MINUTE,
  done: true,
  distance: 4.2,
  faults: [{ fault: 'DataLacking', cause: 'GeoPrivacy' }],
};
const alert: Alert = {
  id: '2a',
  createdAt: BEGIN + 5 * MINUTE,
  startedAt: BEGIN + 5 * MINUTE,
  endAt: BEGIN + 7 * MINUTE,
  active: false,
  type: 'LeftFrontDoorOpen',
  severity: 'Information',
};
const collision: Collision = {
  id: '3a',
  createdAt: BEGIN + 15 * MINUTE,
  details: [{ side: 'Front', severity: 'Minor' }],
};

/** Writes the car's records of the last hour to its disk. */
async function record(data: string): Promise<void> {
  const store = await openStore(join(data, 'outbox'), { log: new MemoryLog() });
  const put = (collection: string, record: { readonly id: string; readonly createdAt: number }): void =>
    store.records.put(collection, { id: record.id, at: record.createdAt, record } as StoredRecord);
  put('trip', seen);
  put('trip', hidden);
  put('alert', alert);
  put('collision', collision);
  store.records.put('waypoint', { id: '4a', at: BEGIN, record: { points } });
  const speed = slotByPath.get('kinetic.speed');
  if (speed === undefined) throw new Error('Status has no kinetic.speed');
  for (const { at, speed: value = 0 } of points) {
    const telemetry = telemetryFromReadings([{ at, slot: speed, value }]);
    store.records.put('telemetry', { id: `5a${at.toString(16)}`, at, record: telemetry });
  }
  await store.outbox.commit();
  await store.close();
}

describePeer('chromium', 'the page shows the journey', () => {
  let browsed: Browsed;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-journey-'));
    await record(join(folder, 'bench'));
    browsed = await browse('--data', join(folder, 'bench'), '--scenario', 'parked');
  });
  afterEach(() => browsed.closePages());
  afterAll(async () => {
    await browsed.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const openSeenTrip = async (): Promise<Page> => {
    const page = await browsed.open('#journey');
    await page.getByRole('radio', { name: /12.50 km/ }).click();
    await page.getByRole('img', { name: /Track .* 21 points/ }).waitFor();
    return page;
  };
  const saved = async (page: Page, button: string): Promise<string> => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: button }).click(),
    ]);
    return readFileSync(await download.path(), 'utf8');
  };

  test('a trip shows distance, energies and its track, or that the driver hid the position', async () => {
    const page = await browsed.open('#journey');
    await page.getByText('The driver hid the position on this trip.').waitFor();
    expect(await page.getByRole('img', { name: /Track/ }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Save GPX' }).count()).toBe(0);
    const trip = page.locator('label', { hasText: '20 min, fuel 0.31 L, electric 1.84 kWh' });
    await trip.click();
    await page.getByRole('img', { name: /Track .* 21 points/ }).waitFor();
    await page
      .getByText('1 km', { exact: true })
      .or(page.getByText('500 m', { exact: true }))
      .waitFor();
  });

  test('the map of a trip zooms out to the country, and its buttons stop at the zoom limits', async () => {
    const page = await openSeenTrip();
    const [closer, wider] = [
      page.getByRole('button', { name: 'Zoom in' }),
      page.getByRole('button', { name: 'Zoom out' }),
    ];
    let steps = 0;
    for (; await wider.isEnabled(); steps++) await wider.click();
    expect(steps).toBeGreaterThan(4);
    await page.locator('.track-map').getByText('Paris', { exact: true }).waitFor();
    await page.getByText(/^[125]00 km$/).waitFor();
    for (; await closer.isEnabled(); steps--) await closer.click();
    expect(steps).toBe(-4);
  });

  test('the speed plot has a gap where nothing was read, and shows it as unknown', async () => {
    const page = await openSeenTrip();
    const timeline = page.getByRole('region', { name: 'Time line' });
    await timeline.getByText('no readings').waitFor();
    expect((await timeline.locator('path.curve').getAttribute('d'))?.match(/M/g)).toHaveLength(2);
    const moment = page.getByRole('slider', { name: 'Moment' });
    await moment.focus();
    await moment.press('Home');
    const speed = page.getByTestId('moment Speed');
    await speed.getByText('40.0 km/h').waitFor();
    for (let minute = 0; minute < 9; minute++) await moment.press('PageUp');
    await speed.getByText('49.0 km/h').waitFor();
    await moment.press('ArrowRight');
    await speed.getByText('unknown').waitFor();
    await moment.press('PageUp');
    await speed.getByText('50.0 km/h').waitFor();
  });

  test('with keys alone a trip is selected, the time line moved, and an event opened', async () => {
    const page = await browsed.open('#car');
    await page.getByRole('tab', { name: 'The journey' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    const newest = page.getByRole('radio', { name: /4.20 km/ });
    await newest.focus();
    await newest.press('ArrowDown');
    await page.getByRole('img', { name: /Track .* 21 points/ }).waitFor();
    const speed = page.getByTestId('moment Speed');
    const moment = page.getByRole('slider', { name: 'Moment' });
    // A trip is first shown at its start.
    await speed.getByText('40.0 km/h').waitFor();
    await moment.press('PageUp');
    await speed.getByText('41.0 km/h').waitFor();
    await moment.press('ArrowLeft');
    await speed.getByText('40.0 km/h').waitFor();
    await moment.press('End');
    await speed.getByText('60.0 km/h').waitFor();
    const event = page.getByRole('listitem').filter({ hasText: 'Front left door open' });
    expect(await event.textContent()).toMatch(/Alert, information, 2 min/);
    await event.getByRole('button').press('Enter');
    await speed.getByText('45.0 km/h').waitFor();
    await page.getByTestId('moment Position').getByText('48.85500, 2.29500').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Collision: at the front' }).waitFor();
  });

  test('the mouse scrubs the whole period, and in a gap the position is unknown', async () => {
    const page = await openSeenTrip();
    const moment = page.getByRole('slider', { name: 'Moment' });
    // The mouse reaches only elements on the screen.
    await moment.scrollIntoViewIfNeeded();
    const box = await moment.boundingBox();
    if (box === null) throw new Error('the time line is not shown');
    // 9.5 of 20 minutes: the route to the point of minute 10 is unknown.
    await page.mouse.click(box.x + 5 + (box.width - 10) * (9.5 / 20), box.y + box.height / 2);
    await page.getByTestId('moment Position').getByText('unknown').waitFor();
    await page.getByRole('button', { name: 'Whole period' }).press('Enter');
    await page.getByRole('img', { name: /^2 trips and \d+ events/ }).waitFor();
    await moment.press('Home');
    await page.getByTestId('moment Speed').getByText('unknown').waitFor();
  });

  test('GPX has the track with its gap and the events, CSV has every position and reading', async () => {
    const page = await openSeenTrip();
    const gpx = await saved(page, 'Save GPX');
    const read = await page.evaluate(`(() => {
      const document = new DOMParser().parseFromString(${JSON.stringify(gpx)}, 'application/xml');
      const all = (name) => [...document.getElementsByTagName(name)];
      return {
        broken: all('parsererror').length,
        segments: all('trkseg').map((segment) => segment.getElementsByTagName('trkpt').length),
        first: ['lat', 'lon'].map((name) => all('trkpt')[0].getAttribute(name)),
        time: all('trkpt')[0].getElementsByTagName('time')[0].textContent,
        events: all('wpt').map((point) => point.getElementsByTagName('name')[0].textContent),
      };
    })()`);
    expect(read).toEqual({
      broken: 0,
      segments: [10, 11],
      first: ['48.8500000', '2.2900000'],
      time: new Date(BEGIN).toISOString(),
      events: ['Front left door open', 'Collision: at the front, moderate, belts tightened'],
    });
    const rows = (await saved(page, 'Save CSV of this trip')).trimEnd().split('\r\n');
    expect(rows.length).toBe(1 + 2 * POINTS);
    expect(rows[1]).toBe(`${new Date(BEGIN).toISOString()},48.85,2.29,35,,40,,`);
    const trips = (await saved(page, 'Save CSV of all trips')).trimEnd().split('\r\n');
    expect(trips[1]).toMatch(/^1a,.*,12.5,,,1.84,0.31,$/);
    expect(trips[2]).toMatch(/DataLacking GeoPrivacy$/);
  });

  test('axe finds nothing on the journey, also on a phone, and the browser reports no error', async () => {
    const page = await openSeenTrip();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(browsed.complaints).toEqual([]);
  });
});
