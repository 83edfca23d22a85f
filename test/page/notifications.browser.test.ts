/** Notifications of incidents: switch on the page, sending car, and service worker. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { PushService } from '../adapters/callbacks/push-service.ts';
import { Authority } from '../rig/certificates.ts';
import { describePeer } from '../rig/peers.ts';
import { type Browsed, browse, expectAccessible, VIN } from './browser.ts';
import { subscribeAt } from './push-device.ts';

const DEVICE = 'this-browser';
/** Long enough for a busy machine. */
const PATIENTLY = { timeout: 60_000, interval: 1_000 };
const SWITCH = 'Notifications on this device';

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly lang: string;
}

const shownIn = (page: Page): Promise<readonly Shown[]> =>
  page.evaluate(`navigator.serviceWorker.getRegistration().then(async (registration) =>
    (await registration.getNotifications()).map(({ title, body, lang }) => ({ title, body, lang })))`);

/** Delivers a push message as if the browser had received it. The session ends with the page. */
async function deliver(page: Page, data: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations.filter(({ isDeleted }) => !isDeleted);
      if (first !== undefined) resolve(first.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  await session.send('ServiceWorker.deliverPushMessage', { origin: new URL(page.url()).origin, registrationId, data });
}

/**
 * Delivers the message repeatedly, because the protocol may lose one while the worker starts. A repeated one replaces
 * its notification.
 */
async function shownAfter(page: Page, payload: string): Promise<readonly Shown[]> {
  await deliver(page, payload);
  return shownIn(page);
}

describePeer('chromium', 'the page receives notifications of incidents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-page-push-'));
  const authority = new Authority(folder);
  const before = process.env['NODE_EXTRA_CA_CERTS'];
  let browsed: Browsed;
  let service: PushService;

  beforeAll(async () => {
    const file = join(folder, 'authority.pem');
    writeFileSync(file, authority.cert);
    process.env['NODE_EXTRA_CA_CERTS'] = file;
    browsed = await browse('--scenario', 'parked');
    const { publicKey } = (await (await fetch(`${browsed.url}/vigie/v1/push-key`)).json()) as { publicKey: string };
    service = await new PushService(authority.issue('push'), publicKey).open();
    await browsed.context.addInitScript(subscribeAt(service.subscribe(DEVICE)));
    await browsed.context.grantPermissions(['notifications'], { origin: browsed.url });
  });
  afterEach(() => browsed.closePages());
  afterAll(async () => {
    await browsed?.close();
    await service?.close();
    if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
    else process.env['NODE_EXTRA_CA_CERTS'] = before;
    rmSync(folder, { recursive: true, force: true });
  });

  const devices = async (): Promise<readonly string[]> => {
    const answer = await fetch(`${browsed.url}/user/callbacks`);
    const { _embedded } = (await answer.json()) as {
      readonly _embedded: { readonly callbacks: readonly { readonly subscribe: object }[] };
    };
    return _embedded.callbacks.map(({ subscribe }) => JSON.stringify(subscribe));
  };

  test('notifications that a reader turned on show a collision in words, and a click opens it', async () => {
    const page = await browsed.open('#scenes');
    const toggle = page.getByRole('switch', { name: SWITCH });
    await toggle.click();
    await page.getByRole('switch', { name: SWITCH, checked: true }).waitFor();
    expect(await devices()).toEqual([expect.stringContaining(DEVICE)]);
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('switch', { name: SWITCH, checked: true }).waitFor();

    await page.getByRole('button', { name: 'Crash' }).click();
    const payload = await expect
      .poll(() => service.pushed.find((one) => one.payload.includes('obj.collision'))?.payload, PATIENTLY)
      .toBeDefined()
      .then(() => service.pushed.find((one) => one.payload.includes('obj.collision'))?.payload ?? '');
    expect(service.faults).toEqual([]);
    await expect
      .poll(() => shownAfter(page, payload), PATIENTLY)
      .toEqual([
        {
          title: expect.stringMatching(/^Collision: at the front/),
          body: expect.stringMatching(/^Vigie bench car, /),
          lang: 'en',
        },
      ]);

    await page.getByRole('combobox', { name: 'Names of values in' }).selectOption('Deutsch');
    await page.getByRole('switch', { name: 'Benachrichtigungen auf diesem Gerät', checked: true }).waitFor();
    await expect
      .poll(
        () =>
          page.evaluate("caches.match('/page/words').then((words) => words.json()).then(({ language }) => language)"),
        PATIENTLY,
      )
      .toBe('de');
    await expect
      .poll(() => shownAfter(page, payload), PATIENTLY)
      .toEqual([expect.objectContaining({ title: expect.stringMatching(/^Kollision: vorn/), lang: 'de' })]);

    const [worker] = browsed.context.serviceWorkers();
    // The test simulates only the click, because no protocol can press a notification.
    // A message that is delivered late shows a notification again, so the test watches the one that it clicks.
    const isClosed = await worker?.evaluate(`(async () => {
      const [notification] = await self.registration.getNotifications();
      let isClosed = false;
      notification.close = () => {
        isClosed = true;
        Notification.prototype.close.call(notification);
      };
      const event = new NotificationEvent('notificationclick', { notification });
      Object.defineProperty(event, 'waitUntil', { value: (work) => work.catch(() => undefined) });
      self.dispatchEvent(event);
      return isClosed;
    })()`);
    expect(isClosed).toBe(true);
    await page.waitForURL(new RegExp(`#incident/${VIN}/Collision/\\d+$`));
    const row = page.locator('.incidents li[aria-current]');
    await row.filter({ hasText: 'Kollision: vorn' }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.matches('.incidents li')"), PATIENTLY).toBe(true);
    await expectAccessible(page);
  });

  test('turning notifications off removes callback, subscription and worker', async () => {
    const page = await browsed.open();
    await page.getByRole('combobox', { name: /^Names of values/ }).selectOption('English');
    await page.getByRole('switch', { name: SWITCH, checked: true }).click();
    await page.getByRole('switch', { name: SWITCH, checked: false }).waitFor();
    expect(await devices()).toEqual([]);
    expect(await page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)')).toBe(0);
    expect(await page.evaluate("caches.has('vigie')")).toBe(false);
  });

  test('a device unknown to the push service is shown as off', async () => {
    const page = await browsed.open('#scenes');
    await page.getByRole('switch', { name: SWITCH }).click();
    await page.getByRole('switch', { name: SWITCH, checked: true }).waitFor();
    service.unsubscribe(DEVICE);
    await page.getByRole('button', { name: 'Crash' }).click();
    await expect.poll(devices, PATIENTLY).toEqual([]);
    await page.reload();
    await page.getByRole('switch', { name: SWITCH, checked: false }).waitFor();
  });

  test('a page that cannot receive notifications shows the reason', async () => {
    const page = await browsed.context.newPage();
    await page.addInitScript("Object.defineProperty(window, 'isSecureContext', { value: false })");
    await page.goto(browsed.url);
    await page.getByText('Browsers demand HTTPS for them.').waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await browsed.context.clearPermissions();
    const refused = await browsed.context.newPage();
    await refused.addInitScript("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })");
    await refused.goto(browsed.url);
    await refused.getByText('The browser refuses them for this page.').waitFor();
    expect(browsed.complaints).toEqual([]);
  });
});
