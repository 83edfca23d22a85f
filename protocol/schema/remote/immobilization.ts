import { flag, record, required, type Static } from '../fields.ts';

/** Body of a command to the immobilizer. */
export const immobilizationSchema = record(
  'RemoteSetImmobilization',
  {
    activate: required(
      1,
      flag({ description: 'The next start is prevented. Interface 3.19.2 RemoteSetImmobilization.activate.' }),
    ),
  },
  { description: 'Prevents the next start, or allows it again. Interface 3.19.2 RemoteSetImmobilization.' },
);
export type RemoteImmobilization = Static<typeof immobilizationSchema>;
