/** Whether a web page of another origin sent a request: through the browser of a person at the bench it would reach the car. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * False for what a web page elsewhere sent. Browsers say where a request comes from (Fetch Metadata `Sec-Fetch-Site`;
 * older ones only `Origin`, RFC 6454 §7); other programs send neither. A link from elsewhere may open a page.
 * @param authorities names, with ports, that the server's own pages have
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
