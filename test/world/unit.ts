/** The unit in a car: its disk, its clock, its link, and one run of the real agent after the other on them. */
import { type TrustChanges, TrustStore } from '../../adapters/keys/index.ts';
import { type FileSystem, openDocument, openStore, type Store } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import { BusActivity } from '../../agent/bus-activity.ts';
import type { AgentPorts } from '../../agent/options.ts';
import type { Log, OutgoingMessage } from '../../agent/ports.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { deflate } from '../../assembly/deflate.ts';
import { type Boots, countBoot, openChanges, openLedger } from '../../assembly/directory.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';
import type { Broker, Network } from './broker.ts';
import { WorldLink } from './broker.ts';
import { actuatorOf, profile, type WorldCar } from './car.ts';
import type { Chance } from './chance.ts';
import { WorldCollections } from './collections.ts';
import { type DiskFaults, WorldDisk } from './disk.ts';
import { InterfaceUser } from './interface-user.ts';
import { trustedIn } from './keys.ts';
import { Receivers } from './receivers.ts';
import { profilesOfSignals, type RawSignal } from './signals.ts';
import { BoardClock, RunClock, type WorldTime } from './time.ts';

/** Small, so that segments are begun, compacted and reused within minutes. */
const SEGMENT = 32 * 1024;
const KEPT = 512 * 1024;
const DATA = '/car';
/** ms for which readings are gathered. */
const BATCH = 10_000;

/** What the world wants to know of a unit. All of it is of a run that has not ended. */
export interface UnitWatcher {
  /** A message has its number; it need not be on disk yet. */
  numbered(unit: Unit, message: Message): void;
  published(unit: Unit, message: OutgoingMessage): void;
  acknowledged(unit: Unit, message: OutgoingMessage): void;
  acts(unit: Unit, action: string): void;
  /** A message on a down topic comes to the agent. */
  received(unit: Unit, payload: Uint8Array): void;
  logged(unit: Unit, level: keyof Log, event: string, fields: unknown): void;
  opened(unit: Unit): void;
  /** A notification was sent again, although its receiver had said in this run that it has it. */
  sentAgain(unit: Unit, what: string): void;
  /** The run has ended; its disk is as it left it. */
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
  /** Bytes that may wait in the outbox. */
  readonly outboxLimit: number;
  /** The car has custom signals, and takes commands to collect more. */
  readonly signals?: boolean;
  /** The hub may give it monitors. */
  readonly fleet?: boolean;
}

export interface Run {
  readonly clock: RunClock;
  readonly store: Store;
  readonly agent: Agent;
  readonly link: WorldLink;
  readonly boot: number;
  readonly collections: WorldCollections | undefined;
}

export class Unit {
  readonly vin: string;
  readonly disk: WorldDisk;
  readonly board: BoardClock;
  readonly network: Network = { dark: false, lag: 0 };
  readonly receivers: Receivers;
  readonly user = new InterfaceUser();
  /** The agent, when it has opened its records. */
  run: Run | undefined;
  runs = 0;
  /** The disk has refused something since the last start. */
  diskRefused = false;
  /** Which custom signals the profile of the next run has. */
  variant = 0;
  readonly #parts: UnitParts;
  #clock: RunClock | undefined;

  constructor(parts: UnitParts) {
    this.#parts = parts;
    this.vin = parts.vin;
    this.disk = new WorldDisk(parts.time);
    this.receivers = new Receivers({
      time: parts.time,
      chance: parts.chance.fork('receivers'),
      again: (what) => parts.watcher.sentAgain(this, what),
    });
    this.board = new BoardClock(Date.UTC(2026, 0, 5, 6) - parts.time.now, parts.time);
  }

  /** The unit has power and a program that has not ended. */
  get alive(): boolean {
    return this.#clock?.alive === true;
  }

