/** An agent with captures in its profile, a real decoder and a real store on a disk in memory. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, createBatch } from '../../../adapters/can/frames.ts';
import { formatCandump } from '../../../adapters/can/log/index.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { Agent } from '../../../agent/agent.ts';
import type { CapturesPart } from '../../../agent/options.ts';
import type { RecordStore } from '../../../agent/ports.ts';
import { emptyLedger } from '../../../agent/remotes/ledger.ts';
import { capturesOf } from '../../../assembly/captures.ts';
import { decoderFor, loadVehicle } from '../../../assembly/vehicle.ts';
import { unpackFrames } from '../../../protocol/captures/capture.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { encodeBody } from '../../../protocol/command.ts';
import { defined } from '../../../protocol/defined.ts';
import type { Capture } from '../../../protocol/schema/capture.ts';
import type { Message } from '../../../protocol/schema/message.ts';
import type { CaptureOrder } from '../../../protocol/schema/order.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { VIN, verifierOf } from '../remotes/rig.ts';

export const buses = ['can', 'body'];

const dbc = `VERSION ""
BU_: ECU
BO_ 256 MOTION: 8 ECU
 SG_ Speed : 0|16@1+ (0.01,0) [0|0] "km/h" ECU
BO_ 512 PRIVACY: 8 ECU
 SG_ State : 0|8@1+ (1,0) [0|0] "" ECU
BO_ 768 CRASH: 8 ECU
 SG_ Hit : 0|1@1+ (1,0) [0|0] "" ECU
`;

const profile = `profile: 1
name: capturing
buses:
  - { name: can, dbc: [car.dbc] }
  - { name: body, dbc: [body.dbc] }
status:
  kinetic.speed: { bus: can, signal: MOTION.Speed }
  privacy.state: { bus: can, signal: PRIVACY.State, map: { 0: None, 1: Geolocation, 2: Full } }
collision:
  detected: { bus: can, signal: CRASH.Hit, map: { 0: false, 1: true } }
`;

export const MOTION = 0x100;
export const PRIVACY = 0x200;
export const CRASH = 0x300;

/** A frame sent on a bus. */
export interface Sent {
  readonly at: number;
  readonly bus: string;
  readonly id: number;
  readonly data: readonly number[];
}

export interface CaptureCar {
  readonly agent: Agent;
  readonly clock: VirtualClock;
  readonly disk: RecordedDisk;
  readonly log: MemoryLog;
  readonly published: Message[];
  /** Messages to the broker, in order. */
  readonly sent: readonly { readonly topic: string; readonly payload: Uint8Array }[];
  /** Frames sent on the buses, as candump lines. */
  readonly lines: readonly { readonly sent: Sent; readonly line: string }[];
  /** Sends frames with one timestamp on the buses now. Each batch has the frames of one bus. */
  send(frames: readonly Omit<Sent, 'at'>[], at?: number): void;
  /** Advances time and lets disk writes finish. */
  pass(ms: number): Promise<void>;
  /** Sends a command and resolves when it ends. */
  order(order: CaptureOrder): Promise<void>;
  captures(): Capture[];
  readonly records: RecordStore;
  /** Closes the store without notice to the agent, like a power cut. */
  drop(): Promise<void>;
}

interface Start {
  readonly disk?: RecordedDisk;
  readonly at?: number;
  readonly boot?: number;
  /** Memory for frames, bytes. */
  readonly memory?: number;
  /** Captures that commands may request per day. */
  readonly perDay?: number;
  /** Bytes per day after which events have no further capture. */
  readonly bytesPerDay?: number;
}

