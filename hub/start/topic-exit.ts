/** Plain topics of the cars of a hub, from what any hub commits. Of the hubs on a database, one sends them. */
import { createHash } from 'node:crypto';
import { commandTopic } from '../../adapters/exits/exit.ts';
import { CloudClient, MqttLink, presenceAt } from '../../adapters/mqtt/index.ts';
import type { LinkEvents, OutgoingMessage } from '../../agent/ports.ts';
import type { ExitsConfiguration } from '../../config/exits.ts';
import { type BrokerConfiguration, brokerAddress } from '../../config/mqtt.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import type { LiveFeed, LiveViewer } from '../core/live.ts';
import type { RegistryState } from '../core/registry-state.ts';
import type { HubBroker } from './broker.ts';
import { onChanges } from './clients.ts';
import { ExitCar, type ExitCarParts } from './exit-car.ts';
import { type CarDescriber, carDescriber } from './exit-descriptions.ts';
import { clearTopics, readMarkers } from './exit-markers.ts';
import { ExitRounds } from './exit-rounds.ts';
import type { HubParts, HubStart } from './options.ts';

/** Delay in ms before the exit repeats what the broker refused: messages of cars, and the clearing of topics. */
const RETRY_MS = 60_000;
/** Time in ms between two updates of the state of the exit in the database. */
const REPORT_MS = 10_000;
/** Maximum length in characters of a topic in a log message. */
const MAX_SHOWN = 100;
const PRESENCES: readonly string[] = ['online', 'asleep', 'offline'];
const NAME = 'topics';

export interface TopicExitParts {
  readonly start: HubStart;
  readonly parts: HubParts;
  readonly broker: Pick<HubBroker, 'followPresence'>;
  readonly live: Pick<LiveFeed, 'open' | 'close'>;
  readonly configuration: ExitsConfiguration;
}

/** Sends the topics until `ended` resolves. Rejects if the database or the broker of the cars does not answer. */
export async function runTopics(given: TopicExitParts, ended: Promise<void>): Promise<void> {
  const { parts, configuration } = given;
  const { mqtt, prefix } = configuration;
  if (mqtt === undefined) throw new Error('the exit has no broker');
  const place = (await parts.database.locks.place()) ?? parts.keys.identity;
  const id = createHash('sha256').update(place).digest('hex').slice(0, 12);
  const own = `${prefix}/hub/${id}`;
  const describer = await carDescriber(configuration, own);
  // Hubs on one database follow each other at the broker under one name.
  const topics = new HubTopics(given, mqtt, { own, clientId: `vigie-hub-exit-${id}`, describer });
  try {
    await topics.open();
    await ended;
  } finally {
    await topics.close();
  }
}

interface OwnParts {
  /** Start of the topics of the exit itself. */
  readonly own: string;
  readonly clientId: string;
  readonly describer: CarDescriber;
}

class HubTopics implements LinkEvents {
  readonly #given: TopicExitParts;
  readonly #own: OwnParts;
  readonly #mqtt: BrokerConfiguration;
  readonly #link: MqttLink;
  /** Cars that the hub has data of and that are not removed. */
  #shown = new Set<string>();
  readonly #rounds: ExitRounds;
  readonly #presence = new Map<string, string>();
  /** True once the cars were read on this connection. Before that, topics of all cars would count as those of others. */
  #isReady = false;
  /** True if the broker may retain topics of cars that are not shown. */
  #untidy = false;
  #cancelRetry: (() => void) | undefined;
  #cancelReport: () => void = () => undefined;
  #state: RegistryState | undefined;
  #error: string | undefined;
  #refused: string | undefined;
  #succeededAt = 0;
  /** Last stored state. */
  #reported: string | number | undefined;
  #closed = false;
  readonly #closers: (() => unknown)[] = [];

