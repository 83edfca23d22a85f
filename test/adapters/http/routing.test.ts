import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { bases } from '../../../protocol/interface/operation.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { handlersOf, type Rig, startRig } from './rig.ts';

/** The path of the operation with a value for each parameter. */
function pathOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'cbid' || name === 'rid' ? 'ab12' : `${name}-1`));
}

/** Sends raw bytes and reads until the connection ends. */
async function raw(rig: Rig, bytes: string): Promise<string> {
  const { hostname, port } = new URL(rig.url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
}

describe('every operation', () => {
  test('answers below its base and at the root', async () => {
    const rig = await startRig();
    for (const { id, side, method, path, body, answers } of operations) {
      if (body !== undefined) continue;
      for (const root of [bases[side], '']) {
        const { status, json } = await rig.send(method, `${root}${pathOf(path)}`);
        expect({ id, root, status: String(status) }).toEqual({ id, root, status: Object.keys(answers)[0] });
        if (method !== 'GET') continue;
        expect(json).toMatchObject({ id, base: `${rig.url}${root}`, self: pathOf(path) });
      }
    }
  });

  test('answers with the published status, and with a deprecation header if it is deprecated', async () => {
    const rig = await startRig();
    for (const { id, side, method, path, answers, deprecated } of operations.filter((one) => one.method === 'GET')) {
      const { headers } = await rig.send(method, `${bases[side]}${pathOf(path)}`);
      expect([id, headers['content-type']]).toEqual([id, answers[200]?.media]);
      expect([id, headers['deprecation']]).toEqual([id, deprecated === true ? '@1722297600' : undefined]);
    }
  });

  test('dates its answers by the clock of the car, which a receiver may set', async () => {
    const clock = Object.assign(new SystemClock(), { now: () => Date.UTC(2031, 4, 6, 7, 8, 9, 900) });
    const rig = await startRig({ clock });
    for (const path of ['/fleets', '/nothing']) {
      expect((await rig.get(path)).headers['date']).toBe('Tue, 06 May 2031 07:08:09 GMT');
    }
  });

  test('answers HEAD like GET, without a body', async () => {
    const rig = await startRig();
    const { status, headers, text: body } = await rig.send('HEAD', '/fleets');
    expect([status, headers['content-type'], body]).toEqual([200, 'application/hal+json', '']);
  });

  test('refuses other methods and lists the allowed ones', async () => {
    const rig = await startRig();
    const patch = await rig.send('PATCH', '/connectedcar/v3/fleets/f1/monitors/m1');
    expect([patch.status, patch.headers['allow']]).toEqual([405, 'GET, HEAD, PUT, DELETE']);
    expect(patch.json).toMatchObject({
      code: 40500,
      message: expect.stringContaining('PUT'),
      uuid: expect.any(String),
    });
    const remove = await rig.send('DELETE', '/connectedcar/v4/user');
    expect([remove.status, remove.headers['allow']]).toEqual([405, 'GET, HEAD']);
    expect(remove.json).toMatchObject({ code: 40500, debug: expect.any(String) });
    for (const method of ['OPTIONS', 'TRACE']) expect((await rig.send(method, '/fleets')).status).toBe(405);
  });
});

test('the thefts of a vehicle are available at both addresses', async () => {
  const rig = await startRig();
  for (const slash of ['', '/']) {
    const { json } = await rig.get(`/connectedcar/v3/fleets/f1/vehicles/v1/stolen${slash}`);
    expect(json).toMatchObject({ id: 'fleet.stolen.list' });
  }
  expect((await rig.get('/connectedcar/v3/fleets/')).status).toBe(404);
});

test('an unknown path is refused in the form of its side', async () => {
  const rig = await startRig();
  for (const path of ['/nothing', '/connectedcar/v3/fleets/f/trips/t', '/connectedcar/v3/fleets/f/telemetries', '/']) {
    const { status, json } = await rig.get(path);
    expect([path, status]).toEqual([path, 404]);
    expect(json).toEqual({
      code: 40400,
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      message: expect.any(String),
      timestamp: expect.stringMatching(/Z$/),
    });
  }
  for (const path of ['/user/nothing', '/connectedcar/v4/nothing']) {
    const { status, json } = await rig.get(path);
    expect(status).toBe(404);
    expect(json).toEqual({ code: 40400, debug: expect.any(String), message: expect.any(String) });
  }
});

test('a side without a gate is not served', async () => {
  const { LocalGate } = await import('../../../adapters/http/access/local.ts');
  const rig = await startRig({ gates: { fleet: new LocalGate() } });
  expect((await rig.get('/connectedcar/v3/fleets')).status).toBe(200);
  expect((await rig.get('/connectedcar/v4/user')).status).toBe(404);
});

describe('parameters', () => {
  const trips = '/fleets/f/vehicles/v/trips';

  test('of the path are decoded', async () => {
    const rig = await startRig();
    const { json } = await rig.get('/fleets/a%2Fb%20%C3%A9%2541');
    expect(json).toMatchObject({ path: { fid: 'a/b é%41' }, self: '/fleets/a%2Fb%20%C3%A9%2541' });
  });

  test('of the query are parsed by their schemas, and links do not repeat client_id', async () => {
    const rig = await startRig();
    const { json } = await rig.get(`${trips}?pageSize=5&client_id=secret&indexRange=5-9&client%5Fid=x&other%65=x`);
    expect(json).toMatchObject({
      query: { pageSize: 5, indexRange: { min: 5, max: 9 } },
      self: `${trips}?pageSize=5&indexRange=5-9&other%65=x`,
    });
  });

  test.each([
    ['/fleets?pageSize=0', 'pageSize'],
    ['/fleets?pageSize=61', 'pageSize'],
    ['/fleets?pageSize=five', 'pageSize'],
    ['/fleets?pageSize=5&pageSize=6', 'pageSize'],
    ['/fleets/f/vehicles/v/trips?indexRange=9-5', 'indexRange'],
    ['/fleets/f/vehicles/v/trips?timestamps=yesterday/', 'timestamps'],
    ['/fleets?pageSize=%E0%A4', 'query'],
    ['/fleets/%E0%A4', 'path'],
    ['/fleets/%', 'path'],
    ['/user/vehicles/x/status?%=1', 'query'],
    ['/connectedcar/v3/fleets/f/vehicles/v/callbacks/xyz/remotes', 'cbid'],
  ])('%s is refused, and the error names %s', async (path, name) => {
    const rig = await startRig();
    const { status, json } = await rig.get(path);
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 40001, message: expect.stringContaining(name) });
  });
});

