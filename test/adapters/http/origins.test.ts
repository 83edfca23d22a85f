import { expect, test } from 'vitest';
import { startRig } from './rig.ts';

const STATUS = '/connectedcar/v4/user';

test.each([
  ['a page of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
  ['a page on another port of this machine', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  [
    'a frame in another page',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ],
  ['a browser that sends only Origin', { origin: 'https://elsewhere.example' }],
  ['a page without an origin', { origin: 'null' }],
])('a request from %s is refused', async (_, headers) => {
  const rig = await startRig();
  const { status, json } = await rig.get(STATUS, headers);
  expect(status).toBe(403);
  expect(JSON.stringify(json)).toContain('another origin');
  expect((await rig.send('POST', '/connectedcar/v4/user/callbacks', '{}', headers)).status).toBe(403);
});

test("a request from the server's own page, a typed address or a program is answered", async () => {
  const rig = await startRig();
  const { host } = new URL(rig.url);
  for (const headers of [
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin: `http://${host}` },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    { origin: `http://${host}` },
    {},
  ]) {
    expect((await rig.get(STATUS, headers as Record<string, string>)).status).toBe(200);
  }
});

test('a link on another page opens the page, but cannot submit anything', async () => {
  const rig = await startRig();
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await rig.get(STATUS, link)).status).toBe(200);
  expect((await rig.send('POST', '/connectedcar/v4/user/callbacks', '{}', link)).status).toBe(403);
});

test('the own page works at the configured external address', async () => {
  const rig = await startRig({ url: 'https://car.example:8443' });
  expect((await rig.get(STATUS, { origin: 'https://car.example:8443' })).status).toBe(200);
  expect((await rig.get(STATUS, { origin: 'https://car.example' })).status).toBe(403);
});
