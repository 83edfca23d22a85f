import { optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

/** `vehicleOdometer` has the same content and exists only in HTTP. */
export const odometerSchema = record('VehicleOdometer', 'The odometer. Interface 3.19.2 Status.odometer.', {
  createdAt,
  mileage: optional(
    1,
    quantity(
      'km',
      0.1,
      [0, 10_000_000],
      'Distance the car has driven in its life. Interface 3.19.2 VehicleOdometer.mileage.',
    ),
  ),
});
