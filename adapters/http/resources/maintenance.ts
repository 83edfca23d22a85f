/** When the car is next due for service. */
import { maintenanceJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Maintenance } from '../../../protocol/schema/maintenance.ts';
import type { Answer } from '../call.ts';
import { byTimeAndId, collection } from './collection.ts';
import { type Context, contextsOf, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/maintenance` */
export function maintenance(context: Context): Answer {
  const record = nextService(context);
  if (record === undefined) throw unknown('known service of vehicle', context.car.vehicle.id);
  return found(maintenanceOf(context, record, selfOf(context)));
}

/** `GET /fleets/{fid}/maintenances` (deprecated) */
export function fleetMaintenances(context: Context): Answer {
  const items = contextsOf(context).flatMap((one) => {
    const record = nextService(one);
    return record === undefined
      ? []
      : [{ at: record.createdAt, id: `${record.id} ${one.car.vehicle.id}`, record, one }];
  });
  return collection(context, 'maintenances', items.sort(byTimeAndId), ({ record, one }) => {
    return maintenanceOf(one, record, linkTo(one, 'maintenance.get') as ResourceLink);
  });
}

/** The service that is due next: the newest record. */
export function nextService({ car, sees }: Context): Maintenance | undefined {
  if (!sees('data:telemetry')) return undefined;
  let newest: Maintenance | undefined;
  for (const { record } of car.records.list('maintenance')) newest = record as Maintenance;
  return newest;
}

function maintenanceOf(context: Context, record: Maintenance, self: ResourceLink): Members {
  return {
    _links: linksOf({ self, vehicle: linkTo(context, 'vehicles.get'), alerts: linkTo(context, 'alerts.list') }),
    ...maintenanceJson(context.viewer, record),
  };
}
