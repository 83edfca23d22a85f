import { enumeration, instant, optional, quantity, record, required } from '../fields.ts';
import { only, unmapped } from '../mapping.ts';
import { chargingSchema } from './charging.ts';
import { createdAt } from './created.ts';

export const energyTypes = ['Fuel', 'Electric'] as const;
export const energySubTypes = ['FossilEnergy', 'ElectricEnergy', 'Hydrogen'] as const;

const consumptions = record(
  'CompositFuelEnergyConsumption',
  {
    total: optional(
      1,
      quantity({
        unit: 'cL',
        resolution: 0.1,
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'Fuel consumed so far. Interface 3.19.2 CompositFuelEnergyConsumption.total.',
      }),
    ),
    instant: optional(
      2,
      quantity({
        unit: 'L/100km',
        resolution: 0.01,
        minimum: 0,
        maximum: 1000,
        description:
          'Consumption of this moment; kg/100km when subType is Hydrogen. Interface 3.19.2 CompositFuelEnergyConsumption.instant.',
      }),
    ),
  },
  { description: 'Consumption of fuel. Interface 3.19.2 Energy.extension.fuel.consumptions.' },
);

const load = record(
  'LoadElectricEnergy',
  {
    createdAt,
    residual: optional(
      1,
      quantity({
        unit: 'Wh',
        resolution: 1,
        minimum: 0,
        maximum: 10_000_000,
        description: 'Energy left in the traction battery. Interface 3.19.2 LoadElectricEnergy.residual.',
      }),
    ),
    capacity: optional(
      2,
      quantity({
        unit: 'Wh',
        resolution: 1,
        minimum: 0,
        maximum: 10_000_000,
        description: 'Energy the traction battery holds when full. Interface 3.19.2 LoadElectricEnergy.capacity.',
      }),
    ),
  },
  { description: 'Energy in the traction battery. Interface 3.19.2 EnergyBattery.load.' },
);

const health = record(
  'HealthElectricEnergy',
  {
    createdAt,
    capacity: optional(
      1,
      quantity({
        unit: '%',
        resolution: 1,
        minimum: 0,
        maximum: 100,
        description:
          'Remaining share of the capacity of a new battery. Interface 3.19.2 HealthElectricEnergy.capacity.',
      }),
    ),
    resistance: optional(
      2,
      quantity({
        unit: '%',
        resolution: 1,
        minimum: 0,
        maximum: 100,
        description: 'Health by internal resistance. Interface 3.19.2 HealthElectricEnergy.resistance.',
      }),
    ),
  },
  { description: 'Ageing of the traction battery. Interface 3.19.2 EnergyBattery.health.' },
);

/**
 * One energy the car drives on. Hydrogen is type Fuel with subType Hydrogen. The user line's deprecated aliases
 * (`energy`, `extension.fuel.consumption`, `extension.electric.residual`, `extension.electric.battery.capacity`)
 * repeat what is here and exist in HTTP only.
 */
export const energySchema = record(
  'Energy',
  {
    createdAt,
    type: required(1, enumeration(energyTypes, { description: 'Kind of energy. Interface 3.19.2 Energy.type.' })),
    level: optional(
      2,
      quantity({
        unit: '%',
        resolution: 0.1,
        minimum: 0,
        maximum: 100,
        description: 'Level of the tank or state of charge. Interface 3.19.2 Energy.level.',
      }),
    ),
    autonomy: optional(
      3,
      quantity({
        unit: 'km',
        resolution: 1,
        minimum: 0,
        maximum: 10_000,
        description: 'Range on this energy. Interface 3.19.2 Energy.autonomy.',
      }),
    ),
    extension: optional(
      4,
      record(
        'EnergyExtension',
        {
          fuel: optional(
            1,
            only(
              'Fuel',
              record(
                'FuelExtension',
                { consumptions: optional(1, consumptions) },
                { description: 'Of a fuel. Interface 3.19.2 Energy.extension.fuel.' },
              ),
            ),
          ),
          electric: optional(
            2,
            only(
              'Electric',
              record(
                'ElectricExtension',
                {
                  charging: optional(1, chargingSchema),
                  battery: optional(
                    2,
                    record(
                      'EnergyBattery',
                      { load: optional(1, load), health: optional(2, health) },
                      { description: 'The traction battery. Interface 3.19.2 EnergyBattery.' },
                    ),
                  ),
                  consumption: optional(
                    3,
                    record(
                      'ElectricEnergyInstantConsumption',
                      {
                        consumption: required(
                          1,
                          quantity({
                            unit: 'kWh/100km',
                            resolution: 0.01,
                            minimum: 0,
                            maximum: 1000,
                            description:
                              'Consumption of this moment (deprecated, no successor). Interface 4.17.2 ElectricEnergyInstantConsumption.',
                          }),
                        ),
                      },
                      {
                        description:
                          'Consumption of electricity. Interface 4.17.2 Energy.extension.electric.consumption.',
                      },
                    ),
                  ),
                },
                { description: 'Of electricity. Interface 3.19.2 Energy.extension.electric.' },
              ),
            ),
          ),
        },
        { description: 'Members of one kind of energy. Interface 3.19.2 Energy.extension.' },
      ),
    ),
    subType: optional(
      5,
      enumeration(energySubTypes, {
        description: 'Kind of fuel or electricity. Interface 3.19.2 Energy.subType.',
      }),
    ),
    updatedAt: optional(
      6,
      unmapped(instant({ description: 'Deprecated twin of createdAt. Interface 4.17.2 Energy.updatedAt.' })),
    ),
  },
  { description: 'One energy the car drives on. Interface 3.19.2 Energy.' },
);
