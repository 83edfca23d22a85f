/** Alerts, collisions, maintenance, alarms and thefts in responses. */

import { alarmRecordSchema } from '../../schema/alarm.ts';
import { alertSchema } from '../../schema/alert.ts';
import { collisionSchema } from '../../schema/collision.ts';
import { maintenanceSchema } from '../../schema/maintenance.ts';
import { theftSchema } from '../../schema/theft.ts';
import { mapParts } from '../../schema/walk.ts';
import type { Side } from '../operation.ts';
import { derived } from './derive.ts';
import { link, links } from './hal.ts';
import { array, extended, type JsonSchema, string, without } from './json.ts';
import { position } from './position.ts';

export const vin = string('Vehicle identification number. ISO 3779.', { maxLength: 17 });

/** Replaces every position of a record by the position of the side. */
function placed(schema: JsonSchema, side: Side): JsonSchema {
  return mapParts(schema, (member) => {
    if (member.title === 'Position') return position(side);
    return member.title === 'AlarmTrigger' ? placed(member, side) : member;
  });
}

/** Returns the record with its links and, on the fleet side, the VIN of its car. */
export function answered(schema: JsonSchema, side: Side, title: string, _links: JsonSchema): JsonSchema {
  const base = placed(schema, side);
  return side === 'fleet'
    ? extended(base, title, { _links, vin }, ['_links', 'vin'])
    : extended(base, title, { _links }, ['_links']);
}

export function alert(side: Side): JsonSchema {
  const trips = { trips: array(link, 'The trip during which it was there.') };
  const schema = answered(derived(alertSchema), side, 'Alert', links('AlertLinks', ['vehicle', 'position'], trips));
  return side === 'fleet' ? schema : extended(schema, 'Alert', {}, ['updatedAt']);
}

export function collision(side: Side): JsonSchema {
  const schema = without(derived(collisionSchema), 'readings');
  return answered(schema, side, 'Collision', links('CollisionLinks', ['vehicle', 'trip']));
}

export function maintenance(side: Side): JsonSchema {
  const schema = derived(maintenanceSchema);
  const { id = {}, ...members } = schema.properties ?? {};
  return answered(
    { ...without(schema, 'id'), properties: { ...members, id } },
    side,
    'Maintenance',
    links('MaintenanceLinks', ['vehicle', 'alerts']),
  );
}

/** The published record has only the times of its single field, and no links; both are additions here. */
export function alarmDetails(side: Side): JsonSchema {
  const base = placed(derived(alarmRecordSchema), side);
  return extended(base, 'AlarmDetails', { _links: links('AlarmLinks', ['vehicle']) }, ['_links']);
}

/** Only the fleet side has thefts as a resource; notifications of both sides include them. */
export function theft(side: Side = 'fleet'): JsonSchema {
  const schema = placed(derived(theftSchema), side);
  return extended(schema, 'Stolen', { _links: links('StolenLinks', ['vehicle', 'waypoints']) }, ['_links']);
}
