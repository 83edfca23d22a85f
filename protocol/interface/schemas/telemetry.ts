import { daysBeforeMaintenance, mileageBeforeMaintenance } from '../../schema/maintenance.ts';
import { statusSchema } from '../../schema/status.ts';
import type { Side } from '../operation.ts';
import { derived } from './derive.ts';
import { collection, links } from './hal.ts';
import { array, dateTime, deprecated, extended, type JsonSchema, object, string } from './json.ts';
import { position } from './position.ts';
import { vin } from './records.ts';
import { energy, engine, userAdas } from './status.ts';

/** Objects of Status that telemetry contains under `vehicle`. Interface 3.19.2 and 4.17.2 Telemetry. */
const members = [
  'engines',
  'energies',
  'transmission',
  'powertrain',
  'adas',
  'lightingSystem',
  'ignition',
  'doorsState',
  'battery',
  'safety',
  'wipingBlades',
  'odometer',
  'alarm',
  'kinetic',
  'drivingBehavior',
] as const;

/** Readings at one time: the objects of Status without their own times. */
export function telemetry(side: Side): JsonSchema {
  const status = derived(statusSchema, { undated: true }).properties ?? {};
  const vehicle: Record<string, JsonSchema> = Object.fromEntries(members.map((name) => [name, status[name] ?? {}]));
  const { energies = {}, engines = {}, alarm = {}, adas = {} } = vehicle;
  vehicle['engines'] = { ...engines, items: engine(side, engines.items ?? {}) };
  vehicle['energies'] = { ...energies, items: energy(side, energies.items ?? {}) };
  vehicle['alarm'] = withTriggerPosition(alarm, side);
  // The published IgnitionBase requires a time.
  vehicle['ignition'] = dated(vehicle['ignition'] ?? {}, 'TelemetryIgnition');
  if (side === 'user') vehicle['adas'] = userAdas(adas);
  else {
    vehicle['lighting'] = lighting;
    vehicle['wipingBlades'] = dated(vehicle['wipingBlades'] ?? {}, 'TelemetryWipingBlades');
  }
  return object('Telemetry', 'Readings of one moment. Interface 3.19.2 Telemetry.', ['_links', 'createdAt'], {
    _links: links('TelemetryLinks', ['vehicle', 'trip']),
    createdAt: dateTime('Moment of the readings.'),
    privacy: status['privacy'] ?? {},
    environment: status['environment'] ?? {},
    vehicle: object('TelemetryVehicle', 'Readings of the vehicle.', [], vehicle),
    _embedded: object('TelemetryEmbedded', 'Further members of the readings.', [], {
      extension: object('TelemetryExtension', 'Members that `extension` requested.', [], {
        location: position(side, { undated: true }),
        maintenance: maintenanceBase(side),
      }),
    }),
  });
}

export function telemetries(side: Side): JsonSchema {
  return collection('Telemetries', 'telemetries', telemetry(side), 'Readings over time. Interface 3.19.2 Telemetries.');
}

function withTriggerPosition(alarm: JsonSchema, side: Side): JsonSchema {
  const { trigger = {} } = alarm.properties ?? {};
  const placed = extended(trigger, trigger.title ?? '', { position: position(side) });
  return extended(alarm, alarm.title ?? '', { trigger: placed });
}

/** Returns the object with a time. */
function dated(schema: JsonSchema, title: string): JsonSchema {
  return extended(schema, title, { createdAt: dateTime('When it last changed.') });
}

function maintenanceBase(side: Side): JsonSchema {
  const due = {
    daysBeforeMaintenance: derived(daysBeforeMaintenance),
    mileageBeforeMaintenance: derived(mileageBeforeMaintenance),
  };
  const description = 'When the car is next due for service. Interface 3.19.2 MaintenanceBase.';
  return side === 'fleet'
    ? object('MaintenanceBase', description, ['vin'], { vin, ...due })
    : object('MaintenanceBase', description, [], due);
}

const sides = (values: readonly string[]): JsonSchema => array(string('One of them.', { enum: values }), 'Several.');

const lighting = deprecated(
  object('LightingBase', 'Replaced by `lightingSystem`. Interface 3.19.2 LightingBase.', [], {
    turn: sides(['Left', 'Right']),
    light: sides(['Front', 'Rear']),
    status: sides(['On', 'Off']),
  }),
);
