/** Contents of an event beside its values, as notifications carry them: resources of the interface without links. */
import { alarmRecordSchema } from '../../protocol/schema/alarm.ts';
import { alertSchema } from '../../protocol/schema/alert.ts';
import type { CallbackSide } from '../../protocol/schema/callback.ts';
import { type Collision, collisionSchema } from '../../protocol/schema/collision.ts';
import type { EventExtension } from '../../protocol/schema/event.ts';
import type { TSchema } from '../../protocol/schema/fields.ts';
import { maintenanceSchema } from '../../protocol/schema/maintenance.ts';
import type { ExtensionType } from '../../protocol/schema/monitor/extensions.ts';
import { statusContentsSchema } from '../../protocol/schema/status.ts';
import { theftSchema } from '../../protocol/schema/theft.ts';
import { tripSchema } from '../../protocol/schema/trip.ts';
import { published, rfc3339 } from './published.ts';

type Members = Readonly<Record<string, unknown>>;

/** Whose event it is, and when. */
export interface Occasion {
  readonly side: CallbackSide;
  readonly vin: string;
  /** UTC ms. */
  readonly at: number;
}

/** A record as a resource; on the fleet side each names its car. */
function resource(schema: TSchema, record: unknown, { side, vin }: Occasion): Members {
  const members = published(schema, record) as Members;
  return side === 'fleet' ? { vin, ...members } : members;
}

export const alertResource = (alert: unknown, occasion: Occasion): Members => resource(alertSchema, alert, occasion);

/** Without what was measured around the impact: that is evidence, kilobytes of it, and goes to the cloud. */
export function collisionResource({ pulse: _, readings: __, ...collision }: Collision, occasion: Occasion): Members {
  return resource(collisionSchema, collision, occasion);
}

/** `{type, body}` of an extension; the body is an object on the fleet side, an array on the user side. */
export function extensionResource(extension: EventExtension, occasion: Occasion): Members {
  const body = contents[extension.type](extension, occasion);
  if (occasion.side === 'fleet') return { type: extension.type, body: body ?? {} };
  return { type: extension.type, body: body === undefined ? [] : [body] };
}

/** By type: the one member of the body; undefined: nothing is known of it. */
const contents: Readonly<
  Record<ExtensionType, (extension: EventExtension, occasion: Occasion) => Members | undefined>
> = {
  'vehicle.doorsState': ({ status }) =>
    status?.doorsState === undefined ? undefined : { doorState: statusOf(status)['doorsState'] },
  'vehicle.status': ({ status }, occasion) => {
    if (status === undefined) return undefined;
    const { vin, side, at } = occasion;
    return { status: { ...(side === 'fleet' ? { vin } : {}), createdAt: rfc3339(at), ...statusOf(status) } };
  },
  'vehicle.maintenance': ({ maintenance }, occasion) =>
    maintenance === undefined ? undefined : { maintenance: resource(maintenanceSchema, maintenance, occasion) },
  'vehicle.position': ({ status }) =>
    status?.lastPosition === undefined ? undefined : { position: statusOf(status)['lastPosition'] },
  'vehicle.telemetry': ({ status }, { at }) =>
    status === undefined ? undefined : { telemetry: telemetryOf(statusOf(status), at) },
  'vehicle.alerts': ({ alerts }, occasion) =>
    alerts === undefined ? undefined : { alerts: alerts.map((alert) => alertResource(alert, occasion)) },
  'vehicle.collisions': ({ collision }, occasion) =>
    collision === undefined ? undefined : { collisions: collisionResource(collision, occasion) },
  'vehicle.trip': ({ trip }, occasion) =>
    trip === undefined ? undefined : { trip: resource(tripSchema, trip, occasion) },
  'vehicle.stolen': ({ stolen }, occasion) =>
    stolen === undefined ? undefined : { stolen: resource(theftSchema, stolen, occasion) },
  'vehicle.alarm': ({ alarm }) => (alarm === undefined ? undefined : { alarm: published(alarmRecordSchema, alarm) }),
};

const statusOf = (status: unknown): Members => published(statusContentsSchema, status) as Members;

/** Members of Telemetry that stand beside `vehicle`. Interface 3.19.2 Telemetry. */
const outer = new Set(['environment', 'privacy']);
/** Members of Status that Telemetry does not have. */
const none = new Set(['lastPosition', 'autonomy', 'preconditioning', 'stolen', 'service']);

/** Interface 3.19.2 Telemetry: the objects of Status, without moments of their own, under `vehicle`. */
function telemetryOf(status: Members, at: number): Members {
  const members: Record<string, unknown> = {};
  const vehicle: Record<string, unknown> = {};
  for (const [name, object] of Object.entries(status)) {
    if (outer.has(name)) members[name] = timeless(object);
    else if (!none.has(name)) vehicle[name] = timeless(object);
  }
  return { createdAt: rfc3339(at), ...members, ...(Object.keys(vehicle).length === 0 ? {} : { vehicle }) };
}

function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'createdAt');
  return Object.fromEntries(members.map(([name, member]) => [name, timeless(member)]));
}
