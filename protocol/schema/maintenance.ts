import { optional, quantity, record, type Static } from './fields.ts';
import { identity } from './identity.ts';

export const daysBeforeMaintenance = quantity(
  'd',
  1,
  [-10_000, 10_000],
  'Days until it is due, negative when overdue. Interface 3.19.2 MaintenanceBase.daysBeforeMaintenance.',
);

export const mileageBeforeMaintenance = quantity(
  'km',
  0.1,
  [-1_000_000, 1_000_000],
  'Distance until it is due, negative when overdue. Interface 3.19.2 MaintenanceBase.mileageBeforeMaintenance.',
);

/** The next service of the car, with at least one of the two fields. Body of a `maintenance` message. */
export const maintenanceSchema = record(
  'Maintenance',
  'When the car is next due for service. Interface 3.19.2 Maintenance.',
  {
    ...identity,
    daysBeforeMaintenance: optional(3, daysBeforeMaintenance),
    mileageBeforeMaintenance: optional(4, mileageBeforeMaintenance),
  },
);
export type Maintenance = Static<typeof maintenanceSchema>;
