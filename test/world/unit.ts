/** The unit in a car: its disk, clock and link, and consecutive runs of the real agent on them. */
import type { Forwarder, NumberedItem } from '../../adapters/exits/forwarder.ts';
import { type TrustChanges, TrustStore } from '../../adapters/keys/index.ts';
import { type FileSystem, memoryStore, openDocument, openStore, type Store } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import { Backoff } from '../../agent/backoff.ts';
import { MinimalAgent } from '../../agent/minimal.ts';
import type { AgentPorts } from '../../agent/options.ts';
import type { Link, Log, OutgoingMessage } from '../../agent/ports.ts';
import { BusActivity } from '../../agent/power/bus-activity.ts';
import type { Rest } from '../../agent/power/rest.ts';
import { emptyLedger, type LedgerData, type LedgerDocument } from '../../agent/remotes/ledger.ts';
import { FAREWELL, within } from '../../agent/within.ts';
import { carForwarder } from '../../assembly/car-forwarder.ts';
import { deflate } from '../../assembly/deflate.ts';
import { type Boots, countBoot, openChanges, openLedger, unrecordedBoot } from '../../assembly/directory.ts';
import { isUnreadable, readAgain, type Unreadable } from '../../assembly/read-again.ts';
import { quietly } from '../../assembly/teardown.ts';
import { classes } from '../../protocol/classes.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { type AgentSettings, agentSettings } from '../../protocol/settings.ts';
import type { Broker, Network } from './broker.ts';
import { WorldLink } from './broker.ts';
import { actuatorOf, profile, type WorldCar } from './car.ts';
import type { Chance } from './chance.ts';
import { WorldCollections } from './collections.ts';
import { WorldConfigurations } from './configurations.ts';
import { type DiskFaults, WorldDisk } from './disk.ts';
import { EXIT_COLLECTION, ExitReceiver, type ExitReceiverParts } from './exits.ts';
import { InterfaceUser } from './interface-user.ts';
import { trustedIn } from './keys.ts';
import { Receivers } from './receivers.ts';
import { profilesOfSignals, type RawSignal } from './signals.ts';
import { BoardClock, RunClock, type WorldTime } from './time.ts';

/** Small, so that segments are begun, compacted and reused within minutes. */
const SEGMENT = 32 * 1024;
const KEPT = 512 * 1024;
const DATA = '/car';
/** Power settings of a car that soon falls asleep. */
const SLEEPY = { standbyFor: 10_000, lowBatteryStandbyFor: 5_000 } as const;
/** Time for which readings are gathered, ms. */
const BATCH = 10_000;

const AWAKE: Rest = { asleep: false, subscribe: () => () => undefined };

/** Time between attempts to read records that the disk did not return, ms, as in `commands/run.ts`. */
const REREAD = { first: 5_000, longest: 5 * 60_000 } as const;

/** Events of a unit for the world, all within a run that has not ended. */
export interface UnitWatcher {
  /** A message has its number. It may not be on disk yet. */
  numbered(unit: Unit, message: Message): void;
  published(unit: Unit, message: OutgoingMessage): void;
  acknowledged(unit: Unit, message: OutgoingMessage): void;
  acts(unit: Unit, action: string): void;
  /** A message on a down topic reaches the agent. */
  received(unit: Unit, payload: Uint8Array): void;
  logged(unit: Unit, level: keyof Log, event: string, fields: unknown): void;
  opened(unit: Unit): void;
  /** The data directory is replaced from now on. */
  replaced(unit: Unit): void;
  /** The agent must restart with another configuration. */
  reconfigured(unit: Unit): void;
  /** The minimal agent has ended, because the disk returns the records again. */
  restarts(unit: Unit): void;
  /** The exit of the car sent what it must not. */
  exitBroken(unit: Unit, invariant: Parameters<ExitReceiverParts['broken']>[0], what: string): void;
  /** A notification was repeated although its receiver had confirmed it in this run. */
  sentAgain(unit: Unit, what: string): void;
  /** The run has ended and its disk is final. */
  closed(unit: Unit, power: boolean): void;
}

export interface UnitParts {
  readonly vin: string;
  readonly time: WorldTime;
  readonly chance: Chance;
  readonly broker: Broker;
  readonly car: WorldCar;
  readonly faults: DiskFaults;
  readonly watcher: UnitWatcher;
  /** Maximum size of the outbox, bytes. */
  readonly outboxLimit: number;
  /** Whether the car has custom signals and accepts collect commands. */
  readonly signals?: boolean;
  /** Whether the hub may send it monitors. */
  readonly fleet?: boolean;
  /** Whether the hub may send it commands of callers. */
  readonly callbacks?: boolean;
  /** Whether it sends records to an exit. */
  readonly exits?: boolean;
  /** Whether the hub may send it configurations. */
  readonly rollouts?: boolean;
  /** Whether it falls asleep soon. */
  readonly sleeps?: boolean;
}

