/** Notifications on this device: a push subscription of the browser, which is a callback of the interface. */
import type { PushKey } from '../../../protocol/interface/own/car-description.ts';
import type { pushObstacleWords } from '../../../protocol/words/page.ts';
import { ask, askJson, hasScope, isFleetSignIn, post, Refused } from '../connection.ts';
import { type Collection, itemsOf, newestOf } from '../records.ts';
import { codeInWords, wordsNow } from '../words.ts';
import { callbackOfDevice, monitorOfIncidents } from './monitor.ts';
import { forgetWords, storeWords } from './stored-words.ts';

/** Largest number of cars for which one switch turns notifications on. Each car has its own monitor. */
const MAX_CARS = 50;
const WORKER = '/worker.js';

/** Keys of the phrases that say why a device cannot receive notifications. */
type Obstacle = keyof typeof pushObstacleWords;

export type PushState =
  | { readonly obstacle: Obstacle }
  /** `on`: number of cars from which this device receives incidents; `of`: number of cars on the page. */
  | { readonly on: number; readonly of: number };

interface UserCar {
  readonly id: string;
  readonly vin: string;
}

interface CallbackJson {
  readonly id: string;
  readonly subscribe: { readonly callback: { readonly pushnotif?: { readonly devices: readonly string[] } } };
}

/** The car of the open page, and its name. Without `vin`, all cars that the reader may see. */
export interface PushCars {
  readonly vin?: string | undefined;
  readonly title?: string | undefined;
}

/** Returns the state for these cars. Reads everything from the server, because others may have removed the callback. */
export async function readPush(cars: PushCars): Promise<PushState> {
  const obstacle = obstacleHere();
  if (obstacle !== undefined) return { obstacle };
  const key = await readKey();
  if (key === undefined) return { obstacle: 'keyless' };
  const listed = await listCars(cars);
  if (listed.length > MAX_CARS) return { obstacle: 'tooMany' };
  const subscription = await currentSubscription(key);
  const callback = subscription === undefined ? undefined : await findCallback(subscription);
  if (callback === undefined) return { on: 0, of: listed.length };
  const watched = await Promise.all(listed.map(async (car) => (await monitorsOf(callback, car)).length > 0));
  return { on: watched.filter(Boolean).length, of: listed.length };
}

/** Turns notifications on. Call on a click: the browser asks for permission. Rejects if browser or server refuses. */
export async function turnOn(cars: PushCars): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') return;
  const key = await readKey();
  if (key === undefined) return;
  await navigator.serviceWorker.register(WORKER);
  const { pushManager } = await navigator.serviceWorker.ready;
  let subscription = await currentSubscription(key);
  if (subscription === undefined) {
    // The server cannot send to a subscription that was made with another key.
    const other = await pushManager.getSubscription();
    if (other !== null) await removeWithCallback(other);
    subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) });
  }
  await storeWords(wordsNow());
  const known = await findCallback(subscription);
  try {
    const label = codeInWords('page', 'push');
    const { callbackId } =
      known === undefined
        ? await post<{ readonly callbackId: string }>('/user/callbacks', callbackOfDevice(label, subscription))
        : { callbackId: known };
    for (const car of await listCars(cars)) {
      if ((await monitorsOf(callbackId, car)).length > 0) continue;
      const monitor = monitorOfIncidents(codeInWords('page', 'incident'), cars.title ?? car.vin, hasScope);
      await post(pathOfMonitors(callbackId, car), monitor);
    }
  } catch (error) {
    if (known === undefined) await endSubscription(subscription);
    throw error;
  }
}

