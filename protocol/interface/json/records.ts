/** Records as resources of the interface, without links. */
import { defined } from '../../defined.ts';
import { type AlarmRecord, alarmRecordSchema } from '../../schema/alarm.ts';
import { type Alert, alertSchema } from '../../schema/alert.ts';
import { type Collision, collisionSchema } from '../../schema/collision.ts';
import type { Maintenance } from '../../schema/maintenance.ts';
import { type Theft, theftSchema } from '../../schema/theft.ts';
import { type Trip, tripSchema } from '../../schema/trip.ts';
import { dateTime } from './date-time.ts';
import { placePositions } from './position.ts';
import type { Viewer } from './viewer.ts';
import { type Members, writerOf } from './writer.ts';

const writeAlert = writerOf<Alert>(alertSchema);
const writeCollision = writerOf<Omit<Collision, 'readings' | 'pulse'>>(collisionSchema);
const writeTrip = writerOf<Trip>(tripSchema);
const writeAlarm = writerOf<AlarmRecord>(alarmRecordSchema);
const writeTheft = writerOf<Theft>(theftSchema);

/** On the fleet side, a record includes the VIN of its car. */
function vinOf({ side, vehicle }: Viewer): { vin?: string } {
  return side === 'fleet' ? { vin: vehicle.vin } : {};
}

/** Interface 3.19.2 and 4.17.2 Alert. */
export function alertJson(viewer: Viewer, alert: Alert): Members {
  const written = writeAlert(alert);
  placePositions(viewer, written, alert, ['startPosition', 'endPosition']);
  // Interface 4.17.2 requires updatedAt.
  return { ...vinOf(viewer), ...written, updatedAt: written['updatedAt'] ?? written['createdAt'] };
}

/**
 * Interface 3.19.2 Collision. The readings around it are in telemetry; the pulse, kilobytes of evidence, is available
 * only in the car and on MQTT.
 */
export function collisionJson(viewer: Viewer, { readings: _, pulse: __, ...collision }: Collision): Members {
  const written = writeCollision(collision);
  placePositions(viewer, written, collision, ['position']);
  return { ...vinOf(viewer), ...written };
}

/** Interface 3.19.2 and 4.17.2 Trip. */
export function tripJson(viewer: Viewer, trip: Trip): Members {
  const written = writeTrip(trip);
  placePositions(viewer, written, trip, ['startPosition', 'stopPosition']);
  if (viewer.side === 'user' && trip.energyConsumptions !== undefined) {
    written['energyConsumptions'] = trip.energyConsumptions.map(userConsumption);
  }
  return { ...vinOf(viewer), ...written };
}

/** The fleet line uses cL and Wh, the user line L and kWh. */
function userConsumption<T extends { readonly type: string; readonly consumption: number }>(energy: T): T {
  const divisor = energy.type === 'Electric' ? 1000 : 100;
  // Records have a resolution of 0.1.
  return { ...energy, consumption: Math.round(energy.consumption * 10) / (divisor * 10) };
}

/** Interface 3.19.2 and 4.17.2 Maintenance. */
export function maintenanceJson(viewer: Viewer, service: Maintenance): Members {
  const { updatedAt } = service;
  return { ...(updatedAt === undefined ? {} : { updatedAt: dateTime(updatedAt) }), ...serviceJson(viewer, service) };
}

/** Interface 3.19.2 and 4.17.2 MaintenanceBase, which requires `createdAt` too. */
export function serviceJson(viewer: Viewer, service: Maintenance): Members {
  const { createdAt, daysBeforeMaintenance, mileageBeforeMaintenance } = service;
  return {
    createdAt: dateTime(createdAt),
    ...vinOf(viewer),
    ...defined({ daysBeforeMaintenance, mileageBeforeMaintenance }),
  };
}

/** Interface 3.19.2 AlarmDetails; its own times are an addition. */
export function alarmJson(viewer: Viewer, alarm: AlarmRecord): Members {
  const written = writeAlarm(alarm);
  if (alarm.trigger !== undefined) {
    placePositions(viewer, written['trigger'] as Members, alarm.trigger, ['position']);
  }
  return written;
}

/** Interface 3.19.2 Stolen. */
export function theftJson(viewer: Viewer, theft: Theft): Members {
  const written = writeTheft(theft);
  placePositions(viewer, written, theft, ['startPosition', 'endPosition']);
  return written;
}
