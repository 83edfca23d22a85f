/** Detects requests by foreign web pages, which the browser of a person at the bench could send to the car. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns false for a request by a foreign web page. Browsers send the origin (`Sec-Fetch-Site` of Fetch Metadata;
 * older ones only `Origin`, RFC 6454 §7); other programs send neither. A link on a foreign page may open a page of this
 * server.
 * @param authorities hosts and ports of the server's own pages
 */
export function isSameOrigin(method: string, headers: IncomingHttpHeaders, authorities: readonly string[]): boolean {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return true;
  if (site !== undefined) {
    const opensPage = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    return opensPage && (method === 'GET' || method === 'HEAD');
  }
  const { origin } = headers;
  return origin === undefined || (URL.canParse(origin) && authorities.includes(new URL(origin).host));
}
