import { enumeration, flag, list, optional, quantity, record, required } from '../fields.ts';
import { duration } from '../mapping.ts';

/** `occurence`, with one r, is the published name. */
const occurence = record('Occurence', 'When the program repeats. Interface 3.19.2 BasicProgram.occurence.', {
  day: required(
    1,
    list(
      'Days of the week on which the program runs.',
      enumeration('Day of the week. Interface 3.19.2 BasicProgram.occurence.day.', [
        'Mon',
        'Tue',
        'Wed',
        'Thu',
        'Fri',
        'Sat',
        'Sun',
      ]),
      { maxItems: 7 },
    ),
  ),
});

const start = duration('Local time of day at which it starts, counted from midnight, e.g. PT14H30M.');
const slot = quantity('1', 1, [1, 4], 'Place among the programs.');
const enabled = flag('The program is to run.');

/** A cabin preconditioning program. Real cars return programs without `occurence`. */
export const preconditioningProgramSchema = record(
  'PreconditioningProgram',
  'A preconditioning program. Interface 3.19.2 PreconditioningProgram.',
  {
    slot: optional(1, slot),
    enabled: optional(2, enabled),
    recurrence: optional(
      3,
      enumeration('Once or repeated; Daily when absent. Interface 3.19.2 Program.recurrence.', ['None', 'Daily']),
    ),
    start: required(4, start),
    occurence: optional(5, occurence),
  },
);

/** A charging program. */
export const chargeProgramSchema = record(
  'ChargeScheduleProgram',
  'A charging program. Interface 3.19.2 ChargeScheduleProgram.',
  {
    slot: optional(1, slot),
    enabled: optional(2, enabled),
    start: required(4, start),
    occurence: optional(5, occurence),
    end: optional(6, duration('Local time of day at which it ends, counted from midnight.')),
    chargeUntilFull: optional(7, flag('Charging continues after the end until the battery is full.')),
  },
);
