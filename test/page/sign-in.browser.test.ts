import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onSqlite } from '../../hub/start/database.ts';
import { upTopic } from '../../protocol/topics.ts';
import { payloadOf } from '../hub/messages.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { Observer } from '../rig/car.ts';
import { MemoryLog } from '../rig/log.ts';
import { describePeer } from '../rig/peers.ts';
import { launchChromium } from './browser.ts';

const VIN = 'VF3VGESGNN0000001';

describePeer('chromium', 'the page of a hub with a registry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-sign-in-'));
  const data = join(folder, 'hub');
  let hub: VigieProcess;
  let context: BrowserContext;
  beforeAll(async () => {
    hub = new VigieProcess(['hub', '--data', data, '--port', '0', '--http', '0']);
    await hub.says('Ctrl-C ends');
    const client = await Observer.connect(/mqtt:\/\/127\.0\.0\.1:\d+/.exec(hub.output)?.[0] ?? '', 4);
    const kinetic = { createdAt: Date.now(), speed: 42 };
    const status = payloadOf('status', { full: true, status: { kinetic } } as never);
    // Without a registry, the hub knows a car from its first message on.
    await client.send(`vigie/1/${VIN}/up/status`, Buffer.from(status));
    await client.close();
    expect((await vigie('hub', 'add', VIN, '--fleet', 'north', '--new', '--data', data)).status).toBe(0);
    context = await launchChromium(join(folder, 'browser'));
  });
  afterAll(async () => {
    await context?.close();
    await hub.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  test('the hub page asks for a token, reports a wrong one, and shows the fleet’s cars with the right one', async () => {
    const { stdout } = await vigie('hub', 'token', '--fleet', 'north', '--data', data);
    const page = await context.newPage();
    await page.goto(/http:\/\/127\.0\.0\.1:\d+/.exec(hub.output)?.[0] ?? '');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const token = page.getByRole('textbox', { name: 'Token' });
    await token.fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The hub did not admit you. Check the token.').waitFor();
    await token.fill(stdout.trim());
    await page.getByRole('button', { name: 'Show the cars' }).click();
    await page.getByRole('row', { name: new RegExp(VIN) }).click();
    await page.getByRole('treeitem', { name: /^speed/ }).waitFor();
    await page.getByRole('tab', { name: 'The journey' }).click();
    await page.getByRole('heading', { name: 'Time line' }).waitFor();
    // The page keeps the token only until it is closed.
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('the page shows how many cars are not registered to a token that may read the state of the hub', async () => {
    // As a hub at the operator's own broker keeps messages of unregistered cars.
    const database = await onSqlite(join(data, 'hub.sqlite'), 100, new MemoryLog());
    const vins = Array.from({ length: 200 }, (_, number) => `VF3VGEVNRG0000${String(number).padStart(3, '0')}`);
    const sent = { kind: 'trip' as const, payload: Uint8Array.of(1), retained: false, received: Date.now() };
    await database.unregistered.keep(vins.map((vin) => ({ ...sent, vin, topic: upTopic(vin, 'trip') })));
    await database.close();
    const scopes = 'data:telemetry,hub:status:read';
    const { stdout } = await vigie('hub', 'token', '--fleet', 'north', '--scopes', scopes, '--data', data);
    const page = await context.newPage();
    await page.goto(/http:\/\/127\.0\.0\.1:\d+/.exec(hub.output)?.[0] ?? '');
    await page.getByRole('textbox', { name: 'Token' }).fill(stdout.trim());
    await page.getByRole('button', { name: 'Show the cars' }).click();
    await page.getByText('200 cars are not registered').waitFor();
  });
});
