import type { CatalogEntry } from '../../protocol/schema/catalog.ts';
import { catalogParts } from '../../protocol/signals/catalog.ts';
import type { OutboxStore, Publisher } from '../ports.ts';
import type { SignalNumbers } from './numbers.ts';

/** Publishes a catalog. */
export function announceCatalog(entries: readonly CatalogEntry[], publisher: Pick<Publisher, 'put'>): void {
  for (const part of catalogParts(entries)) publisher.put('catalog', part, { retain: true });
}

/** Publishes the catalogs that are no longer in use but that telemetry in `store` may refer to. */
export function announceEarlier(
  numbers: Pick<SignalNumbers, 'earlier'>,
  publisher: Pick<Publisher, 'put'>,
  store: Pick<OutboxStore, 'entries'>,
): void {
  const oldest = oldestTelemetry(store);
  if (oldest === undefined) return;
  for (const entries of numbers.earlier(oldest)) announceCatalog(entries, publisher);
}

/** Returns the time of the first waiting telemetry, UTC ms, or undefined if no telemetry waits. */
function oldestTelemetry(store: Pick<OutboxStore, 'entries'>): number | undefined {
  // Entries are in the order of their numbers, so the first is the oldest.
  for (const { kind, at } of store.entries()) if (kind === 'telemetry') return at;
  return undefined;
}
