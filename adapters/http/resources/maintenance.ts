/** Next service of the car. */
import { maintenanceJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Maintenance } from '../../../protocol/schema/maintenance.ts';
import type { Answer } from '../call.ts';
import type { Keyset } from './car.ts';
import { byTimeAndId, collection, collectionByKey, contextOfKept, type Kept } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/maintenance` */
export async function maintenance(context: Context): Promise<Answer> {
  const record = await nextService(context);
  if (record === undefined) throw unknown('known service of vehicle', context.car.vehicle.id);
  return found(maintenanceOf(context, record, selfOf(context)));
}

/** `GET /fleets/{fid}/maintenances` (deprecated) */
export async function fleetMaintenances(context: Context): Promise<Answer> {
  const { records } = context.served;
  const represent = async (kept: Kept<Maintenance>): Promise<Members> => {
    const one = await contextOfKept(context, kept);
    return maintenanceOf(one, kept.record, linkTo(one, 'maintenance.get') as ResourceLink);
  };
  if (!context.sees('data:telemetry')) return collection(context, 'maintenances', [], represent);
  if (records.whole === undefined) {
    return collectionByKey(
      context,
      'maintenances',
      records.newest('maintenance') as Keyset<Kept<Maintenance>>,
      represent,
    );
  }
  const newest = new Map<string, Kept<Maintenance>>();
  for await (const { at, id, record, outline } of records.whole('maintenance')) {
    const vehicle = outline.vehicle.id;
    newest.set(vehicle, { at, id: `${id} ${vehicle}`, record: record as Maintenance, outline });
  }
  return collection(context, 'maintenances', [...newest.values()].sort(byTimeAndId), represent);
}

/** Returns the service that is due next: the newest record. */
export async function nextService({ car: { records }, sees }: Context): Promise<Maintenance | undefined> {
  if (!sees('data:telemetry')) return undefined;
  if (records.last !== undefined) return (await records.last('maintenance'))?.record as Maintenance | undefined;
  let newest: Maintenance | undefined;
  for await (const { record } of records.list('maintenance')) newest = record as Maintenance;
  return newest;
}

function maintenanceOf(context: Context, record: Maintenance, self: ResourceLink): Members {
  return {
    _links: linksOf({ self, vehicle: linkTo(context, 'vehicles.get'), alerts: linkTo(context, 'alerts.list') }),
    ...maintenanceJson(context.viewer, record),
  };
}
