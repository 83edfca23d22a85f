import { flag, record, required } from '../fields.ts';

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
