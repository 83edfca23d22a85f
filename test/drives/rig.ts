/**
 * A car that follows a recorded drive, an adapter in its socket, and the agent that polls it. An hour takes seconds.
 */

import { expect } from 'vitest';
import { Elm327 } from '../../adapters/obd/elm327/index.ts';
import { ObdSource } from '../../adapters/obd/poll/index.ts';
import { MemoryRecords, memoryOutboxStore } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import type { Log, ReadingSource } from '../../agent/ports.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { pollSettings, type Vehicle } from '../../assembly/vehicle.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { type Reading, readingsFromTelemetry } from '../../protocol/schema/telemetry.ts';
import type { Trip } from '../../protocol/schema/trip.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { agentSettings } from '../../protocol/settings.ts';
import type { SlotValue } from '../../protocol/slots.ts';
import { Emulator } from '../adapters/obd/elm327/emulator.ts';
import { VirtualClock } from '../rig/clock.ts';
import { KeptMemory } from '../rig/keeping.ts';
import { type CarOptions, DrivenCar } from './car.ts';
import { adapterLine } from './line.ts';
import type { RecordedDrive } from './recording.ts';

/** Latency of the line to the adapter in one direction, ms, as over Bluetooth. */
export const LATENCY = 20;
/** Time step of the simulation, ms. */
export const STEP = 10;

export interface RigOptions extends Omit<CarOptions, 'clock' | 'drive'> {
  readonly vehicle: Vehicle;
  readonly drive: RecordedDrive;
  /** Sources in addition to the adapter. */
  readonly others?: (clock: VirtualClock) => readonly ReadingSource[];
}

export class Rig {
  readonly clock = new VirtualClock(Date.UTC(2026, 5, 1, 8));
  readonly car: DrivenCar;
  readonly emulator: Emulator;
  readonly sent: Message[] = [];
  readonly source: ObdSource;
  readonly elm: Elm327;
  readonly #agent: Agent;
  readonly #others: readonly ReadingSource[];

  constructor({ vehicle, drive, others = () => [], ...options }: RigOptions) {
    const { clock } = this;
    this.car = new DrivenCar({ clock, drive, ...options });
    this.emulator = new Emulator({ ecus: [this.car.ecu] });
    const log = quietLog;
    this.elm = new Elm327({ open: adapterLine(this.emulator, clock, LATENCY), clock, log, name: 'adapter' });
    const bus = vehicle.profile.buses.find(({ kind }) => kind === 'obd');
    if (bus?.obd === undefined) throw new Error('the profile asks nothing');
    const sets = vehicle.signalSets.get(bus.name) ?? [];
    const settings = pollSettings(bus.obd);
    this.source = new ObdSource({ clock, requester: this.elm, sets, bus: bus.name, settings, log });
    this.#others = others(clock);
    this.#agent = new Agent(
      vehicle.profile,
      {
        clock,
        log,
        records: new MemoryRecords(),
        memory: new KeptMemory(),
        store: memoryOutboxStore(),
        link: { connected: true, publish: async ({ payload }) => void this.sent.push(decodeMessage(payload)) },
        actuator: { actions: new Set(), actuate: async () => undefined },
        verifier: { key: () => undefined, verify: () => false, digest: () => '' },
        ledger: { data: emptyLedger, write: async () => undefined },
      },
      {
        vin: 'VF3TEST0000000001',
        version: '1',
        boot: 1,
        settings: agentSettings({ outbox: { limit: 1e9 } }),
        quality: () => 'gnss',
        window: () => 1000,
      },
    );
  }

  /** Drives from before ignition on until `rest` ms after the car went silent. */
  async run(rest: number): Promise<void> {
    const { clock } = this;
    this.#agent.start();
    this.#agent.up();
    const sources: readonly ReadingSource[] = [this.source, ...this.#others];
    for (const source of sources) await source.start(this.#agent.wanted, this.#agent.sink(source.apart));
    await clock.settle(this.car.silentAt + rest - clock.monotonic(), STEP);
    const ended = Promise.all([this.elm.close(), ...sources.map((source) => source.stop())]);
    await clock.settle(100, STEP);
    await ended;
    const stopped = this.#agent.stop();
    await clock.settle(5_000, STEP);
    await stopped;
    expect(this.#agent.faults).toBe(0);
  }

  of<K extends Message['kind']>(kind: K): Message<K>[] {
    return this.sent.filter((message) => message.kind === kind) as Message<K>[];
  }

  /** The last version of each trip, in the order of their starts. */
  get trips(): Trip[] {
    return [...new Map(this.of('trip').map(({ body }) => [body.id, body])).values()];
  }

  get waypoints(): Waypoint[] {
    return this.of('waypoint').flatMap(({ body }) => body.points);
  }

  /** Readings of one path, in order of time. Times are monotonic ms. */
  series<V extends SlotValue>(path: string): { readonly at: number; readonly value: V }[] {
    const origin = this.clock.now() - this.clock.monotonic();
    this.#readings ??= this.of('telemetry').flatMap(({ body }) => readingsFromTelemetry(body));
    return this.#readings
      .filter(({ slot }) => slot.path === path)
      .map(({ at, value }) => ({ at: at - origin, value: value as V }));
  }
  #readings: Reading[] | undefined;
}

const quietLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: (event, fields) => expect.fail(`${event} ${JSON.stringify(fields)}`),
};
