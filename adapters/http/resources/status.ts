/** Status: the current state of the car, in the form of the caller's side. */
import { statusJson } from '../../../protocol/interface/json/status.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { StatusContents } from '../../../protocol/schema/status.ts';
import type { Answer } from '../call.ts';
import { collectionOfVehicles } from './collection.ts';
import { type Context, found } from './context.ts';
import { energyList, type WrittenEnergy } from './energy-list.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/vehicles/{vid}/status` */
export function status(context: Context): Answer {
  return found(statusOf(context, selfOf(context)));
}

/** `GET /fleets/{fid}/status` (deprecated): the status of each vehicle, under that vehicle's address. */
export function fleetStatus(context: Context): Promise<Answer> {
  return collectionOfVehicles(context, 'status', (own) => statusOf(own, linkTo(own, 'status.get') as ResourceLink));
}

function statusOf(context: Context, self: ResourceLink): Members {
  const { car, side, fleet, call, viewer } = context;
  const contents = seenOf(context, car.status.contents());
  const written = statusJson(viewer, contents, call.now);
  if (contents.stolen !== undefined) {
    const theft = linkTo(context, side === 'fleet' ? 'stolen.get' : 'status.get', { sid: contents.stolen.id });
    const _links = linksOf({ self: theft, vehicle: linkTo(context, 'vehicles.get') });
    written['stolen'] = { ...(written['stolen'] as Members), _links };
  }
  if (call.caller.energy === 'list' && written['energies'] !== undefined) {
    written['energy'] = energyList(written['energies'] as WrittenEnergy[]);
  }
  return {
    _links: linksOf({
      self,
      vehicle: linkTo(context, 'vehicles.get'),
      fleet: fleet && linkTo(context, 'fleets.get'),
    }),
    ...written,
  };
}

/** Returns the values that the caller's scopes allow. */
function seenOf(context: Context, contents: StatusContents): StatusContents {
  if (context.sees('data:telemetry')) return contents;
  const { lastPosition } = contents;
  return lastPosition !== undefined && context.sees('data:position') ? { lastPosition } : {};
}
