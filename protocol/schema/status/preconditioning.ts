import { enumeration, instant, list, optional, record } from '../fields.ts';
import { unmapped } from '../mapping.ts';
import { createdAt } from './created.ts';
import { preconditioningProgramSchema } from './program.ts';

/** The user line also has it under its old name `preconditionning`; that alias exists only in HTTP. */
export const preconditioningSchema = record(
  'Preconditioning',
  'Preparation of the car for a drive. Interface 3.19.2 Status.preconditioning.',
  {
    airConditioning: optional(
      1,
      record('AirConditioning', 'Preconditioning of the cabin. Interface 3.19.2 Preconditioning.airConditioning.', {
        createdAt,
        status: optional(
          1,
          enumeration('State of the preconditioning. Interface 3.19.2 Preconditioning.airConditioning.status.', [
            'Enabled',
            'Disabled',
            'Finished',
            'Failure',
          ]),
        ),
        startingCause: optional(
          2,
          enumeration('Started at once or by a program. Interface 3.19.2 …airConditioning.startingCause.', [
            'Immediate',
            'Scheduled',
          ]),
        ),
        failureCause: optional(
          3,
          enumeration('Why it failed. Interface 3.19.2 …airConditioning.failureCause.', [
            'Defect',
            'DoorOpened',
            'LowBattery',
            'LowFuelLevel',
            'TooManyUnusedProg',
            'WindowsRoofOpened',
            'HoodOpened',
            'NotParked',
            'OtherFailures',
          ]),
        ),
        programs: optional(
          4,
          list(
            'The programs the car keeps. Interface 3.19.2 …airConditioning.programs.',
            preconditioningProgramSchema,
            { maxItems: 4 },
          ),
        ),
        updatedAt: optional(
          5,
          unmapped(instant('Deprecated twin of createdAt. Interface 4.17.2 …airConditioning.updatedAt.')),
        ),
      }),
    ),
  },
);
