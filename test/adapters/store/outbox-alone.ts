/** Opens a store and returns only its outbox. */

import { openStore, type Store, type StoreOptions } from '../../../adapters/store/index.ts';
import type { OutboxStore } from '../../../agent/ports.ts';

export type FileOutboxStore = OutboxStore & Pick<Store, 'metrics' | 'close'>;

export async function openOutboxStore(directory: string, options: StoreOptions = {}): Promise<FileOutboxStore> {
  const { outbox, metrics, close } = await openStore(directory, options);
  return Object.defineProperties(outbox, {
    metrics: { value: metrics },
    close: { value: close },
  }) as FileOutboxStore;
}