  /** As it leaves the factory: with empty records, and the keys that it trusts. */
  async prepare(): Promise<void> {
    const files = this.disk.mount(
      () => true,
      { ...this.#parts.faults, refuses: () => undefined, operated: () => undefined },
      this.#parts.chance,
    );
    const trust: TrustChanges = { generation: 1, keys: trustedIn(this.#parts) };
    await (await openDocument<TrustChanges>(`${DATA}/trust.json`, {}, { files })).write(trust);
    await (await openDocument(`${DATA}/remotes.json`, emptyLedger, { files })).write(emptyLedger);
  }

  /** The program starts; rejects when it cannot. */
  async start(): Promise<void> {
    const { time, car, chance, vin, broker, watcher, faults, outboxLimit } = this.#parts;
    const clock = new RunClock(time, this.board);
    this.#clock = clock;
    const number = ++this.runs;
    this.diskRefused = false;
    const alive = (): boolean => clock.alive;
    const files: FileSystem = this.disk.mount(alive, faults, chance.fork(`disk ${number}`));
    const say =
      (level: keyof Log) =>
      (event: string, fields?: Record<string, unknown>): void => {
        if (alive()) watcher.logged(this, level, event, fields);
      };
    const log: Log = { info: say('info'), warn: say('warn'), error: say('error') };
    const numbers = chance.fork(`boot ${number}`);
    const boots = await openDocument<Boots>(`${DATA}/boot.json`, { boot: 0 }, { log, files });
    const boot = await countBoot(boots, vin, DATA, log, (least, below) => numbers.between(least, below - 1));
    const now = (): number | undefined => (clock.quality() === 'none' ? undefined : clock.now());
    const store = await openStore(`${DATA}/outbox`, {
      ...{ log, files, now, segmentBytes: SEGMENT, keptBytes: KEPT, timer: clock },
      agreed: () => clock.agreed(),
    });
    const ledger = await openLedger(DATA, false, log, files);
    const { memory } = store;
    const changes = await openChanges({ data: DATA, memory, file: 'trust', first: false, ledger, log, files });
    const keys = TrustStore.without(clock, { changes, log });
    memory.keep(() => keys.states());
    if (!alive()) return;
    const link = new WorldLink({
      ...{ vin, time, network: this.network, broker, alive },
      chance: chance.fork(`link ${number}`),
    });
    const settings = agentSettings({ outbox: { limit: outboxLimit, batch: BATCH } });
    const collections = this.#collections(store, clock, log, () => agent.hello());
    const agent: Agent = new Agent(
      profile,
      {
        ...{ clock, log, ledger, memory, deflate, keys },
        store: store.outbox,
        records: store.records,
        notifier: this.receivers.notifier(alive),
        verifier: keys,
        actuator: actuatorOf(car, time, alive, (action) => watcher.acts(this, action)),
        activity: new BusActivity(clock, settings.power.busSilentAfter),
        ...(collections && partsOf(collections)),
        link: {
          get connected() {
            return link.connected;
          },
          publish: async (message) => {
            if (!alive()) return new Promise<never>(() => undefined);
            watcher.published(this, message);
            await link.publish(message);
            if (!alive()) return new Promise<never>(() => undefined);
            watcher.acknowledged(this, message);
          },
        },
      },
      {
        ...{ vin, version: 'world', boot, settings },
        quality: () => clock.quality(),
        window: () => link.window,
        numbered: (message) => {
          if (alive()) watcher.numbered(this, message);
        },
      },
    );
    agent.start();
    collections?.resume();
    this.run = { clock, store, agent, link, boot, collections };
    const custom = collections === undefined ? [] : (profilesOfSignals[this.variant] ?? []);
    const receive = agent.intake(() => car.decoder(custom.map(({ signal }) => signal as RawSignal)));
    const take = collections?.behind(receive) ?? receive;
    car.connect(
      (batch) => alive() && take(batch),
      () => clock.now(),
    );
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
      ...{ car, variant, clock, log, memory, hello, batch: BATCH },
      commit: () => outbox.commit(),
    });
  }

  /** The program ends without a word. With `power` the power fails, and the disk keeps what it must, perhaps damaged. */
  cut(power: boolean, chance: Chance, damages = false): void {
    const { car, watcher } = this.#parts;
    if (this.#clock !== undefined) this.#clock.alive = false;
    car.connect(undefined);
    const connection = this.run?.link.connection;
    // The network still brings what was sent, perhaps.
    connection?.end('the unit is off', chance.happens(0.5));
    this.run = undefined;
    watcher.closed(this, power);
    if (power) this.disk.cutPower(chance, damages);
  }

  /** The run has ended where nobody could see it: inside an operation of the disk. */
  endSilently(): void {
    if (this.#clock !== undefined) this.#clock.alive = false;
  }
}

/** What an agent takes of them. */
function partsOf(collections: WorldCollections): Partial<AgentPorts> {
  return {
    signals: collections.signals,
    recorders: [collections.recorder],
    agentCommands: new Map([['Collect', collections.order]]),
    overseer: { looksEvery: () => undefined, ticked: () => undefined, hello: () => collections.hello() },
  };
}
