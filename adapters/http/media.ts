/** Media types of requests and responses (RFC 9110 §8.3, §12.5.1). */
import { VigieError } from '../../protocol/errors.ts';
import type { Operation } from '../../protocol/interface/operation.ts';

const JSON_TYPE = 'application/json';
/** Server-sent events (WHATWG HTML §9.2). */
export const EVENT_STREAM = 'text/event-stream';

/** Returns the media types in which an operation can respond, best first. Includes plain JSON, except for streams. */
export function mediaOf({ answers }: Pick<Operation, 'answers'>): readonly string[] {
  const published = Object.values(answers).flatMap(({ media }) => (media === undefined ? [] : [media]));
  if (published.length === 0 || published.includes(EVENT_STREAM)) return published;
  return [...new Set([...published, JSON_TYPE])];
}

/**
 * Returns the media type of the response: of those in `offered` that `accept` rates highest, the first.
 * @throws VigieError `request.notAcceptable` if `accept` excludes all of them
 */
export function acceptable(offered: readonly string[], accept: string | undefined): string | undefined {
  const [first] = offered;
  if (first === undefined || accept === undefined || accept.trim() === '' || accept === '*/*') return first;
  const ranges = accept.split(',').map(readRange);
  let best: { readonly media: string; readonly quality: number } | undefined;
  for (const media of offered) {
    const quality = qualityOf(media, ranges);
    if (quality > (best?.quality ?? 0)) best = { media, quality };
  }
  if (best !== undefined) return best.media;
  throw new VigieError('request.notAcceptable', `Accept: must take one of ${offered.join(', ')}`);
}

interface MediaRange {
  readonly range: string;
  readonly quality: number;
}

function readRange(text: string): MediaRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((one) => /^q\s*=/.test(one))?.replace(/^q\s*=\s*/, '');
  const value = quality === undefined ? 1 : Number(quality);
  return { range, quality: value >= 0 && value <= 1 ? value : 0 };
}

/** Returns the quality of the most specific range that contains the media type. */
function qualityOf(media: string, ranges: readonly MediaRange[]): number {
  const [kind] = media.split('/', 1);
  for (const wanted of [media, `${kind}/*`, '*/*']) {
    const found = ranges.filter(({ range }) => range === wanted);
    if (found.length > 0) return Math.max(...found.map(({ quality }) => quality));
  }
  return 0;
}

/** @throws VigieError `request.media` unless it is JSON, in UTF-8 and not compressed */
export function requireJson(contentType: string | undefined, encoding: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((one) => one.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (!/^application\/([\w.+-]+\+)?json$/.test(type) || (charset ?? 'utf-8') !== 'utf-8') {
    throw new VigieError('request.media', 'Content-Type: must be application/json in UTF-8');
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw new VigieError('request.media', 'Content-Encoding: bodies are taken uncompressed only');
  }
}
