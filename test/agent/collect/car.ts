/** An agent that collects signals by command, with a real store on a disk in memory and frames of a small car. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, createBatch } from '../../../adapters/can/frames.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { Agent } from '../../../agent/agent.ts';
import type { FrameBatch } from '../../../agent/ports.ts';
import { emptyLedger } from '../../../agent/remotes/ledger.ts';
import { Collect } from '../../../assembly/collect.ts';
import { decoderFor, loadVehicle, signalsOf } from '../../../assembly/vehicle.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { encodeBody } from '../../../protocol/command.ts';
import type { CollectOrder } from '../../../protocol/schema/collect.ts';
import type { ClockQuality } from '../../../protocol/schema/message.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { VIN, verifierOf } from '../remotes/rig.ts';
import type { Published } from '../signals/car.ts';

export const START = Date.UTC(2026, 0, 1, 12);

const dbc = `VERSION ""
BU_: ECU
BO_ 256 MOTION: 8 ECU
 SG_ Speed : 0|16@1+ (0.01,0) [0|0] "km/h" ECU
 SG_ Torque : 16|16@1- (0.5,-100) [0|0] "Nm" ECU
 SG_ Gear : 32|4@1+ (1,0) [0|0] "" ECU
 SG_ Brake : 36|1@1+ (1,0) [0|0] "" ECU
BO_ 512 PRIVACY: 8 ECU
 SG_ State : 0|8@1+ (1,0) [0|0] "" ECU
BO_ 768 PLACE: 8 ECU
 SG_ Latitude : 0|32@1- (0.000001,0) [0|0] "deg" ECU
 SG_ Height : 32|16@1- (1,0) [0|0] "m" ECU
BO_ 769 EAST: 8 ECU
 SG_ Longitude : 0|32@1- (0.000001,0) [0|0] "deg" ECU
BO_ 1024 CELLS: 8 ECU
 SG_ Max : 0|16@1+ (0.001,0) [0|0] "V" ECU
 SG_ Exact : 16|32@1- (1,0) [0|0] "V" ECU
VAL_ 256 Gear 0 "Park" 1 "Drive" 2 "Reverse" ;
SIG_VALTYPE_ 1024 Exact : 1;
`;

const body = `VERSION ""
BU_: ECU
BO_ 512 PRIVACY: 8 ECU
 SG_ State : 0|8@1+ (1,0) [0|0] "" ECU
BO_ 256 DOORS: 8 ECU
 SG_ Open : 0|8@1+ (1,0) [0|0] "" ECU
BO_ 1024 CELLS: 8 ECU
 SG_ Count : 0|8@1+ (1,0) [0|0] "" ECU
`;

const profile = `profile: 1
name: collecting
buses:
  - { name: can, dbc: [car.dbc] }
  - { name: body, dbc: [body.dbc] }
status:
  kinetic.speed: { bus: can, signal: MOTION.Speed }
  privacy.state: { bus: can, signal: PRIVACY.State, map: { 0: None, 1: Geolocation, 2: Full } }
  lastPosition.latitude: { bus: can, signal: PLACE.Latitude }
`;
const custom = `signals:
  Vehicle.Powertrain.Cell.Max: { bus: can, signal: CELLS.Max, interval: 10s, heartbeat: 1h }
`;

export interface CollectingCar {
  readonly agent: Agent;
  readonly clock: VirtualClock;
  readonly disk: RecordedDisk;
  readonly log: MemoryLog;
  readonly published: Published[];
  /** Directory of the profile and its DBC files. */
  readonly folder: string;
  /** Quality of the car's clock. */
  quality: ClockQuality;
  /** Sends a command and resolves when it ends. */
  order(order: CollectOrder): Promise<void>;
  /** Latest kernel filters, by bus. */
  readonly heard: ReadonlyMap<string, readonly unknown[]>;
  /** Sends a frame on a bus now. */
  send(bus: string, id: number, bytes: readonly number[]): void;
  /** Sends frames with these timestamps on a bus in one batch. */
  sendAll(
    bus: string,
    frames: readonly { readonly at: number; readonly id: number; readonly bytes: readonly number[] }[],
  ): void;
  /** Advances time and lets disk writes finish. */
  pass(ms: number): Promise<void>;
  /** Closes the store without notice to the agent, like a power cut. */
  drop(): Promise<void>;
}

