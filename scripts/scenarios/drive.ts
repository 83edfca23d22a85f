/** The simulated car through the whole core, in time that passes by itself. */
import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { VirtualClock } from '../../adapters/clock/virtual.ts';
import { type ScenarioName, SimulatedCar } from '../../adapters/simulated/index.ts';
import { memoryStore } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import type { AgentPorts } from '../../agent/options.ts';
import type { Log, OutgoingMessage } from '../../agent/ports.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { deflate } from '../../assembly/deflate.ts';
import { decoderFor, loadVehicle } from '../../assembly/vehicle.ts';
import { agentSettings } from '../../protocol/settings.ts';

export const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface AgentDriveOptions extends Pick<AgentPorts, 'link' | 'store' | 'memory' | 'records'> {
  readonly clock: VirtualClock;
  readonly vin: string;
  readonly scenario?: ScenarioName;
  /** Where in the scenario the car begins, ms. */
  readonly startAt?: number;
  readonly seed?: number;
  /** Bound of the outbox, bytes. */
  readonly limit: number;
  /** Messages on their way at the same time. */
  readonly window: () => number;
}

export interface AgentDrive {
  readonly agent: Agent;
  /** The car sends nothing more. */
  park(): Promise<void>;
}

/** A car that drives, and its agent, which takes no commands; `opened` opens the way to the broker. */
export async function startDrive(options: AgentDriveOptions, opened: (agent: Agent) => void): Promise<AgentDrive> {
  const { clock, vin, link, store, memory, records, limit, window, scenario = 'loop', startAt = 0, seed = 1 } = options;
  const vehicle = loadVehicle('bench');
  const car = new SimulatedCar({ clock, codec: new DbcCodec(vehicle.databases), scenario, startAt, seed });
  const agent = new Agent(
    vehicle.profile,
    {
      clock,
      log: silent,
      link,
      store,
      memory,
      records,
      deflate,
      actuator: { actions: new Set(), actuate: async () => undefined },
      verifier: { key: () => undefined, verify: () => false, digest: () => '' },
      ledger: { data: emptyLedger, write: async () => undefined },
    },
    { vin, version: '1', boot: 1, settings: agentSettings({ outbox: { limit } }), quality: () => 'gnss', window },
  );
  agent.start();
  opened(agent);
  await car.start(agent.intake(() => decoderFor(vehicle, agent.wanted, car.buses)));
  return { agent, park: () => car.stop() };
}

/** A message as the outbox numbered it, and when it was published, ms since the drive began. */
export interface Departure {
  readonly after: number;
  /** The last level of its topic. */
  readonly kind: string;
  readonly payload: Uint8Array;
  /** The broker keeps it for those who subscribe later. */
  readonly retain: boolean;
}

/** The messages of the first `minutes` of the simulated car's loop, as the agent batches them by default. */
export async function recordDrive(minutes: number): Promise<readonly Departure[]> {
  const clock = new VirtualClock();
  const { outbox: store, memory, records } = memoryStore();
  const departures: Departure[] = [];
  const link = {
    connected: true,
    publish: async ({ topic, payload, retain }: OutgoingMessage) => {
      departures.push({ after: clock.monotonic(), kind: topic.slice(topic.lastIndexOf('/') + 1), payload, retain });
    },
  };
  const limit = Number.POSITIVE_INFINITY;
  const parts = { clock, vin: 'VF3VGEFLEET000000', link, store, memory, records, limit, window: () => 100 };
  const { agent, park } = await startDrive(parts, (started) => started.up());
  await clock.settle(minutes * 60_000, 1000);
  await park();
  const stopped = agent.stop();
  await clock.settle(4000, 1000);
  await stopped;
  return departures;
}
