import { join } from 'node:path';
import type { CallbackChannels } from '../adapters/callbacks/index.ts';
import { notifierOf } from '../adapters/callbacks/request-batch.ts';
import type { CarClock } from '../adapters/clock/system.ts';
import type { RunningServer } from '../adapters/http/server.ts';
import { ownKey } from '../adapters/keys/index.ts';
import { type MqttAddress, MqttLink } from '../adapters/mqtt/index.ts';
import type { FileSystem } from '../adapters/store/index.ts';
import { Agent } from '../agent/agent.ts';
import { Backoff, type BackoffOptions } from '../agent/backoff.ts';
import type { GivenMonitor } from '../agent/monitors/desk.ts';
import type { AgentOptions, AgentPorts } from '../agent/options.ts';
import type { Actuator, Clock, FrameSource, Log, OutgoingMessage, ReadingSource } from '../agent/ports.ts';
import { BusActivity } from '../agent/power/bus-activity.ts';
import { UnitRest } from '../agent/power/rest.ts';
import type { AgentCommand } from '../agent/remotes/agent-command.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { withPackage } from '../protocol/missing-package.ts';
import { remoteTypes } from '../protocol/remote/table.ts';
import type { CommandKind } from '../protocol/schema/remote.ts';
import { type AgentSettings, agentSettings } from '../protocol/settings.ts';
import { actuationOf, type Ways } from './actuation.ts';
import { setAlarm } from './alarm.ts';
import { capturesOf, captureViewIn } from './captures.ts';
import { type CloudLink, noLink, publisherOf } from './cloud-link.ts';
import { Collect } from './collect.ts';
import type { CollectSurroundings } from './collector.ts';
import { missingEntries, reportMissing } from './data-folder.ts';
import { deflate } from './deflate.ts';
import { beginRecords, finishFirstStart, makeDirectory, takeDirectory } from './directory.ts';
import { type FaultCodes, readFaultsCommand } from './faults.ts';
import { FrameTap } from './frame-tap.ts';
import type { InterfaceOptions } from './interface.ts';
import type { OutboxNumbers } from './own-outbox.ts';
import { readAgain } from './read-again.ts';
import { type OwnStore, openKeys, openRecords } from './records.ts';
import { keepChannels } from './retry.ts';
import type { CarService } from './service.ts';
import { quietly, type Teardown, withTeardown } from './teardown.ts';
import { decoderFor, signalsOf, type Vehicle } from './vehicle.ts';
import { version } from './version.ts';
import { benchOf, namesOf, titleOf, viewOf } from './view.ts';

/** Parts of a running agent. */
export interface CarOptions extends Ways {
  readonly vin: string;
  readonly vehicle: Vehicle;
  /**
   * Directory of records and state, used by one agent at a time; absent: they are in memory, and end with the agent. The
   * interface needs one.
   */
  readonly data?: string;
  /** Where messages, state and records are kept; the file system of the machine unless given. */
  readonly files?: FileSystem;
  /** Opens a store of the program's own; not together with `data`. Commands are then remembered in memory only. */
  readonly store?: () => Promise<OwnStore>;
  /** Sources of frames; each knows what its buses are called in the profile. */
  readonly sources?: readonly FrameSource[];
  /** Sources of readings that are not frames. */
  readonly readings?: readonly ReadingSource[];
  /** The broker. */
  readonly mqtt?: MqttAddress;
  /** Another way to the cloud, instead of `mqtt`. With neither nothing is published, and what would be waits. */
  readonly link?: CloudLink;
  /** Waits between attempts to reach the broker, ms; default 1 s to 2 min, for fleets and mobile networks. */
  readonly backoff?: BackoffOptions;
  /** File of the keys that may sign commands. */
  readonly trust?: string;
  /** Time zone of programs, a name of the IANA data base. */
  readonly zone?: string;
  /** Default: the defaults of a configuration. */
  readonly settings?: AgentSettings;
  readonly log: Log;
  readonly clock: CarClock;
  /** Ends the wait of a stop for acknowledgements; default: `clock`. */
  readonly stopTimer?: Pick<Clock, 'after'>;
  /** Sleep state of the unit; the link and the sources subscribe to it. */
  readonly rest?: UnitRest;
  /** How far notifications may go; default: no channel at all. */
  readonly notificationChannels?: CallbackChannels;
  /** The interface that the car serves. */
  readonly http?: InterfaceOptions['http'];
  /** Monitors that are written in the configuration; absent: those that were before go on. */
  readonly monitors?: readonly GivenMonitor[];
  readonly service?: CarService;
  /** Ways to carry out commands that go before those of the profile. */
  readonly actuators?: readonly Actuator[];
  /** Recorders in addition to the agent's own. */
  readonly recorders?: AgentPorts['recorders'];
  /** Called with the agent before it starts, and so before anything changes. */
  readonly built?: (agent: Agent) => void;
  /** Called with each message as it is numbered. Must not throw. */
  readonly numbered?: AgentOptions['numbered'];
  /** Lets further frames pass the kernel, in addition to those of the profile. If omitted, all frames pass. */
  readonly listen?: CollectSurroundings['listen'];
  /** Reads and records fault codes; absent: the agent does not read them. */
  readonly faults?: FaultCodes;
  /** Called with each message the broker has acknowledged. */
  readonly published?: (topic: string, payload: Uint8Array) => void;
}

