import { enumeration, flag, list, optional, quantity, record } from '../fields.ts';
import { duration } from '../mapping.ts';
import { chargeProgramSchema } from './program.ts';

/** Real cars return an empty array as `schedule` if they have none; the model omits it then. */
export const chargingSchema = record(
  'EnergyCharging',
  'Charging of the traction battery. Interface 3.19.2 EnergyCharging.',
  {
    plugged: optional(1, flag('A charging cable is plugged in. Interface 3.19.2 EnergyCharging.plugged.')),
    status: optional(
      2,
      enumeration('State of the charging. Interface 3.19.2 ChargingStatusEnum.', [
        'Disconnected',
        'InProgress',
        'Failure',
        'Stopped',
        'Finished',
      ]),
    ),
    chargingRate: optional(
      3,
      quantity('km/h', 1, [0, 500], 'Range gained per hour of charging. Interface 3.19.2 EnergyCharging.chargingRate.'),
    ),
    remainingTime: optional(
      4,
      duration('Time until the charging ends. Interface 3.19.2 EnergyCharging.remainingTime.'),
    ),
    chargingMode: optional(
      5,
      enumeration('Alternating (Slow) or direct current (Quick). Interface 3.19.2 EnergyCharging.chargingMode.', [
        'No',
        'Slow',
        'Quick',
      ]),
    ),
    chargingPowerLevel: optional(
      6,
      enumeration('Preferred power. Interface 3.19.2 EnergyCharging.chargingPowerLevel.', [
        'Level1',
        'Level2',
        'Level3',
        'Level4',
        'Level5',
      ]),
    ),
    nextDelayedTime: optional(
      7,
      duration(
        'Local time of day of the next delayed charging, counted from midnight. Interface 3.19.2 EnergyCharging.nextDelayedTime.',
      ),
    ),
    type: optional(8, enumeration('Limit of charging. Interface 3.19.2 EnergyCharging.type.', ['Partial', 'Full'])),
    schedule: optional(
      9,
      record('ChargeSchedule', 'When the car charges. Interface 3.19.2 EnergyCharging.schedule.', {
        programs: optional(1, list('The charging programs the car keeps.', chargeProgramSchema, { maxItems: 16 })),
      }),
    ),
  },
);
