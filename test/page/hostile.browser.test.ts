/**
 * Names from cars, profiles and addresses may contain anything: each view shows them as text and stays as wide as its
 * screen.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Body, BodyKind } from '../../protocol/schema/message.ts';
import { payloadOf } from '../hub/messages.ts';
import { Observer } from '../rig/car.ts';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse } from './browser.ts';

const CAR = 'VF3VGEHVB00000001';
const WIDTHS = [390, 768, 1440];
/** Sets the title of the page if it is read as HTML, reverses the text direction, and has no break opportunity. */
const HOSTILE = `<img src=x onerror="document.title=1">\u202eturned\u{1f697}`;
const LONG = `${HOSTILE}${'W'.repeat(3_000)}`;

/** Checks at three widths that each view is as wide as its screen, and that no text was read as HTML. */
async function expectFits(page: Page, views: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  for (const [view, shown] of Object.entries(views)) {
    await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
    await shown();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const measured = (): Promise<unknown> =>
        page.evaluate(`({
          width: document.documentElement.scrollWidth,
          outside: [...document.querySelectorAll('header *, main *')]
            .filter((one) => one.closest('.scroll, .sideways, .tabs, svg, .hidden, .what, .path, .shown') === null)
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
            .map((one) => one.outerHTML.slice(0, 90)),
        })`);
      // Drawings measure their width after a resize of the window.
      await expect.poll(measured, { message: view.slice(0, 40), timeout: 20_000 }).toEqual({ width, outside: [] });
    }
  }
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.title()).not.toBe('1');
}

describePeer('chromium', 'the page of a hostile fleet', () => {
  let browsed: Browsed;
  let car: Observer;
  let seq = 0;

  beforeAll(async () => {
    browsed = await browse('--cars', '1', '--scenario', 'parked');
    car = await Observer.connect(/mqtt:\/\/127\.0\.0\.1:\d+/.exec(browsed.bench.output)?.[0] ?? '', 4);
    const now = Date.now();
    await tell('status', { full: true, status: { kinetic: { createdAt: now, speed: 50 } } } as never);
    while (!(await fetch(`${browsed.url}/vigie/v1/vehicles/${CAR}/car`)).ok);
  });
  afterEach(() => browsed.closePages());
  afterAll(async () => {
    await car.close();
    await browsed.close();
  });

  function tell<K extends BodyKind>(kind: K, body: Body<K>): Promise<void> {
    return car.send(`vigie/1/${CAR}/up/${kind}`, Buffer.from(payloadOf(kind, body, { seq: seq++, at: Date.now() })));
  }

  function faultAt(id: string, at: number): Body<'fault'> {
    const record = { id, createdAt: at, firstSeenAt: at, lastSeenAt: at, active: true };
    return { ...record, code: 'P0143', unit: '7E8', group: 'Powertrain', status: ['Stored'], text: HOSTILE };
  }

  test('an address with a VIN of 3,000 characters makes the page no wider than the screen', async () => {
    const page = await browsed.open();
    await expectFits(page, {
      [`cars/${'W'.repeat(3_000)}/car`]: () => page.getByText(/The hub does not show the car/).waitFor(),
    });
  });

  test('texts from cars and refusals stay text and fit every view of a hub', async () => {
    const now = Date.now();
    await tell('fault', faultAt('a1', now - 1_000));
    await tell('event', { id: 'a2', monitorId: 'W'.repeat(64), at: now, refresh: false });
    const page = await browsed.context.newPage();
    const states = [
      { status: 'Accepted', at: new Date(now).toISOString() },
      { status: 'Failed', at: new Date(now).toISOString(), failureCause: LONG, detail: LONG },
    ];
    const remote = { remoteActionId: LONG, type: 'Doors', status: 'Failed', failureCause: LONG, states };
    await page.route('**/remotes', (route) => route.fulfill({ json: { remotes: [remote] } }));
    const cars = { waiting: 0, sent: 0, accepted: 0, trial: 0, applied: 0, returned: 0, refused: 2 };
    const rollout = {
      id: '1',
      name: LONG,
      fleet: LONG,
      stage: 'stopped',
      reason: LONG,
      states: cars,
      requestedBy: LONG,
    };
    await page.route('**/rollouts', (route) =>
      route.fulfill({ json: { rollouts: [{ ...rollout, requestedAt: now }] } }),
    );
    await page.goto(browsed.url);
    await expectFits(page, {
      cars: async () => {
        await page
          .getByRole('list', { name: 'Events' })
          .getByText(/monitor W+/)
          .waitFor();
        await page
          .getByRole('region', { name: 'Roll-outs' })
          .getByText(/Stopped because/)
          .waitFor();
      },
      [`cars/${CAR}/car`]: () => page.getByRole('treeitem', { name: /^speed/ }).waitFor(),
      [`cars/${CAR}/journey`]: () => page.getByRole('list', { name: 'Events' }).getByText('P0143').waitFor(),
      [`cars/${CAR}/commands`]: () => page.locator('.run .bad').waitFor(),
      [`cars/${CAR}/wire`]: () => page.getByRole('heading', { name: 'Numbers' }).waitFor(),
    });
  });

  test('a car with dates beyond any calendar still shows its journey', async () => {
    await tell('fault', faultAt('b1', Date.now() - 1_000));
    for (const [index, at] of [7.9e15, -7.9e15, 0, -1].entries()) {
      await tell('fault', faultAt(`c${index}`, at));
      await tell('trip', { id: `d${index}`, createdAt: at, startedAt: at, stoppedAt: at, done: true, distance: 1e6 });
    }
    // No Date reaches 9 × 10^15. The codec refuses to write that, so the bytes of the message's time are changed.
    const [written, beyond] = [7.9e15, 9e15].map((at) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64BE(BigInt(at));
      return bytes;
    }) as [Buffer, Buffer];
    const payload = Buffer.from(payloadOf('fault', faultAt('e1', 7.9e15), { seq: seq++, at: 7.9e15 }));
    const place = payload.indexOf(written);
    expect(place).toBeGreaterThan(0);
    beyond.copy(payload, place);
    await car.send(`vigie/1/${CAR}/up/fault`, payload);
    const page = await browsed.open(`#cars/${CAR}/journey`);
    await page.getByRole('button', { name: 'Whole period' }).click();
    await page.getByRole('list', { name: 'Events' }).getByText('P0143').first().waitFor();
    await page.goto(browsed.url);
    await page.getByRole('list', { name: 'Events' }).getByText(/P0143/).first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(browsed.bench.output).not.toContain('http.failed');
  });
});