export interface Car {
  readonly agent: Agent;
  /** Where its interface is served. */
  readonly interface?: RunningServer;
  /** Its numbers, also when it has stopped. */
  readonly outbox: OutboxNumbers;
  /** Ends sources, hands over what is open, closes the link; resolves when everything is on disk. */
  stop(): Promise<void>;
}

/**
 * Builds the adapters around one agent and starts them: first the records, then the link, then the sources. Where that
 * fails, whatever was begun is ended before it rejects: two agents in one directory of records would ruin it.
 */
export async function startCar(options: CarOptions): Promise<Car> {
  const { begun, stop } = await withTeardown(options.log, (teardowns) => begin(options, teardowns));
  return { ...begun, stop };
}

/** Registers at the front of `teardowns` how to end each thing that it begins. */
async function begin(options: CarOptions, teardowns: Teardown[]): Promise<Omit<Car, 'stop'>> {
  const { vin, vehicle, data, log, clock, http, service, trust } = options;
  const { sources = [], notificationChannels, rest = new UnitRest(), settings = agentSettings() } = options;
  if (http !== undefined && data === undefined) {
    throw new VigieError('usage.wrong', 'the interface keeps its keys on disk: give a directory of records (data)');
  }
  if (options.store !== undefined && data !== undefined) {
    throw new VigieError('usage.wrong', 'give a directory of records (data) or a store of your own, not both');
  }
  if (data !== undefined) {
    makeDirectory(data);
    // The program around a service has taken the directory before it read anything there.
    const unlock = service === undefined ? await readAgain(() => takeDirectory(data, log), options) : undefined;
    teardowns.unshift(async () => unlock?.());
  }
  if (notificationChannels !== undefined) {
    teardowns.unshift(async () => notificationChannels.close());
    teardowns.unshift(await keepChannels(notificationChannels, { service, clock, log }));
  }
  // Around the agent of a service the program has looked before it wrote anything.
  const missing =
    data === undefined || service !== undefined
      ? []
      : reportMissing(data, await readAgain(() => missingEntries(data, 'agent', options.files), options), log);
  const first = data !== undefined && (await readAgain(() => beginRecords(data, log, options.files), options));
  const records = await openRecords({ ...options, first, settings }, teardowns);
  const { boot, store, ledger } = records;
  const names = namesOf({ vin, vehicle, http: options.http });
  const own =
    http === undefined || data === undefined
      ? undefined
      : await readAgain(() => ownKey(join(data, 'interface-key'), 'interface', remoteTypes, log), options);
  const keys = await openKeys(
    { data, first, files: options.files, clock, log, trust, own, service },
    records,
    teardowns,
  );
  if (first && data !== undefined) await finishFirstStart(data, store.outbox, log, options.files);
  const link = linkOf(options, rest);
  teardowns.unshift(() => link.close());
  const publish =
    options.link === undefined ? (message: OutgoingMessage) => link.publish(message) : publisherOf(link, log);
  const buses = new BusActivity(clock, settings.power.busSilentAfter);
  // A bus without a source takes no frames either: the sender there gets that error, not that the bus sleeps.
  const sleeps = (bus: string): boolean => sources.some((source) => source.buses.includes(bus)) && buses.asleep(bus);
  const actuation = actuationOf(vehicle, { ...options, sleeps }, clock, log, options.actuators);
  const kept = service?.store(store) ?? store.outbox;
  const collect = new Collect({
    ...{ vehicle, clock, log, memory: store.memory, waiting: kept, listen: options.listen, settings },
    quality: () => clock.quality(),
    numbers: () => agent.signals?.numbers,
    commit: () => kept.commit(),
    hello: () => agent.hello(),
  });
  const recorders = [
    ...(options.recorders ?? []),
    collect.recorder,
    ...(options.faults?.recorders({ write: (channel, value, at) => agent.channels.write(channel, value, at) }) ?? []),
  ];
  const agent: Agent = new Agent(
    vehicle.profile,
    {
      clock,
      log,
      store: kept,
      memory: store.memory,
      records: store.records,
      ledger,
      deflate,
      waker: setAlarm,
      rest: rest.set,
      traffic: () => link.bytes ?? 0,
      ...(await signalsOf(vehicle)),
      ...(await capturesOf(vehicle)),
      recorders,
      link: {
        get connected() {
          return link.connected;
        },
        publish: async (message) => {
          await publish(message);
          options.published?.(message.topic, message.payload);
        },
      },
      actuator: actuation.actuator,
      activity: buses,
      verifier: keys,
      keys,
      ...(own === undefined ? {} : { signer: own.signer }),
      ...(notificationChannels === undefined ? {} : { notifier: notifierOf(notificationChannels, () => names) }),
      agentCommands: new Map<CommandKind, AgentCommand>([
        ...(service?.agentCommands ?? []),
        ['Collect', collect.order],
        ...(options.faults === undefined
          ? []
          : ([['ReadFaults', readFaultsCommand(options.faults, () => kept.commit())]] as const)),
      ]),
      overseer: {
        looksEvery: (ms) => service?.overseer.looksEvery(ms),
        ticked: () => service?.overseer.ticked(),
        hello: () => ({
          ...service?.overseer.hello(),
          ...(missing.length > 0 && { missing: [...missing] }),
          ...collect.hello(),
        }),
      },
    },
    {
      vin,
      version,
      boot,
      ...defined({ zone: options.zone }),
      settings,
      quality: () => clock.quality(),
      window: () => link.window ?? 1,
      ...defined({ numbered: options.numbered }),
    },
  );
  const inputs: Teardown[] = [];
  teardowns.unshift(async () => {
    for (const end of inputs) await quietly(end, log);
  });
  // What is held is given back while the state of its command is kept, and before its bus goes. First the agent: a
  // command under way must keep the state it has on disk, whatever its source does now.
  teardowns.unshift(() => Promise.all([agent.stop(options.stopTimer), actuation.stop()]));
  options.built?.(agent);
  agent.start();
  await collect.resume();
  if (options.monitors !== undefined) await agent.monitors.take(options.monitors);
  const tap = new FrameTap();
  const commands =
    trust !== undefined &&
    (options.sender !== undefined || (options.requesters?.size ?? 0) > 0 || (options.actuators?.length ?? 0) > 0);
  const served =
    http === undefined || data === undefined
      ? undefined
      : // Only a car that serves it has its libraries in memory.
        await (await withPackage(() => import('./interface.ts'))).keepInterface(
          {
            http,
            view: viewOf({ vin, vehicle, commands, http }, agent, store.records),
            own: {
              vin,
              vehicle,
              title: titleOf(http),
              agent,
              link,
              commands,
              clock,
              tap,
              store: store.outbox,
              bench: benchOf(http),
              pushKey: notificationChannels?.pushKey,
            },
            status: agent.status,
            signals: agent.signals?.view,
            ...(await captureViewIn(vehicle, store)),
            faults: options.faults?.view(store.records),
            data,
            timeKnown: () => clock.quality() !== 'none',
            clock,
            log,
          },
          (what) => service?.lacks('interface', what),
        );
  if (served !== undefined) teardowns.unshift(() => served.stop());
  if (notificationChannels !== undefined) rest.subscribe((asleep) => asleep && notificationChannels.rest());
  const { health } = link;
  const reports = health !== undefined && service !== undefined;
  link.open(reports ? service.events(agent, { health: health.bind(link) }) : agent);
  for (const source of sources) {
    const receive = collect.behind(
      agent.intake(() => decoderFor(vehicle, agent.wanted, source.buses), source),
      source,
    );
    const heard = served === undefined ? receive : tap.behind(receive, source);
    inputs.push(supervise(source, () => source.start(heard), clock, log));
  }
  for (const source of options.readings ?? []) {
    inputs.push(supervise(source, () => source.start(agent.wanted, agent.sink(source.apart)), clock, log));
  }
  return { agent, outbox: store.outbox, ...(served?.server === undefined ? {} : { interface: served.server }) };
}

