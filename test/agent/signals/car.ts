/** An agent with custom signals, a real store on a disk in memory, and the decoded view of a receiver. */

import { openStore } from '../../../adapters/store/index.ts';
import { Agent } from '../../../agent/agent.ts';
import type { AgentPorts } from '../../../agent/options.ts';
import { emptyLedger } from '../../../agent/remotes/ledger.ts';
import { CustomSignals } from '../../../agent/signals/custom-signals.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { defined } from '../../../protocol/defined.ts';
import type { CustomSignal, SourceMapping, TextSignal, VehicleProfile } from '../../../protocol/profile.ts';
import type { CatalogEntry } from '../../../protocol/schema/catalog.ts';
import type { Message } from '../../../protocol/schema/message.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { Catalogs } from '../../../protocol/signals/catalog.ts';
import { hexOf } from '../../../protocol/signals/hash.ts';
import { signalsJson } from '../../../protocol/signals/telemetry.ts';
import { parseTopic } from '../../../protocol/topics.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { bareProfile } from '../../rig/bare-profile.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { VIN, verifierOf } from '../remotes/rig.ts';

/** A quantity recorded at every change. */
export function custom(name: string, more: Partial<CustomSignal> = {}): CustomSignal {
  return {
    name,
    message: 'M',
    signal: name,
    kind: 'quantity',
    raw: true,
    scale: 1,
    shift: 0,
    invalid: [],
    position: false,
    rule: { interval: 0, deadBand: 0, heartbeat: 60_000 },
    ...more,
  };
}

export function text(name: string, more: Partial<TextSignal> = {}): TextSignal {
  return { name, message: 'M', signal: name, position: false, ...more };
}

export interface Published {
  readonly topic: string;
  readonly message: Message;
  /** Number of the disk state at the time of publication. */
  readonly moment: number;
}

/** Result of one run of the agent. */
export interface Run {
  readonly agent: Agent;
  readonly clock: VirtualClock;
  readonly disk: RecordedDisk;
  readonly log: MemoryLog;
  readonly published: Published[];
  /** Sets signals. Raw and physical values are the same. */
  give(values: Readonly<Record<string, number>>): void;
  /** Sets text signals. */
  say(texts: Readonly<Record<string, string>>): void;
  /** Advances time and lets disk writes finish. */
  pass(ms: number): Promise<void>;
  /** Closes the store without notice to the agent, like a power cut. */
  drop(): Promise<void>;
}

interface Start {
  readonly disk?: RecordedDisk;
  readonly at?: number;
  readonly connected?: boolean;
  readonly boot?: number;
  readonly sources?: readonly SourceMapping[];
  readonly texts?: readonly TextSignal[];
  /** Replaces the profile that has only `sources`. */
  readonly profile?: VehicleProfile;
  readonly captures?: AgentPorts['captures'];
}

export async function run(signals: readonly CustomSignal[], start: Start = {}): Promise<Run> {
  const { disk = new RecordedDisk(), connected = true, boot = 1, sources = [], profile = bareProfile(sources) } = start;
  const clock = new VirtualClock(start.at);
  const store = await openStore('/data', { files: disk, now: () => clock.now(), settleWithin: 3_600_000 });
  const published: Published[] = [];
  const log = new MemoryLog();
  const agent = new Agent(
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
        connected,
        publish: async ({ topic, payload }) => {
          published.push({ topic, message: decodeMessage(payload), moment: disk.moments });
        },
      },
      signals: (parts) => new CustomSignals(signals, parts, start.texts),
      ...defined({ captures: start.captures }),
    },
    {
      vin: VIN,
      version: '1',
      boot,
      settings: agentSettings({ outbox: { limit: 1e9, batch: 2_000 } }),
      quality: () => 'gnss',
      window: () => 100,
    },
  );
  agent.start();
  if (connected) agent.up();
  const places = new Map(agent.wanted.map(({ signal }, place) => [signal, place]));
  return {
    agent,
    clock,
    disk,
    log,
    published,
    give(values) {
      const sink = agent.sink();
      for (const [signal, value] of Object.entries(values)) {
        sink.reading(places.get(signal) as number, value, value, clock.now());
      }
      sink.settled(clock.now());
    },
    say(texts) {
      const sink = agent.sink();
      for (const [signal, text] of Object.entries(texts)) {
        sink.text?.(places.get(signal) as number, text, clock.now());
      }
      sink.settled(clock.now());
    },
    pass: (ms) => clock.settle(ms, 100),
    drop: () => store.close(),
  };
}

export interface Received {
  /** Readings by name. */
  readonly readings: ReadonlyMap<string, (readonly [at: number, value: unknown])[]>;
  /** Telemetry without its catalog, neither before nor after it. */
  readonly unknown: readonly string[];
  /** Numbers with two meanings. */
  readonly ambiguous: readonly number[];
  readonly catalogs: ReadonlyMap<string, readonly CatalogEntry[]>;
}

/** Decodes messages like a receiver. */
export function receive(messages: readonly Published[]): Received {
  const catalogs = new Catalogs();
  const entries = new Map<string, CatalogEntry[]>();
  const meanings = new Map<number, Set<string>>();
  for (const { topic, message } of messages) {
    if (message.kind !== 'catalog') continue;
    const parsed = parseTopic(topic);
    if (parsed?.direction !== 'up' || parsed.kind !== 'catalog') throw new Error(`a catalog came on ${topic}`);
    catalogs.add(message.body);
    entries.set(hexOf(message.body.catalog), message.body.entries);
    for (const { number, ...definition } of message.body.entries) {
      meanings.set(number, (meanings.get(number) ?? new Set()).add(JSON.stringify(definition)));
    }
  }
  const readings = new Map<string, (readonly [number, unknown])[]>();
  const unknown: string[] = [];
  for (const { message } of messages) {
    if (message.kind !== 'telemetry') continue;
    const json = signalsJson(message.body, catalogs);
    for (const { name, at, values } of json?.signals ?? []) {
      if (name.startsWith('#')) unknown.push(`${json?.catalog} ${name}`);
      const series = readings.get(name) ?? [];
      readings.set(name, series);
      for (const [i, value] of values.entries()) series.push([at[i] as number, value]);
    }
  }
  const ambiguous = [...meanings].filter(([, all]) => all.size > 1).map(([number]) => number);
  return { readings, unknown, ambiguous, catalogs: entries };
}
