import { defined } from '../../protocol/defined.ts';
import type { HelloHealth, HelloLink, LinkState } from '../../protocol/schema/hello.ts';
import type { DeliveringSource, TrialSource } from '../configuration/trial.ts';
import type { Clock, FrameSource, LinkEvents, OutboxStore, ReadingSource } from '../ports.ts';
import { type ClassVitals, MeteredStore } from './metered-store.ts';
import { Pulse } from './pulse.ts';
import { type SourceVitals, SourceWatch } from './sources.ts';

/** Facts about the process that only the operating system can report. */
export interface ProcessVitals {
  /** Memory in bytes that is not shared with other processes. Omitted if the kernel does not report it. */
  readonly privateBytes?: number;
  /** Resident memory in bytes. */
  readonly residentBytes: number;
  /** JavaScript heap in use, in bytes. */
  readonly heapBytes: number;
  /** Processor time in ms since the start. */
  readonly cpu: number;
  /** Share of the time since the previous call in which the event loop was busy, 0 to 1. */
  readonly busy: number;
}

/** Counters of the agent. */
export interface AgentVitals {
  readonly readings: number;
  /** Number of readings with a value that is impossible for their slot. */
  readonly refused: number;
  /** Number of batches and ticks that were not completely processed because of a defect. */
  readonly faults: number;
}

/** Counters of the journal. Sizes are in bytes. */
export interface JournalVitals {
  readonly written: number;
  readonly flushes: number;
  readonly failures: number;
  readonly disk: number;
  /** Bytes written to the medium, in whole pages. */
  readonly flashed: number;
}

export type Mode = 'normal' | 'minimal';

/** State of the agent at one time. */
export interface HealthSnapshot {
  readonly mode: Mode;
  /** Reason for minimal mode. */
  readonly reason?: string;
  /** UTC ms. */
  readonly at: number;
  /** Milliseconds since the start. */
  readonly uptime: number;
  /** Reason why the pipeline counts as stuck. Omitted if the pipeline makes progress. */
  readonly stuck?: string;
  readonly sources: readonly SourceVitals[];
  readonly frames: number;
  readonly dropped: number;
  readonly agent: AgentVitals;
  readonly outbox: readonly ClassVitals[];
  readonly outboxRefused: number;
  /** Number of commands by `Success`, `AlreadyDone` or the cause of their failure. */
  readonly commands: Readonly<Record<string, number>>;
  readonly link: LinkVitals;
  readonly journal: JournalVitals;
  readonly process: ProcessVitals;
  /** Longest tick delay in ms in the last one to two minutes. */
  readonly delay: number;
}

export interface LinkVitals {
  readonly connected: boolean;
  /** Number of connections since the start. */
  readonly connections: number;
  /** Number of messages that the broker acknowledged. */
  readonly published: number;
  /** Total payload in bytes of these messages. */
  readonly sent: number;
  /** Report of the link. Omitted before the link exists. */
  readonly details?: LinkDetails;
}

/** Report of a link. */
export interface LinkDetails {
  readonly state: LinkState;
  /** Start of the present state, UTC ms. */
  readonly since: number;
  /** Time at which the link went down, UTC ms. Omitted while it is up. */
  readonly downSince?: number;
  /** Reason why the link is down, or was down last. */
  readonly reason?: string;
  /** Present or last broker; contains no secret. */
  readonly broker?: string;
  readonly protocol?: '5' | '3.1.1';
  /** Seconds of silence before a ping, adapted to the network. */
  readonly keepalive: number;
  /** Expiry of the vehicle's certificate, UTC ms. */
  readonly certificateExpires?: number;
  /** Number of connection attempts, and of losses while up. */
  readonly counts: { readonly attempts: number; readonly losses: number };
}

interface HealthOptions {
  readonly clock: Clock;
  readonly process: () => ProcessVitals;
  readonly mode?: Mode;
  readonly reason?: string;
  /** Called when a source delivers its first reading. */
  readonly delivered?: (source: DeliveringSource) => void;
}