interface Start {
  readonly disk?: RecordedDisk;
  readonly at?: number;
  readonly boot?: number;
  readonly connected?: boolean;
  readonly bytesPerDay?: number;
  /** Whether the profile has a custom signal. */
  readonly custom?: boolean;
  /** Replaces the profile above. */
  readonly profile?: string;
  readonly quality?: ClockQuality;
}

export async function startCar(start: Start = {}): Promise<CollectingCar> {
  const { disk = new RecordedDisk(), boot = 1, connected = true } = start;
  const folder = mkdtempSync(join(tmpdir(), 'vigie-collect-'));
  writeFileSync(join(folder, 'car.dbc'), dbc);
  writeFileSync(join(folder, 'body.dbc'), body);
  writeFileSync(join(folder, 'profile.yaml'), start.profile ?? (start.custom === true ? profile + custom : profile));
  const vehicle = loadVehicle(folder);
  const clock = new VirtualClock(start.at ?? START);
  const store = await openStore('/data', { files: disk, now: () => clock.now(), settleWithin: 3_600_000 });
  const published: Published[] = [];
  const log = new MemoryLog();
  const heard = new Map<string, readonly unknown[]>();
  const settings = agentSettings({
    outbox: { limit: 1e9, batch: 2_000 },
    ...(start.bytesPerDay === undefined ? {} : { collect: { bytesPerDay: start.bytesPerDay } }),
  });
  const state = { quality: start.quality ?? ('gnss' as ClockQuality) };
  const collect = new Collect({
    vehicle,
    clock,
    log,
    memory: store.memory,
    waiting: store.outbox,
    settings,
    quality: () => state.quality,
    numbers: () => agent.signals?.numbers,
    commit: () => store.outbox.commit(),
    hello: () => agent.hello(),
    listen: (bus, identifiers) => void heard.set(bus, identifiers),
  });
  const agent: Agent = new Agent(
    vehicle.profile,
    {
      clock,
      log,
      store: store.outbox,
      memory: store.memory,
      records: store.records,
      verifier: verifierOf(),
      actuator: { actions: new Set(), actuate: async () => undefined },
      ledger: { data: emptyLedger, write: async () => undefined },
      link: {
        connected,
        publish: async ({ topic, payload }) => {
          published.push({ topic, message: decodeMessage(payload), moment: disk.moments });
        },
      },
      ...(await signalsOf(vehicle)),
      recorders: [collect.recorder],
      overseer: { looksEvery: () => undefined, ticked: () => undefined, hello: () => collect.hello() },
    },
    { vin: VIN, version: '1', boot, settings, quality: () => state.quality, window: () => 100 },
  );
  agent.start();
  await collect.resume();
  if (connected) agent.up();
  const intakes = new Map(
    ['can', 'body'].map((bus) => {
      const source = { buses: [bus] };
      const decoder = () => decoderFor(vehicle, agent.wanted, source.buses);
      const intake = agent.intake(decoder, source);
      const receive = (batch: FrameBatch): void => {
        intake(batch);
        collect.take(batch, source.buses);
      };
      return [bus, receive] as const;
    }),
  );
  const sendAll: CollectingCar['sendAll'] = (bus, frames) => {
    const batch = createBatch(frames.length, frames.length * 64);
    for (const { at, id, bytes } of frames) append(batch, at, id, 0, 0, Uint8Array.from(bytes), bytes.length);
    intakes.get(bus)?.(batch);
  };
  return {
    agent,
    clock,
    disk,
    log,
    published,
    heard,
    folder,
    get quality() {
      return state.quality;
    },
    set quality(quality) {
      state.quality = quality;
    },
    order: (order) => collect.order(encodeBody('Collect', order), clock.now()),
    send: (bus, id, bytes) => sendAll(bus, [{ at: clock.now(), id, bytes }]),
    sendAll,
    pass: (ms) => clock.settle(ms, 100),
    async drop() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Payload of the frame MOTION. */
export function motion(speed: number, torque = 0, gear = 0, brake = 0): number[] {
  const raw = Math.round(speed * 100);
  const turned = Math.round((torque + 100) * 2) & 0xffff;
  return [raw & 0xff, raw >> 8, turned & 0xff, turned >> 8, gear | (brake << 4), 0, 0, 0];
}
