import { tripSchema } from '../../schema/trip.ts';
import type { Side } from '../operation.ts';
import { derived } from './derive.ts';
import { links } from './hal.ts';
import { extended, type JsonSchema, number } from './json.ts';
import { answered } from './records.ts';

/** A trip. The user side has consumption in L (hydrogen: kg) and kWh, the fleet side in cL (cg) and Wh. */
export function trip(side: Side): JsonSchema {
  const schema = derived(tripSchema);
  const { energyConsumptions = {} } = schema.properties ?? {};
  const _links = links('TripLinks', ['vehicle', 'waypoints', 'alerts', 'collisions', 'telemetry']);
  const base = answered(schema, side, 'Trip', _links);
  if (side === 'fleet') return base;
  const items = extended(energyConsumptions.items ?? {}, 'EnergyConsumption', {
    consumption: number('Used on the trip. Interface 4.17.2 Consumption. Unit: L (kg of Hydrogen) or kWh.', {
      minimum: 0,
    }),
  });
  return extended(base, 'Trip', { energyConsumptions: { ...energyConsumptions, items } });
}
