import { optional, quantity, record, type Static } from './fields.ts';
import { identity } from './identity.ts';

export const daysBeforeMaintenance = quantity({
  unit: 'd',
  resolution: 1,
  minimum: -10_000,
  maximum: 10_000,
  description: 'Days until it is due, negative when overdue. Interface 3.19.2 MaintenanceBase.daysBeforeMaintenance.',
});

export const mileageBeforeMaintenance = quantity({
  unit: 'km',
  resolution: 0.1,
  minimum: -1_000_000,
  maximum: 1_000_000,
  description:
    'Distance until it is due, negative when overdue. Interface 3.19.2 MaintenanceBase.mileageBeforeMaintenance.',
});

/** The next service of the car; at least one of the two is there. Body of a `maintenance` message. */
export const maintenanceSchema = record(
  'Maintenance',
  {
    ...identity,
    daysBeforeMaintenance: optional(3, daysBeforeMaintenance),
    mileageBeforeMaintenance: optional(4, mileageBeforeMaintenance),
  },
  { description: 'When the car is next due for service. Interface 3.19.2 Maintenance.' },
);
export type Maintenance = Static<typeof maintenanceSchema>;
