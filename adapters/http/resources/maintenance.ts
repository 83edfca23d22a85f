/** When the car is next due for service. */
import type { Maintenance } from '../../../protocol/schema/maintenance.ts';
import type { Answer } from '../call.ts';
import { collection } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { type Link, linksOf, linkTo, selfOf } from './links.ts';
import { dateTime } from './times.ts';
import type { Written } from './twins.ts';

/** `GET …/maintenance` */
export function maintenance(context: Context): Answer {
  const record = nextService(context);
  if (record === undefined) throw unknown('known service of vehicle', context.car.vehicle.id);
  return found(maintenanceOf(context, record, selfOf(context)));
}

/** `GET /fleets/{fid}/maintenances` (deprecated) */
export function fleetMaintenances(context: Context): Answer {
  const record = nextService(context);
  const items = record === undefined ? [] : [{ at: record.createdAt, id: record.id, record }];
  return collection(context, 'maintenances', items, (item) => {
    return maintenanceOf(context, item.record, linkTo(context, 'maintenance.get') as Link);
  });
}

/** The service that is due next: the newest record. */
export function nextService({ car, sees }: Context): Maintenance | undefined {
  if (!sees('data:telemetry')) return undefined;
  let newest: Maintenance | undefined;
  for (const { record } of car.records.list('maintenance')) newest = record as Maintenance;
  return newest;
}

/** Interface 3.19.2 and 4.17.2 MaintenanceBase, which requires `createdAt` too. */
export function serviceOf({ side, car }: Context, record: Maintenance): Written {
  const { createdAt, daysBeforeMaintenance, mileageBeforeMaintenance } = record;
  return {
    createdAt: dateTime(createdAt),
    ...(side === 'fleet' ? { vin: car.vehicle.vin } : {}),
    ...(daysBeforeMaintenance === undefined ? {} : { daysBeforeMaintenance }),
    ...(mileageBeforeMaintenance === undefined ? {} : { mileageBeforeMaintenance }),
  };
}

function maintenanceOf(context: Context, record: Maintenance, self: Link): Written {
  const { updatedAt } = record;
  return {
    _links: linksOf({ self, vehicle: linkTo(context, 'vehicles.get'), alerts: linkTo(context, 'alerts.list') }),
    ...(updatedAt === undefined ? {} : { updatedAt: dateTime(updatedAt) }),
    ...serviceOf(context, record),
  };
}
