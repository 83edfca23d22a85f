/** Starts a hub: its broker, an SQLite file or PostgreSQL, and the interface on the loopback address. */
import { join } from 'node:path';
import type { RunningServer } from '../../adapters/http/server.ts';
import { channelsOf } from '../../assembly/callback-channels.ts';
import { type Teardown, withTeardown } from '../../assembly/teardown.ts';
import type { CallbacksConfiguration } from '../../config/callbacks.ts';
import { defined } from '../../protocol/defined.ts';
import type { VigieError } from '../../protocol/errors.ts';
import { callbackSettings, defaultsOf } from '../../protocol/settings.ts';
import { HubCommands } from '../core/commands.ts';
import { Erasures } from '../core/erasures.ts';
import { HubMeasures } from '../core/measures.ts';
import type { NumbersStore, Timer } from '../core/ports.ts';
import { onChanges } from './clients.ts';
import { keysFolder } from './hub-keys.ts';
import { startMonitorSync } from './monitors.ts';
import { hubNotifier } from './notifier.ts';
import { openDatabase, openDirectory, openKeys, openRegistry, openTls } from './opening.ts';
import type { HubOptions, HubParts, HubStart } from './options.ts';
import { startBroker, startDeliveries, startIntake, startUnregistered } from './receiving.ts';
import { startRounds } from './rounds.ts';
import { hubViews, startCarEnrolment, startHealth, startInterface } from './serving.ts';
import { startStatus } from './status.ts';

export type { HubOptions } from './options.ts';

/** Default: notifications go only to public addresses, and only encrypted. */
const CALLBACKS: CallbacksConfiguration = { networks: [], allowHttp: false, ...defaultsOf(callbackSettings) };

export interface Hub {
  /** Port of the enrolment of cars. If omitted, there is no enrolment. */
  readonly enrolment?: number;
  /** URL of the broker. */
  readonly broker: string;
  readonly interface: RunningServer;
  /** Address of metrics and health, in addition to the socket in the directory. */
  readonly metrics?: string;
  readonly store: NumbersStore;
  /** File with the public key for commands, which cars must trust. */
  readonly trust: string;
  /** Fleets of the registry at the start. If omitted, every car may send, and requests need no token. */
  readonly fleets?: readonly string[];
  /** Resolves with the reason when another hub has taken the name of this hub, which then receives no more messages. */
  readonly displaced: Promise<VigieError>;
  /** Stops interface and broker, then the database. */
  stop(): Promise<void>;
}

/**
 * Starts a hub. Rejects with `usage.wrong` if another process uses the directory, a port is taken or Node has no
 * SQLite. Also rejects as {@link SqliteDatabase.open}, `PostgresDatabase.open` and {@link connectExternal} do.
 */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { begun, stop } = await withTeardown(options.log, (teardowns) => begin(options, teardowns));
  return { ...begun, stop };
}

function kindsOfExits(exits: HubOptions['exits']): readonly ('influx' | 'topics')[] {
  return [
    ...(exits?.influx === undefined ? [] : ['influx' as const]),
    ...(exits?.mqtt === undefined ? [] : ['topics' as const]),
  ];
}

/** Starts all parts. For each part, adds the function that stops it to the front of `teardowns`. */
async function begin(options: HubOptions, teardowns: Teardown[]): Promise<Omit<Hub, 'stop'>> {
  const { clock, log } = options;
  const after: Timer = (delay, due) => clock.after(delay, due);
  const start: HubStart = { options, clock, log, after, teardowns };
  const callbacks = { ...CALLBACKS, ...options.callbacks };
  openDirectory(start);
  const database = await openDatabase(start, callbacks.queueLimit);
  const keys = await openKeys(start, database);
  const states = await openRegistry(start, database.registry);
  const own = await openTls(start);

  // Commands and viewers send through the broker, which starts after them.
  const publish = (topic: string, payload: Uint8Array): Promise<void> => running.broker.publish(topic, payload);
  const clear = (vin: string, topics: readonly string[]): Promise<void> => running.broker.clearRetained(vin, topics);
  const commands = new HubCommands({ store: database.audit, keys: () => keys.commands(), clock, log, publish });
  const erasures = new Erasures({ registry: database.registry, after, log, clear });

  const monitors = startMonitorSync(start, database.monitorStore, commands);
  const channels = channelsOf(callbacks, () => clock.now());
  teardowns.unshift(() => channels.close());
  const sending = { commands, erasures, monitors, notifier: hubNotifier(channels) };
  const parts: HubParts = { database, states, keys, own, measures: new HubMeasures(clock), ...sending };
  const deliveries = await startDeliveries(start, parts);
  const intake = startIntake(start, parts, deliveries);
  const unregistered = startUnregistered(start, parts, intake);
  const running = await startBroker(start, parts, keys.identity, intake);

  const views = hubViews(start, database, running.broker);
  const onRegistry = onChanges({ states, clock, log }, async (state) => {
    // A car that joins or leaves a fleet has different monitors.
    monitors.wake();
    erasures.wake();
    unregistered.wake();
    views.live.endTokens((token) => state.isIssued(token));
  });
  teardowns.unshift(onRegistry);
  const resends = startRounds(start, parts);
  if (options.exits !== undefined) {
    const feeds = { live: views.live, broker: running.broker };
    await (await import('./exits.ts')).startExits(start, parts, feeds, options.exits);
  }
  const status = startStatus(start, parts, { intake, broker: running.broker });
  const exits = (): ReturnType<typeof database.exits.reports> => database.exits.reports(kindsOfExits(options.exits));
  const health = await startHealth(start, parts, { intake, broker: running.broker, status, exits });
  const changed = (): void => {
    monitors.wake();
    deliveries.changed();
  };
  const shown = { ...parts, ...views, resends, changed, status, exits, pushKey: channels.pushKey };
  const server = await startInterface(start, shown, health);
  const trust = join(keysFolder(options.data), 'trust.json');
  const enrolment = await startCarEnrolment(start, parts, running, server, trust);

  const { inUse, fleets } = await states.current();
  return {
    broker: running.broker.url,
    ...(inUse ? { fleets: fleets.map(({ id }) => id) } : {}),
    interface: server,
    store: database.reader,
    trust,
    displaced: running.displaced,
    ...defined({ metrics: health.address, enrolment }),
  };
}
