/** Extensions of an event, beyond its values: the same data as in the HTTP interface, without links. */
import { positionJson } from '../../protocol/interface/json/position.ts';
import {
  alarmJson,
  alertJson,
  collisionJson,
  maintenanceJson,
  theftJson,
  tripJson,
} from '../../protocol/interface/json/records.ts';
import { contentsJson, statusJson } from '../../protocol/interface/json/status.ts';
import { telemetryJson } from '../../protocol/interface/json/telemetry.ts';
import type { Viewer } from '../../protocol/interface/json/viewer.ts';
import type { Members } from '../../protocol/interface/json/writer.ts';
import type { EventExtension } from '../../protocol/schema/event.ts';
import type { ExtensionType } from '../../protocol/schema/monitor/extensions.ts';

/**
 * Returns `{type, body}` for an extension of an event at `at` in UTC ms. The body is an object on the fleet side and an
 * array on the user side.
 */
export function extensionJson(viewer: Viewer, extension: EventExtension, at: number): Members {
  const body = contents[extension.type](viewer, extension, at);
  const { type } = extension;
  if (viewer.side === 'fleet') return { type, body: body ?? {} };
  return { type, body: body === undefined ? [] : [body] };
}

type Content = (viewer: Viewer, extension: EventExtension, at: number) => Members | undefined;

/** By type: the single field of the body, or undefined if its value is unknown. */
const contents: Readonly<Record<ExtensionType, Content>> = {
  'vehicle.doorsState': (viewer, { status }) =>
    status?.doorsState && { doorState: contentsJson(viewer, status)['doorsState'] },
  'vehicle.status': (viewer, { status }, at) => status && { status: statusJson(viewer, status, at) },
  'vehicle.maintenance': (viewer, { maintenance }) =>
    maintenance && { maintenance: maintenanceJson(viewer, maintenance) },
  'vehicle.position': (viewer, { status }) =>
    status?.lastPosition && { position: positionJson(viewer, status.lastPosition) },
  'vehicle.telemetry': (viewer, { status, section }, at) =>
    status && { telemetry: telemetryJson(viewer, status, at, section === undefined ? undefined : [section]) },
  'vehicle.alerts': (viewer, { alerts }) => alerts && { alerts: alerts.map((alert) => alertJson(viewer, alert)) },
  'vehicle.collisions': (viewer, { collision }) => collision && { collisions: collisionJson(viewer, collision) },
  'vehicle.trip': (viewer, { trip }) => trip && { trip: tripJson(viewer, trip) },
  'vehicle.stolen': (viewer, { stolen }) => stolen && { stolen: theftJson(viewer, stolen) },
  'vehicle.alarm': (viewer, { alarm }) => alarm && { alarm: alarmJson(viewer, alarm) },
};
