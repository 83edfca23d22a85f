import { instantOf } from '../calendar.ts';
import { boolean, integer, object } from '../interface/schemas/json.ts';
import { enumeration, flag, optional, record, type Static } from '../schema/fields.ts';
import { CHARGING, driverAct, pluggedIn } from './conditions.ts';
import { remoteKind } from './kind.ts';
import { anyMember, oneMember } from './members.ts';
import {
  chargePrograms,
  daysFault,
  eachProgram,
  moment,
  PROGRAMS,
  type RemoteChargeProgram,
  secondsOfDay,
  slotTwice,
  timeOfDayFault,
} from './programs.ts';

const LEVELS = ['Level1', 'Level2', 'Level3', 'Level4', 'Level5'] as const;

const nextDelayedTime = moment(
  'When charging starts once: a date-time (RFC 3339), or the local time of day as a duration since midnight (PT22H30M). ' +
    'Interface 3.19.2 RemoteCharging.schedule.nextDelayedTime.',
);

const chargingCommandSchema = record(
  'RemoteCharging',
  'Starts, stops, plans or sets charging. Interface 3.19.2 RemoteCharging.',
  {
    immediate: optional(1, flag('Start now, or stop. Interface 3.19.2 RemoteCharging.immediate.')),
    schedule: optional(
      2,
      record('RemoteChargeSchedule', 'Start later; one of the two. Interface 3.19.2 RemoteCharging.schedule.', {
        nextDelayedTime: optional(1, nextDelayedTime),
        programs: optional(2, chargePrograms),
      }),
    ),
    preferences: optional(
      3,
      record('RemoteChargePreferences', 'How to charge. Interface 3.19.2 RemoteCharging.preferences.', {
        level: optional(
          1,
          enumeration('Power to charge with. Interface 3.19.2 RemoteCharging.preferences.level.', LEVELS),
        ),
        type: optional(
          2,
          enumeration('How far to charge. Interface 3.19.2 RemoteCharging.preferences.type.', ['Partial', 'Full']),
        ),
      }),
    ),
    nextDelayedTime: optional(
      4,
      moment('Deprecated, accepted and without effect. Interface 3.19.2 RemoteCharging.nextDelayedTime.'),
    ),
  },
);
type RemoteCharging = Static<typeof chargingCommandSchema>;

const capabilityParameters = object('ChargingParameters', 'How it can be asked for.', [], {
  immediate: object('ChargingImmediate', 'At once.', [], {
    start: boolean('It can be started.'),
    stop: boolean('It can be stopped.'),
  }),
  schedule: object('ChargingSchedule', 'Later.', ['programs', 'nextDelayedTime'], {
    programs: object('ChargingPrograms', 'Programs.', ['supported'], {
      supported: boolean('Whether the car can do it.'),
      size: integer('Programs that the car keeps.', { minimum: 0 }),
    }),
    nextDelayedTime: boolean('It can be started once, later.'),
  }),
  preferences: object('ChargingPreferences', 'How.', [], {
    level: boolean('The power can be chosen.'),
    type: boolean('How far to charge can be chosen.'),
  }),
});

/** Charging of the traction battery: immediate, delayed, by programs, or preferences. */
export const charging = remoteKind({
  type: 'ElectricBatteryChargingRequest',
  wire: 1,
  body: chargingCommandSchema,
  fault,
  deprecated: 'nextDelayedTime',
  actions: {
    'charging.start': {
      interlocks: [{ any: [pluggedIn], refusal: 'command.chargingStation', demand: 'a cable must be plugged in' }],
      ends: [
        driverAct(`${CHARGING}.plugged`, false, 'the cable was pulled out meanwhile'),
        {
          path: `${CHARGING}.status`,
          value: 'Failure',
          code: 'command.chargingFault',
          detail: 'the car reports a fault of its charging',
        },
        {
          path: `${CHARGING}.status`,
          value: 'Disconnected',
          code: 'command.chargingStation',
          detail: 'the cable gives no power',
        },
      ],
    },
    'charging.stop': {},
    'charging.partial': {},
    'charging.full': {},
    ...Object.fromEntries(LEVELS.map((level) => [`charging.${level.toLowerCase()}`, {}])),
  },
  asks: ({ immediate, preferences }) => [
    ...(immediate === undefined ? [] : [immediate ? 'charging.start' : 'charging.stop']),
    ...(preferences?.level === undefined ? [] : [`charging.${preferences.level.toLowerCase()}`]),
    ...(preferences?.type === undefined ? [] : [`charging.${preferences.type.toLowerCase()}`]),
  ],
  member: 'charging',
  scope: { name: 'charging', description: 'Start, stop and plan charging.' },
  capability: {
    actions: ['charging.start', 'charging.stop'],
    parameters: {
      schema: capabilityParameters,
      of: (can) => {
        const start = can('charging.start');
        const preferences = {
          level: can(...LEVELS.map((level) => `charging.${level.toLowerCase()}`)),
          type: can('charging.partial', 'charging.full'),
        };
        return {
          immediate: { start, stop: can('charging.stop') },
          // The published schema lists `preferences` next to `schedule` and requires it inside: the agent writes both.
          schedule: { programs: { supported: start, size: start ? PROGRAMS : 0 }, nextDelayedTime: start, preferences },
          preferences,
        };
      },
    },
  },
  example: {
    summary: 'Charge every weekday night',
    body: {
      schedule: {
        programs: [
          {
            slot: 1,
            enabled: true,
            start: 'PT22H30M',
            end: 'PT6H',
            occurence: { day: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'] },
          },
        ],
      },
    },
  },
  words: {
    verb: 'charge',
    usage:
      'charge [on|off|never] | --at TIME [--until TIME] [--days DAYS] [--slot N] | [--level 1-5] [--type partial|full]',
    // In the interface, an empty list of programs removes all programs.
    bodies: { on: { immediate: true }, off: { immediate: false }, never: { schedule: { programs: [] } } },
    alone: { immediate: true },
  },
});

function fault({ immediate, schedule, preferences }: RemoteCharging): string | undefined {
  if (preferences !== undefined) {
    if (immediate !== undefined || schedule !== undefined) {
      return 'preferences cannot go together with immediate or schedule: send two commands';
    }
    return anyMember(preferences, ['level', 'type']);
  }
  if (schedule === undefined) {
    return immediate === undefined ? 'must have immediate, schedule or preferences' : undefined;
  }
  const { nextDelayedTime, programs } = schedule;
  return (
    oneMember(schedule, ['nextDelayedTime', 'programs']) ??
    (nextDelayedTime === undefined || isMoment(nextDelayedTime)
      ? undefined
      : `schedule.nextDelayedTime must be a date-time such as 2026-01-31T22:30:00Z or a time of day such as PT22H30M, is ${nextDelayedTime}`) ??
    eachProgram(programs, chargeProgram) ??
    slotTwice(programs)
  );
}

function chargeProgram({ start, end, occurence }: RemoteChargeProgram): string | undefined {
  return (
    timeOfDayFault('start', start) ??
    (end === undefined ? undefined : timeOfDayFault('end', end)) ??
    (end === start ? 'end must not be start' : undefined) ??
    daysFault(occurence)
  );
}

function isMoment(text: string): boolean {
  return secondsOfDay(text) !== undefined || instantOf(text) !== undefined;
}