export interface Run {
  readonly clock: RunClock;
  readonly store: Store;
  readonly agent: Agent;
  readonly link: WorldLink;
  readonly boot: number;
  readonly collections: WorldCollections | undefined;
  readonly forwarder: Forwarder<NumberedItem> | undefined;
  readonly configurations: WorldConfigurations | undefined;
}

/** One start of the program. */
interface Start {
  readonly clock: RunClock;
  /** Counted from 1. */
  readonly number: number;
  readonly alive: () => boolean;
  readonly log: Log;
  readonly files: FileSystem;
}

interface Records {
  readonly boot: number;
  readonly store: Store;
  readonly ledger: LedgerDocument;
  readonly keys: TrustStore;
  readonly configurations: WorldConfigurations | undefined;
}

export class Unit {
  readonly vin: string;
  readonly disk: WorldDisk;
  readonly board: BoardClock;
  readonly network: Network = { dark: false, lag: 0 };
  readonly receivers: Receivers;
  readonly exitReceiver: ExitReceiver;
  readonly user = new InterfaceUser();
  /** The agent, once it has opened its records. */
  run: Run | undefined;
  runs = 0;
  /** Whether the disk has refused a write since the last start. */
  diskRefused = false;
  /** Selects the custom signals of the profile for the next run. */
  variant = 0;
  /** Whether an orderly stop has begun in this run. */
  isStopping = false;
  /** Whether the next run finds a new data directory. */
  isReplaced = false;
  readonly #parts: UnitParts;
  /** Delays between attempts to read files that the disk did not return. */
  readonly #waits = new Backoff(REREAD);
  #clock: RunClock | undefined;
  #link: WorldLink | undefined;

  constructor(parts: UnitParts) {
    this.#parts = parts;
    this.vin = parts.vin;
    this.disk = new WorldDisk(parts.time);
    this.receivers = new Receivers({
      time: parts.time,
      chance: parts.chance.fork('receivers'),
      again: (what) => parts.watcher.sentAgain(this, what),
    });
    this.exitReceiver = new ExitReceiver({
      time: parts.time,
      chance: parts.chance.fork('exit'),
      broken: (invariant, what) => parts.watcher.exitBroken(this, invariant, what),
    });
    this.board = new BoardClock(Date.UTC(2026, 0, 5, 6) - parts.time.now, parts.time);
  }

  /** Whether the unit has power and its program runs. */
  get alive(): boolean {
    return this.#clock?.alive === true;
  }

