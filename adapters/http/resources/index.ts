/** Handlers of all operations of the interface: with data of the car, or at a hub with data that cars have sent. */
import type { Call, Handler, Handlers } from '../call.ts';
import type { PageTokens } from '../paging.ts';
import { alarm, alarms } from './alarms.ts';
import { alert, alerts } from './alerts.ts';
import {
  callback,
  callbacks,
  createCallback,
  removeCallback,
  replaceCallback,
  setCallbackStatus,
} from './callbacks.ts';
import { type Awaitable, type CarView, onlyVehicle, type ServedVehicles } from './car.ts';
import { collision, collisions } from './collisions.ts';
import { contextOf, type Resource } from './context.ts';
import { fleet, fleets } from './fleets.ts';
import { fleetMaintenances, maintenance } from './maintenance.ts';
import { createMonitor, monitor, monitors, removeMonitor, replaceMonitor, setMonitorStatus } from './monitors.ts';
import { lastPosition } from './positions.ts';
import { remote, remotes, sendRemote } from './remotes.ts';
import { fleetStatus, status } from './status.ts';
import { theft, thefts, theftWaypoints } from './stolen.ts';
import { telemetry, tripTelemetry } from './telemetry.ts';
import { trip, trips } from './trips.ts';
import { user } from './user.ts';
import { capabilitiesByVin, vehicle, vehicles } from './vehicles.ts';
import { tripWaypoints } from './waypoints.ts';

/**
 * Returns the handlers of all operations by id. They throw VigieErrors: `request.unknown` for a missing resource,
 * `input.malformed` and `input.unknown` for an invalid body or page token, `request.forbidden` for a remote without its
 * scope, `store.failed` if writing to the disk fails.
 */
export function handlers(car: CarView, tokens: PageTokens): Handlers {
  const served = onlyVehicle(car);
  return handlersOf(() => served, tokens);
}

/** Like {@link handlers}, for the vehicles that `served` returns for each call. */
export function handlersOf(served: (call: Call) => Awaitable<ServedVehicles>, tokens: PageTokens): Handlers {
  const answered = Object.entries(resources()).map(([id, resource]): [string, Handler] => [
    id,
    async (call) => resource(await contextOf(await served(call), call, tokens)),
  ]);
  return Object.fromEntries(answered);
}

function resources(): Readonly<Record<string, Resource>> {
  return {
    ...both({
      'vehicles.list': vehicles,
      'vehicles.get': vehicle,
      'status.get': status,
      'lastPosition.get': lastPosition,
      'maintenance.get': maintenance,
      'telemetry.list': telemetry,
      'tripTelemetry.list': tripTelemetry,
      'trips.list': trips,
      'trips.get': trip,
      'tripWaypoints.list': tripWaypoints,
      'alerts.list': alerts('alerts.get'),
      'alerts.get': alert,
      'tripAlerts.list': alerts('tripAlerts.get'),
      'tripAlerts.get': alert,
      'collisions.list': collisions('collisions.get'),
      'collisions.get': collision,
      'alarms.list': alarms,
      'alarms.get': alarm,
      'monitors.list': monitors,
      'monitors.create': createMonitor,
      'monitors.get': monitor,
      'monitors.replace': replaceMonitor,
      'monitors.remove': removeMonitor,
      'monitors.setStatus': setMonitorStatus,
      'callbacks.list': callbacks,
      'callbacks.create': createCallback,
      'callbacks.get': callback,
      'callbacks.replace': replaceCallback,
      'callbacks.remove': removeCallback,
      'callbacks.setStatus': setCallbackStatus,
      'remotes.create': sendRemote,
      'remotes.list': remotes,
      'remotes.get': remote,
    }),
    'fleet.fleets.list': fleets,
    'fleet.fleets.get': fleet,
    'fleet.capabilities.get': capabilitiesByVin,
    'fleet.fleetStatus.list': fleetStatus,
    'fleet.fleetMaintenances.list': fleetMaintenances,
    'fleet.fleetTrips.list': trips,
    'fleet.fleetAlerts.list': alerts('fleetAlerts.get'),
    'fleet.fleetAlerts.get': alert,
    'fleet.fleetCollisions.list': collisions('fleetCollisions.get'),
    'fleet.fleetCollisions.get': collision,
    // The fleet side has no operation that reads one collision of a trip.
    'fleet.tripCollisions.list': collisions('collisions.get'),
    'fleet.stolen.list': thefts,
    'fleet.stolen.get': theft,
    'fleet.stolenWaypoints.list': theftWaypoints,
    'user.user.get': user,
    'user.tripCollisions.list': collisions('tripCollisions.get'),
    'user.tripCollisions.get': collision,
  };
}

/** Returns the resources under the operation ids of both sides. */
function both(named: Readonly<Record<string, Resource>>): Record<string, Resource> {
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, resource]) => [
      [`fleet.${name}`, resource],
      [`user.${name}`, resource],
    ]),
  );
}
