import { join } from 'node:path';
import type { ServedExit } from '../adapters/http/exits.ts';
import type { RunningServer } from '../adapters/http/server.ts';
import { type OwnKey, ownKey } from '../adapters/keys/index.ts';
import { MqttLink } from '../adapters/mqtt/index.ts';
import type { Agent } from '../agent/agent.ts';
import { UnitRest } from '../agent/power/rest.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { withPackage } from '../protocol/missing-package.ts';
import { remoteTypes } from '../protocol/remote/table.ts';
import type { HelloMissing } from '../protocol/schema/hello.ts';
import type { Message } from '../protocol/schema/message.ts';
import { agentSettings } from '../protocol/settings.ts';
import { captureViewIn } from './captures.ts';
import { buildAgent, type CarAgent } from './car-agent.ts';
import type { CarOptions } from './car-options.ts';
import { startSources } from './car-sources.ts';
import { type CloudLink, noLink } from './cloud-link.ts';
import { missingEntries, reportMissing } from './data-folder.ts';
import { beginRecords, finishFirstStart, makeDirectory, takeDirectory } from './directory.ts';
import type { OpenExit } from './exit-report.ts';
import { FrameTap } from './frame-tap.ts';
import type { OutboxNumbers } from './own-outbox.ts';
import { readAgain } from './read-again.ts';
import { type OpenRecords, openKeys, openRecords } from './records.ts';
import { keepChannels } from './retry.ts';
import { quietly, type Teardown, withTeardown } from './teardown.ts';
import { benchOf, takesCommands, titleOf, viewOf } from './view.ts';

export interface Car {
  readonly agent: Agent;
  /** HTTP server of the car's interface. */
  readonly interface?: RunningServer;
  /** Statistics of the outbox, still available after the stop. */
  readonly outbox: OutboxNumbers;
  /** Stops sources, stores open records, closes the link. Resolves when everything is on disk. */
  stop(): Promise<void>;
}

/**
 * Builds the adapters around one agent and starts them: first the records, then the link, then the sources. If one
 * fails, stops all that were started and then rejects: two agents in one directory would damage the records.
 */
export async function startCar(options: CarOptions): Promise<Car> {
  const { begun, stop } = await withTeardown(options.log, (teardowns) => begin(options, teardowns));
  return { ...begun, stop };
}

/** Starts everything. Prepends the function that ends each started thing to `teardowns`. */
async function begin(options: CarOptions, teardowns: Teardown[]): Promise<Omit<Car, 'stop'>> {
  const { log, service, notificationChannels, rest = new UnitRest() } = options;
  refuseContradictions(options);
  await lockFolder(options, teardowns);
  await openChannels(options, teardowns);
  const { first, missing } = await readFolder(options);
  const records = await openRecords({ ...options, first, settings: options.settings ?? agentSettings() }, teardowns);
  const own = await openOwnKey(options);
  const keys = await openKeys({ ...options, first, own }, records, teardowns);
  if (first && options.data !== undefined) {
    await finishFirstStart(options.data, records.store.outbox, log, options.files);
  }
  const link = linkOf(options, rest);
  teardowns.unshift(() => link.close());
  const opened: OpenExit[] = [];
  const numbered = (message: Message): void => {
    options.numbered?.(message);
    for (const exit of opened) exit.numbered?.(message);
  };
  const car = await buildAgent(options.exits === undefined ? options : { ...options, numbered }, {
    records,
    keys,
    own,
    link,
    rest,
    missing,
  });
  const { agent, actuation, collect } = car;
  const sources: Teardown[] = [];
  teardowns.unshift(async () => {
    for (const end of sources) await quietly(end, log);
  });
  // Stop the agent first: a running command must store its state on disk, whatever its source is doing. Meanwhile,
  // release held controls, before their bus closes.
  teardowns.unshift(() => Promise.all([agent.stop(options.stopTimer), actuation.stop()]));
  options.built?.(agent);
  agent.start();
  await collect.resume();
  if (options.monitors !== undefined) await agent.monitors.take(options.monitors);
  const exits: ServedExit[] = [];
  const served = await serveInterface(options, car, records, link, exits);
  if (served !== undefined) teardowns.unshift(() => served.stop());
  await openExits(options, car, records, rest, (exit) => {
    exits.push(...exit.served);
    opened.push(exit);
    teardowns.unshift(() => exit.close());
  });
  if (exits.length > 0) service?.exits(() => exits.map((exit) => exit.report()));
  if (notificationChannels !== undefined) rest.subscribe((asleep) => asleep && notificationChannels.rest());
  const { health } = link;
  const reports = health !== undefined && service !== undefined;
  link.open(reports ? service.events(agent, { health: health.bind(link) }) : agent);
  sources.push(...startSources(options, car, served?.tap));
  // Exits and the interface may need seconds to close: begin no action meanwhile.
  teardowns.unshift(async () => agent.stopCommands());
  return { agent, outbox: records.store.outbox, ...defined({ interface: served?.server }) };
}

function refuseContradictions({ http, data, store }: CarOptions): void {
  if (http !== undefined && data === undefined) {
    throw new VigieError('usage.wrong', 'the interface keeps its keys on disk: give a directory of records (data)');
  }
  if (store !== undefined && data !== undefined) {
    throw new VigieError('usage.wrong', 'give a directory of records (data) or a store of your own, not both');
  }
}

