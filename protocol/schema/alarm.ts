import { optional, record, type Static } from './fields.ts';
import { identity } from './identity.ts';
import { alarmStatusSchema, alarmTriggerSchema } from './status/alarm.ts';

/** The alarm was armed or disarmed, or went off: exactly one of the two fields. Body of an `alarm` message. */
export const alarmRecordSchema = record(
  'AlarmDetails',
  'Something the burglar alarm did. Interface 3.19.2 AlarmDetails.',
  {
    ...identity,
    status: optional(3, alarmStatusSchema),
    trigger: optional(4, alarmTriggerSchema),
  },
);
export type AlarmRecord = Static<typeof alarmRecordSchema>;
