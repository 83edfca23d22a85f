import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { FleetPositions, HubValues } from '../../protocol/interface/own/hub-overview.ts';
import type { RolloutList } from '../../protocol/interface/own/rollouts.ts';
import type { HelloConfiguration } from '../../protocol/schema/hello.ts';
import { payloadOf } from '../hub/messages.ts';
import { vigie } from '../rig/bench.ts';
import { Observer } from '../rig/car.ts';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible } from './browser.ts';

const VINS = ['VF3VGEBENCH000001', 'VF3VGEBENCH000002', 'VF3VGEBENCH000003'] as const;
const [FIRST, SECOND, THIRD] = VINS;

describePeer('chromium', 'the page of a hub', () => {
  let browsed: Browsed;
  beforeAll(async () => {
    browsed = await browse('--cars', '3', '--scenario', 'parked');
    // A car sends its values soon after a viewer appears.
    for (const vin of VINS) while (!(await pathsOf(vin)).includes('lastPosition.latitude'));
  });
  afterEach(() => browsed.closePages());
  afterAll(() => browsed.close());

  /** Paths of the values that the hub has for a car. */
  async function pathsOf(vin: string): Promise<readonly string[]> {
    const answer = await fetch(`${browsed.url}/vigie/v1/vehicles/${vin}/values`);
    return ((await answer.json()) as HubValues).values.map(({ path }) => path);
  }

  /** Sends a command without the page. Resolves when the car has carried it out. */
  async function order(vin: string, body: object): Promise<void> {
    const remotes = `${browsed.url}/vigie/v1/vehicles/${vin}/remotes`;
    const headers = { 'content-type': 'application/json' };
    const given = await fetch(remotes, { method: 'POST', headers, body: JSON.stringify(body) });
    const { remoteActionId } = (await given.json()) as { remoteActionId: string };
    const status = async (): Promise<string> =>
      ((await (await fetch(`${remotes}/${remoteActionId}`)).json()) as { status: string }).status;
    await expect.poll(status, { timeout: 60_000 }).toMatch(/Success|AlreadyDone/);
  }

  test('the hub page shows all cars in table and map, the age of their data, and no missing number', async () => {
    const page = await browsed.open();
    await page.getByTestId('total').getByText('3 cars').waitFor();
    const rows = page.getByRole('grid', { name: 'Cars' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(3);
    await rows
      .filter({ hasText: FIRST })
      .filter({ hasText: /Stands|Stood|Charge/ })
      .filter({ hasText: '%' })
      .waitFor();
    await page.getByRole('img', { name: /^A map of 3 cars/ }).waitFor();
    await expect.poll(() => page.getByTestId('missing').textContent(), { timeout: 60_000 }).toBe('0');
    await expect.poll(() => page.title()).toBe('Vigie hub');
  });

  test('the map shows thousands of adjacent cars, and their outlines hide none of them', async () => {
    const page = await browsed.context.newPage();
    await page.emulateMedia({ colorScheme: 'dark' });
    const side = 80;
    await page.route('**/vigie/v1/positions*', (route) => {
      const at = Date.now();
      const positions = Array.from({ length: side * side }, (_, index) => {
        const [row, column] = [Math.floor(index / side), index % side];
        return [`VF3VGEMANY${String(index).padStart(7, '0')}`, 45 + row / side, 1 + column / side, at];
      });
      return route.fulfill({ json: { at, positions } });
    });
    await page.goto(browsed.url);
    await page.getByRole('img', { name: 'A map of 6,400 cars' }).waitFor();
    // The centre of the drawing, which is full of cars: the share with the colour of cars.
    const share = (): Promise<number> =>
      page.evaluate(`(() => {
        const canvas = document.querySelector('.fleet-map canvas');
        canvas.style.color = 'var(--live)';
        const live = getComputedStyle(canvas).color.match(/\\d+/g).map(Number);
        const [width, height] = [canvas.width >> 2, canvas.height >> 2];
        const { data } = canvas.getContext('2d').getImageData(canvas.width * 3 >> 3, canvas.height * 3 >> 3, width, height);
        let count = 0;
        for (let at = 0; at < data.length; at += 4) if (live.every((one, index) => data[at + index] === one)) count++;
        return count / (width * height);
      })()`);
    await expect.poll(share).toBeGreaterThan(0.9);
  });

  test('the table sorts by a click on a column header, searches while typing, and filters by age', async () => {
    const page = await browsed.open();
    const vins = page.locator('.cars tbody .mono');
    const head = page.getByRole('columnheader', { name: /^VIN/ });
    await head.getByRole('button').click();
    await expect.poll(() => vins.allTextContents()).toEqual([...VINS]);
    await expect.poll(() => head.getAttribute('aria-sort')).toBe('ascending');
    await head.getByRole('button').click();
    await expect.poll(() => vins.allTextContents()).toEqual(VINS.toReversed());
    await expect.poll(() => head.getAttribute('aria-sort')).toBe('descending');
    const search = page.getByRole('searchbox', { name: 'Search cars' });
    await search.pressSequentially('ch000002');
    await expect.poll(() => vins.allTextContents()).toEqual([SECOND]);
    await page.getByTestId('range').getByText('1 to 1 of 1').waitFor();
    await search.fill('no such car');
    await page.getByText('No car matches. Clear the search and the age to see all.').waitFor();
    await search.fill('');
    await expect.poll(() => vins.count()).toBe(3);
    await page.getByRole('button', { name: /longer ago/ }).click();
    await page.getByText('No car matches. Clear the search and the age to see all.').waitFor();
    await page.getByRole('button', { name: /longer ago/, pressed: true }).click();
    await expect.poll(() => vins.count()).toBe(3);
  });

  test('with the keyboard alone a car is found, opened and commanded, and the list of cars reopened', async () => {
    await order(SECOND, { door: { state: 'Unlocked' } });
    const page = await browsed.open();
    const rows = page.getByRole('grid', { name: 'Cars' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(3);
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('filter');
    await page.keyboard.type('000002');
    await expect.poll(() => rows.count()).toBe(1);
    // Past the map, the events and the column headers.
    const focused = (): Promise<string> => page.evaluate('document.activeElement.dataset.row ?? ""');
    for (let presses = 0; presses < 60 && (await focused()) !== SECOND; presses++) await page.keyboard.press('Tab');
    expect(await focused()).toBe(SECOND);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: SECOND }).waitFor();
    await page.getByRole('treeitem', { name: /^lockedStates/ }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    const lock = page.getByRole('region', { name: 'Doors' }).getByRole('button', { name: 'Lock', exact: true });
    await lock.focus();
    await page.keyboard.press('Enter');
    const newest = page.locator('.run').first();
    await newest.getByText('Done', { exact: true }).waitFor();
    expect(await newest.locator('.run-title').textContent()).toMatch(/^Doors: Lock through the hub/);
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('img', { name: /^The car from above\. Locked\./ }).waitFor();
    await page.getByRole('link', { name: 'All cars' }).focus();
    await page.keyboard.press('Enter');
    // The search is kept.
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByTestId('range').getByText('1 to 1 of 1').waitFor();
  });

  test('a change in a car appears in its view and among the events, without a reload', async () => {
    const page = await browsed.open(`#cars/${FIRST}/car`);
    const value = page.getByRole('treeitem', { name: /^lockedStates/ });
    await value.waitFor();
    const times: number[] = [];
    for (const [state, drawn] of [
      ['Locked', 'Locked'],
      ['Unlocked', 'Unlocked'],
      ['Locked', 'Locked'],
    ] as const) {
      await order(FIRST, { door: { state } });
      await value.getByText(state, { exact: true }).waitFor();
      const shown = Date.now();
      const answer = await fetch(`${browsed.url}/vigie/v1/vehicles/${FIRST}/values`);
      const { values } = (await answer.json()) as HubValues;
      times.push(shown - Date.parse(values.find(({ path }) => path === 'doorsState.lockedStates')?.at ?? ''));
      await page.getByRole('img', { name: new RegExp(`^The car from above\\. ${drawn}\\.`) }).waitFor();
    }
    console.info(`hub: ${times.sort((a, b) => a - b)[1]} ms (median of 3) from the change in the car to the page`);
    await page.getByTestId('heard').waitFor();
    await page.getByRole('link', { name: 'All cars' }).click();
    await page.getByRole('list', { name: 'Events' }).getByText(`${FIRST} Doors: done`).first().waitFor();
  });

  test('a command to all selected cars shows the progress of each', async () => {
    for (const vin of VINS) await order(vin, { door: { state: 'Unlocked' } });
    const page = await browsed.open();
    await page.getByText('Choose cars in the table: tick them, or press Space on a row.').waitFor();
    await page.getByRole('checkbox', { name: 'Choose all cars of this page' }).check();
    await page.getByTestId('chosen').getByText('3 cars chosen').waitFor();
    await page.getByRole('checkbox', { name: `Choose ${THIRD}` }).uncheck();
    await page.getByTestId('chosen').getByText('2 cars chosen').waitFor();
    const many = page.getByRole('region', { name: 'Command to many' });
    await many.getByRole('button', { name: 'Doors: Lock …' }).click();
    const question = page.getByRole('group', { name: 'Send “Doors: Lock” to 2 cars?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await many.getByRole('button', { name: 'Doors: Lock …' }).click();
    await question.getByRole('button', { name: 'Lock' }).click();
    for (const state of ['Accepted', 'SentToVehicle', 'Success']) {
      await expect.poll(() => page.getByTestId(`many ${state}`).textContent(), { timeout: 60_000 }).toBe('2');
    }
    // The third car is still unlocked: a command to all finds the other two locked already.
    await page.getByRole('checkbox', { name: `Choose ${THIRD}` }).check();
    await many.getByRole('button', { name: 'Doors: Lock …' }).click();
    await page
      .getByRole('group', { name: 'Send “Doors: Lock” to 3 cars?' })
      .getByRole('button', { name: 'Lock' })
      .click();
    await expect.poll(() => page.getByTestId('many AlreadyDone').textContent(), { timeout: 60_000 }).toBe('2');
    await expect.poll(() => page.getByTestId('many Success').textContent(), { timeout: 60_000 }).toBe('1');
    await page.getByRole('status').getByText('Doors: Lock, 3 cars: 3 done, 0 not done.').waitFor({ state: 'attached' });
  });

  test('a click on the map opens a car with the journey, commands and numbers of the hub', async () => {
    const page = await browsed.open();
    const map = page.getByRole('img', { name: /^A map of 3 cars/ });
    await map.waitFor();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    // The map shows all cars with a margin of 28 px: the northernmost car touches it.
    const { positions } = (await (await fetch(`${browsed.url}/vigie/v1/positions`)).json()) as FleetPositions;
    const [latitudes, longitudes] = [positions.map(([, at]) => at), positions.map(([, , at]) => at)];
    const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
    const { width, height } = (await map.boundingBox()) ?? { width: 0, height: 0 };
    const scale = ((height - 2 * 28) / (north - south)) * Math.cos((((south + north) / 2) * Math.PI) / 180);
    const [, , longitude = 0] = positions.find(([, at]) => at === north) ?? [];
    const middle = (Math.min(...longitudes) + Math.max(...longitudes)) / 2;
    await map.click({ position: { x: width / 2 + (longitude - middle) * scale, y: 28 } });
    await page.waitForURL(new RegExp(`#cars/${FIRST}/car$`));
    await page.getByRole('tab', { name: 'The journey' }).click();
    await page.getByRole('heading', { name: 'Time line' }).waitFor();
    await page.getByRole('tab', { name: 'The wire' }).click();
    await expect.poll(() => page.getByTestId('missing of the car').textContent(), { timeout: 60_000 }).toBe('0');
    await page
      .getByRole('row', { name: /status/ })
      .first()
      .waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Time line' }).waitFor();
    await page.goto(`${browsed.url}/#cars/VF3VGEBENCH000009/car`);
    await page
      .getByRole('alert')
      .getByText(/The hub does not show the car VF3VGEBENCH000009/)
      .waitFor();
  });

  test('the commands of a car stay those of that car while its address no longer names it', async () => {
    const page = await browsed.context.newPage();
    // Without a stream the page polls, and redraws before it notices that the address has changed.
    await page.route('**/live', (route) => route.abort());
    await page.addInitScript("addEventListener('hashchange', (event) => event.stopImmediatePropagation(), true)");
    await page.goto(`${browsed.url}/#cars/${FIRST}/commands`);
    await page.getByRole('region', { name: 'Doors' }).waitFor();
    await page.evaluate("location.hash = 'cars'");
    for (let asked = 0; asked < 4; asked++) {
      const request = await page.waitForRequest(/\/remotes$/);
      expect(new URL(request.url()).pathname).toBe(`/vigie/v1/vehicles/${FIRST}/remotes`);
    }
  });

  test('a page that loses the hub shows it, keeps its data, and reconnects automatically', async () => {
    const page = await browsed.open();
    await page.getByTestId('total').getByText('3 cars').waitFor();
    await page.route('**/vigie/v1/**', (route) => route.abort());
    await page
      .getByRole('alert')
      .getByText(/This page lost the hub/)
      .waitFor();
    expect(await page.getByTestId('total').textContent()).toBe('3 cars');
    await page.unroute('**/vigie/v1/**');
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('axe finds nothing on a hub with all cars or one, wide or on a phone, and the browser reports no error', async () => {
    const page = await browsed.open();
    await page.getByRole('checkbox', { name: `Choose ${FIRST}` }).check();
    await page.getByRole('button', { name: 'Doors: Lock …' }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    const { x = 390, width = 0 } = (await page.getByRole('columnheader', { name: /^Missing/ }).boundingBox()) ?? {};
    expect([x < 390, x + width <= 390]).toEqual([true, true]);
    await expectAccessible(page);
    for (const [view, heading] of [
      ['car', 'All values'],
      ['commands', 'Doors'],
      ['wire', 'Numbers'],
    ] as const) {
      await page.goto(`${browsed.url}/#cars/${FIRST}/${view}`);
      await page.getByRole('heading', { name: heading }).waitFor();
      await expectAccessible(page);
    }
    // These errors come from tests with an unknown car and without the hub.
    expect(browsed.complaints.filter((one) => !/404|ERR_FAILED/.test(one))).toEqual([]);
  });

  test('the table pages through many cars, and shows why a car refuses a command', async () => {
    const url = /mqtt:\/\/127\.0\.0\.1:\d+/.exec(browsed.bench.output)?.[0] ?? '';
    const client = await Observer.connect(url, 4);
    const vinOf = (index: number): string => `VF3VGEMANY${String(index).padStart(7, '0')}`;
    const tell = (index: number, kind: string, payload: Uint8Array): Promise<void> =>
      client.send(`vigie/1/${vinOf(index)}/up/${kind}`, Buffer.from(payload));
    for (let index = 0; index < 60; index++) {
      const kinetic = { createdAt: Date.now(), speed: 60 + index };
      await tell(index, 'status', payloadOf('status', { full: true, status: { kinetic } } as never));
    }
    const page = await browsed.open();
    await page.getByTestId('total').getByText('63 cars').waitFor();
    await page.getByRole('columnheader', { name: /^Now/ }).getByRole('button').click();
    const first = page.locator('.cars tbody tr').first();
    await first.getByText(/Dr\w+ 119 km\/h/).waitFor();
    await page.getByTestId('range').getByText('1 to 50 of 63').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await first.getByText(/Dr\w+ 69 km\/h/).waitFor();
    await page.getByTestId('range').getByText('51 to 63 of 63').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Previous' }).click();
    await first.getByText(/Dr\w+ 119 km\/h/).waitFor();

    await page.getByRole('checkbox', { name: `Choose ${vinOf(59)}` }).check();
    await page.getByRole('button', { name: 'Doors: Unlock …' }).click();
    await page
      .getByRole('group', { name: /to 1 car/ })
      .getByRole('button', { name: 'Unlock' })
      .click();
    const trail = async (): Promise<readonly { remoteActionId: string }[]> => {
      const answer = await fetch(`${browsed.url}/vigie/v1/vehicles/${vinOf(59)}/remotes`);
      return ((await answer.json()) as { remotes: { remoteActionId: string }[] }).remotes;
    };
    await expect.poll(async () => (await trail()).length, { timeout: 60_000 }).toBe(1);
    const { remoteActionId = '' } = (await trail())[0] ?? {};
    const refusal = { remoteActionId, type: 'Doors', status: 'Failed', failureCause: 'VehicleInUse' } as const;
    await tell(59, 'remote', payloadOf('remote', refusal));
    await expect.poll(() => page.getByTestId('many Failed').textContent(), { timeout: 60_000 }).toBe('1');
    await page.getByText('1 car: the car is in use').waitFor();
    await page.getByRole('button', { name: 'Try this car again' }).waitFor();
    await client.close();
  });

  test('a roll-out that cars refuse stops, shows which cars and why, and can be resumed and stopped', async () => {
    const vin = 'VF3VGEFLEET000001';
    const client = await Observer.connect(/mqtt:\/\/127\.0\.0\.1:\d+/.exec(browsed.bench.output)?.[0] ?? '', 4);
    const tell = (seq: number, configuration: HelloConfiguration): Promise<void> => {
      const car = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: Date.now(), behind: 5 };
      const payload = payloadOf('hello', { ...car, configuration }, { seq });
      return client.send(`vigie/1/${vin}/up/hello`, Buffer.from(payload));
    };
    await tell(0, { generation: 0, state: 'local' });
    const isKnown = async (): Promise<boolean> => (await fetch(`${browsed.url}/vigie/v1/vehicles/${vin}/numbers`)).ok;
    await expect.poll(isKnown, { timeout: 60_000 }).toBe(true);
    const file = join(browsed.data, 'fleet.yaml');
    const mqtt = 'mqtt: { url: mqtts://hub.example, ca: hub/ca.pem, cert: hub/car.pem, key: hub/car.pem }';
    writeFileSync(file, `configuration: 1\nprofile: bench\ncan: [{ bus: body, socketcan: can0 }]\n${mqtt}\n`);
    const page = await browsed.open();
    const panel = page.getByRole('region', { name: 'Roll-outs' });
    await panel.getByText('No roll-out yet.').waitFor();
    const hub = join(browsed.data, 'hub');
    const begun = await vigie('hub', 'rollout', file, '--fleet', 'local', '--first', '99', '--data', hub);
    expect(begun.status).toBe(0);
    const rollout = panel.getByRole('region', { name: 'fleet.yaml to local' });
    await rollout.getByText(/^Stopped because: \d cars? returned or refused it, such as /).waitFor();
    // Bench cars accept no configuration.
    await rollout.getByRole('button', { name: '3 refused it' }).click();
    await rollout
      .getByRole('listitem')
      .filter({ hasText: FIRST })
      .getByText(/^this car has no configuration file that could be replaced/)
      .waitFor();
    await rollout.getByRole('button', { name: 'Continue to all cars …' }).click();
    const question = rollout.getByRole('group', { name: '3 cars rolled back or refused it. Every car of the fleet' });
    await question.getByRole('button', { name: 'Continue' }).click();
    await rollout.getByRole('alert').getByText('no car has reported the configuration good yet').waitFor();
    const { rollouts } = (await (await fetch(`${browsed.url}/vigie/v1/rollouts`)).json()) as RolloutList;
    await tell(1, { generation: 1, state: 'applied', digest: rollouts[0]?.digest ?? '' });
    await rollout.getByRole('button', { name: '1 keeps it' }).waitFor();
    await rollout.getByRole('button', { name: 'Continue to all cars …' }).click();
    await question.getByRole('button', { name: 'Continue' }).click();
    await rollout.getByText('All cars', { exact: true }).waitFor();
    await expectAccessible(page);
    await rollout.getByRole('button', { name: 'Stop …' }).click();
    await rollout
      .getByRole('group', { name: /Stop the roll-out/ })
      .getByRole('button', { name: 'Stop' })
      .click();
    await rollout.getByText('Stopped because: stopped by local.').waitFor();
    await client.close();
  });
});