describe('media types', () => {
  const path = '/connectedcar/v3/fleets/f/vehicles/v/lastPosition';

  test.each([
    ['*/*', 'application/vnd.geo+json'],
    ['application/json', 'application/json'],
    ['application/*', 'application/vnd.geo+json'],
    ['application/vnd.geo+json;q=0.4, application/json;q=0.5', 'application/json'],
    ['text/html, */*;q=0.1', 'application/vnd.geo+json'],
    ['APPLICATION/JSON; charset=utf-8', 'application/json'],
  ])('Accept: %s gets %s', async (accept, media) => {
    const rig = await startRig();
    const { status, headers } = await rig.get(path, { accept });
    expect([status, headers['content-type']]).toEqual([200, media]);
  });

  test.each(['text/html', 'application/json;q=0', 'image/*', 'application/hal+json;q=2', ';;,'])(
    'Accept: %s is refused',
    async (accept) => {
      const rig = await startRig();
      const { status, json, headers } = await rig.get(path, { accept });
      expect([status, headers['content-type']]).toEqual([406, 'application/json']);
      expect(json).toMatchObject({ code: 40600 });
    },
  );
});

describe('bodies', () => {
  const path = '/connectedcar/v3/fleets/f/monitors/m/status';
  const good = { status: 'Paused' };

  test('are validated and passed on', async () => {
    const rig = await startRig();
    const { status, json } = await rig.send('PUT', path, good);
    expect(status).toBe(202);
    expect(json).toMatchObject({ body: good });
  });

  test.each([
    [{ status: 'Failed' }, 'status'],
    [{}, 'status'],
    [[], 'body'],
    ['"text"', 'body'],
    ['null', 'body'],
    ['{"status":', 'JSON'],
    ['', 'body'],
    [`${'['.repeat(100)}${']'.repeat(100)}`, 'body'],
  ])('%j is refused, and the error names %s', async (body, name) => {
    const rig = await startRig();
    const { status, json } = await rig.send('PUT', path, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 40001, message: expect.stringContaining(name) });
  });

  test('that are not UTF-8 are refused', async () => {
    const rig = await startRig();
    const body = Buffer.from('{"status":"Pa\xffused"}', 'latin1');
    const answer = await raw(
      rig,
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: 1\r\n\r\n`.replace('1', String(body.length)) +
        body.toString('latin1'),
    );
    // Written as UTF-8, the byte above becomes two bytes. The length is then one too short and cuts the object.
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  });

  test.each(['text/plain', 'application/xml', undefined, 'application/json; charset=latin1'])(
    'of type %s are refused',
    async (type) => {
      const rig = await startRig();
      const headers = defined({ 'content-type': type });
      const { status, json } = await rig.send('PUT', path, undefined, { ...headers, 'content-length': '0' });
      expect(status).toBe(415);
      expect(json).toMatchObject({ code: 41500 });
    },
  );

  test('that are compressed are refused', async () => {
    const rig = await startRig();
    expect((await rig.send('PUT', path, good, { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  test('that are too large are refused, whether announced or not', async () => {
    const rig = await startRig({ maxBodyBytes: 1_000 });
    const large = JSON.stringify({ status: 'Paused', more: 'x'.repeat(1_000) });
    const announced = await rig.send('PUT', path, large);
    expect(announced.status).toBe(413);
    expect(announced.json).toMatchObject({ code: 41301, message: expect.stringContaining('1000') });
    const head = `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    const chunk = `${large.length.toString(16)}\r\n${large}\r\n`;
    expect(await raw(rig, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)).toMatch(/^HTTP\/1.1 413 /);
  });

  test('may have deprecated members, which are logged', async () => {
    const rig = await startRig();
    const remote = { label: 'door', door: { state: 'Locked', forced: true } };
    const { status } = await rig.send('POST', '/connectedcar/v3/fleets/f/vehicles/v/callbacks/ab/remotes', remote);
    expect(status).toBe(202);
    expect(rig.log.lines).toContainEqual({
      level: 'warn',
      event: 'http.deprecated',
      fields: { operation: 'fleet.remotes.create', members: ['door.forced'] },
    });
  });
});

