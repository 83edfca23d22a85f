/** Common part of the programs of charging and preconditioning. Keys and fields are those of Status. */
import { enumeration, list, optional, record, required, type Static, text } from '../schema/fields.ts';
import { chargeProgramSchema, preconditioningProgramSchema } from '../schema/status/program.ts';

/** Maximum number of stored programs of one kind. */
export const PROGRAMS = 4;

const members = preconditioningProgramSchema.properties;

/** One charging program in a command. */
export const remoteChargeProgramSchema = record(
  'RemoteChargeProgram',
  'A charging program. Interface 3.19.2 RemoteCharging.schedule.programs.',
  {
    slot: optional(1, members.slot),
    enabled: optional(2, members.enabled),
    start: required(4, members.start),
    occurence: optional(5, members.occurence),
    end: optional(6, chargeProgramSchema.properties.end),
  },
);
export type RemoteChargeProgram = Static<typeof remoteChargeProgramSchema>;

/** One preconditioning program in a command: its slot is set or deleted. */
export const remotePreconditioningProgramSchema = record(
  'RemotePreconditioningProgram',
  'A preconditioning program. Interface 3.19.2 RemotePreconditioning.airConditioning.programs.',
  {
    slot: optional(1, members.slot),
    enabled: optional(2, members.enabled),
    recurrence: optional(3, members.recurrence),
    start: optional(4, members.start),
    occurence: optional(5, members.occurence),
    actionsType: optional(
      6,
      enumeration(
        'What becomes of the slot; Set when absent. Interface 3.19.2 …airConditioning.programs.actionsType.',
        ['Delete', 'Set'],
      ),
    ),
  },
);
export type RemotePreconditioningProgram = Static<typeof remotePreconditioningProgramSchema>;

/** A list of programs. */
export const chargePrograms = list(
  'All programs: those that are not in the list are dropped. Interface 3.19.2 RemoteCharging.schedule.programs.',
  remoteChargeProgramSchema,
  { maxItems: PROGRAMS },
);
export const preconditioningPrograms = list(
  'Programs to set or delete. Interface 3.19.2 RemotePreconditioning.airConditioning.programs.',
  remotePreconditioningProgramSchema,
  { maxItems: PROGRAMS },
);

/** A time in its written form. */
export const moment = (description: string) => text(description, { maxLength: 40 });

/**
 * Returns the seconds since midnight of a time of day written as an ISO 8601 duration, `PT14H30M`. Undefined if it is
 * longer than a day, or contains days, months or fractions.
 */
export function secondsOfDay(duration: string): number | undefined {
  const found = /^PT(?=\d)(?:(\d{1,5})H)?(?:(\d{1,5})M)?(?:(\d{1,5})S)?$/.exec(duration);
  if (found === null) return undefined;
  const [hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0)) as [number, number, number];
  const total = (hours * 60 + minutes) * 60 + seconds;
  return total < 86_400 ? total : undefined;
}

/** Returns the reason why `text` is not a time of day, or undefined. */
export function timeOfDayFault(member: string, text: string): string | undefined {
  return secondsOfDay(text) === undefined
    ? `${member} must be a time of day, PT0H to PT23H59M59S, is ${text}`
    : undefined;
}

export function daysFault(occurence: { readonly day: readonly string[] } | undefined): string | undefined {
  return occurence?.day.length === 0 ? 'occurence.day must have at least one day' : undefined;
}

/** Returns the first fault that `check` finds. */
export function eachProgram<T>(
  programs: readonly T[] | undefined,
  check: (program: T) => string | undefined,
): string | undefined {
  for (const [index, program] of (programs ?? []).entries()) {
    const fault = check(program);
    if (fault !== undefined) return `programs[${index}]: ${fault}`;
  }
  return undefined;
}

/** Returns an error if two programs have the same slot. */
export function slotTwice(programs: readonly { readonly slot?: number }[] | undefined): string | undefined {
  const taken = (programs ?? []).flatMap(({ slot }) => (slot === undefined ? [] : [slot]));
  const double = taken.find((slot, index) => taken.indexOf(slot) !== index);
  return double === undefined ? undefined : `programs: slot ${double} is there twice`;
}
