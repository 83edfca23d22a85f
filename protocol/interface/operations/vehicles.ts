import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import {
  country,
  indexRange,
  locale,
  pageSize,
  pageToken,
  vehicleExtension,
  vehiclesExtension,
  vinPrefix,
} from '../parameters/query.ts';
import { read } from './making.ts';

const tag = 'Vehicles';
const scopes = { optional: ['data:vehicle:devices:pnc'], more: true } as const;

/** Fleets, the user, and their vehicles. */
export const vehicleOperations: readonly Operation[] = [
  read({
    id: 'fleet.fleets.list',
    path: '/fleets',
    tag,
    summary: 'Lists the fleets that the caller works with.',
    parameters: [pageSize, pageToken],
    shape: 'Fleets',
  }),
  read({
    id: 'fleet.fleets.get',
    path: '/fleets/{fid}',
    tag,
    summary: 'Reads a fleet.',
    shape: 'Fleet',
  }),
  read({
    id: 'fleet.vehicles.list',
    path: '/fleets/{fid}/vehicles',
    tag,
    summary: 'Lists the vehicles of a fleet.',
    parameters: [pageSize, pageToken, locale, vehiclesExtension, vinPrefix],
    shape: 'Vehicles',
  }),
  read({
    id: 'fleet.vehicles.get',
    path: vehiclePath.fleet,
    tag,
    summary: 'Reads a vehicle.',
    parameters: [locale, vehicleExtension],
    shape: 'Vehicle',
  }),
  read({
    id: 'fleet.capabilities.get',
    path: '/vehicles/{vin}',
    tag,
    summary: 'Reads the capabilities of a vehicle, by its VIN.',
    parameters: [locale, vehicleExtension],
    shape: 'VehicleCapabilities',
  }),
  read({
    id: 'user.user.get',
    path: '/user',
    tag,
    summary: 'Reads who the user is.',
    parameters: [country],
    shape: 'User',
  }),
  read({
    id: 'user.vehicles.list',
    path: '/user/vehicles',
    tag,
    summary: 'Lists the vehicles of the user.',
    parameters: [indexRange, pageSize, pageToken, locale, vehicleExtension, vinPrefix, country],
    shape: 'Vehicles',
    scopes,
  }),
  read({
    id: 'user.vehicles.get',
    path: vehiclePath.user,
    tag,
    summary: 'Reads a vehicle.',
    parameters: [locale, vehicleExtension, country],
    shape: 'Vehicle',
    scopes,
  }),
];