  /** Prepares the factory state: empty records, and the trusted keys. */
  async prepare(alive: () => boolean = () => true): Promise<void> {
    const works = { refuses: () => undefined, unreadable: () => undefined, operated: () => undefined };
    const files = this.disk.mount(alive, { ...this.#parts.faults, ...works }, this.#parts.chance);
    const trust: TrustChanges = { generation: 1, keys: trustedIn(this.#parts) };
    await (await openDocument<TrustChanges>(`${DATA}/trust.json`, {}, { files })).write(trust);
    await (await openDocument(`${DATA}/remotes.json`, emptyLedger, { files })).write(emptyLedger);
  }

  /** Starts the program. Rejects if it cannot start. */
  async start(): Promise<void> {
    const { time, watcher, chance, faults } = this.#parts;
    const clock = new RunClock(time, this.board);
    this.#clock = clock;
    const number = ++this.runs;
    this.diskRefused = false;
    this.isStopping = false;
    const alive = (): boolean => clock.alive;
    if (this.isReplaced) {
      watcher.replaced(this);
      this.disk.replace();
      await this.prepare(alive);
      this.isReplaced = false;
    }
    const say =
      (level: keyof Log) =>
      (event: string, fields?: Record<string, unknown>): void => {
        if (alive()) watcher.logged(this, level, event, fields);
      };
    const log: Log = { info: say('info'), warn: say('warn'), error: say('error') };
    const files: FileSystem = this.disk.mount(alive, faults, chance.fork(`disk ${number}`));
    const start: Start = { clock, number, alive, log, files };
    try {
      const records = await this.#open(start);
      this.#waits.reset();
      if (alive()) this.#begin(start, records);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if (alive()) this.#beginMinimal(start, error);
    }
  }

  /** As in `assembly/records.ts`. */
  async #open({ clock, number, log, files }: Start): Promise<Records> {
    const { chance, vin } = this.#parts;
    const read = <T>(attempt: () => Promise<T>): Promise<T> => readAgain(attempt, { clock, log });
    const numbers = chance.fork(`boot ${number}`);
    const restart = (): void => this.#parts.watcher.reconfigured(this);
    const configurations = this.#parts.rollouts
      ? await read(() => WorldConfigurations.open({ folder: DATA, files, clock, log, restart }))
      : undefined;
    const boots = await read(() => openDocument<Boots>(`${DATA}/boot.json`, { boot: 0 }, { log, files }));
    const now = (): number | undefined => (clock.quality() === 'none' ? undefined : clock.now());
    const store = await read(() =>
      openStore(`${DATA}/outbox`, {
        log,
        files,
        now,
        segmentBytes: SEGMENT,
        keptBytes: KEPT,
        timer: clock,
        agreed: () => clock.agreed(),
      }),
    );
    try {
      const { memory } = store;
      const anyNumber = (least: number, below: number): number => numbers.between(least, below - 1);
      const boot = await countBoot(boots, memory, { vin, log, anyNumber });
      const ledger = await read(() => openLedger(DATA, false, log, files));
      const parts = { data: DATA, memory, file: 'trust', first: false, ledger, log, files };
      const changes = await read(() => openChanges(parts));
      const keys = TrustStore.without(clock, { changes, log });
      memory.keep(() => keys.states());
      return { boot, store, ledger, keys, configurations };
    } catch (error) {
      await quietly(() => store.close(), log);
      throw error;
    }
  }

  /** As in `commands/without-records.ts`. */
  #beginMinimal({ clock, number, alive, log, files }: Start, fault: Unreadable): void {
    const { vin, chance, watcher } = this.#parts;
    const numbers = chance.fork(`boot ${number}`);
    const link = this.#connect(chance.fork(`link ${number}`), alive);
    const { outbox, memory } = memoryStore();
    const ledger: { data: LedgerData; write: (next: LedgerData) => Promise<void> } = {
      data: emptyLedger,
      write: async (next) => {
        ledger.data = next;
      },
    };
    const agent = new MinimalAgent(
      {
        clock,
        log,
        memory,
        ledger,
        store: outbox,
        link: this.#watched(link, alive),
        verifier: TrustStore.without(clock),
        agentCommands: new Map(),
        ticked: () => undefined,
      },
      {
        vin,
        version: 'world',
        profile: profile.name,
        reason: fault.message,
        boot: unrecordedBoot((least, below) => numbers.between(least, below - 1)),
        settings: this.#settings(),
        quality: () => clock.quality(),
        window: () => link.window,
        more: () => ({}),
      },
    );
    agent.start();
    link.open(agent);
    const restart = async (): Promise<void> => {
      await agent.stop();
      if (!alive()) return;
      clock.alive = false;
      link.connection?.end('the agent starts again', true);
      watcher.restarts(this);
    };
    const look = (): void => {
      clock.after(this.#waits.next(), () => {
        if (isReadable(fault.where ?? DATA, files)) void restart();
        else look();
      });
    };
    look();
  }

  #settings(): AgentSettings {
    const { outboxLimit, sleeps } = this.#parts;
    return agentSettings({ outbox: { limit: outboxLimit, batch: BATCH }, ...(sleeps === true && { power: SLEEPY }) });
  }

