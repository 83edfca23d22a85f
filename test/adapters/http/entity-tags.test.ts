/** Answers that a client already has (RFC 9110 §8.8.3, §13.1.2). */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { operations } from '../../../protocol/interface/operations.ts';
import { handlersOf, startRig } from './rig.ts';

test('an unchanged answer is not sent again, and a changed one is', async () => {
  let total = 1;
  const own = { 'fleet.fleets.list': () => ({ status: 200, body: { total } }) };
  const rig = await startRig({ handlers: handlersOf(operations, own) });
  const first = await rig.get('/fleets');
  const etag = first.headers['etag'] ?? '';
  expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
  const again = await rig.get('/fleets', { 'if-none-match': etag });
  expect([again.status, again.text, again.headers['etag'], again.headers['content-type']]).toEqual([
    304,
    '',
    etag,
    undefined,
  ]);
  // A 304 repeats the headers of the full answer (RFC 9110 §15.4.5).
  for (const name of ['cache-control', 'vary']) expect(again.headers[name]).toBe(first.headers[name]);
  expect(again.headers['date']).toBeDefined();
  expect(rig.log.lines.at(-1)?.fields).toMatchObject({ status: 304 });
  total = 2;
  const changed = await rig.get('/fleets', { 'if-none-match': etag });
  expect([changed.status, changed.json]).toEqual([200, { total: 2 }]);
  expect(changed.headers['etag']).not.toBe(etag);
});

test('If-None-Match accepts weak tags, strong tags and an asterisk', async () => {
  const rig = await startRig();
  const etag = (await rig.get('/fleets')).headers['etag'] ?? '';
  const strong = etag.slice(2);
  const cases: readonly (readonly [header: string, status: number])[] = [
    [etag, 304],
    [strong, 304],
    [`"a,b", W/"", ${etag}`, 304],
    [`"a,b" ,${strong},"c"`, 304],
    ['*', 304],
    [' * ', 304],
    ['"a"', 200],
    ['', 200],
    [strong.slice(1, -1), 200],
    [`"x${strong.slice(1)}`, 200],
    ['W/*', 200],
  ];
  for (const [header, status] of cases) {
    expect([header, (await rig.get('/fleets', { 'if-none-match': header })).status]).toEqual([header, status]);
  }
});

test('HEAD has the tag of GET, and gets 304 as well', async () => {
  const rig = await startRig();
  const { headers } = await rig.get('/fleets');
  const head = await rig.send('HEAD', '/fleets');
  expect([head.status, head.headers['etag'], head.headers['content-length']]).toEqual([
    200,
    headers['etag'],
    headers['content-length'],
  ]);
  const held = await rig.send('HEAD', '/fleets', undefined, { 'if-none-match': headers['etag'] ?? '' });
  expect([held.status, held.headers['content-length']]).toEqual([304, undefined]);
});

test('errors and answers to writing methods have no tag', async () => {
  const rig = await startRig();
  const any = { 'if-none-match': '*' };
  const unknown = await rig.get('/nothing', any);
  expect([unknown.status, unknown.headers['etag']]).toEqual([404, undefined]);
  const removed = await rig.send('DELETE', '/fleets/f/monitors/ab', undefined, any);
  expect([removed.status, removed.headers['etag']]).toEqual([204, undefined]);
});

test('a client that does not send its announced body gets 304, and the connection closes', async () => {
  const rig = await startRig();
  const { hostname, port } = new URL(rig.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /fleets HTTP/1.1\r\nHost: ${hostname}:${port}\r\nIf-None-Match: *\r\nContent-Length: 5\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 304 .*\r\nConnection: close\r\n/s);
});
