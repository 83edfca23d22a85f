import { enumeration, flag, optional, record, type Static } from '../fields.ts';
import { chargePrograms, moment } from './program.ts';

const nextDelayedTime = moment(
  'When charging starts once: a date-time (RFC 3339), or the local time of day as a duration since midnight (PT22H30M). ' +
    'Interface 3.19.2 RemoteCharging.schedule.nextDelayedTime.',
);

/** Body of a command to the charging of the traction battery; what goes together is checked in rules.ts. */
export const chargingCommandSchema = record(
  'RemoteCharging',
  {
    immediate: optional(1, flag({ description: 'Start now, or stop. Interface 3.19.2 RemoteCharging.immediate.' })),
    schedule: optional(
      2,
      record(
        'RemoteChargeSchedule',
        { nextDelayedTime: optional(1, nextDelayedTime), programs: optional(2, chargePrograms) },
        { description: 'Start later; one of the two. Interface 3.19.2 RemoteCharging.schedule.' },
      ),
    ),
    preferences: optional(
      3,
      record(
        'RemoteChargePreferences',
        {
          level: optional(
            1,
            enumeration(['Level1', 'Level2', 'Level3', 'Level4', 'Level5'], {
              description: 'Power to charge with. Interface 3.19.2 RemoteCharging.preferences.level.',
            }),
          ),
          type: optional(
            2,
            enumeration(['Partial', 'Full'], {
              description: 'How far to charge. Interface 3.19.2 RemoteCharging.preferences.type.',
            }),
          ),
        },
        { description: 'How to charge. Interface 3.19.2 RemoteCharging.preferences.' },
      ),
    ),
    nextDelayedTime: optional(
      4,
      moment('Deprecated, accepted and without effect. Interface 3.19.2 RemoteCharging.nextDelayedTime.'),
    ),
  },
  { description: 'Starts, stops, plans or sets charging. Interface 3.19.2 RemoteCharging.' },
);
export type RemoteCharging = Static<typeof chargingCommandSchema>;
