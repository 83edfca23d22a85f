import { enumeration, instant, optional, quantity, record, required } from '../fields.ts';
import { only, unmapped } from '../mapping.ts';
import { chargingSchema } from './charging.ts';
import { createdAt } from './created.ts';

export const energyTypes = ['Fuel', 'Electric'] as const;
export const energySubTypes = ['FossilEnergy', 'ElectricEnergy', 'Hydrogen'] as const;

const consumptions = record(
  'CompositFuelEnergyConsumption',
  'Consumption of fuel. Interface 3.19.2 Energy.extension.fuel.consumptions.',
  {
    total: optional(
      1,
      quantity(
        'cL',
        0.1,
        [0, 1_000_000_000],
        'Fuel consumed so far. Interface 3.19.2 CompositFuelEnergyConsumption.total.',
      ),
    ),
    instant: optional(
      2,
      quantity(
        'L/100km',
        0.01,
        [0, 1000],
        'Consumption of this moment; kg/100km when subType is Hydrogen. Interface 3.19.2 CompositFuelEnergyConsumption.instant.',
      ),
    ),
  },
);

const load = record('LoadElectricEnergy', 'Energy in the traction battery. Interface 3.19.2 EnergyBattery.load.', {
  createdAt,
  residual: optional(
    1,
    quantity(
      'Wh',
      1,
      [0, 10_000_000],
      'Energy left in the traction battery. Interface 3.19.2 LoadElectricEnergy.residual.',
    ),
  ),
  capacity: optional(
    2,
    quantity(
      'Wh',
      1,
      [0, 10_000_000],
      'Energy the traction battery holds when full. Interface 3.19.2 LoadElectricEnergy.capacity.',
    ),
  ),
});

const health = record(
  'HealthElectricEnergy',
  'Ageing of the traction battery. Interface 3.19.2 EnergyBattery.health.',
  {
    createdAt,
    capacity: optional(
      1,
      quantity(
        '%',
        1,
        [0, 100],
        'Remaining share of the capacity of a new battery. Interface 3.19.2 HealthElectricEnergy.capacity.',
      ),
    ),
    resistance: optional(
      2,
      quantity('%', 1, [0, 100], 'Health by internal resistance. Interface 3.19.2 HealthElectricEnergy.resistance.'),
    ),
  },
);

/**
 * An energy source of the car. Hydrogen has type Fuel and subType Hydrogen. The deprecated aliases of the user line
 * (`energy`, `extension.fuel.consumption`, `extension.electric.residual`, `extension.electric.battery.capacity`)
 * repeat these fields and exist only in HTTP.
 */
export const energySchema = record('Energy', 'One energy the car drives on. Interface 3.19.2 Energy.', {
  createdAt,
  type: required(1, enumeration('Kind of energy. Interface 3.19.2 Energy.type.', energyTypes)),
  level: optional(
    2,
    quantity('%', 0.1, [0, 100], 'Level of the tank or state of charge. Interface 3.19.2 Energy.level.'),
  ),
  autonomy: optional(3, quantity('km', 1, [0, 10_000], 'Range on this energy. Interface 3.19.2 Energy.autonomy.')),
  extension: optional(
    4,
    record('EnergyExtension', 'Members of one kind of energy. Interface 3.19.2 Energy.extension.', {
      fuel: optional(
        1,
        only(
          'Fuel',
          record('FuelExtension', 'Of a fuel. Interface 3.19.2 Energy.extension.fuel.', {
            consumptions: optional(1, consumptions),
          }),
        ),
      ),
      electric: optional(
        2,
        only(
          'Electric',
          record('ElectricExtension', 'Of electricity. Interface 3.19.2 Energy.extension.electric.', {
            charging: optional(1, chargingSchema),
            battery: optional(
              2,
              record('EnergyBattery', 'The traction battery. Interface 3.19.2 EnergyBattery.', {
                load: optional(1, load),
                health: optional(2, health),
              }),
            ),
            consumption: optional(
              3,
              record(
                'ElectricEnergyInstantConsumption',
                'Consumption of electricity. Interface 4.17.2 Energy.extension.electric.consumption.',
                {
                  consumption: required(
                    1,
                    quantity(
                      'kWh/100km',
                      0.01,
                      [0, 1000],
                      'Consumption of this moment (deprecated, no successor). Interface 4.17.2 ElectricEnergyInstantConsumption.',
                    ),
                  ),
                },
              ),
            ),
          }),
        ),
      ),
    }),
  ),
  subType: optional(5, enumeration('Kind of fuel or electricity. Interface 3.19.2 Energy.subType.', energySubTypes)),
  updatedAt: optional(6, unmapped(instant('Deprecated twin of createdAt. Interface 4.17.2 Energy.updatedAt.'))),
});
