/** Messages that a hub has stored, over HTTP. */
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import type { ExportContent, MessagePage, PageEntry } from '../../protocol/interface/own/message-pages.ts';
import type { ExportSource } from './local-sources.ts';
import type { ExportPeriod } from './readings.ts';
import { isoTime } from './table.ts';

/** Number of attempts for a page while the hub is away or busy, and the time between them in ms. */
const ATTEMPTS = 6;
const RETRY_DELAY_MS = 2_000;

/** Answers after which the same request may succeed. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface HubAccess {
  readonly url: string;
  /** Bearer token; undefined for a hub that asks for none. */
  readonly token: string | undefined;
}

export function hubSource(vin: string, { url, token }: HubAccess, { from, to }: ExportPeriod): ExportSource {
  const address = addressOf(url, vin);
  async function* entries(content: ExportContent): AsyncGenerator<PageEntry> {
    address.searchParams.set('content', content);
    if (Number.isFinite(from)) address.searchParams.set('from', isoTime(from));
    if (Number.isFinite(to)) address.searchParams.set('to', isoTime(to));
    for (;;) {
      const page = await readPage(address, token);
      yield* page.entries;
      if (page.next === undefined) return;
      address.searchParams.set('after', page.next);
    }
  }
  return { name: new URL(url).origin, entries };
}

function addressOf(url: string, vin: string): URL {
  try {
    const base = new URL(url.endsWith('/') ? url : `${url}/`);
    if (base.protocol === 'http:' || base.protocol === 'https:')
      return new URL(`vigie/v1/vehicles/${vin}/messages`, base);
  } catch {
    // Reported below.
  }
  throw new VigieError('usage.wrong', `--hub must be an address such as https://hub.example:8080, is "${url}"`);
}

async function readPage(address: URL, token: string | undefined): Promise<MessagePage> {
  const headers = { Accept: 'application/json', ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
  for (let attempt = 1; ; attempt++) {
    const failure = await fetch(address, { headers, redirect: 'error' }).then(
      async (response) => {
        if (response.ok) return { page: (await response.json()) as MessagePage };
        const reason = await reasonIn(response);
        return { error: refusal(address, response.status, reason), again: BUSY.has(response.status) };
      },
      (cause: Error) => {
        const reason = reasonOf(cause.cause ?? cause);
        return {
          error: new VigieError('input.unreadable', `cannot be reached: ${reason}`, { where: address.origin, cause }),
          again: true,
        };
      },
    );
    if ('page' in failure) return failure.page;
    if (!failure.again || attempt === ATTEMPTS) throw failure.error;
    await pause(RETRY_DELAY_MS);
  }
}

async function reasonIn(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message, debug } = JSON.parse(text) as { readonly message?: string; readonly debug?: string };
    return message ?? debug ?? response.statusText;
  } catch {
    return response.statusText;
  }
}

function refusal({ origin }: URL, status: number, reason: string): VigieError {
  const fix = status === 401 ? '; name the file of a token of `vigie hub token` with --token-file' : '';
  return new VigieError('input.unreadable', `refused with ${status}: ${reason}${fix}`, { where: origin });
}
