import { enumeration, flag, list, optional, quantity, record } from '../fields.ts';
import { duration } from '../mapping.ts';
import { chargeProgramSchema } from './program.ts';

/** Real cars give `schedule` as an empty array when they keep none; the model leaves it out then. */
export const chargingSchema = record(
  'EnergyCharging',
  {
    plugged: optional(
      1,
      flag({ description: 'A charging cable is plugged in. Interface 3.19.2 EnergyCharging.plugged.' }),
    ),
    status: optional(
      2,
      enumeration(['Disconnected', 'InProgress', 'Failure', 'Stopped', 'Finished'], {
        description: 'State of the charging. Interface 3.19.2 ChargingStatusEnum.',
      }),
    ),
    chargingRate: optional(
      3,
      quantity({
        unit: 'km/h',
        resolution: 1,
        minimum: 0,
        maximum: 500,
        description: 'Range gained per hour of charging. Interface 3.19.2 EnergyCharging.chargingRate.',
      }),
    ),
    remainingTime: optional(
      4,
      duration({ description: 'Time until the charging ends. Interface 3.19.2 EnergyCharging.remainingTime.' }),
    ),
    chargingMode: optional(
      5,
      enumeration(['No', 'Slow', 'Quick'], {
        description: 'Alternating (Slow) or direct current (Quick). Interface 3.19.2 EnergyCharging.chargingMode.',
      }),
    ),
    chargingPowerLevel: optional(
      6,
      enumeration(['Level1', 'Level2', 'Level3', 'Level4', 'Level5'], {
        description: 'Preferred power. Interface 3.19.2 EnergyCharging.chargingPowerLevel.',
      }),
    ),
    nextDelayedTime: optional(
      7,
      duration({
        description:
          'Local time of day of the next delayed charging, counted from midnight. Interface 3.19.2 EnergyCharging.nextDelayedTime.',
      }),
    ),
    type: optional(
      8,
      enumeration(['Partial', 'Full'], {
        description: 'Limit of charging. Interface 3.19.2 EnergyCharging.type.',
      }),
    ),
    schedule: optional(
      9,
      record(
        'ChargeSchedule',
        {
          programs: optional(
            1,
            list(chargeProgramSchema, { maxItems: 16, description: 'The charging programs the car keeps.' }),
          ),
        },
        { description: 'When the car charges. Interface 3.19.2 EnergyCharging.schedule.' },
      ),
    ),
  },
  { description: 'Charging of the traction battery. Interface 3.19.2 EnergyCharging.' },
);
