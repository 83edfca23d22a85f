/** The whole agent with a car that obeys immediately and reports this in its next frame. */

import { join } from 'node:path';
import { FrameActuator } from '../../adapters/can/actuator.ts';
import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { TrustStore } from '../../adapters/keys/index.ts';
import { MqttLink } from '../../adapters/mqtt/index.ts';
import { SimulatedCar } from '../../adapters/simulated/index.ts';
import { openDocument, openStore } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import type { FrameBatch, FrameSender, Log, MessageCodec, NamedFrame, OutgoingFrame } from '../../agent/ports.ts';
import { emptyLedger, type LedgerDocument } from '../../agent/remotes/ledger.ts';
import { decoderFor, loadVehicle } from '../../assembly/vehicle.ts';
import { agentSettings } from '../../protocol/settings.ts';

const log: Log = {
  info: () => undefined,
  warn: (event, fields) => console.error(event, fields),
  error: (event, fields) => console.error(event, fields),
};

export interface PromptCarOptions {
  readonly vin: string;
  readonly url: string;
  /** Folder of the bench car's profile. */
  readonly profile: string;
  readonly keys: string;
  readonly directory: string;
}

/** Resolves when the car is online and its Status is available. */
export async function startPromptCar({ vin, url, profile, keys, directory }: PromptCarOptions): Promise<void> {
  const vehicle = loadVehicle(profile);
  // One request frame is enough: repetitions are for a body computer on a noisy bus, and this bus has no noise.
  const commands = Object.fromEntries(
    Object.entries(vehicle.profile.commands).map(([action, { send, ...rule }]) => [
      action,
      { ...rule, send: send && { ...send, for: 0 } },
    ]),
  );
  const clock = new SystemClock();
  const codec = new DbcCodec(vehicle.databases);
  const simulation = new SimulatedCar({ clock, codec, scenario: 'parked' });
  // This file itself produces the lamps' answers.
  simulation.inject({ silent: ['LIGHTS'] });
  const store = await openStore(join(directory, 'outbox'), { log });
  const link = new MqttLink({ url, vin, log });
  const lamps = new PromptLamps(codec);
  const agent = new Agent(
    { ...vehicle.profile, commands },
    {
      clock,
      log,
      link,
      store: store.outbox,
      memory: store.memory,
      records: store.records,
      ledger: await newLedger(join(directory, 'remotes.json')),
      actuator: new FrameActuator(commands, vehicle.databases, lamps, clock),
      verifier: TrustStore.open(join(keys, 'trust.json'), clock),
    },
    {
      vin,
      version: '0',
      boot: 1,
      settings: agentSettings(),
      limits: { burst: Number.POSITIVE_INFINITY, daily: Number.POSITIVE_INFINITY },
      quality: () => clock.quality(),
      window: () => link.window,
    },
  );
  agent.start();
  const intake = agent.intake(() => decoderFor(vehicle, agent.wanted, simulation.buses));
  lamps.receive = intake;
  await simulation.start(intake);
  lamps.tell(0);
  await new Promise<void>((resolve) => {
    link.open({
      up: () => {
        agent.up();
        resolve();
      },
      down: (reason) => agent.down(reason),
      message: (topic, payload, correlation) => agent.message(topic, payload, correlation),
    });
  });
  // The slowest of the frames that interlocks and checks need is sent once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}

/**
 * Creates a ledger for a car that has never received a command. Without this file, the agent would assume that the car
 * has lost it, and would accept no earlier commands.
 */
async function newLedger(file: string): Promise<LedgerDocument> {
  await (await openDocument(file, emptyLedger, { log })).write(emptyLedger);
  return openDocument(file, emptyLedger, { log });
}

/** Turn lamps that flash as soon as a frame requests this. */
class PromptLamps implements FrameSender {
  receive: (batch: FrameBatch) => void = () => undefined;
  readonly #codec: MessageCodec;

  constructor(codec: MessageCodec) {
    this.#codec = codec;
  }

  async send(frame: OutgoingFrame): Promise<void> {
    this.tell(this.#codec.decode(frame)?.signals['HazardRequest'] === 1 ? 1 : 0);
  }

  tell(on: number): void {
    this.receive(batchOf(this.#codec.encode('LIGHTS', { TurnFL: on, TurnFR: on, TurnRL: on, TurnRR: on })));
  }
}

function batchOf({ id, data }: NamedFrame): FrameBatch {
  const padded = new Uint8Array(8);
  padded.set(data);
  return {
    count: 1,
    at: Float64Array.of(Date.now()),
    id: Uint32Array.of(id),
    bus: new Uint8Array(1),
    flags: new Uint8Array(1),
    length: Uint8Array.of(data.length),
    offset: new Uint32Array(1),
    data: padded,
  };
}
