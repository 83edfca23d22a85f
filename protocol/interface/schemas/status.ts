import { statusSchema } from '../../schema/status.ts';
import type { Side } from '../operation.ts';
import { derived } from './derive.ts';
import { links } from './hal.ts';
import { array, dateTime, deprecated, extended, type JsonSchema, number, object, without } from './json.ts';
import { position } from './position.ts';
import { vin } from './records.ts';

/** State of a car. Interface 3.19.2 and 4.17.2 Status, including objects that only the other side publishes. */
export function status(side: Side): JsonSchema {
  const schema = derived(statusSchema);
  const { properties = {} } = schema;
  const { odometer = {}, service = {}, alarm = {}, stolen = {}, adas = {}, energies = {}, engines = {} } = properties;
  const common = {
    lastPosition: position(side),
    alarm: withTriggerPosition(alarm, side),
    service: deprecated(service),
    energies: { ...energies, items: energy(side, energies.items ?? {}) },
    engines: { ...engines, items: engine(side, engines.items ?? {}) },
    vehicleOdometer: odometer,
    stolen: theft(side, stolen),
    adas: side === 'fleet' ? adas : userAdas(adas),
  };
  if (side === 'fleet') {
    const _links = links('StatusLinks', ['vehicle', 'fleet']);
    return extended(schema, 'Status', { ...common, vin, _links, _embedded: embedded(properties) }, ['_links']);
  }
  return extended(
    without(schema, 'vin'),
    'Status',
    {
      ...common,
      _links: links('StatusLinks', ['vehicle']),
      preconditionning: deprecated(properties['preconditioning'] ?? {}),
      energy: energyForms(energy(side, energies.items ?? {})),
    },
    ['_links'],
  );
}

function embedded({ odometer = {}, kinetic = {} }: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const extension = object('StatusExtension', 'Deprecated aliases of the members of Status.', [], {
    odometer,
    kinetic,
  });
  return deprecated(object('StatusEmbedded', 'Deprecated.', [], { extension }));
}

/** Returns the schema for the user line, which spells one name of the enumeration `off`. */
export function userAdas(adas: JsonSchema): JsonSchema {
  const { aebs = {} } = adas.properties ?? {};
  const names = (aebs.enum ?? []).map((name) => (name === 'Off' ? 'off' : name));
  return { ...adas, properties: { ...adas.properties, aebs: { ...aebs, enum: names } } };
}

/** The current theft; only the fleet side has it as a resource, with a link to it. */
function theft(side: Side, schema: JsonSchema): JsonSchema {
  const positions = { startPosition: position(side), endPosition: position(side) };
  if (side === 'user') return extended(schema, 'StolenObj', positions);
  return extended(schema, 'StolenObj', { ...positions, _links: links('StolenObjLinks', ['vehicle']) }, ['_links']);
}

function withTriggerPosition(alarm: JsonSchema, side: Side): JsonSchema {
  const { trigger = {} } = alarm.properties ?? {};
  const placed = { ...trigger, properties: { ...trigger.properties, position: position(side) } };
  return { ...alarm, properties: { ...alarm.properties, trigger: placed } };
}

/** One engine: the user line has a deprecated alias of the oil temperature. */
export function engine(side: Side, schema: JsonSchema): JsonSchema {
  const flagged = deprecated(schema.properties?.['gmpStatus'] ?? {});
  if (side === 'fleet') return extended(schema, schema.title ?? '', { gmpStatus: flagged });
  const temp = number('Temperature of the oil. Unit: °C.');
  const oil = deprecated(object('EngineOilTwin', 'Twin of `extension.thermic.oil`.', [], { temp }));
  return extended(schema, schema.title ?? '', { gmpStatus: flagged, oil });
}

const consumed = (title: string, unit: string): JsonSchema =>
  deprecated(
    object(title, 'Interface 4.17.2 Consumption.', ['consumption'], {
      consumption: number(`How much. Unit: ${unit}.`, { minimum: 0 }),
    }),
  );

/** One energy: the user line has deprecated aliases. */
export function energy(side: Side, schema: JsonSchema): JsonSchema {
  const { extension = {} } = schema.properties ?? {};
  const { fuel = {}, electric = {} } = extension.properties ?? {};
  if (side === 'fleet') {
    const members = { fuel, electric: without(electric, 'consumption') };
    return extended(without(schema, 'updatedAt'), schema.title ?? '', {
      extension: extended(extension, extension.title ?? '', members),
    });
  }
  const { battery = {} } = electric.properties ?? {};
  const members = {
    fuel: extended(fuel, fuel.title ?? '', { consumption: consumed('FuelEnergyInstantConsumption', 'L/100km') }),
    electric: extended(electric, electric.title ?? '', {
      residual: consumed('ElectricResidualEnergy', 'kWh'),
      battery: withCapacity(battery),
    }),
  };
  return extended(schema, schema.title ?? '', { extension: extended(extension, extension.title ?? '', members) });
}

/** `energy` of the user side: one object, as published, or the list that old clients read. */
function energyForms(published: JsonSchema): JsonSchema {
  const { type = {}, level = {}, autonomy = {}, extension = {} } = published.properties ?? {};
  const { charging = {}, battery = {} } = extension.properties?.['electric']?.properties ?? {};
  const entry = object('EnergyEntry', 'One energy as old clients read it.', ['type', 'updatedAt'], {
    type,
    level,
    autonomy,
    updatedAt: dateTime('Time of these values.'),
    charging,
    battery,
  });
  const list = array(
    entry,
    'One entry for each energy, only for clients that have `energy: list` in the configuration.',
  );
  return { anyOf: [published, list], description: 'Repeats `energies`.', deprecated: true };
}

function withCapacity(battery: JsonSchema): JsonSchema {
  const capacity = number('Energy that the battery holds when full. Unit: Wh.', { deprecated: true });
  return extended(battery, battery.title ?? '', { capacity });
}
