/** Path parameters, by their names in braces. Interface 3.19.2 and 4.17.2, `parameters`. */
import type { Parameter, Side } from '../operation.ts';

/** Any string is accepted as an id: if no record can have it, the response is "not found", as published. */
const id = { type: 'string', minLength: 1, maxLength: 256 };
/** The published pattern is `([0-9a-fA-F]|-|_)*`. An empty path segment is rejected. */
const hexadecimal = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[0-9a-fA-F_-]+$' };

const descriptions: Readonly<Record<string, { readonly description: string; readonly schema: object }>> = {
  fid: { description: 'Id of the fleet.', schema: id },
  vid: { description: 'Id of the vehicle.', schema: id },
  id: { description: 'Id of the vehicle.', schema: id },
  vin: { description: 'Vehicle identification number. ISO 3779.', schema: id },
  tid: { description: 'Id of the trip.', schema: id },
  aid: { description: 'Id of the alert or alarm.', schema: id },
  cid: { description: 'Id of the collision.', schema: id },
  sid: { description: 'Id of the record of a theft.', schema: id },
  mid: { description: 'Id of the monitor.', schema: id },
  cbid: { description: 'Id of the callback.', schema: hexadecimal },
  name: { description: 'Name of the custom signal.', schema: id },
  oid: { description: 'Id of the roll-out.', schema: hexadecimal },
  rid: { description: 'Id of the remote action.', schema: hexadecimal },
};

/** Base path of a vehicle's resources. */
export const vehiclePath: Readonly<Record<Side, string>> = {
  fleet: '/fleets/{fid}/vehicles/{vid}',
  user: '/user/vehicles/{id}',
};

/** Returns the names in braces of a path, in order. */
export function namesIn(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name as string);
}

/** Returns the parameters of a path. */
export function pathParameters(path: string): Parameter[] {
  return namesIn(path).flatMap((name) => {
    const known = descriptions[name];
    return known === undefined ? [] : [{ name, in: 'path' as const, required: true, ...known }];
  });
}
