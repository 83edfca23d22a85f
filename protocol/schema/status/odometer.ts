import { optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

/** `vehicleOdometer` has the same content and exists in HTTP only. */
export const odometerSchema = record(
  'VehicleOdometer',
  {
    createdAt,
    mileage: optional(
      1,
      quantity({
        unit: 'km',
        resolution: 0.1,
        minimum: 0,
        maximum: 10_000_000,
        description: 'Distance the car has driven in its life. Interface 3.19.2 VehicleOdometer.mileage.',
      }),
    ),
  },
  { description: 'The odometer. Interface 3.19.2 Status.odometer.' },
);
