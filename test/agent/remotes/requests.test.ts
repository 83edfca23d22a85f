/** Commands through the car's own interface: signed with the unit's key and checked like any other. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OwnKey, ownKey, TrustStore } from '../../../adapters/keys/index.ts';
import { Ledger } from '../../../agent/remotes/ledger.ts';
import { Requests } from '../../../agent/remotes/requests.ts';
import type { RemoteReport } from '../../../protocol/schema/remote.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { carOf, disk, VIN } from './rig.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigie-own-'));
});
afterEach(() => rm(directory, { recursive: true }));

const lock = {
  callbackId: 'c1',
  type: 'Doors',
  body: { state: 'Locked' },
  remote: { door: { state: 'Locked' } },
} as const;

/** The unit's key, which is created if it is missing. */
async function keyOf(kinds: readonly string[]): Promise<OwnKey> {
  const own = await ownKey(directory, 'interface', kinds, new MemoryLog());
  if (own === undefined) throw new Error('the disk takes no key');
  return own;
}

async function setUp(kinds: readonly string[] = ['Doors']) {
  const { key, signer } = await keyOf(kinds);
  const clock = new VirtualClock();
  const reports: RemoteReport[] = [];
  const publisher = {
    secure: async (_: string, body: object): Promise<void> => {
      const report = body as RemoteReport;
      reports.push(report);
      requests.reported(report);
      for (const [key, value] of car.remotes.states()) car.memory.set(key, structuredClone(value));
      requests.heard(report.remoteActionId);
    },
  };
  const car: ReturnType<typeof carOf> = carOf({
    clock,
    verifier: TrustStore.without(clock, { own: [key] }),
    publisher,
  });
  const accompanied: string[] = [];
  const requests: Requests = new Requests({
    vin: VIN,
    clock,
    signer,
    receive: (payload) => car.remotes.intake.receive(payload),
    setOrigin: (id) => void accompanied.push(id),
  });
  const settle = (): Promise<void> => clock.settle(4_000, 100);
  return { ...car, reports, requests, accompanied, settle };
}

