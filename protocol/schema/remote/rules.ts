/** What the members of a body must be together: the rules of the interface that no schema of members can say. */
import { instantOf } from '../../calendar.ts';
import type { RemoteCharging } from './charging.ts';
import type { RemotePreconditioning } from './preconditioning.ts';
import { type RemoteChargeProgram, type RemotePreconditioningProgram, secondsOfDay } from './program.ts';
import type { RemoteStolen } from './stolen.ts';
import type { RemoteWakeUp } from './wake-up.ts';

/** A rule that is broken, in words for who wrote the body. */
type Fault = string | undefined;

const rules: Readonly<Record<string, (body: never) => Fault>> = {
  WakeUp: ({ action }: RemoteWakeUp): Fault =>
    action === undefined || action === 'WakeUp' ? undefined : `action must be WakeUp, is ${action}`,
  Stolen: (body: RemoteStolen): Fault =>
    one(body, ['stolen', 'trackingPeriod', 'immobilization']) ??
    (body.trackingPeriod === undefined ? undefined : any(body.trackingPeriod, ['running', 'shutdown'])),
  ElectricBatteryChargingRequest: charging,
  ThermalPreconditioning: preconditioning,
};

/** Why a body that follows its schema still asks for nothing that can be done; undefined when it is sound. */
export function bodyFault(kind: string, body: object): Fault {
  return rules[kind]?.(body as never);
}

/** Members that the interface deprecates: accepted and without effect. */
const deprecated: Readonly<Record<string, string>> = {
  Doors: 'forced',
  ElectricBatteryChargingRequest: 'nextDelayedTime',
  Navigation: 'driverApproval',
};

/** The deprecated member of a body that is there; it has no effect. */
export function deprecatedMember(kind: string, body: object): string | undefined {
  const member = deprecated[kind];
  return member !== undefined && Object.hasOwn(body, member) ? member : undefined;
}

function charging({ immediate, schedule, preferences }: RemoteCharging): Fault {
  if (preferences !== undefined) {
    if (immediate !== undefined || schedule !== undefined) {
      return 'preferences cannot go together with immediate or schedule: send two commands';
    }
    return any(preferences, ['level', 'type']);
  }
  if (schedule === undefined) {
    return immediate === undefined ? 'must have immediate, schedule or preferences' : undefined;
  }
  const { nextDelayedTime, programs } = schedule;
  return (
    one(schedule, ['nextDelayedTime', 'programs']) ??
    (nextDelayedTime === undefined || isMoment(nextDelayedTime)
      ? undefined
      : `schedule.nextDelayedTime must be a date-time such as 2026-01-31T22:30:00Z or a time of day such as PT22H30M, is ${nextDelayedTime}`) ??
    first(programs, chargeProgram) ??
    twice(programs)
  );
}

function chargeProgram({ start, end, occurence }: RemoteChargeProgram): Fault {
  return (
    timeOfDay('start', start) ??
    (end === undefined ? undefined : timeOfDay('end', end)) ??
    (end === start ? 'end must not be start' : undefined) ??
    days(occurence)
  );
}

function preconditioning({ airConditioning: { immediate, programs } }: RemotePreconditioning): Fault {
  if (immediate === undefined && (programs === undefined || programs.length === 0)) {
    return 'airConditioning must have immediate or programs';
  }
  return first(programs, preconditioningProgram) ?? twice(programs);
}

function preconditioningProgram(program: RemotePreconditioningProgram): Fault {
  const { slot, start, actionsType = 'Set' } = program;
  if (slot === undefined) return 'slot is missing';
  if (actionsType === 'Delete') return undefined;
  for (const member of ['enabled', 'start', 'occurence'] as const) {
    if (program[member] === undefined) return `${member} is missing: a program that is set has it`;
  }
  return timeOfDay('start', start as string) ?? days(program.occurence);
}

function isMoment(text: string): boolean {
  return secondsOfDay(text) !== undefined || instantOf(text) !== undefined;
}

function timeOfDay(member: string, text: string): Fault {
  return secondsOfDay(text) === undefined
    ? `${member} must be a time of day, PT0H to PT23H59M59S, is ${text}`
    : undefined;
}

function days(occurence: { readonly day: readonly string[] } | undefined): Fault {
  return occurence?.day.length === 0 ? 'occurence.day must have at least one day' : undefined;
}

function first<T>(programs: readonly T[] | undefined, check: (program: T) => Fault): Fault {
  for (const [index, program] of (programs ?? []).entries()) {
    const fault = check(program);
    if (fault !== undefined) return `programs[${index}]: ${fault}`;
  }
  return undefined;
}

function twice(programs: readonly { readonly slot?: number }[] | undefined): Fault {
  const taken = (programs ?? []).flatMap(({ slot }) => (slot === undefined ? [] : [slot]));
  const double = taken.find((slot, index) => taken.indexOf(slot) !== index);
  return double === undefined ? undefined : `programs: slot ${double} is there twice`;
}

function one(body: object, members: readonly string[]): Fault {
  const given = members.filter((member) => Object.hasOwn(body, member));
  return given.length === 1
    ? undefined
    : `must have exactly one of ${members.join(', ')}, has ${given.join(' and ') || 'none'}`;
}

function any(body: object, members: readonly string[]): Fault {
  return members.some((member) => Object.hasOwn(body, member)) ? undefined : `must have ${members.join(' or ')}`;
}
