/** Bodies of responses by name. They are created on request: a server does not need them. */
import type { Side } from '../operation.ts';
import { callback, callbackRef, callbacks } from './callback.ts';
import { collection } from './hal.ts';
import type { JsonSchema } from './json.ts';
import { monitor, monitorRef, monitors } from './monitor.ts';
import { position, wayPoints } from './position.ts';
import { alarmDetails, alert, collision, maintenance, theft } from './records.ts';
import { remoteAction, remoteActions, remotePostResponse } from './remote.ts';
import { status } from './status.ts';
import { telemetries } from './telemetry.ts';
import { trip } from './trip.ts';
import { fleet, fleets, user, vehicle, vehicleCapabilities, vehicles } from './vehicle.ts';

const makers = {
  Fleets: fleets,
  Fleet: fleet,
  Vehicles: vehicles,
  Vehicle: vehicle,
  VehicleCapabilities: vehicleCapabilities,
  User: user,
  Status: status,
  StatusList: (side) => collection('StatusList', 'status', status(side), 'States of vehicles.'),
  Position: position,
  Maintenance: maintenance,
  MaintenanceList: (side) => collection('MaintenanceList', 'maintenances', maintenance(side), 'When service is due.'),
  Telemetries: telemetries,
  Trip: trip,
  Trips: (side) => collection('Trips', 'trips', trip(side), 'Trips.'),
  WayPoints: wayPoints,
  Alert: alert,
  Alerts: (side) => collection('Alerts', 'alerts', alert(side), 'Alerts.'),
  Collision: collision,
  // Capitalized, as published.
  Collisions: (side) => collection('Collisions', 'Collisions', collision(side), 'Collisions.'),
  AlarmDetails: alarmDetails,
  Alarms: (side) => collection('Alarms', 'alarms', alarmDetails(side), 'Event of the alarm.'),
  Stolen: theft,
  StolenCollection: () => collection('StolenCollection', 'stolen', theft(), 'Thefts.'),
  Monitor: monitor,
  Monitors: monitors,
  MonitorRef: monitorRef,
  Callback: callback,
  Callbacks: callbacks,
  CallbackRef: callbackRef,
  RemoteAction: remoteAction,
  RemoteActions: remoteActions,
  RemotePostResponse: remotePostResponse,
} as const satisfies Record<string, (side: Side) => JsonSchema>;

export type ShapeName = keyof typeof makers;

const made = new Map<string, JsonSchema>();

/** Returns the schema of a response of one side. */
export function answerSchema(side: Side, shape: ShapeName): JsonSchema {
  const key = `${side} ${shape}`;
  const schema = made.get(key) ?? makers[shape](side);
  made.set(key, schema);
  return schema;
}
