/** Messages that a hub has stored, over HTTP. */
import { setTimeout as pause } from 'node:timers/promises';
import { factOf, VigieError } from '../../protocol/errors.ts';
import type { ExportContent, MessagePage, PageEntry } from '../../protocol/interface/own/message-pages.ts';
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
  const address = new URL(`vigie/v1/vehicles/${vin}/messages`, base);
  async function* entries(content: ExportContent): AsyncGenerator<PageEntry> {
    address.searchParams.set('content', content);
    if (Number.isFinite(from)) address.searchParams.set('from', isoTime(from));
    if (Number.isFinite(to)) address.searchParams.set('to', isoTime(to));
    for (;;) {
      const page = await readPage(hub, address);
      yield* page.entries;
      if (page.next === undefined) return;
      address.searchParams.set('after', page.next);
    }
  }
  return { name: address.origin, entries };
}

async function readPage(hub: HubInterface, address: URL): Promise<MessagePage> {
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
