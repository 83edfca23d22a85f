import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { HUB_FILE, pageFiles } from '../../../adapters/http/documents.ts';
import { startRig } from './rig.ts';

const folder = fileURLToPath(new URL('../../../page/generated', import.meta.url));
const openApi = fileURLToPath(new URL('../../../protocol/generated/openapi.json', import.meta.url));
const documents = { openApi, page: folder };

/** Limit of the compressed size of the page, bytes. */
const LARGEST = 120_000;
/** Views with a map load this file. */
const MAP = 'map.json';
const LARGEST_MAP = 60_000;

test('the page and its files are served under a policy without inline code and other origins', async () => {
  const rig = await startRig({ documents });
  for (const [file, address, type] of pageFiles) {
    const { status, headers, text } = await rig.get(address);
    expect([address, status, headers['content-type']]).toEqual([address, 200, type]);
    expect(text).toBe(readFileSync(join(folder, file), 'utf8'));
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
    expect(headers['cache-control']).toBe('no-store');
  }
});

test('several people can open the whole page within a second', async () => {
  const rig = await startRig({ documents });
  for (let person = 0; person < 7; person++) {
    for (const [, address] of pageFiles)
      expect([person, address, (await rig.get(address)).status]).toEqual([person, address, 200]);
  }
});

test('pictures may only come from the configured tile server', async () => {
  const rig = await startRig({
    documents: { ...documents, tiles: 'https://tiles.example:8443/{z}/{x}/{y}.png?key=a' },
  });
  const policy = (await rig.get('/')).headers['content-security-policy'] ?? '';
  const without = (await (await startRig({ documents })).get('/')).headers['content-security-policy'] ?? '';
  expect(policy).toBe(without.replace("img-src 'self';", "img-src 'self' https://tiles.example:8443;"));
  expect(policy).not.toBe(without);
});

test('the page refers to no foreign address, and has no inline code or styles', async () => {
  const rig = await startRig({ documents });
  const { text } = await rig.get('/');
  const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
  expect(named.length).toBeGreaterThan(3);
  for (const address of named) expect(address).toMatch(/^\/[a-z]/);
  expect(text).not.toMatch(/<script(?![^>]*src=)|<style|style="|\son[a-z]+="/);
  const fetched = pageFiles.filter(([file]) => /\.(js|css)$/.test(file));
  // The namespaces of SVG, Preact and GPX 1.1 are names, not addresses to fetch.
  const foreign = fetched.flatMap(([file]) => [
    ...readFileSync(join(folder, file), 'utf8').matchAll(
      /https?:\/\/(?!www\.w3\.org\/|www\.topografix\.com\/GPX\/1\/1")[^"'`)\s]+/g,
    ),
  ]);
  expect(foreign.map(([address]) => address)).toEqual([]);
});

test('a hub serves its own first file at the root, with the same policy, script and style', async () => {
  const rig = await startRig({ documents: { ...documents, hub: true } });
  const root = await rig.get('/');
  expect(root.text).toBe(readFileSync(join(folder, HUB_FILE), 'utf8'));
  expect(root.headers['content-security-policy']).toBe(
    (await rig.get('/page/page.js')).headers['content-security-policy'],
  );
  const own = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(root.text.replace(/<div id="page".*/, '')).toBe(own.replace(/<div id="page".*/, ''));
});

test('the page has at most 120 kB compressed, and the map at most 60 kB more', () => {
  const sizes = pageFiles.map(([file]) => [file, gzipSync(readFileSync(join(folder, file))).byteLength] as const);
  const sum = sizes.reduce((total, [file, size]) => total + (file === MAP ? 0 : size), 0);
  expect(sum).toBeLessThan(LARGEST);
  expect(Object.fromEntries(sizes)[MAP]).toBeLessThan(LARGEST_MAP);
});

test('the list of licences contains every package in the page', () => {
  const text = readFileSync(join(folder, 'licences.txt'), 'utf8');
  for (const name of ['preact', 'uplot'])
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
  expect(text).toContain('Permission is hereby granted');
});

test('the page accepts only GET and HEAD, and its folder contains no other files', async () => {
  const rig = await startRig({ documents });
  expect((await rig.send('POST', '/', {})).status).toBe(405);
  expect((await rig.send('HEAD', '/')).status).toBe(200);
  for (const path of ['/page', '/page/', '/page/main.tsx', '/page/..%2fpage.js', '/index.html']) {
    expect([path, (await rig.get(path)).status]).toEqual([path, 404]);
  }
});

test('a car without the files of the page serves everything else', async () => {
  const rig = await startRig({ documents: { openApi } });
  expect((await rig.get('/')).status).toBe(404);
  expect((await rig.get('/openapi.json')).status).toBe(200);
});