/** @param section the section `captures` of the profile */
export async function startCar(section: string, start: Start = {}): Promise<CaptureCar> {
  const { disk = new RecordedDisk(), boot = 1, memory = 1 << 20, perDay, bytesPerDay } = start;
  const folder = mkdtempSync(join(tmpdir(), 'vigie-captures-'));
  writeFileSync(join(folder, 'car.dbc'), dbc);
  writeFileSync(join(folder, 'body.dbc'), 'VERSION ""\n');
  writeFileSync(join(folder, 'profile.yaml'), `${profile}captures:\n${section}`);
  const vehicle = loadVehicle(folder);
  rmSync(folder, { recursive: true });
  const clock = new VirtualClock(start.at);
  const store = await openStore('/data', { files: disk, now: () => clock.now(), settleWithin: 3_600_000 });
  const published: Message[] = [];
  const sent: { topic: string; payload: Uint8Array }[] = [];
  const log = new MemoryLog();
  const { captures } = await capturesOf(vehicle);
  let part: CapturesPart | undefined;
  const agent = new Agent(
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
        connected: true,
        publish: async ({ topic, payload }) => {
          sent.push({ topic, payload });
          published.push(decodeMessage(payload));
        },
      },
      ...(captures === undefined ? {} : { captures: (parts) => (part = captures(parts)) }),
    },
    {
      vin: VIN,
      version: '1',
      boot,
      settings: agentSettings({
        outbox: { limit: 1e9, batch: 2_000 },
        captures: {
          memory,
          ...defined({ commandsPerDay: perDay, bytesPerDay }),
        },
      }),
      quality: () => 'gnss',
      window: () => 100,
    },
  );
  agent.start();
  agent.up();
  const intakes = buses.map((bus) => agent.intake(() => decoderFor(vehicle, agent.wanted, [bus]), { buses: [bus] }));
  const lines: { sent: Sent; line: string }[] = [];
  return {
    agent,
    clock,
    disk,
    log,
    published,
    sent,
    lines,
    records: store.records,
    send(frames, at = clock.now()) {
      for (const [index, bus] of buses.entries()) {
        const own = frames.filter((frame) => frame.bus === bus);
        const batch = createBatch(own.length, own.length * 64);
        for (const { id, data } of own) append(batch, at, id, 0, 0, Uint8Array.from(data), data.length);
        for (const [i, frame] of own.entries()) {
          lines.push({ sent: { ...frame, at }, line: formatCandump(batch, i, [bus]) });
        }
        if (own.length > 0) intakes[index]?.(batch);
      }
    },
    pass: (ms) => clock.settle(ms, 100),
    async order(order) {
      if (part?.order === undefined) throw new Error('the profile lets commands capture nothing');
      await part.order(encodeBody('Capture', order), clock.now());
    },
    captures: () => published.flatMap(({ kind, body }) => (kind === 'capture' ? [body] : [])),
    drop: () => store.close(),
  };
}

/** Frames of a drive of this many seconds: three identifiers on two buses every 20 ms, with a counter. */
export async function drive(car: CaptureCar, seconds: number, speed = 50, more: readonly Omit<Sent, 'at'>[] = []) {
  for (let i = 0; i < seconds * 50; i++) {
    const raw = speed * 100;
    car.send([
      { bus: 'can', id: MOTION, data: [raw & 0xff, raw >> 8, i & 0xff, 0, 0, 0, 0, 0] },
      { bus: 'can', id: 0x123, data: [i & 0xff, (i >> 8) & 0xff] },
      { bus: 'body', id: MOTION, data: [1, 2, 3, i & 0xff] },
      ...more,
    ]);
    await car.pass(20);
  }
}

export interface ReadCapture {
  readonly head: Capture;
  readonly parts: readonly Capture[];
  readonly lines: readonly string[];
}

/** Captures as a receiver reassembles them from their parts, by ascending part number. */
export function readCaptures(parts: readonly Capture[]): ReadCapture[] {
  return [...new Set(parts.map(({ id }) => id))].map((id) => {
    const sorted = parts.filter((one) => one.id === id).sort((a, b) => a.part - b.part);
    const lines = sorted.flatMap((part) => {
      const frames = unpackFrames(part);
      return Array.from({ length: frames.count }, (_, i) => formatCandump(frames, i, part.buses));
    });
    return { head: sorted[0] as Capture, parts: sorted, lines };
  });
}