  #connect(chance: Chance, alive: () => boolean): WorldLink {
    const { vin, time, broker } = this.#parts;
    const link = new WorldLink({ vin, time, network: this.network, broker, alive, chance });
    this.#link = link;
    return link;
  }

  /** A message of a run that has ended has no effect. */
  #watched(link: WorldLink, alive: () => boolean, reached: () => void = () => undefined): Link {
    const { watcher } = this.#parts;
    return {
      get connected() {
        return link.connected;
      },
      publish: async (message) => {
        if (!alive()) return new Promise<never>(() => undefined);
        watcher.published(this, message);
        await link.publish(message);
        if (!alive()) return new Promise<never>(() => undefined);
        watcher.acknowledged(this, message);
        reached();
      },
    };
  }

  #begin({ clock, number, alive, log }: Start, { boot, store, ledger, keys, configurations }: Records): void {
    const { time, car, chance, vin, watcher } = this.#parts;
    const { memory } = store;
    const link = this.#connect(chance.fork(`link ${number}`), alive);
    const settings = this.#settings();
    const collections = this.#collections(store, clock, log, () => agent.hello());
    const agent: Agent = new Agent(
      profile,
      {
        clock,
        log,
        ledger,
        memory,
        deflate,
        keys,
        store: store.outbox,
        records: store.records,
        notifier: this.receivers.notifier(alive),
        verifier: keys,
        actuator: actuatorOf(car, time, alive, (action) => watcher.acts(this, action)),
        activity: new BusActivity(clock, settings.power.busSilentAfter),
        ...partsOf(collections, configurations, () => agent),
        link: this.#watched(link, alive, () => configurations?.reached()),
      },
      {
        vin,
        version: 'world',
        boot,
        settings,
        quality: () => clock.quality(),
        window: () => link.window,
        numbered: (message) => {
          if (alive()) watcher.numbered(this, message);
        },
      },
    );
    agent.start();
    collections?.resume();
    const forwarder =
      this.#parts.exits === true
        ? carForwarder(
            'world',
            EXIT_COLLECTION,
            { agent, store, rest: AWAKE, clock, log },
            this.exitReceiver.writer(alive),
          )
        : undefined;
    this.run = { clock, store, agent, link, boot, collections, forwarder, configurations };
    const custom = collections === undefined ? [] : (profilesOfSignals[this.variant] ?? []);
    const isDeaf = configurations?.text.startsWith('deaf') === true;
    const receive = agent.intake(
      () => (isDeaf ? { decode: () => undefined } : car.decoder(custom.map(({ signal }) => signal as RawSignal))),
      undefined,
      isDeaf || collections === undefined ? [] : [(batch) => collections.take(batch)],
    );
    car.connect(
      (batch) => {
        if (alive()) receive(batch);
      },
      () => clock.now(),
    );
    if (configurations?.text.startsWith('lost') !== true)
      link.open({
        up: () => agent.up(),
        down: (reason) => agent.down(reason),
        message: (topic, payload, correlation) => {
          watcher.received(this, payload);
          agent.message(topic, payload, correlation);
        },
      });
    watcher.opened(this);
  }

  #collections(store: Store, clock: RunClock, log: Log, hello: () => void): WorldCollections | undefined {
    const { signals, car } = this.#parts;
    if (signals !== true) return undefined;
    const { variant } = this;
    const { memory, outbox } = store;
    return new WorldCollections({
      car,
      variant,
      clock,
      log,
      memory,
      hello,
      batch: BATCH,
      commit: () => outbox.commit(),
    });
  }

  /**
   * Stops the program as `assembly/car.ts` does, and the exit as `assembly/record-topics.ts` does. Resolves with the next
   * number of each class, or never if the program is killed meanwhile.
   * @param exitClosed called when only the agent must still stop
   */
  async stop(exitClosed: () => void): Promise<readonly number[]> {
    const { run } = this;
    if (run === undefined || this.isStopping) return new Promise<never>(() => undefined);
    this.isStopping = true;
    const { agent, store, forwarder, clock } = run;
    try {
      agent.stopCommands();
      if (forwarder !== undefined) await within(FAREWELL, forwarder.close(), clock);
      exitClosed();
      await agent.stop();
      run.link.connection?.end('the agent stops', true);
      const numbers = classes.map((_, priority) => store.outbox.nextSeq(priority));
      await store.close();
      if (clock.alive) return numbers;
    } catch (error) {
      if (clock.alive) throw error;
    }
    return new Promise<never>(() => undefined);
  }

  /** Kills the program. With `power`, the power fails, and the disk keeps only what it must, possibly damaged. */
  cut(power: boolean, chance: Chance, damages = false): void {
    const { car, watcher } = this.#parts;
    if (this.#clock !== undefined) this.#clock.alive = false;
    car.connect(undefined);
    const connection = this.#link?.connection;
    // The network may still deliver packets that were sent.
    connection?.end('the unit is off', chance.happens(0.5));
    this.run = undefined;
    watcher.closed(this, power);
    if (power) this.disk.cutPower(chance, damages);
  }

  /** The run has ended unobserved, inside a disk operation. */
  endSilently(): void {
    if (this.#clock !== undefined) this.#clock.alive = false;
  }
}

function isReadable(path: string, files: FileSystem): boolean {
  try {
    files.read(path);
  } catch (error) {
    return !isReadFailure(error);
  }
  return true;
}

/** Ports of an agent with collections and configurations. */
function partsOf(
  collections: WorldCollections | undefined,
  configurations: WorldConfigurations | undefined,
  agentOf: () => Agent,
): Partial<AgentPorts> {
  const ticked = async (): Promise<void> => {
    const agent = agentOf();
    const { asleep, inUse, readings } = agent;
    const source = { kind: 'frames', name: 'body', state: 'running', speaks: !asleep, readings } as const;
    if (await configurations?.look({ sources: [source], inUse, asleep, faults: {} })) agent.hello();
  };
  return {
    ...(collections && { signals: collections.signals, recorders: [collections.recorder] }),
    agentCommands: new Map([
      ...(collections ? ([['Collect', collections.order]] as const) : []),
      ...(configurations ? ([['Configuration', configurations.order]] as const) : []),
    ]),
    overseer: {
      looksEvery: () => undefined,
      ticked: () => void ticked(),
      hello: () => ({ ...collections?.hello(), ...(configurations && { configuration: configurations.hello }) }),
    },
  };
}
