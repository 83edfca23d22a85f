import { count } from './count.ts';
import { instant, optional, quantity, record, required, type Static, text } from './fields.ts';

/** Body of a `hello` message: the first after a start of the agent, and another when the time became known. */
export const helloSchema = record(
  'Hello',
  {
    version: required(1, text({ maxLength: 64, description: 'Version of the agent, e.g. 1.4.0.' })),
    protocol: required(2, count('Protocol version it speaks.', { minimum: 1 })),
    boot: required(3, count('Starts of the agent in this car so far, this one included.', { minimum: 1 })),
    profile: required(4, text({ description: 'Vehicle profile it works with, with the version of the profile.' })),
    startedAt: required(5, instant({ description: 'When it was started.' })),
    behind: optional(
      6,
      quantity({
        unit: 'ms',
        resolution: 1,
        description:
          'The time has become known: add this to every instant of the messages of this boot that came with clock none. Records among them are sent again, corrected.',
      }),
    ),
  },
  { description: 'Who speaks.' },
);
export type Hello = Static<typeof helloSchema>;
