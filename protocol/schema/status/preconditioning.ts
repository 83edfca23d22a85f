import { enumeration, instant, list, optional, record } from '../fields.ts';
import { unmapped } from '../mapping.ts';
import { createdAt } from './created.ts';
import { preconditioningProgramSchema } from './program.ts';

/** The user line also serves it under its old name `preconditionning`; that twin exists in HTTP only. */
export const preconditioningSchema = record(
  'Preconditioning',
  {
    airConditioning: optional(
      1,
      record(
        'AirConditioning',
        {
          createdAt,
          status: optional(
            1,
            enumeration(['Enabled', 'Disabled', 'Finished', 'Failure'], {
              description: 'State of the preconditioning. Interface 3.19.2 Preconditioning.airConditioning.status.',
            }),
          ),
          startingCause: optional(
            2,
            enumeration(['Immediate', 'Scheduled'], {
              description: 'Started at once or by a program. Interface 3.19.2 …airConditioning.startingCause.',
            }),
          ),
          failureCause: optional(
            3,
            enumeration(
              [
                'Defect',
                'DoorOpened',
                'LowBattery',
                'LowFuelLevel',
                'TooManyUnusedProg',
                'WindowsRoofOpened',
                'HoodOpened',
                'NotParked',
                'OtherFailures',
              ],
              { description: 'Why it failed. Interface 3.19.2 …airConditioning.failureCause.' },
            ),
          ),
          programs: optional(
            4,
            list(preconditioningProgramSchema, {
              maxItems: 4,
              description: 'The programs the car keeps. Interface 3.19.2 …airConditioning.programs.',
            }),
          ),
          updatedAt: optional(
            5,
            unmapped(
              instant({ description: 'Deprecated twin of createdAt. Interface 4.17.2 …airConditioning.updatedAt.' }),
            ),
          ),
        },
        { description: 'Preconditioning of the cabin. Interface 3.19.2 Preconditioning.airConditioning.' },
      ),
    ),
  },
  { description: 'Preparation of the car for a drive. Interface 3.19.2 Status.preconditioning.' },
);
