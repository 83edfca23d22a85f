/** What a car publishes on a drive: the simulated car through the whole core, in time that passes by itself. */

import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { SimulatedCar } from '../../adapters/simulated/index.ts';
import { memoryStore } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import type { Log } from '../../agent/ports.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { deflate } from '../../assembly/deflate.ts';
import { decoderFor, loadVehicle } from '../../assembly/vehicle.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { VirtualClock } from '../../test/rig/clock.ts';

/** A message as the outbox numbered it, and when it was published, ms since the drive began. */
export interface Departure {
  readonly after: number;
  /** The last level of its topic. */
  readonly kind: string;
  readonly payload: Uint8Array;
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The messages of the first `minutes` of the simulated car's loop, as the agent batches them by default. */
export async function recordDrive(minutes: number): Promise<readonly Departure[]> {
  const clock = new VirtualClock();
  const vehicle = loadVehicle('bench');
  const car = new SimulatedCar({ clock, codec: new DbcCodec(vehicle.databases) });
  const store = memoryStore();
  const departures: Departure[] = [];
  const agent = new Agent(
    vehicle.profile,
    {
      clock,
      log: silent,
      link: {
        connected: true,
        publish: async ({ topic, payload }) => {
          departures.push({ after: clock.monotonic(), kind: topic.slice(topic.lastIndexOf('/') + 1), payload });
        },
      },
      store: store.outbox,
      memory: store.memory,
      records: store.records,
      deflate,
      actuator: { actions: new Set(), actuate: async () => undefined },
      verifier: { key: () => undefined, verify: () => false },
      ledger: { data: emptyLedger, write: async () => undefined },
    },
    {
      vin: 'VF3VGEFLEET000000',
      version: '1',
      boot: 1,
      quality: () => 'gnss',
      window: () => 100,
      settings: agentSettings({ outbox: { limit: Number.POSITIVE_INFINITY } }),
    },
  );
  agent.start();
  agent.up();
  await car.start(agent.intake(() => decoderFor(vehicle, agent.wanted, car.buses)));
  await clock.settle(minutes * 60_000, 1000);
  await car.stop();
  const stopped = agent.stop();
  await clock.settle(4000, 1000);
  await stopped;
  return departures;
}
