/** Trips that a new user sees on the bench. */

import { expect, test } from 'vitest';
import { memoryStore } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { benchCar, benchVehicle } from '../../assembly/simulation.ts';
import { decoderFor } from '../../assembly/vehicle.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Trip } from '../../protocol/schema/trip.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

const MINUTE = 60_000;

/** A published trip, and the time of its message, ms after the start. */
interface Told {
  readonly after: number;
  readonly trip: Trip;
}

interface Published {
  readonly trips: readonly Told[];
  readonly waypoints: readonly Waypoint[];
  /** Bytes of the waypoint messages. */
  readonly bytes: number;
}

/** Trip messages of the bench within this many minutes. */
async function bench(minutes: number): Promise<Published> {
  const clock = new VirtualClock();
  const vehicle = benchVehicle('loop');
  const car = benchCar(vehicle, clock, { scenario: 'loop' });
  const store = memoryStore();
  const told: Told[] = [];
  const waypoints: Waypoint[] = [];
  let bytes = 0;
  const agent = new Agent(
    vehicle.profile,
    {
      clock,
      log: new MemoryLog(),
      link: {
        connected: true,
        publish: async ({ payload }) => {
          const message = decodeMessage(payload);
          if (message.kind === 'trip') told.push({ after: clock.monotonic(), trip: message.body });
          if (message.kind !== 'waypoint') return;
          waypoints.push(...message.body.points);
          bytes += payload.length;
        },
      },
      store: store.outbox,
      memory: store.memory,
      records: store.records,
      actuator: { actions: new Set(), actuate: async () => undefined },
      verifier: { key: () => undefined, verify: () => false, digest: () => '' },
      ledger: { data: emptyLedger, write: async () => undefined },
    },
    {
      vin: 'VF3VGEBENCH000001',
      version: '1',
      boot: 1,
      quality: () => 'ntp',
      window: () => 100,
      settings: agentSettings({ outbox: { limit: 1e9 } }),
    },
  );
  agent.start();
  agent.up();
  const begin = clock.monotonic();
  await car.start(agent.intake(() => decoderFor(vehicle, agent.wanted, car.buses)));
  await clock.settle(minutes * MINUTE, 1_000);
  await car.stop();
  const stopped = agent.stop();
  await clock.settle(4_000, 1_000);
  await stopped;
  return { trips: told.map(({ after, trip }) => ({ after: after - begin, trip })), waypoints, bytes };
}

test('on the bench a trip ends within three minutes of the start, and the next one within three minutes after that', async () => {
  const { trips: told } = await bench(13);
  const ends = told.filter(({ trip }) => trip.done === true);
  expect(ends.length).toBeGreaterThanOrEqual(4);
  for (const [n, { after, trip }] of ends.entries()) {
    expect(after - (ends[n - 1]?.after ?? 0)).toBeLessThan(3 * MINUTE);
    expect(trip.faults).toBeUndefined();
    expect(trip.distance).toBeGreaterThan(1);
    expect(trip.duration).toBeGreaterThan(90);
    expect(trip).toMatchObject({ stopPosition: { type: 'Feature' }, endEnergies: [{}, {}] });
  }
  const [first, second] = ends;
  expect(second?.trip.startPosition?.geometry).toEqual(first?.trip.stopPosition?.geometry);
});

test('a track begins with its trip and takes at most 150 bytes a kilometre', async () => {
  const { trips, waypoints, bytes } = await bench(13);
  const ends = trips.flatMap(({ trip }) => (trip.done === true ? [trip] : []));
  expect(ends.length).toBeGreaterThanOrEqual(4);
  for (const { startedAt = 0 } of ends) {
    const first = waypoints.find(({ at }) => at >= startedAt);
    expect((first?.at ?? 0) - startedAt).toBeLessThan(5_000);
  }
  const kilometres = ends.reduce((sum, { distance = 0 }) => sum + distance, 0);
  expect(bytes / kilometres).toBeLessThan(150);
});