/** Connection to the cloud. @throws VigieError `usage.wrong` or `configuration.wrong` for an invalid address */
function linkOf({ vin, link, mqtt, backoff, log }: CarOptions, rest: UnitRest): CloudLink {
  if (link !== undefined) return link;
  if (mqtt === undefined) return noLink;
  return new MqttLink({ ...mqtt, ...defined({ backoff }), vin, rest, log });
}

/** Waits between attempts to start a source, ms. */
const RESTART = { first: 1_000, longest: 60_000 };

/**
 * Starts a source, and again with growing waits when that fails: a bus or file that is not there yet must not keep
 * the agent from its other work.
 * @returns stops it
 */
function supervise(
  source: { stop(): Promise<void> },
  start: () => Promise<void>,
  clock: Clock,
  log: Log,
): () => Promise<void> {
  const backoff = new Backoff(RESTART);
  let cancel: () => void = () => undefined;
  let stopped = false;
  const attempt = (): void => {
    start().catch((error: Error) => {
      if (stopped) return;
      const wait = backoff.next();
      log.error('source.failed', { error: error.message, again: `${wait / 1000} s` });
      cancel = clock.after(wait, attempt);
    });
  };
  attempt();
  return async () => {
    stopped = true;
    cancel();
    await source.stop();
  };
}
