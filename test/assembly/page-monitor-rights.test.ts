/** A reader of the page receives only notifications that the reader's scopes permit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf } from '../../assembly/view.ts';
import { callbackOfDevice, monitorOfIncidents } from '../../page/shared/push/monitor.ts';
import { vapidKeys } from '../adapters/callbacks/push-service.ts';
import { InterfaceBench, VIN } from '../rig/interface.ts';
import { Gates } from '../rig/interface-gates.ts';

let gates: Gates;
let bench: InterfaceBench;
beforeAll(async () => {
  gates = await Gates.make();
  bench = await InterfaceBench.start({ http: gates.http, lived: false, push: vapidKeys() });
});
afterAll(async () => {
  await bench.close();
  gates.remove();
});

const device = (name: string) => ({
  endpoint: `https://127.0.0.1:9/push/${name}`,
  keys: { p256dh: vapidKeys().publicKey, auth: 'A'.repeat(22) },
});

/** Subscribes to the incidents of `chosen` with a token of these scopes. */
async function subscribe(scopes: readonly string[], chosen: readonly string[]): Promise<readonly number[]> {
  const { headers } = await gates.user(scopes);
  const body = callbackOfDevice('Notifications', device(scopes.join('-').replaceAll(':', '')));
  const callback = await bench.ask('POST', '/user/callbacks', { headers, body });
  const { callbackId } = callback.json as { callbackId: string };
  const monitors = `/user/vehicles/${idOf(VIN)}/callbacks/${callbackId}/monitors`;
  const monitor = await bench.ask('POST', monitors, {
    headers,
    body: monitorOfIncidents('Incident', 'My car', (scope) => chosen.includes(scope)),
  });
  const removed = await bench.ask('DELETE', `/user/callbacks/${callbackId}`, { headers });
  return [callback.status, monitor.status, removed.status];
}

const all = ['data:telemetry', 'data:alert', 'data:collision', 'data:position'];

test.each([[['data:telemetry']], [['data:alert', 'data:position']], [['data:collision', 'data:position']], [all]])(
  'a token with %j can subscribe to the incidents that it may read',
  async (scopes) => {
    expect(await subscribe(scopes, scopes)).toEqual([200, 202, 204]);
  },
);

test.each([['data:telemetry'], ['data:alert'], ['data:trip']])(
  'a token with only %s cannot subscribe to other incidents',
  async (scope) => {
    expect(await subscribe([scope], all)).toEqual([200, 403, 204]);
  },
);

test('a token that may read no incident can subscribe to none', () => {
  for (const scopes of [[], ['data:trip'], ['data:alert'], ['data:position']]) {
    expect(monitorOfIncidents('', '', (scope) => scopes.includes(scope as never))).toBeUndefined();
  }
});
