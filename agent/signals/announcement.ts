import type { CatalogEntry } from '../../protocol/schema/catalog.ts';
import { catalogParts } from '../../protocol/signals/catalog.ts';
import type { OutboxStore, Publisher } from '../ports.ts';
import type { SignalNumbers } from './numbers.ts';

/** Publishes a catalog. */
export function announceCatalog(entries: readonly CatalogEntry[], publisher: Pick<Publisher, 'put'>): void {
  for (const part of catalogParts(entries)) publisher.put('catalog', part, { retain: true });
}

/** Publishes the catalogs that are no longer in use and that telemetry in `store` may name. */
export function announceEarlier(
  numbers: Pick<SignalNumbers, 'earlier'>,
  publisher: Pick<Publisher, 'put'>,
  store: Pick<OutboxStore, 'entries'>,
): void {
  const oldest = oldestTelemetry(store);
  if (oldest === undefined) return;
  for (const entries of numbers.earlier(oldest)) announceCatalog(entries, publisher);
}

/** UTC ms of the first telemetry that waits; undefined: none waits. */
function oldestTelemetry(store: Pick<OutboxStore, 'entries'>): number | undefined {
  // They are in the order of their numbers, so that the first is the oldest.
  for (const { kind, at } of store.entries()) if (kind === 'telemetry') return at;
  return undefined;
}
