/** An agent that reads fault codes of control units over a real ISO-TP bus, with a real store on a disk in memory. */
import { bytesOf, hexOf } from '../../../adapters/obd/hex.ts';
import { IsoTp } from '../../../adapters/obd/isotp/index.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { Agent } from '../../../agent/agent.ts';
import type { FaultView } from '../../../agent/faults/recorder.ts';
import { emptyLedger } from '../../../agent/remotes/ledger.ts';
import { faultCodesOf } from '../../../assembly/faults.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import type { SourceMapping } from '../../../protocol/profile.ts';
import type { Body, BodyKind, Message } from '../../../protocol/schema/message.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { Bus, batchOf, ControlUnit } from '../../adapters/obd/isotp/wire.ts';
import { standard } from '../../adapters/obd/standard.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { bareProfile } from '../../rig/bare-profile.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { VIN, verifierOf } from '../remotes/rig.ts';

/** Interval between readings, ms. */
export const EVERY = 600_000;

/** Answers of a control unit by request. Tests change them to change the faults of the car. */
export type Answers = Record<string, string>;

export interface Start {
  /** Control units by the CAN identifier of their answers. */
  readonly units: Readonly<Record<number, Answers>>;
  readonly disk?: RecordedDisk;
  readonly at?: number;
  readonly boot?: number;
  /** Paths that {@link FaultCar.give} can set. */
  readonly paths?: readonly string[];
  readonly texts?: Readonly<Record<string, string>>;
  /** Names of control units that are read by UDS as well, by the CAN identifier of their answers. */
  readonly uds?: Readonly<Record<number, string>>;
}

export interface FaultCar {
  readonly agent: Agent;
  readonly clock: VirtualClock;
  readonly disk: RecordedDisk;
  readonly log: MemoryLog;
  readonly view: FaultView;
  /** Messages to the broker, in order. */
  readonly sent: readonly { readonly topic: string; readonly payload: Uint8Array }[];
  /** Requests sent to control units, in order. */
  readonly asked: string[];
  /** Bodies of the published messages of a kind. */
  told<K extends BodyKind>(kind: K): Body<K>[];
  /** Sends a command that reads the codes now. */
  readNow(): Promise<void>;
  /** Reports that the poller has found control units. */
  found(): void;
  give(path: string, raw: number): void;
  pass(ms: number): Promise<void>;
  /** Closes the store without notice to the agent, like a power cut. */
  drop(): Promise<void>;
}

export async function startFaultCar(start: Start): Promise<FaultCar> {
  const { units, disk = new RecordedDisk(), boot = 1, paths = [], texts = {}, uds = {} } = start;
  const clock = new VirtualClock(start.at);
  const log = new MemoryLog();
  const bus = new Bus(clock);
  const requester = new IsoTp({ clock, sender: bus, bus: 'obd', index: 0, asleepAfter: Number.POSITIVE_INFINITY });
  bus.join((frame) => requester.receive(batchOf(frame)));
  const asked: string[] = [];
  for (const [id, answers] of Object.entries(units)) {
    new ControlUnit({
      clock,
      bus,
      listens: [Number(id) - 8, 0x7df],
      answers: Number(id),
      serve: (request) => {
        asked.push(`${Number(id).toString(16).toUpperCase()} ${hexOf(request)}`);
        const answer = answers[hexOf(request)];
        return answer === undefined ? [] : [bytesOf(answer.replaceAll(' ', '')) as Uint8Array];
      },
    });
  }
  const store = await openStore('/data', { files: disk, now: () => clock.now(), settleWithin: 3_600_000 });
  const messages: Message[] = [];
  const sent: { topic: string; payload: Uint8Array }[] = [];
  const listeners: (() => void)[] = [];
  const onUnitsFound = (told: () => void) => void listeners.push(told);
  const profile = { ...bareProfile(paths.map(mapped)), faultCodes: texts };
  const listed = Object.entries(uds).map(([id, name]) => {
    const address = { request: Number(id) - 8, extended: false };
    return { name, bus: 'obd', address, statusMask: 0x0d, requester };
  });
  const asking = listed.length === 0 ? {} : { uds: { units: listed, clock } };
  const codes = await faultCodesOf(
    { requester, sets: [standard()], onUnitsFound, ...asking },
    { every: EVERY },
    profile,
    log,
  );
  const agent: Agent = new Agent(
    profile,
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
          messages.push(decodeMessage(payload));
        },
      },
      recorders: codes.recorders({ write: (channel, value, at) => agent.channels.write(channel, value, at) }),
    },
    {
      vin: VIN,
      version: '1',
      boot,
      quality: () => 'gnss',
      window: () => 100,
      // The unit stays awake, so that every reading comes from the schedule under test.
      settings: agentSettings({ outbox: { limit: 1e9 }, power: { standbyFor: 86_400_000 } }),
    },
  );
  agent.start();
  agent.up();
  return {
    agent,
    clock,
    disk,
    log,
    asked,
    sent,
    view: codes.view(store.records) as FaultView,
    told: <K extends BodyKind>(kind: K) =>
      messages.flatMap((message) => (message.kind === kind ? [message.body as Body<K>] : [])),
    readNow: () => codes.readNow(),
    found: () => {
      for (const told of listeners) told();
    },
    give: (path, raw) => {
      const sink = agent.sink();
      sink.reading(paths.indexOf(path), raw, raw, clock.now());
      sink.settled(clock.now());
    },
    pass: (ms) => clock.settle(ms, 10),
    drop: () => store.close(),
  };
}

function mapped(path: string): SourceMapping {
  const plain = { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0 };
  const names: Readonly<Record<string, SourceMapping['map']>> = {
    'ignition.type': { 0: 'Stop', 1: 'StartUp', 2: 'Start' },
    'privacy.state': { 0: 'None', 1: 'Geolocation', 2: 'Full' },
  };
  const map = names[path];
  return map === undefined ? plain : { ...plain, map };
}