describe('commands through the interface', () => {
  test('a command through the interface runs like any other, and its state can be read', async () => {
    const { requests, actuated, accompanied, settle, clock } = await setUp();
    const { remoteActionId } = await requests.submit(lock);
    expect(remoteActionId).toMatch(/^[0-9a-f-]+$/);
    const asked = { remoteActionId, callbackId: 'c1', type: 'Doors', remote: lock.remote, createdAt: clock.now() };
    expect(requests.get(remoteActionId)).toEqual({ ...asked, status: 'SentToVehicle' });
    await settle();
    expect(actuated).toEqual(['doors.lock']);
    expect(requests.all('c1')).toEqual([{ ...asked, status: 'Success' }]);
    expect(requests.all('c2')).toEqual([]);
    expect(accompanied).toEqual([remoteActionId]);
  });

  test('a command through the interface is refused with its cause if the unit’s key lacks the right', async () => {
    const { requests, actuated, settle } = await setUp(['Horn']);
    const { remoteActionId } = await requests.submit(lock);
    await settle();
    expect(requests.get(remoteActionId)).toMatchObject({ status: 'Failed', failureCause: 'MissingRights' });
    expect(actuated).toEqual([]);
  });

  test('a command through the interface is known after a restart, and no id is assigned twice', async () => {
    const { requests, settle } = await setUp();
    const { remoteActionId } = await requests.submit(lock);
    await settle();
    const kept = new Map(requests.states());
    const next = await setUp();
    next.requests.recall({ recall: (key) => kept.get(key) }, () => false);
    expect(next.requests.all('c1')).toEqual(requests.all('c1'));
    expect((await next.requests.submit(lock)).remoteActionId).not.toBe(remoteActionId);
  });

  test('a command through the interface is on disk when it is answered', async () => {
    const { requests, memory } = await setUp();
    const { remoteActionId: id } = await requests.submit(lock);
    const ledger = new Ledger(disk());
    ledger.recall({ recall: (key) => memory.get(key) });
    expect(ledger.find(id)).toMatchObject({ status: 'SentToVehicle' });
  });

  test('a request with the same id is the same command and runs once', async () => {
    const { requests, actuated, settle } = await setUp();
    const order = { ...lock, id: 'abc-1' };
    expect(await requests.submit(order)).toEqual({ remoteActionId: 'abc-1' });
    await settle();
    expect(await requests.submit(order)).toEqual({ remoteActionId: 'abc-1' });
    await settle();
    expect(actuated).toEqual(['doors.lock']);
    expect(requests.all('c1')).toHaveLength(1);
  });

  test('a command runs once if the ledger has it and the rest was lost in a power cut', async () => {
    const { remotes, requests, reports, actuated, settle } = await setUp();
    const order = { ...lock, id: 'abc-1' };
    await requests.submit(order);
    await settle();
    const { signer } = await keyOf(['Doors']);
    const receive = async (payload: Uint8Array): Promise<void> => {
      await remotes.intake.receive(payload);
      for (const report of reports.slice(told)) {
        later.reported(report);
        later.heard(report.remoteActionId);
      }
    };
    const later: Requests = new Requests({ vin: VIN, clock: new VirtualClock(), signer, receive });
    const told = reports.length;
    await later.submit(order);
    expect(later.get('abc-1')).toMatchObject({ status: 'Success' });
    expect(actuated).toEqual(['doors.lock']);
  });

  test('a request is refused if the car accepts no commands, and can be repeated', async () => {
    const { remotes, requests } = await setUp();
    remotes.stop();
    await expect(requests.submit({ ...lock, id: 'abc-1' })).rejects.toThrow(
      expect.objectContaining({ code: 'store.failed' }),
    );
    expect(requests.get('abc-1')).toBeUndefined();
  });

  test('a command lost before it was accepted is unknown after a restart', async () => {
    const { requests, settle } = await setUp();
    const order = { ...lock, id: 'abc-1' };
    await requests.submit(order);
    const kept = new Map(requests.states());
    await settle();
    const [lost, known] = [await setUp(), await setUp()];
    lost.requests.recall({ recall: (key) => kept.get(key) }, () => false);
    known.requests.recall({ recall: (key) => kept.get(key) }, (id) => id === 'abc-1');
    expect(lost.requests.get('abc-1')).toBeUndefined();
    expect(known.requests.get('abc-1')).toMatchObject({ status: 'SentToVehicle' });
  });

  test('a request is stored when its state changes, not at every commit', async () => {
    const { requests, settle } = await setUp();
    expect([...requests.states()]).toEqual([]);
    const { remoteActionId } = await requests.submit(lock);
    expect([...requests.states()]).toMatchObject([['requests', { made: 1, actions: [{ remoteActionId }] }]]);
    expect([...requests.states()]).toEqual([]);
    await settle();
    expect([...requests.states()]).toMatchObject([['requests', { actions: [{ status: 'Success' }] }]]);
    expect([...requests.states()]).toEqual([]);
  });

  test('only the newest requests are remembered', async () => {
    const { requests } = await setUp();
    const first = await requests.submit(lock);
    for (let i = 0; i < 256; i++) await requests.submit({ ...lock, callbackId: `c${i}` });
    expect(requests.get(first.remoteActionId)).toBeUndefined();
    expect((new Map(requests.states()).get('requests') as { actions: unknown[] }).actions).toHaveLength(256);
  });

  test('an invalid command, and a unit without a key, are refused at once', async () => {
    const { requests } = await setUp();
    await expect(requests.submit({ ...lock, body: { state: 'Ajar' } })).rejects.toThrow(
      expect.objectContaining({ code: 'command.malformed' }),
    );
    const keyless = new Requests({ vin: VIN, clock: new VirtualClock(), receive: async () => undefined });
    await expect(keyless.submit(lock)).rejects.toThrow(expect.objectContaining({ code: 'command.unsupported' }));
    expect([...keyless.states()]).toEqual([]);
  });
});

test('the rights of the unit’s key are those configured now, and no command removes it', async () => {
  const clock = new VirtualClock();
  const { key } = await keyOf(['Doors']);
  const again = await keyOf(['Horn']);
  expect([again.key.kid, again.key.kinds]).toEqual([key.kid, ['Horn']]);
  const trust = TrustStore.without(clock, { own: [again.key] });
  await expect(trust.revoke(Buffer.from(key.kid, 'hex'))).rejects.toThrow(
    expect.objectContaining({ code: 'input.unknown' }),
  );
});