  constructor(given: TopicExitParts, mqtt: BrokerConfiguration, own: OwnParts) {
    const { start, parts, configuration } = given;
    const { prefix, form, retain, interval, scopes } = configuration;
    this.#given = given;
    this.#own = own;
    this.#mqtt = mqtt;
    const link = new MqttLink({
      ...brokerAddress(mqtt),
      // The broker must not store commands, because they would be executed late.
      ...{ vin: own.clientId, clientId: own.clientId, sessionExpiry: 0, log: start.log },
      down: commandTopic(prefix, '+', '#'),
      presence: presenceAt(`${own.own}/presence`),
    });
    this.#link = link;
    const shared: ExitCarParts = {
      ...{ scopes, clock: start.clock, log: start.log, commands: parts.commands },
      topics: { prefix, form, retain, interval },
      link: {
        get connected() {
          return link.connected;
        },
        publish: (message) => this.#publish(message),
      },
      describe: (car, known) => own.describer.messages(car, known),
      refused: (error) => this.#refuse(error),
    };
    this.#rounds = new ExitRounds({
      interval,
      clock: start.clock,
      isConnected: () => link.connected && this.#isReady,
      before: () => this.#tidy(),
      read: (vin) => (this.#shown.has(vin) ? parts.database.reader.status(vin) : undefined),
      create: (vin) => new ExitCar(vin, shared),
      presenceOf: (vin) => this.#presence.get(vin),
      gone: (vin, sent) => this.#forget(vin, sent),
      failed: (error) => this.#failed(error),
    });
  }

  async open(): Promise<void> {
    const { start, parts, live, broker, configuration } = this.#given;
    const { database, states } = parts;
    const { scopes, mqtt } = configuration;
    await database.exits.open(NAME);
    this.#state = await states.current();
    const viewer: LiveViewer = {
      visible: async () => undefined,
      event: (event) => this.#event(event),
      changed: () => undefined,
      missed: () => undefined,
      end: () => undefined,
    };
    this.#closers.push(await broker.followPresence((vin, presence) => this.#present(vin, presence)));
    if (scopes.has('data:telemetry')) {
      this.#closers.push(() => live.close(viewer));
      await live.open(viewer);
    }
    this.#closers.push(
      database.news.listen({
        arrived: ({ vins }) => this.#arrived(vins),
        missed: () => this.#rounds.makeDue(this.#shown),
      }),
      onChanges({ states, clock: start.clock, log: start.log }, async (state) => {
        this.#state = state;
        await this.#readCars();
      }),
    );
    this.#link.open(this);
    start.log.info('exit.opened', { broker: String(mqtt?.url), scopes: [...scopes].join(' ') });
    this.#report();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const close of this.#closers) await close();
    this.#cancelRetry?.();
    this.#cancelReport();
    await this.#rounds.close();
    await this.#link.close();
  }

  up(): void {
    this.#error = undefined;
    this.#report();
    void this.#begin();
  }

  /** Sends all cars, and clears what the broker retains of others. */
  async #begin(): Promise<void> {
    try {
      await this.#readCars();
      this.#isReady = true;
      this.#untidy = true;
      this.#rounds.greet(this.#shown);
    } catch (error) {
      this.#failed(error);
      this.#retryLater();
    }
  }

  down(reason: string): void {
    this.#error = reason;
    this.#isReady = false;
    this.#rounds.down();
    this.#report();
  }

  message(topic: string, payload: Uint8Array, _correlation?: Uint8Array, retained?: boolean): void {
    const { start, configuration } = this.#given;
    const vin = topic.slice(configuration.prefix.length + 1).split('/')[0] ?? '';
    const car = this.#rounds.cars.get(vin);
    if (car !== undefined) car.message(topic, payload, retained);
    else if (payload.length > 0) {
      const command = topic.slice(0, MAX_SHOWN);
      start.log.warn('exit.commandRefused', { command, reason: 'the hub has no such car, or no value of it yet' });
    }
  }

  /** Reads which cars the hub shows. Makes new ones due, and has the topics of the others cleared. */
  async #readCars(): Promise<void> {
    const known = await this.#given.parts.database.reader.vehicles();
    const before = this.#shown;
    this.#shown = new Set(known.map(({ vin }) => vin).filter((vin) => this.#mayShow(vin)));
    this.#rounds.makeDue([...this.#shown].filter((vin) => !before.has(vin)));
    this.#rounds.makeDue([...this.#rounds.cars.keys()].filter((vin) => !this.#shown.has(vin)));
  }

  #mayShow(vin: string): boolean {
    return this.#state?.inUse !== true || this.#state.isActive(vin);
  }

  #arrived(vins: readonly string[]): void {
    const fresh = vins.filter((vin) => this.#mayShow(vin));
    for (const vin of fresh) this.#shown.add(vin);
    // Not all brokers send what they retain to filters with wildcards. A car that sends is online.
    for (const vin of fresh) if (!this.#presence.has(vin)) this.#present(vin, 'online');
    this.#rounds.makeDue(fresh);
  }

  #present(vin: string, presence: string): void {
    if (presence === '') this.#presence.delete(vin);
    if (!PRESENCES.includes(presence) || this.#presence.get(vin) === presence) return;
    this.#presence.set(vin, presence);
    this.#rounds.cars.get(vin)?.tellPresence(presence);
  }

  #forget(vin: string, sent: boolean): void {
    this.#shown.delete(vin);
    this.#presence.delete(vin);
    if (!sent) return;
    this.#untidy = true;
    this.#rounds.greet([]);
  }

  /** Clears the topics of cars that are not shown, and discovery messages at earlier topics. */
  async #tidy(): Promise<void> {
    if (!this.#untidy) return;
    this.#untidy = false;
    const { log } = this.#given.start;
    const { url, ...address } = brokerAddress(this.#mqtt);
    const { own, clientId, describer } = this.#own;
    const { prefix } = this.#given.configuration;
    try {
      const options = { ...address, clientId: `${clientId}-reader`, sessionExpiry: 0, log };
      const client = await CloudClient.connect(url, options);
      try {
        for (const [vin, marker] of await readMarkers(client, own)) {
          if (!this.#shown.has(vin)) {
            await clearTopics(client, { own, prefix, vin, marker });
            continue;
          }
          if (marker.discovery !== undefined && marker.discovery !== describer.topic(vin)) {
            await client.publish(marker.discovery, new Uint8Array(), { retain: true });
          }
          describer.announced(vin, marker);
        }
      } finally {
        await client.close();
      }
    } catch (error) {
      this.#failed(error);
      this.#retryLater();
    }
  }

  async #publish(message: OutgoingMessage): Promise<void> {
    await this.#rounds.count(this.#link.publish(message));
    this.#succeededAt = Math.round(this.#given.start.clock.now());
  }

  #refuse(error: unknown): void {
    if (error instanceof VigieError && error.code === 'link.lost') return;
    this.#refused = reasonOf(error);
    this.#retryLater();
  }

  /** Sends all cars again later, since the cause may have ended, and clears what could not be cleared. */
  #retryLater(): void {
    if (this.#closed) return;
    this.#cancelRetry ??= this.#given.start.clock.after(RETRY_MS, () => {
      this.#cancelRetry = undefined;
      this.#refused = undefined;
      void this.#begin();
    });
  }

  #failed(error: unknown): void {
    if (this.#closed) return;
    this.#given.start.log.warn('hub.exits.failed', { exit: NAME, error: reasonOf(error) });
  }

  /** Shows the state of a command that a car reports. */
  #event({ vin, kind, at, body }: FleetEvent): void {
    if (kind !== 'remote') return;
    const { remoteActionId, type, status, failureCause, detail } = body;
    this.#rounds.cars.get(vin)?.tellOutcome({ remoteActionId, type, status, failureCause, detail, at: dateTime(at) });
  }

  /** Stores the state of the exit now and regularly. */
  #report(): void {
    const { start, parts } = this.#given;
    this.#cancelReport();
    if (this.#closed) return;
    this.#cancelReport = start.clock.after(REPORT_MS, () => this.#report());
    const away = this.#link.connected
      ? undefined
      : (this.#error ?? this.#link.health().reason ?? 'connects to the broker');
    const error = away ?? this.#refused;
    const succeededAt = this.#succeededAt || Math.round(start.clock.now());
    if (this.#reported === (error ?? succeededAt)) return;
    this.#reported = error ?? succeededAt;
    const { exits } = parts.database;
    const stored =
      error === undefined ? exits.save(NAME, 0, { next: 0, refused: 0 }, succeededAt) : exits.failed(NAME, error);
    stored.catch((cause: unknown) => {
      this.#reported = undefined;
      this.#failed(cause);
    });
  }
}
