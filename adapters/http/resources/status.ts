/** Status: the present state of the car, as the caller's line has it. */
import { type StatusContents, statusContentsSchema } from '../../../protocol/schema/status.ts';
import type { Answer } from '../call.ts';
import { collection } from './collection.ts';
import { type Context, found } from './context.ts';
import { type Link, linksOf, linkTo, selfOf } from './links.ts';
import { withPositions } from './positions.ts';
import { dateTime, writerOf } from './times.ts';
import { adasOf, energyOf, engineOf, preconditioningOf, type Written } from './twins.ts';

const write = writerOf<StatusContents>(statusContentsSchema);

/** `GET …/vehicles/{vid}/status` */
export function status(context: Context): Answer {
  return found(statusOf(context, selfOf(context)));
}

/** `GET /fleets/{fid}/status` (deprecated): the car's, under its own address. */
export function fleetStatus(context: Context): Answer {
  const self = linkTo(context, 'status.get') as Link;
  // Where it stands stays the same from request to request, or its pages would not be found again.
  return collection(context, 'status', [{ at: 0, id: context.car.vehicle.id }], () => statusOf(context, self));
}

/** Interface 3.19.2 and 4.17.2 Status, with `vehicleOdometer`, `autonomy` and what the user line lacks as additions. */
export function statusOf(context: Context, self: Link): Written {
  const { car, side, fleet, call } = context;
  const contents = seenOf(context, car.status.contents());
  const updatedAt = newest(contents);
  return {
    _links: linksOf({
      self,
      vehicle: linkTo(context, 'vehicles.get'),
      fleet: fleet && linkTo(context, 'fleets.get'),
    }),
    ...(side === 'fleet' ? { vin: car.vehicle.vin } : {}),
    createdAt: dateTime(call.now),
    ...(Number.isFinite(updatedAt) ? { updatedAt: dateTime(updatedAt) } : {}),
    ...writtenOf(context, contents),
  };
}

/** What the caller's scopes show. */
function seenOf(context: Context, contents: StatusContents): StatusContents {
  if (context.sees('data:telemetry')) return contents;
  const { lastPosition } = contents;
  return lastPosition !== undefined && context.sees('data:position') ? { lastPosition } : {};
}

function writtenOf(context: Context, contents: StatusContents): Written {
  const written = write(contents);
  const { alarm, stolen, odometer, energies, engines, preconditioning, adas, drivingBehavior } = contents;
  withPositions(context, written, contents, ['lastPosition']);
  if (alarm?.trigger !== undefined) {
    withPositions(context, (written['alarm'] as Written)['trigger'] as Written, alarm.trigger, ['position']);
  }
  if (stolen !== undefined) {
    const theft = written['stolen'] as Written;
    withPositions(context, theft, stolen, ['startPosition', 'endPosition']);
    const itself = linkTo(context, context.side === 'fleet' ? 'stolen.get' : 'status.get', { sid: stolen.id });
    theft['_links'] = linksOf({ self: itself, vehicle: linkTo(context, 'vehicles.get') });
  }
  if (odometer !== undefined) written['vehicleOdometer'] = written['odometer'];
  if (adas !== undefined) written['adas'] = adasOf(context, written['adas'] as Written);
  if (drivingBehavior !== undefined) stampTwin(written['drivingBehavior'] as Written);
  if (preconditioning !== undefined) withoutNoPrograms(written['preconditioning'] as Written);
  if (!context.twins) return written;
  if (engines !== undefined) written['engines'] = (written['engines'] as Written[]).map(engineOf);
  if (energies !== undefined) {
    const all = (written['energies'] as Written[]).map((energy) => stampTwin(energyOf(energy)));
    written['energies'] = all;
    const main = context.car.vehicle.motorization;
    const type = main === 'Thermic' || main === 'Hydrogen' ? 'Fuel' : 'Electric';
    written['energy'] = all.find((energy) => energy['type'] === type) ?? all[0];
  }
  if (preconditioning !== undefined) {
    written['preconditioning'] = preconditioningOf(written['preconditioning'] as Written);
    written['preconditionning'] = written['preconditioning'];
  }
  return written;
}

/** Interface 3.19.2 has one to four programs or does not speak of them. */
function withoutNoPrograms(preconditioning: Written): void {
  const airConditioning = preconditioning['airConditioning'] as Written | undefined;
  const programs = airConditioning?.['programs'] as readonly unknown[] | undefined;
  if (airConditioning === undefined || programs === undefined || programs.length > 0) return;
  const { programs: _, ...rest } = airConditioning;
  preconditioning['airConditioning'] = rest;
}

/** Deprecated: `updatedAt` says what `createdAt` does. */
function stampTwin(object: Written): Written {
  object['updatedAt'] = object['createdAt'];
  return object;
}

/** The newest `createdAt` in it, UTC ms; -Infinity: there is none. */
function newest(value: unknown): number {
  if (typeof value !== 'object' || value === null) return Number.NEGATIVE_INFINITY;
  let result = Number.NEGATIVE_INFINITY;
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (name === 'createdAt') result = Math.max(result, member as number);
    else if (typeof member === 'object') result = Math.max(result, newest(member));
  }
  return result;
}
