/** Tests the router and its access table. */
import { expect, test } from 'vitest';
import { Router } from '../../../adapters/http/routes.ts';
import { serve } from '../../../adapters/service/status-server.ts';
import { accessTable } from '../../../protocol/interface/access.ts';
import type { Operation } from '../../../protocol/interface/operation.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { startRig } from './rig.ts';

test('a server does not start with a route that the access table lacks', async () => {
  const [one] = operations as readonly [Operation];
  await expect(startRig({ operations: [{ ...one, path: '/fleets/all' }] })).rejects.toThrow(
    'GET /connectedcar/v3/fleets/all has no row in the table of access',
  );
  await expect(
    startRig({ routes: (router) => router.add('POST', '/vigie/v1/new', () => new Response('secret')) }),
  ).rejects.toThrow('POST /vigie/v1/new has no row in the table of access');
});

test('a metrics server does not start with a route that the access table lacks', async () => {
  const page = async (): Promise<{ type: string; body: string }> => ({ type: 'text/plain', body: 'secret' });
  const place = { kind: 'loopback', host: '127.0.0.1', port: 0 } as const;
  const text = 'GET /health of car metrics has no row in the table of access';
  await expect(serve(place, { '/health': page }, 'car metrics')).rejects.toThrow(text);
});

test('a car does not serve rows of the hub', () => {
  const router = new Router('car', { admit: async () => ({ name: 'any' }) }, ['fleet', 'user']);
  expect(() => router.add('GET', '/vigie/v1/positions', () => new Response('secret'))).toThrow('has no row');
});

test('the router refuses a caller without the scopes of the row, whatever its gate admits', async () => {
  const scopes = new Set(['data:trip']);
  const gate = { challenge: 'none', admit: () => ({ name: 'careless', scopes }) };
  const rig = await startRig({ gates: { fleet: gate, user: gate } });
  expect((await rig.get('/fleets/f1/vehicles/v1/trips')).status).toBe(200);
  expect((await rig.get('/fleets/f1/vehicles/v1/status')).status).toBe(403);
});

test('each route has one row per server', () => {
  const keys = accessTable.flatMap(({ servers, method, path }) =>
    servers.map((server) => `${server} ${method} ${path}`),
  );
  expect(new Set(keys).size).toBe(keys.length);
});
