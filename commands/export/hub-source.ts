/** Messages that a hub has stored, over HTTP. */
import { setTimeout as pause } from 'node:timers/promises';
import { factOf, VigieError } from '../../protocol/errors.ts';
import type { ExportContent, MessagePage, PageEntry } from '../../protocol/interface/own/message-pages.ts';
import type { TripClass, TripClassesPage } from '../../protocol/interface/own/trip-classes.ts';
import { type HubAccess, type HubInterface, hubInterfaceOf } from '../hub-interface.ts';
import type { ExportSource } from './local-sources.ts';
import type { ExportPeriod } from './readings.ts';
import { isoTime } from './table.ts';

/** Number of attempts for a page while the hub is away or busy, and the time between them in ms. */
const ATTEMPTS = 6;
const RETRY_DELAY_MS = 2_000;

/** Longest time in ms to wait for a page. */
const PAGE_TIMEOUT_MS = 60_000;

export function hubSource(vin: string, access: HubAccess, { from, to }: ExportPeriod): ExportSource {
  const hub = hubInterfaceOf(access, { timeout: PAGE_TIMEOUT_MS });
  const base = access.url.endsWith('/') ? access.url : `${access.url}/`;
  const car = new URL(`vigie/v1/vehicles/${vin}/`, base);
  const address = new URL('messages', car);
  async function* entries(content: ExportContent): AsyncGenerator<PageEntry> {
    address.searchParams.set('content', content);
    if (Number.isFinite(from)) address.searchParams.set('from', isoTime(from));
    if (Number.isFinite(to)) address.searchParams.set('to', isoTime(to));
    for (;;) {
      const page = await readPage<MessagePage>(hub, address);
      yield* page.entries;
      if (page.next === undefined) return;
      address.searchParams.set('after', page.next);
    }
  }
  async function tripClasses(): Promise<ReadonlyMap<string, TripClass>> {
    const classes = new Map<string, TripClass>();
    const asked = new URL('trip-classes', car);
    for (;;) {
      const { trips, more } = await readPage<TripClassesPage>(hub, asked);
      for (const trip of trips) classes.set(trip.id, trip.class);
      const last = trips.at(-1);
      if (!more || last === undefined) return classes;
      asked.searchParams.set('after', last.id);
    }
  }
  return { name: address.origin, entries, tripClasses };
}

async function readPage<T>(hub: HubInterface, address: URL): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await hub.ask(String(address));
    } catch (error) {
      const again = error instanceof VigieError && factOf(error.code).retriable;
      if (!again || attempt === ATTEMPTS) throw error;
    }
    await pause(RETRY_DELAY_MS);
  }
}
