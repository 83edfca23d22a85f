/** Requests that follow their schema and are refused for another reason, at the interface of a bench. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answered, InterfaceBench } from '../rig/interface.ts';
import { rightBodies } from '../rig/interface-bodies.ts';

let bench: InterfaceBench;
let vid: string;

beforeAll(async () => {
  bench = await InterfaceBench.start({ lived: false });
  const { json } = await bench.ask('GET', '/connectedcar/v4/user/vehicles');
  vid = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
});
afterAll(() => bench.close());

const places = {
  fleet: {
    callbacks: '/connectedcar/v3/fleets/local/remote/callbacks',
    vehicle: () => `/connectedcar/v3/fleets/local/vehicles/${vid}`,
    callback: rightBodies.fleetCallback,
  },
  user: {
    callbacks: '/connectedcar/v4/user/callbacks',
    vehicle: () => `/connectedcar/v4/user/vehicles/${vid}`,
    callback: rightBodies.userCallback,
  },
} as const;
type Side = keyof typeof places;

/** Creates a callback with these members replaced. Undefined removes a member. */
async function callback(side: Side, members: object = {}): Promise<string> {
  const { callbacks, callback: right } = places[side];
  const { status, json, text } = await bench.ask('POST', callbacks, { body: { ...right, ...members } });
  if (status !== 200) throw new Error(text);
  return (json as { callbackId: string }).callbackId;
}

const send = (side: Side, cbid: string, body: unknown): Promise<Answered> =>
  bench.ask('POST', `${places[side].vehicle()}/callbacks/${cbid}/remotes`, { body });
const monitorsOf = (cbid: string): string => `${places.user.vehicle()}/callbacks/${cbid}/monitors`;
const messageOf = ({ json }: Answered): string => (json as { message: string }).message;
const totalOf = async (path: string): Promise<number> =>
  ((await bench.ask('GET', path)).json as { total: number }).total;

describe.each(['fleet', 'user'] as const)('a wake-up of the %s side', (side) => {
  test.each([{}, { action: 'Sleep' }, { action: null }])(
    'a wake-up without its action is refused: %j',
    async (wakeUp) => {
      const cbid = await callback(side, { remoteTypes: ['WakeUp'] });
      const answer = await send(side, cbid, { wakeUp });
      expect(answer.status).toBe(400);
      expect(messageOf(answer)).toContain('wakeUp.action');
      expect(await totalOf(`${places[side].vehicle()}/callbacks/${cbid}/remotes`)).toBe(0);
    },
  );

  test('a wake-up with its action is accepted', async () => {
    const cbid = await callback(side, { remoteTypes: ['WakeUp'] });
    expect((await send(side, cbid, { wakeUp: { action: 'WakeUp' } })).status).toBe(202);
  });
});

describe('commands under a callback for other kinds', () => {
  test('a command is refused under a fleet callback for other kinds', async () => {
    const cbid = await callback('fleet', { remoteTypes: ['Doors', 'Lights'] });
    const answer = await send('fleet', cbid, { horn: { state: 'Activated' } });
    expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringMatching(/^horn: .*Doors, Lights/)]);
    expect(await totalOf(`${places.fleet.vehicle()}/callbacks/${cbid}/remotes`)).toBe(0);
    expect((await send('fleet', cbid, { lights: { on: true } })).status).toBe(202);
  });

  test('a command is refused under a user callback for monitors only', async () => {
    const cbid = await callback('user', { type: ['Monitor'] });
    const answer = await send('user', cbid, { lights: { on: true } });
    expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringMatching(/^lights: .*Monitor/)]);
    expect(await totalOf(`${places.user.vehicle()}/callbacks/${cbid}/remotes`)).toBe(0);
    for (const type of [['Remote'], ['Monitor', 'Remote'], undefined]) {
      const taking = await callback('user', { type });
      expect([type, (await send('user', taking, { lights: { on: true } })).status]).toEqual([type, 202]);
    }
  });

  test('a monitor is refused under a user callback for commands only', async () => {
    const cbid = await callback('user', { type: ['Remote'] });
    const answer = await bench.ask('POST', monitorsOf(cbid), { body: rightBodies.userMonitor });
    expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringContaining('Remote')]);
    expect(await totalOf(monitorsOf(cbid))).toBe(0);
  });
});

describe('limits of users', () => {
  const create = (cbid: string, headers: Record<string, string> = {}): Promise<Answered> =>
    bench.ask('POST', monitorsOf(cbid), { body: rightBodies.userMonitor, headers });

  test('a user has at most five monitors per vehicle, under all callbacks together', async () => {
    const [one, other] = [await callback('user'), await callback('user')];
    const first = await create(one, { 'idempotency-key': 'first' });
    const { monitorId } = first.json as { monitorId: string };
    // Even concurrent requests.
    const answers = await Promise.all([one, other, one, other, one, other, one].map((cbid) => create(cbid)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(4);
    const refused = answers.filter(({ status }) => status !== 202);
    expect(refused.map((answer) => [answer.status, messageOf(answer)])).toEqual(
      new Array(3).fill([400, expect.stringContaining('at most 5 monitors')]),
    );
    expect((await totalOf(monitorsOf(one))) + (await totalOf(monitorsOf(other)))).toBe(5);
    // An existing monitor may be requested again and replaced, and a removed one makes room.
    const again = await create(one, { 'idempotency-key': 'first' });
    expect([again.status, (again.json as { monitorId: string }).monitorId]).toEqual([202, monitorId]);
    const address = `${monitorsOf(one)}/${monitorId}`;
    expect((await bench.ask('PUT', address, { body: rightBodies.userMonitor })).status).toBe(202);
    expect((await create(other)).status).toBe(400);
    expect((await bench.ask('DELETE', address)).status).toBe(204);
    expect((await create(other)).status).toBe(202);
    await bench.ask('DELETE', `${places.user.callbacks}/${other}`);
    expect((await create(one)).status).toBe(202);
  });

  test('a fleet may have more than five monitors per vehicle', async () => {
    for (let n = 0; n < 7; n++) {
      const answer = await bench.ask('POST', '/connectedcar/v3/fleets/local/monitors', {
        body: rightBodies.fleetMonitor,
      });
      expect([n, answer.status]).toEqual([n, 202]);
    }
  });
});
