import { flag, optional, record, required, type Static } from '../fields.ts';
import { preconditioningPrograms } from './program.ts';

/** Body of a command to the preconditioning of the cabin. */
export const preconditioningCommandSchema = record(
  'RemotePreconditioning',
  {
    airConditioning: required(
      1,
      record(
        'RemoteAirConditioning',
        {
          immediate: optional(
            1,
            flag({
              description:
                'Start now; false without programs: stop. Interface 3.19.2 RemotePreconditioning.airConditioning.immediate.',
            }),
          ),
          programs: optional(2, preconditioningPrograms),
        },
        { description: 'The cabin. Interface 3.19.2 RemotePreconditioning.airConditioning.' },
      ),
    ),
  },
  { description: 'Heats or cools the cabin before a drive. Interface 3.19.2 RemotePreconditioning.' },
);
export type RemotePreconditioning = Static<typeof preconditioningCommandSchema>;
