/** Fleets, the user, and their vehicles in responses. */

import { countries } from '../countries.ts';
import type { Side } from '../operation.ts';
import { onboardCapabilities } from './capabilities.ts';
import { collection, links } from './hal.ts';
import { array, dateTime, deprecated, extended, type JsonSchema, object, string } from './json.ts';
import { vin } from './records.ts';

const dates = {
  createdAt: dateTime('When it was made.'),
  updatedAt: dateTime('When it last changed.'),
};

/** Interface 3.19.2 and 4.17.2 Vehicle.motorization. */
const motorizations = ['Electric', 'Hybrid', 'Thermic', 'Hydrogen'] as const;
const motorization = string('Propulsion of the car.', { enum: motorizations });

const pictures = array(string('Address of a picture.'), 'Pictures of the car.', { minItems: 1, maxItems: 12 });
const brand = string('Brand of the car.');
const branding = object('VehicleBranding', 'Brand and model. Interface 3.19.2 VehicleBranding.', [], {
  brand,
  label: string('Name of the model.'),
});

function embedded(title: string, extension: JsonSchema): JsonSchema {
  return object(`${title}Embedded`, 'Members that `extension` requested.', [], { extension });
}

function extension(side: Side): JsonSchema {
  return object('VehicleExtension', 'Further members of the vehicle. Interface 3.19.2 VehicleExtension.', [], {
    onboardCapabilities: onboardCapabilities(side),
    branding,
    pictures,
  });
}

const relations = [
  'lastPosition',
  'trips',
  'maintenance',
  'alerts',
  'status',
  'telemetry',
  'collisions',
  'alarms',
  'monitors',
  'remotes',
  'callbacks',
];

export function vehicle(side: Side): JsonSchema {
  const ours = side === 'fleet' ? ['fleet', 'stolen', 'capabilities'] : ['user'];
  const base = object('Vehicle', 'A vehicle. Interface 3.19.2 and 4.17.2 Vehicle.', ['_links'], {
    _links: links('VehicleLinks', [...ours, ...relations]),
    id: string('Id of the vehicle.'),
    vin,
    motorization,
    brand: deprecated(brand),
    pictures: deprecated(pictures),
    ...dates,
    _embedded: embedded('Vehicle', extension(side)),
  });
  if (side === 'fleet') return base;
  const callCenter = object('CallCenter', 'Whom to call.', [], { stolen: stolenCallCenter });
  return extended(base, 'Vehicle', { label: deprecated(string('Name of the model.')), callCenter });
}

const stolenCallCenter = object('StolenCallCenter', 'Interface 4.17.2 StolenCallCenter.', [], {
  countryCode: string('Country (ISO 3166-1 alpha-2).', { enum: countries }),
  phoneNumber: string('Number to call when the car was stolen.'),
});

export function vehicles(side: Side): JsonSchema {
  const items = side === 'user' ? vehicle(side) : vehicleItem();
  return collection('Vehicles', 'vehicles', items, 'Vehicles. Interface 3.19.2 Vehicles.');
}

/** In the list of a fleet, a vehicle has fewer extensions. */
function vehicleItem(): JsonSchema {
  const single = object('VehicleBrandingSingle', 'Interface 3.19.2 VehicleBrandingSingle.', [], { brand });
  const extensions = object(
    'VehicleExtensions',
    'Further members of each vehicle. Interface 3.19.2 VehicleExtensions.',
    [],
    { branding: single, pictures },
  );
  return extended(vehicle('fleet'), 'VehicleItem', { _embedded: embedded('VehicleItem', extensions) });
}

export function vehicleCapabilities(): JsonSchema {
  return object('VehicleCapabilities', 'Capabilities of a vehicle. Interface 3.19.2 VehicleCapabilities.', ['vin'], {
    _links: links('VehicleCapabilitiesLinks', ['vehicle']),
    vin,
    motorization,
    _embedded: embedded('Vehicle', extension('fleet')),
  });
}

export function fleet(): JsonSchema {
  const names = ['vehicles', 'status', 'maintenances', 'alerts', 'trips', 'collisions', 'monitors', 'callbacks'];
  return object('Fleet', 'A fleet. Interface 3.19.2 Fleet.', ['_links', 'id'], {
    _links: links('FleetLinks', names),
    id: string('Id of the fleet.'),
    name: string('Name of the fleet.'),
    description: string('Description of the fleet.'),
    ...dates,
  });
}

export function fleets(): JsonSchema {
  return collection('Fleets', 'fleets', fleet(), 'Fleets. Interface 3.19.2 Fleets.');
}

export function user(): JsonSchema {
  const list = array(vehicle('user'), 'The vehicles of the user.');
  const _links = links('UserLinks', ['vehicles', 'callbacks']);
  return object('User', 'The user. Interface 4.17.2 User.', [], {
    _links,
    email: string('Mail address.'),
    firstName: string('Given name.'),
    lastName: string('Family name.'),
    ...dates,
    _embedded: object('UserEmbedded', 'Vehicles of the user, under both names that are in use.', [], {
      Vehicles: list,
      vehicles: list,
    }),
  });
}