describe('an invalid request', () => {
  test.each([
    ['no HTTP', 'GARBAGE\r\n\r\n', 'HTTP'],
    ['a bad Host', 'GET /fleets HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 'Host'],
    ['a backslash', 'GET /fle\\ets HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 'address'],
    ['a long header', `GET /fleets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, '16384'],
    ['a long path', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, '16384'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 'HTTP'],
  ])('gets an xError: %s', async (_, bytes, word) => {
    const rig = await startRig();
    const [head = '', body = ''] = (await raw(rig, bytes)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(body)).toMatchObject({
      code: 40001,
      uuid: expect.any(String),
      message: expect.stringContaining(word),
      timestamp: expect.any(String),
    });
  });

  test('without a Host counts as addressed to the machine itself', async () => {
    const rig = await startRig();
    expect(await raw(rig, 'GET /fleets HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('faults', () => {
  test('of a handler are logged and hidden from the caller', async () => {
    const failing = () => {
      throw new TypeError('a secret thing');
    };
    const rig = await startRig({ handlers: handlersOf(operations, { 'fleet.fleets.list': failing }) });
    const { status, json, text: body } = await rig.get('/fleets');
    expect(status).toBe(500);
    expect(json).toMatchObject({ code: 50000 });
    expect(body).not.toContain('secret');
    expect(rig.log.lines).toContainEqual({
      level: 'error',
      event: 'http.failed',
      fields: expect.objectContaining({ error: 'a secret thing', operation: 'fleet.fleets.list' }),
    });
  });

  test('have the codes of the error table', async () => {
    const codes = { 'fleet.fleets.get': 'request.unknown', 'fleet.monitors.create': 'store.failed' } as const;
    const own = Object.fromEntries(
      Object.entries(codes).map(([id, code]) => [
        id,
        () => {
          throw new VigieError(code, 'so it is');
        },
      ]),
    );
    const rig = await startRig({ handlers: handlersOf(operations, own) });
    expect((await rig.get('/fleets/f')).json).toMatchObject({ code: 40400, message: 'so it is' });
  });

  test('include an answer that the operation does not publish', async () => {
    const rig = await startRig({ handlers: handlersOf(operations, { 'fleet.fleets.list': () => ({ status: 418 }) }) });
    expect((await rig.get('/fleets')).status).toBe(500);
  });
});

describe('answers', () => {
  test('have security headers, and an id that is logged', async () => {
    const rig = await startRig();
    const { headers } = await rig.get('/fleets');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const told = rig.log.lines.find(({ event }) => event === 'http.request');
    expect(told?.fields).toMatchObject({ id: headers['x-request-id'], operation: 'fleet.fleets.list', status: 200 });
  });

  test('repeat the request id if it is a UUID', async () => {
    const rig = await startRig();
    const id = '123e4567-e89b-42d3-a456-426614174000';
    expect((await rig.get('/fleets', { 'x-request-id': id })).headers['x-request-id']).toBe(id);
    expect((await rig.get('/fleets', { 'x-request-id': 'x' })).headers['x-request-id']).not.toBe('x');
  });

  test('leave the connection open', async () => {
    const rig = await startRig();
    expect((await rig.get('/fleets')).headers['connection']).toBe('keep-alive');
  });
});

describe('the server does not start', () => {
  test('if an operation has no handler, or a handler no operation', async () => {
    const handlers = handlersOf(operations);
    const { 'fleet.fleets.list': left, ...others } = handlers;
    expect(left).toBeDefined();
    await expect(startRig({ handlers: others })).rejects.toThrow(/without handler: fleet.fleets.list/);
    await expect(startRig({ handlers: { ...handlers, more: () => ({ status: 200 }) } })).rejects.toThrow(/more/);
  });

  test('if it would be open to the network', async () => {
    await expect(startRig({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'configuration.wrong' });
  });

  test('if no user is configured', async () => {
    await expect(startRig({ gates: {} })).rejects.toMatchObject({ code: 'configuration.wrong' });
  });

  test('if its port is taken', async () => {
    const rig = await startRig();
    const port = Number(new URL(rig.url).port);
    await expect(startRig({ port })).rejects.toMatchObject({ code: 'usage.wrong' });
  });
});
