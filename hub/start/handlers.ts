/** Handlers of the hub's interface: those shared with a car, and its own. */
import { randomUUID } from 'node:crypto';
import type { Call } from '../../adapters/http/call.ts';
import type { PageTokens } from '../../adapters/http/paging.ts';
import { handlersOf } from '../../adapters/http/resources/index.ts';
import type { Notifier } from '../../agent/callbacks/notifier.ts';
import type { Clock } from '../../agent/ports.ts';
import { viewOfParts } from '../../assembly/capture-view.ts';
import type { MapTiles } from '../../protocol/interface/own/car-description.ts';
import type { CommandOrder, HubCommands } from '../core/commands.ts';
import type { EventReader } from '../core/events.ts';
import type { LiveFeed } from '../core/live.ts';
import type { FleetOverview } from '../core/overview.ts';
import type { RegistryStates } from '../core/registry-state.ts';
import type { ResendRequests } from '../core/resend.ts';
import type { Viewers } from '../core/viewers.ts';
import { commandHandlers } from '../http/commands.ts';
import { diagnosticsHandlers } from '../http/diagnostics.ts';
import { exitHandlers } from '../http/exits.ts';
import { liveHandlers } from '../http/live.ts';
import { messageHandlers } from '../http/messages.ts';
import { monitorsOf } from '../http/monitors.ts';
import { numbersOf } from '../http/numbers.ts';
import { overviewHandlers } from '../http/overview.ts';
import { resendOf } from '../http/resend.ts';
import { rolloutHandlers } from '../http/rollouts.ts';
import { signalHandlers } from '../http/signals.ts';
import { statusHandlers } from '../http/status.ts';
import { tripClassHandlers } from '../http/trip-classes.ts';
import { eventsSeenBy, ownersIn, seeingOnly, servedTo, visibleCars } from './access.ts';
import { withBooks } from './books.ts';
import { digestOf } from './clients.ts';
import type { HubDatabase } from './database.ts';
import { servedVehicles, type VehicleDefaults } from './vehicles.ts';

/** Parts that the handlers use. */
export interface HandlersParts {
  readonly database: Pick<
    HubDatabase,
    'reader' | 'audit' | 'monitorStore' | 'rollouts' | 'tripClasses' | 'unregistered'
  >;
  readonly states: RegistryStates;
  readonly commands: HubCommands;
  readonly notifier: Notifier;
  /** Call when monitors or callbacks have changed. */
  readonly changed: () => void;
  readonly overview: FleetOverview;
  readonly events: EventReader;
  readonly live: LiveFeed;
  readonly viewers: Viewers;
  readonly resends: ResendRequests;
  readonly pages: PageTokens;
  readonly tiles: MapTiles | undefined;
  readonly vehicle: VehicleDefaults | undefined;
  readonly pushKey: Parameters<typeof overviewHandlers>[0]['pushKey'];
  /** Returns the state of the hub. */
  readonly status: Parameters<typeof statusHandlers>[0];
  readonly exits: Parameters<typeof exitHandlers>[0];
  readonly clock: Clock;
}

export function hubHandlers(parts: HandlersParts): ReturnType<typeof handlersOf> {
  const { database, states, commands, notifier, changed, live, viewers, resends, pages, clock } = parts;
  const { reader, audit, monitorStore, rollouts, tripClasses } = database;
  const visible = visibleCars(states);
  const desk = { store: audit, submit: (order: CommandOrder) => commands.submit(order), newId: randomUUID };
  const books = { store: monitorStore, reader, notifier, clock, changed, commands: desk };
  const served = withBooks(books, servedTo(states, servedVehicles(reader, parts.vehicle)));
  const look = (vin: string): void => viewers.look(vin);
  return {
    ...handlersOf(served, pages),
    ...seeingOnly(visible, {
      'hub.numbers.get': numbersOf(reader, audit, commands),
      'hub.monitors.list': monitorsOf(monitorStore, commands, digestOf),
      ...overviewHandlers({ reader, look, ...fleetLists(parts, visible) }),
      ...liveHandlers({
        feed: live,
        reader,
        visible,
        seenBy: eventsSeenBy,
        clock,
        isIssued: async (token) => (await states.current()).isIssued(token),
        look,
      }),
      ...diagnosticsHandlers({
        reader,
        owners: ownersIn,
        captures: (vin) => viewOfParts(() => reader.captureParts(vin)),
      }),
      ...signalHandlers(reader),
      ...messageHandlers(reader),
      'hub.resend.create': resendOf((vin, caller) => resends.ask(vin, caller)),
      ...rolloutHandlers(rollouts),
      ...statusHandlers(parts.status),
      ...exitHandlers(parts.exits),
      ...tripClassHandlers(tripClasses, reader),
      ...commandHandlers(desk),
    }),
  };
}

/** Returns the handlers of lists over all cars. A caller receives only the cars that it may see. */
function fleetLists(
  { database: { unregistered }, states, overview, events, tiles, pushKey }: HandlersParts,
  visible: ReturnType<typeof visibleCars>,
): Pick<Parameters<typeof overviewHandlers>[0], 'tiles' | 'pushKey' | 'cars' | 'events' | 'unregistered'> {
  const among = async <T extends { readonly vin: string }>(call: Call, all: Iterable<T>): Promise<readonly T[]> => {
    const vins = await visible(call);
    return vins === undefined ? [...all] : [...all].filter(({ vin }) => vins.has(vin));
  };
  return {
    tiles,
    pushKey,
    unregistered: async () => (await unregistered.totals()).cars,
    cars: async (call) => among(call, await overview.cars()),
    events: async (call) => {
      const { version } = await states.current();
      const scope = { vin: call.query['vin'] as string | undefined, owners: ownersIn(call) };
      const view = { key: [...(call.caller.scopes ?? [])].sort().join(' '), see: eventsSeenBy(call) };
      return among(call, await events.of(scope, version, view));
    },
  };
}
