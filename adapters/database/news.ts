/** What commits tell those who follow the cars. */
import { eventKinds } from '../../hub/events.ts';
import type { CarMessage } from '../../hub/message.ts';
import type { HubNews, News, NewsListener } from '../../hub/ports.ts';
import type { Kind } from '../../protocol/schema/kind.ts';

const events: ReadonlySet<Kind> = new Set(eventKinds);

/** `row`: the id of the message. */
export function newsOf(kept: Iterable<Pick<CarMessage, 'vin' | 'message'> & { readonly row: number }>): News {
  const news: { vins: Set<string>; events: number[] } = { vins: new Set(), events: [] };
  for (const { vin, message, row } of kept) {
    if (message.kind === 'status') news.vins.add(vin);
    if (events.has(message.kind)) news.events.push(row);
  }
  return { vins: [...news.vins], events: news.events };
}

/** Hands news to everybody in this process who listens. Alone it is for a database that only one hub uses. */
export class LocalNews implements HubNews {
  readonly #listeners = new Set<NewsListener>();

  listen(listener: NewsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  arrived(news: News): void {
    for (const listener of this.#listeners) listener.arrived(news);
  }

  missed(): void {
    for (const listener of this.#listeners) listener.missed();
  }
}
