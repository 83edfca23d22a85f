/** Effects of a stored record on triggers. docs/monitors.md, "Triggers". */

import type { RecordKind } from '../../protocol/schema/kind.ts';
import type { Body } from '../../protocol/schema/message.ts';
import type { TriggerData } from '../../protocol/schema/monitor/data.ts';
import { type Trip, tripState } from '../../protocol/schema/trip.ts';
import type { SourceName, SourceValue } from './running.ts';

/**
 * Data names with current values from records of a kind. A declared theft ends privacy and reveals all these values.
 */
const watched: Readonly<Partial<Record<RecordKind, readonly SourceName[]>>> = {
  alert: ['vehicle.alert'],
  maintenance: ['vehicle.maintenance.daysBeforeMaintenance', 'vehicle.maintenance.mileageBeforeMaintenance'],
  stolen: [
    'stolen.state',
    'vehicle.alert',
    'vehicle.maintenance.daysBeforeMaintenance',
    'vehicle.maintenance.mileageBeforeMaintenance',
  ],
};

export function watchedByKind(kind: RecordKind): readonly SourceName[] {
  return watched[kind] ?? [];
}

type RecordTriggers = ReadonlyMap<TriggerData, SourceValue>;

const nothing: RecordTriggers = new Map();

/** Returns the data names that occur because of the record, with their values; `previous` is its previous version. */
export function recordTriggersOf<K extends RecordKind>(
  kind: K,
  record: Body<K>,
  previous: Body<K> | undefined,
): RecordTriggers {
  if (kind === 'trip') return ofTrip(record as Trip, previous as Trip | undefined);
  if (kind === 'collision') return ofCollision(record as Body<'collision'>, previous as Body<'collision'> | undefined);
  return nothing;
}

function ofTrip(trip: Trip, previous: Trip | undefined): RecordTriggers {
  const triggers = new Map<TriggerData, SourceValue>();
  const begins = previous === undefined;
  const ends = trip.done === true && previous?.done !== true;
  if (begins || ends) triggers.set('vehicle.trip', trip.id);
  if (begins) triggers.set('vehicle.trip.start', trip.id);
  if (!ends) return triggers;
  triggers.set('vehicle.trip.stop', trip.id);
  if (trip.duration !== undefined) triggers.set('vehicle.trip.duration', trip.duration);
  if (trip.distance !== undefined) triggers.set('vehicle.trip.distance', trip.distance);
  triggers.set('vehicle.trip.state', tripState(trip));
  return triggers;
}

function ofCollision({ details = [] }: Body<'collision'>, previous: Body<'collision'> | undefined): RecordTriggers {
  if (details.length === 0 || JSON.stringify(details) === JSON.stringify(previous?.details)) return nothing;
  const severities = details.map(({ severity }) => severity).filter((severity) => severity !== undefined);
  return new Map<TriggerData, SourceValue>([
    ['vehicle.collision.side', details.map(({ side }) => side)],
    ['vehicle.collision.severity', severities],
  ]);
}
