/**
 * Status: the state of a car as the interface publishes it (3.19.2 Status, with the additions of the user line).
 * `_links`, `_embedded` and the deprecated aliases `vehicleOdometer`, `preconditionning`, `energy` exist only in HTTP.
 *
 * Integer keys: 0 is `createdAt` in every object, 1 to 7 are the most frequently changed fields (a key below 8 makes a
 * short slot id). A key is never reused or renumbered, even if its field is removed; a new field gets the next key.
 */
import { instant, list, optional, quantity, record, required, type Static, text } from './fields.ts';
import { unmapped } from './mapping.ts';
import { adasSchema } from './status/adas.ts';
import { alarmSchema } from './status/alarm.ts';
import { batterySchema } from './status/battery.ts';
import { doorsStateSchema } from './status/doors.ts';
import { drivingBehaviorSchema } from './status/driving-behavior.ts';
import { energySchema } from './status/energy.ts';
import { engineSchema } from './status/engine.ts';
import { environmentSchema } from './status/environment.ts';
import { ignitionSchema } from './status/ignition.ts';
import { kineticSchema } from './status/kinetic.ts';
import { lightingSystemSchema } from './status/lighting-system.ts';
import { odometerSchema } from './status/odometer.ts';
import { positionSchema } from './status/position.ts';
import { powertrainSchema } from './status/powertrain.ts';
import { preconditioningSchema } from './status/preconditioning.ts';
import { privacySchema } from './status/privacy.ts';
import { safetySchema } from './status/safety.ts';
import { serviceSchema } from './status/service.ts';
import { stolenSchema } from './status/stolen.ts';
import { transmissionSchema } from './status/transmission.ts';
import { wipingBladesSchema } from './status/wiping-blades.ts';

const members = {
  kinetic: optional(1, kineticSchema),
  lastPosition: optional(2, positionSchema),
  engines: optional(
    3,
    list('Engines. Interface 3.19.2 Status.engines.', engineSchema, { identity: ['type'], maxItems: 2 }),
  ),
  energies: optional(
    4,
    list('Energies the car drives on. Interface 3.19.2 Status.energies.', energySchema, {
      identity: ['type'],
      maxItems: 2,
    }),
  ),
  odometer: optional(5, odometerSchema),
  environment: optional(6, environmentSchema),
  transmission: optional(7, transmissionSchema),
  powertrain: optional(8, powertrainSchema),
  ignition: optional(9, ignitionSchema),
  doorsState: optional(10, doorsStateSchema),
  safety: optional(11, safetySchema),
  lightingSystem: optional(12, lightingSystemSchema),
  wipingBlades: optional(13, wipingBladesSchema),
  adas: optional(14, adasSchema),
  autonomy: optional(
    15,
    unmapped(
      quantity(
        'km',
        1,
        [0, 20_000],
        'Range on all energies together: the sum of energies[].autonomy. An addition to interface 3.19.2.',
      ),
    ),
  ),
  drivingBehavior: optional(16, drivingBehaviorSchema),
  preconditioning: optional(17, preconditioningSchema),
  battery: optional(18, batterySchema),
  privacy: optional(19, privacySchema),
  alarm: optional(20, alarmSchema),
  stolen: optional(21, stolenSchema),
  service: optional(22, serviceSchema),
};

/** State of the car, without the envelope of the document: messages have the VIN in their topic. */
export const statusContentsSchema = record(
  'StatusContents',
  'The objects of Status that are known, or those that changed.',
  members,
);
export type StatusContents = Static<typeof statusContentsSchema>;

/** The whole document. */
export const statusSchema = record('Status', 'The state of a car. Interface 3.19.2 Status.', {
  createdAt: required(23, instant('When the document was made. Interface 3.19.2 CreatedAtField.')),
  vin: required(
    24,
    text('Vehicle identification number. ISO 3779.', { maxLength: 17, pattern: '^[A-HJ-NPR-Z0-9]{17}$' }),
  ),
  updatedAt: optional(25, instant('Newest change in it. Interface 3.19.2 UpdatedAtField.')),
  ...members,
});
