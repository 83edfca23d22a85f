/** Notifies viewers of cars about commits. */

import type { Kind } from '../../protocol/schema/kind.ts';
import { eventKinds } from '../core/events.ts';
import type { CarMessage } from '../core/message.ts';
import type { HubNews, News, NewsListener } from '../core/ports.ts';

const events: ReadonlySet<Kind> = new Set(eventKinds);

/** Returns the news about stored messages. `row`: id of the message. */
export function newsOf(kept: Iterable<Pick<CarMessage, 'vin' | 'message'> & { readonly row: number }>): News {
  const news: { vins: Set<string>; events: number[] } = { vins: new Set(), events: [] };
  for (const { vin, message, row } of kept) {
    if (message.kind === 'status' || message.kind === 'vehicle') news.vins.add(vin);
    if (events.has(message.kind)) news.events.push(row);
  }
  return { vins: [...news.vins], events: news.events };
}

/**
 * Sends news to all listeners in this process. This is sufficient if only one hub uses the database. Errors of a
 * listener are passed to `failed`, because the commit has already succeeded, and other listeners must receive the news.
 */
export class LocalNews implements HubNews {
  readonly #listeners = new Set<NewsListener>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  listen(listener: NewsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  arrived(news: News): void {
    this.#each((listener) => listener.arrived(news));
  }

  missed(): void {
    this.#each((listener) => listener.missed());
  }

  #each(notify: (listener: NewsListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        notify(listener);
      } catch (error) {
        this.#failed(error);
      }
    }
  }
}
