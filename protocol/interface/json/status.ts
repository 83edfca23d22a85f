/** Current state of the car, in the format of the viewer's line of the interface. */
import { type StatusContents, statusContentsSchema } from '../../schema/status.ts';
import { dateTime } from './date-time.ts';
import { adasJson, energyWithAliases, engineWithAliases, preconditioningWithAliases } from './deprecated-aliases.ts';
import { placePositions } from './position.ts';
import type { Viewer } from './viewer.ts';
import { type Members, writerOf } from './writer.ts';

const write = writerOf<StatusContents>(statusContentsSchema);

/**
 * Interface 3.19.2 and 4.17.2 Status without links, at a time in UTC ms; `vehicleOdometer`, `autonomy` and objects that
 * the user line lacks are additions.
 */
export function statusJson(viewer: Viewer, contents: StatusContents, at: number): Members {
  const updatedAt = newest(contents);
  return {
    ...(viewer.side === 'fleet' ? { vin: viewer.vehicle.vin } : {}),
    createdAt: dateTime(at),
    ...(Number.isFinite(updatedAt) ? { updatedAt: dateTime(updatedAt) } : {}),
    ...contentsJson(viewer, contents),
  };
}

/** Returns the objects of Status that are present in the contents. */
export function contentsJson(viewer: Viewer, contents: StatusContents): Members {
  const written = write(contents);
  const { alarm, stolen, odometer, adas, drivingBehavior, preconditioning } = contents;
  placePositions(viewer, written, contents, ['lastPosition']);
  if (alarm?.trigger !== undefined) {
    placePositions(viewer, (written['alarm'] as Members)['trigger'] as Members, alarm.trigger, ['position']);
  }
  if (stolen !== undefined) {
    placePositions(viewer, written['stolen'] as Members, stolen, ['startPosition', 'endPosition']);
  }
  if (odometer !== undefined) written['vehicleOdometer'] = written['odometer'];
  if (adas !== undefined) written['adas'] = adasJson(viewer, written['adas'] as Members);
  if (drivingBehavior !== undefined) stampAlias(written['drivingBehavior'] as Members);
  if (preconditioning !== undefined) dropEmptyPrograms(written['preconditioning'] as Members);
  if (viewer.aliases) addAliases(viewer, contents, written);
  return written;
}

function addAliases({ vehicle }: Viewer, contents: StatusContents, written: Members): void {
  const { energies, engines, preconditioning } = contents;
  if (engines !== undefined) written['engines'] = (written['engines'] as Members[]).map(engineWithAliases);
  if (energies !== undefined) {
    const all = (written['energies'] as Members[]).map((energy) => stampAlias(energyWithAliases(energy)));
    const { motorization } = vehicle;
    const type = motorization === 'Thermic' || motorization === 'Hydrogen' ? 'Fuel' : 'Electric';
    written['energies'] = all;
    written['energy'] = all.find((energy) => energy['type'] === type) ?? all[0];
  }
  if (preconditioning !== undefined) {
    written['preconditioning'] = preconditioningWithAliases(written['preconditioning'] as Members);
    written['preconditionning'] = written['preconditioning'];
  }
}

/** Removes an empty list of programs: interface 3.19.2 has one to four programs, or omits the list. */
function dropEmptyPrograms(preconditioning: Members): void {
  const airConditioning = preconditioning['airConditioning'] as Members | undefined;
  const programs = airConditioning?.['programs'] as readonly unknown[] | undefined;
  if (airConditioning === undefined || programs === undefined || programs.length > 0) return;
  const { programs: _, ...rest } = airConditioning;
  preconditioning['airConditioning'] = rest;
}

/** Adds the deprecated `updatedAt`, a copy of `createdAt`. */
function stampAlias(object: Members): Members {
  object['updatedAt'] = object['createdAt'];
  return object;
}

/** Returns the newest `createdAt` in a value, UTC ms, or -Infinity. */
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
