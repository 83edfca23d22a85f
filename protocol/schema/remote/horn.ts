import { enumeration, record, required, type Static } from '../fields.ts';

/** Body of a command to the horn. */
export const hornSchema = record(
  'RemoteHorn',
  {
    state: required(
      1,
      enumeration(['Activated', 'Unactivated'], {
        description: 'Whether it shall sound. Interface 3.19.2 RemoteHorn.state.',
      }),
    ),
  },
  { description: 'Sounds the horn, or silences it. Interface 3.19.2 RemoteHorn.' },
);
export type RemoteHorn = Static<typeof hornSchema>;
