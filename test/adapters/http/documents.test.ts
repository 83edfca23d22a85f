import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startRig } from './rig.ts';

const openApi = fileURLToPath(new URL('../../../protocol/generated/openapi.json', import.meta.url));
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

test('the OpenAPI document and its page are served without other origins', async () => {
  const rig = await startRig({ documents: { openApi, swaggerUi } });
  const { status, headers, json } = await rig.get('/openapi.json');
  expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  expect(json).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), paths: expect.any(Object) });

  const page = await rig.get('/docs');
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
  expect(named.length).toBeGreaterThan(3);
  for (const address of named) {
    if (address === 'data:,') continue;
    expect(address).toMatch(/^\//);
    const file = await rig.get(address);
    expect([address, file.status]).toEqual([address, 200]);
    expect(file.headers['content-security-policy']).toBe(page.headers['content-security-policy']);
  }
  // The page has no inline scripts and no scripts from other origins or built from strings.
  expect(page.text).not.toMatch(/<script(?![^>]*src=)/);
  const policy = page.headers['content-security-policy'] ?? '';
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
});

test('other methods and files are refused', async () => {
  const rig = await startRig({ documents: { openApi, swaggerUi } });
  expect((await rig.send('POST', '/docs')).status).toBe(405);
  for (const path of ['/docs/', '/docs/package.json', '/docs/..%2fpackage.json', '/docs/../package.json']) {
    expect((await rig.get(path)).status).toBe(404);
  }
});

test('without Swagger UI only the document is served', async () => {
  const rig = await startRig({ documents: { openApi: join(dirname(openApi), 'openapi.json') } });
  expect((await rig.get('/openapi.json')).status).toBe(200);
  expect((await rig.get('/docs')).status).toBe(404);
});
