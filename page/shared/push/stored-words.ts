/** Words for notifications while the page is closed. The page stores them, and its service worker reads them. */
import type { Dictionary } from '../../../protocol/words/dictionary.ts';

const CACHE = 'vigie';
const WORDS = '/page/words';

export async function storeWords(words: Dictionary): Promise<void> {
  await (await caches.open(CACHE)).put(WORDS, new Response(JSON.stringify(words)));
}

export async function forgetWords(): Promise<void> {
  await caches.delete(CACHE);
}

/** Returns undefined if no words are stored, or if the browser has deleted them. */
export async function readWords(): Promise<Dictionary | undefined> {
  return (await caches.match(WORDS))?.json() as Promise<Dictionary | undefined>;
}
