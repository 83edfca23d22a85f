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
  read('fleet.fleets.list', '/fleets', 'Lists the fleets that the caller works with.', {
    tag,
    parameters: [pageSize, pageToken],
    shape: 'Fleets',
  }),
  read('fleet.fleets.get', '/fleets/{fid}', 'Reads a fleet.', { tag, shape: 'Fleet' }),
  read('fleet.vehicles.list', '/fleets/{fid}/vehicles', 'Lists the vehicles of a fleet.', {
    tag,
    parameters: [pageSize, pageToken, locale, vehiclesExtension, vinPrefix],
    shape: 'Vehicles',
  }),
  read('fleet.vehicles.get', vehiclePath.fleet, 'Reads a vehicle.', {
    tag,
    parameters: [locale, vehicleExtension],
    shape: 'Vehicle',
  }),
  read('fleet.capabilities.get', '/vehicles/{vin}', 'Reads the capabilities of a vehicle, by its VIN.', {
    tag,
    parameters: [locale, vehicleExtension],
    shape: 'VehicleCapabilities',
  }),
  read('user.user.get', '/user', 'Reads who the user is.', { tag, parameters: [country], shape: 'User' }),
  read('user.vehicles.list', '/user/vehicles', 'Lists the vehicles of the user.', {
    tag,
    parameters: [indexRange, pageSize, pageToken, locale, vehicleExtension, vinPrefix, country],
    shape: 'Vehicles',
    scopes,
  }),
  read('user.vehicles.get', vehiclePath.user, 'Reads a vehicle.', {
    tag,
    parameters: [locale, vehicleExtension, country],
    shape: 'Vehicle',
    scopes,
  }),
];