async function lockFolder(options: CarOptions, teardowns: Teardown[]): Promise<void> {
  const { data, service, log } = options;
  if (data === undefined) return;
  makeDirectory(data);
  // For a service, the calling program locked the directory before it read any file there.
  if (service !== undefined) return;
  const unlock = await readAgain(() => takeDirectory(data, log), options);
  teardowns.unshift(async () => unlock());
}

async function openChannels(options: CarOptions, teardowns: Teardown[]): Promise<void> {
  const { notificationChannels, service, clock, log } = options;
  if (notificationChannels === undefined) return;
  teardowns.unshift(async () => notificationChannels.close());
  teardowns.unshift(await keepChannels(notificationChannels, { service, clock, log }));
}

/** `first` is true if no agent has ever run in the folder; `missing` are the files that it should contain. */
async function readFolder(
  options: CarOptions,
): Promise<{ readonly first: boolean; readonly missing: readonly HelloMissing[] }> {
  const { data, service, files, log } = options;
  if (data === undefined) return { first: false, missing: [] };
  // For a service, the calling program checked the folder before it wrote any file.
  const missing =
    service === undefined
      ? reportMissing(data, await readAgain(() => missingEntries(data, 'agent', files), options), log)
      : [];
  return { first: await readAgain(() => beginRecords(data, log, files), options), missing };
}

/** Opens the key with which the car's interface and exits sign commands. */
async function openOwnKey(options: CarOptions): Promise<OwnKey | undefined> {
  const { http, exits, data, log } = options;
  // An exit that may send commands needs the key too.
  const signs = http !== undefined || [...(exits?.configuration.scopes ?? [])].some((one) => one.startsWith('remote:'));
  if (!signs || data === undefined) return undefined;
  return readAgain(() => ownKey(join(data, 'interface-key'), 'interface', remoteTypes, log), options);
}

/** Returns the link to the cloud. @throws VigieError `usage.wrong` or `configuration.wrong` for an invalid address */
function linkOf({ vin, link, mqtt, backoff, log }: CarOptions, rest: UnitRest): CloudLink {
  if (link !== undefined) return link;
  if (mqtt === undefined) return noLink;
  return new MqttLink({ ...mqtt, ...defined({ backoff }), vin, rest, log });
}

interface ServedInterface {
  stop(): Promise<void>;
  readonly server?: RunningServer;
  /** Passes frames on to readers of the interface. */
  readonly tap: FrameTap;
}

/** Serves the car's interface. Resolves with undefined if the configuration has no interface. */
async function serveInterface(
  options: CarOptions,
  { agent }: CarAgent,
  { store }: OpenRecords,
  link: CloudLink,
  exits: readonly ServedExit[],
): Promise<ServedInterface | undefined> {
  const { vin, vehicle, http, data, clock, log, service, faults, notificationChannels } = options;
  if (http === undefined || data === undefined) return undefined;
  const tap = new FrameTap();
  const commands = takesCommands(options);
  // Load its libraries only in a car that serves the interface.
  const { keepInterface } = await withPackage(() => import('./interface.ts'));
  const { stop, server } = await keepInterface(
    {
      ...{ http, data, clock, log },
      view: viewOf({ vin, vehicle, commands, http }, agent, store.records),
      own: {
        ...{ vin, vehicle, agent, link, commands, clock, tap, store: store.outbox },
        title: titleOf(http),
        bench: benchOf(http),
        pushKey: notificationChannels?.pushKey,
      },
      status: agent.status,
      exits,
      signals: agent.signals?.view,
      ...(await captureViewIn(vehicle, store)),
      faults: faults?.view(store.records),
      timeKnown: () => clock.quality() !== 'none',
    },
    (what) => service?.lacks('interface', what),
  );
  return { stop, tap, ...defined({ server }) };
}

/** Starts the configured exits. Calls `opened` for each. */
async function openExits(
  options: CarOptions,
  { agent }: CarAgent,
  { store }: OpenRecords,
  rest: UnitRest,
  opened: (exit: OpenExit) => void,
): Promise<void> {
  const { vin, vehicle, exits, http, clock, log } = options;
  if (exits === undefined) return;
  const { configuration, broker, openNumbered } = exits;
  // Load the code of each exit only in a car that uses it.
  const numbered = await openNumbered?.({ configuration, vin, agent, store, rest, clock, log });
  if (numbered !== undefined) opened(numbered);
  if (configuration.abrp !== undefined) {
    const { openAbrpExit } = await import('./abrp-exit.ts');
    opened(openAbrpExit({ abrp: configuration.abrp, scopes: configuration.scopes, agent, clock, log }));
  }
  if (broker !== undefined) {
    const title = (http && titleOf(http)) ?? vehicle.profile.title ?? vehicle.profile.name;
    const { openExit } = await import('./exits.ts');
    const commands = takesCommands(options);
    const parts = { vin, title, vehicle, agent, store, rest, clock, log, commands };
    opened(await openExit({ configuration, broker, ...parts }));
  }
}
