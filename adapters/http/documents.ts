/** Serves the page, the OpenAPI document, and Swagger UI, without third-party servers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { respond } from './exchange.ts';
import type { RateLimiter } from './rates.ts';
import type { Router } from './routes.ts';

export interface Documents {
  /** Path of the OpenAPI document. */
  readonly openApi: string;
  /** Folder that contains `swagger-ui.css` and `swagger-ui-bundle.js`; undefined: Swagger UI is not served. */
  readonly swaggerUi?: string;
  /** Folder of the page (page/) with the {@link pageFiles}. If omitted, no page is served. */
  readonly page?: string;
  /** True if the page shows many cars: `/` is {@link HUB_FILE}. */
  readonly hub?: boolean;
  /** At a hub, the sign-in address of the identity provider. If omitted, the page asks for a token. */
  readonly signIn?: string;
  /** URL of the map tiles, with {z}, {x} and {y}. If omitted, the page loads no tiles. */
  readonly tiles?: string;
  /** Converts the OpenAPI document in the file to the served one. If omitted, the file is served unchanged. */
  readonly describe?: (openApi: string) => string;
}

/** File, address and media type of each part of the page. */
export const pageFiles: readonly (readonly [file: string, address: string, type: string])[] = [
  ['index.html', '/', 'text/html; charset=utf-8'],
  ['page.js', '/page/page.js', 'text/javascript; charset=utf-8'],
  // In the root folder, so that the scope of the service worker includes every page.
  ['worker.js', '/worker.js', 'text/javascript; charset=utf-8'],
  ['page.css', '/page/page.css', 'text/css; charset=utf-8'],
  ['icon.svg', '/page/icon.svg', 'image/svg+xml'],
  // Home screens of phones do not support SVG.
  ['icon.png', '/page/icon.png', 'image/png'],
  ['page.webmanifest', '/page/page.webmanifest', 'application/manifest+json'],
  // English words are built into the script.
  ['words-de.json', '/page/words-de.json', 'application/json'],
  ['words-fr.json', '/page/words-fr.json', 'application/json'],
  // Loaded only by views with a map.
  ['map.json', '/page/map.json', 'application/json'],
  ['licences.txt', '/page/licences.txt', 'text/plain; charset=utf-8'],
];

/** Document that a hub serves at `/` instead of `index.html`, with the same script and style. */
export const HUB_FILE = 'hub.html';

/** Attribute by which the page's script detects a hub. */
const MARK_OF_HUB = 'data-of="hub"';

/** Returns the content security policy: only images may be external, and only from the configured map tiles. */
function policyOfPage(tiles: string | undefined): string {
  const pictures = tiles === undefined ? "'self'" : `'self' ${new URL(tiles).origin}`;
  return (
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${pictures}; connect-src 'self'; ` +
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

/** Swagger UI sets styles from its script and loads images from data: URLs. Nothing external is allowed. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vigie: the connected-vehicle interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="operations"><noscript>The operations are in <a href="/openapi.json">/openapi.json</a>.</noscript></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#operations', deepLinking: true, validatorUrl: null });
`;

type Content = string | Uint8Array<ArrayBuffer>;

/** Serves the documents without access control: they contain no car data. `rates` applies to all callers together. */
export function addDocuments(router: Router, documents: Documents, rates: RateLimiter): void {
  const { openApi, swaggerUi, page: folder, hub, signIn, tiles, describe } = documents;
  const serve = (path: string, type: string, content: () => Content, policy = POLICY): void => {
    router.add('GET', path, ({ env }) => {
      rates.count('documents');
      return respond(env, 200, content(), { 'Content-Type': type, 'Content-Security-Policy': policy });
    });
  };
  // Read for each request: clients rarely open these files, and cached they would need more memory than the whole
  // server.
  const read = (path: string) => (): Content => new Uint8Array(readFileSync(path));
  const described = describe && ((): Content => describe(readFileSync(openApi, 'utf8')));
  serve('/openapi.json', 'application/json', described ?? read(openApi));
  if (folder !== undefined) {
    const policy = policyOfPage(tiles);
    for (const [file, address, type] of pageFiles) {
      const isFirst = hub === true && file === 'index.html';
      const content = read(join(folder, isFirst ? HUB_FILE : file));
      const named = (): Content =>
        readFileSync(join(folder, HUB_FILE), 'utf8').replace(MARK_OF_HUB, `${MARK_OF_HUB} data-sign-in="${signIn}"`);
      serve(address, type, isFirst && signIn !== undefined ? named : content, policy);
    }
  }
  if (swaggerUi === undefined) return;
  serve('/docs', 'text/html; charset=utf-8', () => page);
  serve('/docs/start.js', 'text/javascript; charset=utf-8', () => start);
  serve('/docs/swagger-ui.css', 'text/css; charset=utf-8', read(join(swaggerUi, 'swagger-ui.css')));
  serve('/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', read(join(swaggerUi, 'swagger-ui-bundle.js')));
}
