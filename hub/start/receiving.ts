/** Middle steps of the start of a hub: deliveries to receivers, intake of messages, and the broker. */
import { defined } from '../../protocol/defined.ts';
import type { VigieError } from '../../protocol/errors.ts';
import { Intake } from '../core/intake.ts';
import { UnregisteredCars } from '../core/unregistered.ts';
import { connectExternal, type HubBroker, type HubBrokerParts, startEmbedded } from './broker.ts';
import { clientRights, refusalLog, watchRegistry } from './clients.ts';
import { HubDeliveries } from './deliveries.ts';
import type { HubParts, HubStart } from './options.ts';
import { motorizationIn } from './vehicles.ts';

/** Starts the deliveries of events to receivers. */
export async function startDeliveries(
  { options, clock, log, teardowns }: HubStart,
  { database, notifier, measures, monitors }: HubParts,
): Promise<HubDeliveries> {
  const { deliveries: store, monitorStore, reader } = database;
  const deliveries = new HubDeliveries({
    store,
    books: monitorStore,
    notifier,
    measures: measures.deliveries,
    clock,
    log,
    motorizationOf: async (vin) => motorizationIn(await reader.status(vin)),
    changed: () => monitors.wake(),
  });
  // Only one hub uses an SQLite file, so any existing claims belong to a killed hub.
  if (options.database === undefined) await store.releaseAll();
  deliveries.begin();
  teardowns.unshift(() => deliveries.stop());
  return deliveries;
}

/** Starts the intake, which stores the messages of cars. */
export function startIntake(
  { options, clock, log, after, teardowns }: HubStart,
  { database, measures, erasures }: HubParts,
  deliveries: HubDeliveries,
): Intake {
  const intake = new Intake({
    store: database.store,
    clock,
    log,
    measures,
    waiting: () => deliveries.wake(),
    forgotten: (vins) => erasures.forgottenSent(vins),
    // With the embedded broker, a refused car keeps its messages itself.
    ...(options.broker && { unregistered: database.unregistered }),
    soon: (work) => setImmediate(work),
    after,
  });
  teardowns.unshift(() => intake.settled());
  return intake;
}

/** Starts the search for registered cars with messages kept aside. Wake it when the registry has changed. */
export function startUnregistered(
  { log, after, teardowns }: HubStart,
  { database }: HubParts,
  intake: Intake,
): UnregisteredCars {
  const takeIn = (vins: readonly string[]): void => intake.takeIn(vins);
  const unregistered = new UnregisteredCars({ store: database.unregistered, takeIn, after, log });
  teardowns.unshift(() => unregistered.stop());
  return unregistered;
}

/** Broker of a started hub. */
export interface RunningBroker {
  readonly broker: HubBroker;
  /** Set if the broker runs in this process. */
  readonly embedded?: Awaited<ReturnType<typeof startEmbedded>>;
  /** Resolves when another hub takes this hub's name at an external broker. */
  readonly displaced: Promise<VigieError>;
}

/**
 * Starts the broker or connects to an external one. Then starts the clearing of retained messages of forgotten cars,
 * which needs the broker. `identity` is unique to this hub.
 */
export async function startBroker(
  start: HubStart,
  parts: HubParts,
  identity: string,
  intake: Intake,
): Promise<RunningBroker> {
  const { clock, log, teardowns } = start;
  const { commands, monitors, erasures, states } = parts;
  const running = await connectBroker(start, parts, identity, {
    accept: (topic, payload, retained) => intake.accept(topic, payload, retained),
    presence: (vin) => void erasures.sent(vin),
    online: (vin) => {
      Promise.all([commands.resend(vin), monitors.online(vin)]).catch((error: Error) =>
        log.error('hub.commands.unread', { vin, error: error.message }),
      );
    },
  });
  const { broker, embedded } = running;
  teardowns.unshift(() => broker.stop());
  erasures.begin();
  teardowns.unshift(() => erasures.stop());
  if (embedded !== undefined) teardowns.unshift(watchRegistry({ states, clock, log }, embedded));
  return running;
}

/** Length of a hub's default name, in hexadecimal digits of its key. */
const NAME_LENGTH = 12;

async function connectBroker(
  { options: { hosts, port, name, broker: external }, clock, log, after }: HubStart,
  { database: { reader, registry, locks }, states, own }: HubParts,
  identity: string,
  receiving: HubBrokerParts,
): Promise<RunningBroker> {
  let displace: (error: VigieError) => void = () => undefined;
  const displaced = new Promise<VigieError>((resolve) => {
    displace = resolve;
  });
  if (external !== undefined) {
    const broker = await connectExternal(external, {
      ...receiving,
      name: name ?? identity.slice(0, NAME_LENGTH),
      identity,
      known: async () => (await reader.vehicles()).map(({ vin }) => vin),
      locks,
      displaced: displace,
      log,
    });
    return { broker, displaced };
  }
  const embedded = await startEmbedded(
    {
      ...defined({ host: hosts?.broker, tls: own?.tls }),
      port,
      identify: clientRights(states, registry),
      refused: refusalLog(clock, log),
      failed: (client, error) => log.error('hub.client.failed', { client, reason: String(error) }),
      after,
    },
    receiving,
  );
  return { embedded, broker: embedded, displaced };
}
