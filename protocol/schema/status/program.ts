import { enumeration, flag, list, optional, quantity, record, required } from '../fields.ts';
import { duration } from '../mapping.ts';

/** `occurence`, with one r, is the published name. */
const occurence = record(
  'Occurence',
  {
    day: required(
      1,
      list(
        enumeration(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], {
          description: 'Day of the week. Interface 3.19.2 BasicProgram.occurence.day.',
        }),
        { maxItems: 7, description: 'Days of the week on which the program runs.' },
      ),
    ),
  },
  { description: 'When the program repeats. Interface 3.19.2 BasicProgram.occurence.' },
);

const start = duration({ description: 'Local time of day at which it starts, counted from midnight, e.g. PT14H30M.' });
const slot = quantity({ unit: '1', resolution: 1, minimum: 1, maximum: 4, description: 'Place among the programs.' });
const enabled = flag({ description: 'The program is to run.' });

/** A cabin preconditioning program. Real cars give programs without `occurence`. */
export const preconditioningProgramSchema = record(
  'PreconditioningProgram',
  {
    slot: optional(1, slot),
    enabled: optional(2, enabled),
    recurrence: optional(
      3,
      enumeration(['None', 'Daily'], {
        description: 'Once or repeated; Daily when absent. Interface 3.19.2 Program.recurrence.',
      }),
    ),
    start: required(4, start),
    occurence: optional(5, occurence),
  },
  { description: 'A preconditioning program. Interface 3.19.2 PreconditioningProgram.' },
);

/** A charging program. */
export const chargeProgramSchema = record(
  'ChargeScheduleProgram',
  {
    slot: optional(1, slot),
    enabled: optional(2, enabled),
    start: required(4, start),
    occurence: optional(5, occurence),
    end: optional(6, duration({ description: 'Local time of day at which it ends, counted from midnight.' })),
    chargeUntilFull: optional(7, flag({ description: 'Charging continues after the end until the battery is full.' })),
  },
  { description: 'A charging program. Interface 3.19.2 ChargeScheduleProgram.' },
);
