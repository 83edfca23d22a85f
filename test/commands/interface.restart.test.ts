/** Requests repeated after a restart of the agent. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bases } from '../../protocol/interface/operation.ts';
import { type Answered, InterfaceBench } from '../rig/interface.ts';
import { rightBodies } from '../rig/interface-bodies.ts';

let bench: InterfaceBench;
beforeEach(async () => {
  bench = await InterfaceBench.start({ lived: false });
});
afterEach(() => bench.close());

type Body = Record<string, unknown>;

async function vehicle(): Promise<string> {
  const { json } = await bench.ask('GET', `${bases.user}/user/vehicles`);
  return (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
}

function post(path: string, body: object, key: string): Promise<Answered> {
  return bench.ask('POST', path, { body, headers: { 'idempotency-key': key } });
}

async function count(path: string): Promise<unknown> {
  return ((await bench.ask('GET', path)).json as Body)['total'];
}

describe('requests with an Idempotency-Key', () => {
  test('a request with an Idempotency-Key is not repeated after a restart, and is refused with another body', async () => {
    const fleet = `${bases.fleet}/fleets/local`;
    const vid = await vehicle();
    const callbacks = [`${fleet}/remote/callbacks`, `${bases.user}/user/callbacks`] as const;
    const made: { path: string; body: object; member: string; id: unknown }[] = [];
    const make = async (path: string, body: object, member: string): Promise<string> => {
      const answer = await post(path, body, 'k');
      const id = (answer.json as Body)[member];
      expect([answer.status, id], answer.text).toEqual([expect.any(Number), expect.stringMatching(/^[0-9a-f_-]+$/)]);
      made.push({ path, body, member, id });
      return id as string;
    };
    const fcbid = await make(callbacks[0], rightBodies.fleetCallback, 'callbackId');
    const ucbid = await make(callbacks[1], rightBodies.userCallback, 'callbackId');
    await make(`${fleet}/monitors`, rightBodies.fleetMonitor, 'monitorId');
    await make(`${bases.user}/user/vehicles/${vid}/callbacks/${ucbid}/monitors`, rightBodies.userMonitor, 'monitorId');
    await make(`${fleet}/vehicles/${vid}/callbacks/${fcbid}/remotes`, rightBodies.fleetRemote, 'remoteActionId');
    await make(
      `${bases.user}/user/vehicles/${vid}/callbacks/${ucbid}/remotes`,
      rightBodies.userRemote,
      'remoteActionId',
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);

    await bench.halt();
    await bench.boot();
    for (const { path, body, member, id } of made) {
      const again = await post(path, body, 'k');
      expect((again.json as Body)[member], again.text).toBe(id);
      const other = await post(path, { ...body, label: 'another' }, 'k');
      expect([other.status, other.text]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
      const next = await post(path, body, 'k2');
      expect((next.json as Body)[member], next.text).not.toBe(id);
    }
    expect(await Promise.all(made.map(({ path }) => count(path)))).toEqual(made.map(() => 2));
  });

  test('a request with an Idempotency-Key does not undo later changes', async () => {
    const path = `${bases.fleet}/fleets/local/remote/callbacks`;
    const { json } = await post(path, rightBodies.fleetCallback, 'k');
    const { callbackId } = json as { callbackId: string };
    await bench.ask('PUT', `${path}/${callbackId}`, { body: { ...rightBodies.fleetCallback, label: 'changed' } });
    await bench.ask('PUT', `${path}/${callbackId}/status`, { body: { status: 'Paused' } });
    await bench.halt();
    await bench.boot();
    expect((await post(path, rightBodies.fleetCallback, 'k')).json).toMatchObject({ callbackId, status: 'Paused' });
    const now = (await bench.ask('GET', `${path}/${callbackId}`)).json;
    expect(now).toMatchObject({ subscribe: { label: 'changed' }, status: 'Paused' });
  });

  test('a request with an Idempotency-Key is answered only when its result is on disk', async () => {
    const path = `${bases.fleet}/fleets/local/remote/callbacks`;
    const monitors = `${bases.fleet}/fleets/local/monitors`;
    bench.disk.full = true;
    for (let i = 0; i < 2; i++) {
      expect((await post(path, rightBodies.fleetCallback, 'k')).status).toBe(507);
      expect((await post(monitors, rightBodies.fleetMonitor, 'k')).status).toBe(507);
    }
    bench.disk.full = false;
    expect((await post(path, rightBodies.fleetCallback, 'k')).status).toBe(200);
    expect((await post(monitors, rightBodies.fleetMonitor, 'k')).status).toBe(202);
    expect([await count(path), await count(monitors)]).toEqual([1, 1]);
  });
});
