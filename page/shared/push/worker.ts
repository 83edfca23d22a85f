/** Service worker: shows push messages as notifications, and opens the page at their incident. Sends no requests. */
import { notificationOf, type PushPayload } from './notification.ts';
import { readWords } from './stored-words.ts';

interface WorkerEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface PushMessage extends WorkerEvent {
  readonly data: { json(): unknown } | null;
}

interface NotificationClick extends WorkerEvent {
  readonly notification: Notification;
}

interface WindowClient {
  readonly url: string;
  postMessage(message: OpenMessage): void;
  focus(): Promise<unknown>;
}

/** Message to an open page: the incident to show. */
export interface OpenMessage {
  readonly open: string;
}

/** Fields of ServiceWorkerGlobalScope that are used here. The page is compiled with the types of windows. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: true }): Promise<readonly WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'push', listener: (event: PushMessage) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: NotificationClick) => void): void;
}

const scope = self as unknown as WorkerScope;

scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()));

// Browsers end a subscription whose messages show no notification.
scope.addEventListener('push', (event) => event.waitUntil(show(event.data?.json() as PushPayload)));

async function show(payload: PushPayload): Promise<void> {
  const { title, options } = notificationOf(payload, await readWords());
  await scope.registration.showNotification(title, options);
}

scope.addEventListener('notificationclick', (event) => {
  const { notification } = event;
  notification.close();
  event.waitUntil(open((notification.data as { readonly address: string }).address));
});

async function open(address: string): Promise<void> {
  const pages = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = pages.find(({ url }) => new URL(url).pathname === '/');
  if (page === undefined) {
    await scope.clients.openWindow(`/${address}`);
    return;
  }
  page.postMessage({ open: address });
  await page.focus();
}
