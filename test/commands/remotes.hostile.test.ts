/**
 * A broker that drops, replays, reorders, alters and floods: the car carries out signed commands once, or not at all.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RemoteType } from '../../protocol/remote/table.ts';
import { downTopic } from '../../protocol/topics.ts';
import { stride } from '../rig/runs.ts';
import { MaliciousBroker } from './malicious-broker.ts';
import { finalStates, makeKeys, RemoteCar } from './remote-car.ts';

/** Messages that the agent processes within a second of its time, with some margin. */
const LOOKED_AT = 40;

const lock = { state: 'Locked' };
const orders: readonly (readonly [RemoteType, object])[] = [
  ['Doors', lock],
  ['Horn', { state: 'Activated' }],
  ['Lights', { on: true }],
  ['Immobilization', { activate: true }],
  ['ElectricBatteryChargingRequest', { preferences: { level: 'Level1' } }],
  ['Navigation', { positions: [{ type: 'Point', coordinates: [2, 48] }] }],
];

let keys: string;
let broker: MaliciousBroker;
let car: RemoteCar;
let topic: string;

beforeAll(async () => {
  keys = await makeKeys();
});

afterAll(() => {
  rmSync(keys, { recursive: true, force: true });
});

describe('a malicious broker', () => {
  beforeEach(async () => {
    broker = await MaliciousBroker.open();
    car = await RemoteCar.start({ url: broker.url, keys, cloud: broker, protocol: 4 });
    topic = downTopic(car.vin, 'remote');
  });

  afterEach(async () => {
    await car.close();
    await broker.close();
  });

  const ended = async (id: string): Promise<readonly string[]> => {
    await car.until(() => car.reports(id).some(({ status }) => finalStates.has(status)));
    return car.states(id);
  };

  /** Sends messages at a rate that the agent can process. */
  const hand = async (payloads: readonly Uint8Array[]): Promise<void> => {
    for (const [index, payload] of payloads.entries()) {
      await broker.publish(topic, payload);
      if (index % LOOKED_AT === LOOKED_AT - 1) await car.pass(1_000);
    }
    await car.pass(1_000);
  };

  test('a command held back by the broker fails instead of running late', async () => {
    const [id, payload] = await car.sign('Doors', lock);
    await car.pass(61_000);
    await broker.publish(topic, payload);
    expect(await ended(id)).toEqual(['VehicleConnectionTimeout']);
    expect(car.simulation.commands.accepted).toBe(0);
    expect(await car.order('Doors', lock)).toEqual(['Accepted', 'SentToVehicle', 'Success']);
  });

  test('replayed commands get the same answer at most once a minute and never run again, even after a restart', async () => {
    const [id, payload] = await car.sign('Doors', lock);
    await broker.publish(topic, payload);
    expect(await ended(id)).toEqual(['Accepted', 'SentToVehicle', 'Success']);
    expect(await car.order('Doors', { state: 'Unlocked' })).toContain('Success');
    const { accepted } = car.simulation.commands;
    await hand(new Array(60).fill(payload));
    await car.halt();
    await car.boot();
    await hand(new Array(60).fill(payload));
    expect(car.simulation.commands.accepted).toBe(accepted);
    // One answer by each start. The next is due after a minute.
    expect(car.states(id).slice(3)).toEqual(['Success', 'Success']);
    await car.pass(60_000);
    await hand(new Array(3).fill(payload));
    expect(car.states(id).slice(5)).toEqual(['Success']);
    expect(await car.order('Doors', lock)).toContain('Success');
  });

  test('a command replayed while it runs does not run twice', async () => {
    car.simulation.inject({ late: 2_000 });
    const [id, payload] = await car.sign('Horn', { state: 'Activated' });
    await broker.publish(topic, payload);
    await car.until(() => car.states(id).includes('SentToVehicle'));
    await hand(new Array(10).fill(payload));
    await ended(id);
    expect(new Set(car.states(id))).toEqual(new Set(['Accepted', 'SentToVehicle', 'Success']));
    expect(car.simulation.commands.accepted).toBe(1);
  });

  test('a command with any altered bit is not carried out', async () => {
    const [, payload] = await car.sign('Doors', lock);
    // The stride has no factor in common with 8, so every bit position of a byte is altered somewhere.
    const distance = stride(5);
    const altered = Array.from({ length: Math.floor((payload.length * 8) / distance) }, (_, index) =>
      payload.map((byte, at) => (at === (index * distance) >> 3 ? byte ^ (1 << ((index * distance) & 7)) : byte)),
    );
    await hand(altered);
    expect(car.simulation.commands).toEqual({ accepted: 0, rejected: 0 });
    expect(car.messages.filter(({ kind }) => kind === 'remote')).toEqual([]);
    // The original command is still valid.
    await broker.publish(topic, payload);
    await car.until(() => car.simulation.commands.accepted === 1);
    // The log counts all of them in a few lines.
    await car.pass(60_000);
    await hand([Uint8Array.of(1)]);
    const refused = car.log.lines.filter(({ event }) => event === 'command.refused');
    const unlogged = refused.reduce((sum, { fields }) => sum + Number(fields?.['unlogged'] ?? 0), 0);
    expect(refused.length + unlogged).toBe(altered.length + 1);
    expect(refused.length).toBeLessThan(altered.length / 4);
  });

  test('a command delivered to another car is not carried out there', async () => {
    const [, payload] = await car.sign('Doors', lock, { vin: 'VF3VGEBENCH000009' });
    await hand([payload]);
    expect(car.simulation.commands.accepted).toBe(0);
    expect(car.messages.filter(({ kind }) => kind === 'remote')).toEqual([]);
  });

  test('reordered and repeated commands each end once and run at most once', async () => {
    // Counters count up by one, so commands signed in sequence are within the car's window.
    let counter = 0;
    const property = fc.asyncProperty(
      fc.array(fc.nat(orders.length - 1), { minLength: 1, maxLength: 14 }),
      async (plan) => {
        const { accepted } = car.simulation.commands;
        // All signed beforehand and delivered in the order of the plan, some never and some repeatedly.
        const commands = await Promise.all(orders.map(([kind, body]) => car.sign(kind, body, { counter: ++counter })));
        for (const index of plan) await broker.publish(topic, (commands[index] as [string, Uint8Array])[1]);
        const given = new Set(plan.map((index) => (commands[index] as [string, Uint8Array])[0]));
        for (const [id] of commands) {
          if (!given.has(id)) continue;
          await ended(id);
          const endings = new Set(car.states(id).filter((state) => !['Accepted', 'SentToVehicle'].includes(state)));
          expect(endings.size, car.states(id).join()).toBe(1);
        }
        expect(car.simulation.commands.accepted - accepted).toBeLessThanOrEqual(given.size);
        await car.pass(2_000);
        for (const [id] of commands) expect(given.has(id) || car.states(id).length === 0).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: 10, endOnFailure: true });
  });
});

test('a flood causes no action and no memory growth, and afterwards the car serves again', {
  timeout: 120_000,
}, async () => {
  const child = fileURLToPath(new URL('flood-child.ts', import.meta.url));
  const seconds = process.env['FLOOD_SECONDS'] ?? '2';
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child, seconds, '10000', '7']);
  const result = JSON.parse(stdout) as {
    before: number;
    after: number;
    sent: number;
    remotes: number;
    accepted: number;
    states: string[];
  };
  expect(result.sent).toBe(Number(seconds) * 10_000);
  expect(result.remotes).toBe(0);
  expect(result.accepted).toBe(0);
  expect(result.states).toEqual(['Accepted', 'SentToVehicle', 'Success']);
  // A leak would be about as large as the flood: hundreds of MiB.
  expect(result.after - result.before).toBeLessThan(8 * 2 ** 20);
});