const NO_AGENT: AgentVitals = { readings: 0, refused: 0, faults: 0 };
const NO_JOURNAL: JournalVitals = { written: 0, flushes: 0, failures: 0, disk: 0, flashed: 0 };

/** Collects the health of a running agent. The assembly wraps sources, store and link with it. */
export class Health {
  readonly pulse: Pulse;
  readonly #options: HealthOptions;
  readonly #sources: SourceWatch;
  readonly #startedAt: number;
  #store: MeteredStore | undefined;
  #agent: AgentVitals = NO_AGENT;
  #inUse: () => boolean = () => false;
  #journal: JournalVitals = NO_JOURNAL;
  #details: (() => LinkDetails) | undefined;
  #connected = false;
  #connections = 0;
  #published = 0;
  #sent = 0;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
    this.#sources = new SourceWatch(options.clock, {
      readings: () => this.#agent.readings,
      first: options.delivered ?? (() => undefined),
    });
    this.pulse = new Pulse(options.clock, {
      commitWait: () => this.#store?.commitWait ?? 0,
      stuckSource: () => this.#sources.stuck(this.#inUse()),
    });
  }

  /** Wraps a source of frames. */
  frames(name: string, source: FrameSource): FrameSource {
    return this.#sources.frames(name, source);
  }

  /** Wraps a source of readings. */
  readings(name: string, source: ReadingSource): ReadingSource {
    return this.#sources.readings(name, source);
  }

  /** Wraps the store of the outbox; `journal` counts the bytes on the disk. */
  store(store: OutboxStore, journal: JournalVitals = NO_JOURNAL): OutboxStore {
    this.#store = new MeteredStore(store, this.#options.clock);
    this.#journal = journal;
    return this.#store;
  }

  /** Wraps the link events of the core. `details` returns the link's own report. */
  events(core: LinkEvents, details?: () => LinkDetails): LinkEvents {
    this.#details = details;
    return {
      up: () => {
        this.#connected = true;
        this.#connections++;
        core.up();
      },
      down: (reason) => {
        this.#connected = false;
        core.down(reason);
      },
      message: (topic, payload, correlation) => core.message(topic, payload, correlation),
    };
  }

  /** Sets the source of the counters. `inUse` reports whether the car is awake and its readings should arrive. */
  attach(agent: AgentVitals, inUse: () => boolean = () => false): void {
    this.#agent = agent;
    this.#inUse = inUse;
  }

  /** Call when the broker has acknowledged a message. */
  published(bytes: number): void {
    this.#published++;
    this.#sent += bytes;
  }

  /** Activity of the sources, by which a configuration on trial is judged. */
  get activity(): readonly TrialSource[] {
    return this.#sources.activity;
  }

  /** Number of batches and ticks that were not completely processed because of a defect. */
  get faults(): number {
    return this.#agent.faults;
  }

  snapshot(): HealthSnapshot {
    const { clock, process, mode = 'normal', reason } = this.#options;
    const stuck = this.pulse.stuck();
    const sources = this.#sources.vitals;
    const { readings, refused, faults } = this.#agent;
    const { written, flushes, failures, disk, flashed } = this.#journal;
    return {
      mode,
      ...defined({ reason }),
      at: Math.round(clock.now()),
      uptime: Math.round(clock.monotonic() - this.#startedAt),
      ...defined({ stuck }),
      sources,
      frames: sources.reduce((sum, source) => sum + source.frames, 0),
      dropped: sources.reduce((sum, source) => sum + droppedBy(source), 0),
      agent: { readings, refused, faults },
      outbox: this.#store?.waiting ?? [],
      outboxRefused: this.#store?.refused ?? 0,
      commands: Object.fromEntries(this.#store?.outcomes ?? []),
      link: {
        connected: this.#connected,
        connections: this.#connections,
        published: this.#published,
        sent: this.#sent,
        ...(this.#details === undefined ? {} : { details: detailsOf(this.#details()) }),
      },
      journal: { written, flushes, failures, disk, flashed },
      process: rounded(process()),
      delay: Math.round(this.pulse.delay),
    };
  }

  /** Returns the same report in compact form, for a `hello`. */
  hello(): HelloHealth {
    return compact(this.snapshot());
  }
}

/** Rounds processor time to ms and the busy share to hundredths of a percent: the measurement is no finer. */
function rounded(vitals: ProcessVitals): ProcessVitals {
  return { ...vitals, cpu: Math.round(vitals.cpu), busy: Math.round(vitals.busy * 10_000) / 10_000 };
}

/** Returns the fields of a link that belong to the health report; a link may have more. */
function detailsOf(link: LinkDetails): LinkDetails {
  const { state, since, reason, broker, protocol, keepalive, certificateExpires, counts } = link;
  return {
    state,
    since,
    ...defined({ reason, broker, protocol }),
    keepalive,
    ...defined({ certificateExpires }),
    counts: { attempts: counts.attempts, losses: counts.losses },
  };
}

/** Returns the number of frames that a source lost: before its queue, refused by a full queue, or malformed. */
export function droppedBy({ counts }: Pick<SourceVitals, 'counts'>): number {
  return ['dropped', 'interfaceDropped', 'malformed', 'overruns'].reduce((sum, name) => sum + (counts[name] ?? 0), 0);
}

/** Omits fields that are 0 or empty, as nearly all are most of the time. */
export function compact(snapshot: HealthSnapshot): HelloHealth {
  const { agent, link, journal, process } = snapshot;
  const counts = {
    frames: snapshot.frames,
    dropped: snapshot.dropped,
    refused: agent.refused,
    faults: agent.faults,
    sent: link.sent,
    written: journal.written,
    delay: Math.round(snapshot.delay),
    connections: link.connections,
  };
  const seconds = (ms: number): number => Math.max(0, Math.round(ms / 1000));
  return {
    uptime: seconds(snapshot.uptime),
    memory: Math.round((process.privateBytes ?? process.residentBytes) / 1024),
    cpu: seconds(process.cpu),
    ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value > 0)),
    ...(snapshot.stuck === undefined ? {} : { stuck: snapshot.stuck.slice(0, 256) }),
    ...(snapshot.sources.length === 0
      ? {}
      : {
          sources: snapshot.sources.slice(0, 32).map(({ name, state, reason, silence, ...source }) => ({
            name: name.slice(0, 64),
            state,
            ...(reason === undefined ? {} : { reason: reason.slice(0, 128) }),
            ...(silence === undefined ? {} : { silence: seconds(silence) }),
            ...(droppedBy(source) === 0 ? {} : { dropped: droppedBy(source) }),
          })),
        }),
    ...(snapshot.outbox.length === 0
      ? {}
      : {
          outbox: snapshot.outbox.map(({ class: priority, count, bytes, oldest }) => ({
            class: priority,
            count,
            bytes,
            ...(oldest === undefined ? {} : { oldest: seconds(snapshot.at - oldest) }),
          })),
        }),
    ...(Object.keys(snapshot.commands).length === 0
      ? {}
      : { commands: Object.entries(snapshot.commands).map(([outcome, count]) => ({ outcome, count })) }),
    ...(link.details === undefined ? {} : { link: compactLink(link.details) }),
  };
}

function compactLink({ state, broker, protocol, keepalive, certificateExpires, counts }: LinkDetails): HelloLink {
  return {
    ...(state === 'up' ? {} : { state }),
    ...(broker === undefined ? {} : { broker: broker.slice(0, 128) }),
    ...defined({ protocol }),
    keepalive,
    ...(counts.losses === 0 ? {} : { losses: counts.losses }),
    ...defined({ certificateExpires }),
  };
}
