/** Runs the simulated car through the whole core in virtual time. */
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
  /** Position in the scenario at the start, in ms. */
  readonly startAt?: number;
  readonly seed?: number;
  /** Capacity of the outbox in bytes. */
  readonly limit: number;
  /** Largest number of unacknowledged messages. */
  readonly window: () => number;
}

export interface AgentDrive {
  readonly agent: Agent;
  /** Stops the car: it sends no more frames. */
  park(): Promise<void>;
}

/** Starts a driving car and its agent, which accepts no commands. `opened` opens the connection to the broker. */
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

/** A message with its number in the outbox, and the time when it was published, in ms since the start of the drive. */
export interface Departure {
  readonly after: number;
  /** Last level of its topic. */
  readonly kind: string;
  readonly payload: Uint8Array;
  /** If true, the broker keeps it for later subscribers. */
  readonly retain: boolean;
}

/** Returns the messages of the first `minutes` of the simulated car's `loop`, batched with the agent's defaults. */
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