/** Turns notifications off. For the last car, also removes the callback and the subscription. */
export async function turnOff({ vin }: PushCars): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration('/');
  const subscription = await registration?.pushManager.getSubscription();
  if (!subscription) return;
  const callback = await findCallback(subscription);
  if (callback !== undefined && vin !== undefined) {
    const all = await listCars({});
    for (const car of all.filter((one) => one.vin === vin)) {
      for (const monitor of await monitorsOf(callback, car)) {
        await remove(`${pathOfMonitors(callback, car)}/${monitor}`);
      }
    }
    for (const car of all) if ((await monitorsOf(callback, car)).length > 0) return;
  }
  await endSubscription(subscription);
}

/** Removes the callback first: otherwise it would exist without its device until the next message. */
async function removeWithCallback(subscription: PushSubscription): Promise<void> {
  const callback = await findCallback(subscription);
  if (callback !== undefined) await remove(`/user/callbacks/${callback}`);
  await subscription.unsubscribe();
}

async function endSubscription(subscription: PushSubscription): Promise<void> {
  await removeWithCallback(subscription);
  await (await navigator.serviceWorker.getRegistration('/'))?.unregister();
  await forgetWords();
}

/** Changes the language of notifications to that of the page, if this device receives notifications. */
export async function updateWords(): Promise<void> {
  if (obstacleOfBrowser() !== undefined) return;
  if ((await navigator.serviceWorker.getRegistration('/')) !== undefined) await storeWords(wordsNow());
}

function obstacleOfBrowser(): Obstacle | undefined {
  if (!isSecureContext) return 'insecure';
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window
    ? undefined
    : 'unsupported';
}

function obstacleHere(): Obstacle | undefined {
  const obstacle = obstacleOfBrowser();
  if (obstacle !== undefined) return obstacle;
  if (Notification.permission === 'denied') return 'denied';
  // The fleet side of the interface has no push channel.
  if (isFleetSignIn()) return 'fleetSignIn';
  return monitorOfIncidents('', '', hasScope) === undefined ? 'scopes' : undefined;
}

async function readKey(): Promise<string | undefined> {
  return (await askJson<PushKey>('/vigie/v1/push-key')).publicKey;
}

/** Returns the subscription of this browser if it was made with this key. */
async function currentSubscription(key: string): Promise<PushSubscription | undefined> {
  const registration = await navigator.serviceWorker.getRegistration('/');
  const subscription = await registration?.pushManager.getSubscription();
  const used = subscription?.options.applicationServerKey;
  return subscription && used && base64urlOf(new Uint8Array(used)) === key ? subscription : undefined;
}

async function findCallback({ endpoint }: PushSubscription): Promise<string | undefined> {
  const { items: callbacks } = await newestOf<CallbackJson>('/user/callbacks?types=Monitor&pageSize=60');
  const isDevice = (text: string): boolean => (JSON.parse(text) as PushSubscriptionJSON).endpoint === endpoint;
  return callbacks.find(({ subscribe }) => subscribe.callback.pushnotif?.devices.some(isDevice))?.id;
}

async function listCars({ vin }: PushCars): Promise<readonly UserCar[]> {
  const search = vin === undefined ? '' : `&vinPrefix=${encodeURIComponent(vin)}`;
  const cars = itemsOf<UserCar>(await askJson<Collection>(`/user/vehicles?pageSize=${MAX_CARS + 1}${search}`));
  return vin === undefined ? cars : cars.filter((one) => one.vin === vin);
}

async function monitorsOf(callback: string, car: UserCar): Promise<readonly string[]> {
  const monitors = await askJson<Collection>(pathOfMonitors(callback, car));
  return itemsOf<{ readonly monitorId: string }>(monitors).map(({ monitorId }) => monitorId);
}

function pathOfMonitors(callback: string, { id }: UserCar): string {
  return `/user/vehicles/${id}/callbacks/${callback}/monitors`;
}

async function remove(path: string): Promise<void> {
  try {
    await ask(path, { method: 'DELETE' });
  } catch (error) {
    // 404: others have removed the monitor or callback.
    if (!(error instanceof Refused) || error.status !== 404) throw error;
  }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function base64urlOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
