/** Sign-in to the page of a hub at a real OpenID Connect provider. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { CLIENT, IdentityProvider } from '../rig/identity-provider.ts';
import { describePeer } from '../rig/peers.ts';
import { expectAccessible, launchChromium, VIN } from './browser.ts';

const OTHER = 'VF3VGEBENCH000002';

describePeer('chromium', 'people sign in to the page of a hub at their identity provider', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-provider-'));
  let provider: IdentityProvider;
  let hub: VigieProcess;
  let context: BrowserContext;
  let url: string;
  beforeAll(async () => {
    provider = await IdentityProvider.start();
    writeFileSync(join(folder, 'secret'), CLIENT.secret, { mode: 0o600 });
    const signIn = { issuer: provider.url, clientId: CLIENT.id, clientSecretFile: 'secret' };
    // JSON is valid YAML.
    writeFileSync(join(folder, 'hub.yaml'), JSON.stringify({ hub: 1, data: './hub', signIn }));
    const file = ['-c', join(folder, 'hub.yaml')];
    for (const [vin, fleet] of [
      [VIN, 'north'],
      [OTHER, 'south'],
    ] as const) {
      expect((await vigie('hub', 'add', vin, '--fleet', fleet, '--new', ...file)).status).toBe(0);
    }
    hub = new VigieProcess(['hub', ...file, '--port', '0', '--http', '0', '--log', 'info']);
    await hub.says('Ctrl-C ends');
    url = /The page: (http:\/\/127\.0\.0\.1:\d+)/.exec(hub.output)?.[1] ?? '';
    provider.register(url);
    context = await launchChromium(join(folder, 'browser'));
  });
  afterAll(async () => {
    await context?.close();
    await hub?.end('SIGTERM');
    await provider?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a member of a fleet’s group signs in by one link and sees its cars, until the page is closed', async () => {
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Sign in' }).press('Enter');
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    expect(page.url()).toBe(`${url}/`);
    await hub.says('"hub.signedIn"');
    expect(hub.output).toMatch(/"name":"anna@example.org","fleets":\["north"\]/);
    // The browser keeps nothing for its next user.
    expect((await context.cookies(url)).filter(({ name }) => name.startsWith('vigie'))).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a person in no fleet group is refused with the reason', async () => {
    provider.groups = ['a group of another program'];
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .getByText(
        /names no fleet of this hub for anna@example.org \(claim groups\), and no car belongs to the user anna/,
      )
      .waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a person in no fleet group with a car of their own signs in as its user and sees no fleet', async () => {
    provider.groups = [];
    const owned = await vigie('hub', 'add', OTHER, '--user', 'anna', '-c', join(folder, 'hub.yaml'));
    expect(owned.status).toBe(0);
    const page = await context.newPage();
    await page.goto(url);
    const handing = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('link', { name: 'Sign in' }).click();
    const { token } = (await (await handing).json()) as { readonly token: string };
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Roll-outs' }).count()).toBe(0);
    const status = async (path: string): Promise<number> =>
      (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await Promise.all(['/user/vehicles', '/fleets/south/vehicles'].map(status))).toEqual([200, 403]);
    await hub.says('"name":"anna@example.org","user":"anna"');
  });

  test('an unrequested sign-in response is refused', async () => {
    const page = await context.newPage();
    await page.goto(`${url}/vigie/v1/signed-in?code=stolen&state=made-up`);
    await page
      .getByRole('alert')
      .getByText(/this sign-in took too long, or began in another browser/)
      .waitFor();
  });
});
