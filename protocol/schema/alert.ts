import { alertTypes } from './alert-types.ts';
import { enumeration, flag, instant, optional, record, required, type Static } from './fields.ts';
import { identity, tripId } from './identity.ts';
import { positionSchema } from './status/position.ts';

export const alertSeverities = ['Information', 'Warning', 'Critical'] as const;

/** One warning of the car, from its begin to its end. Body of an `alert` message. */
export const alertSchema = record(
  'Alert',
  {
    ...identity,
    active: required(3, flag({ description: 'It is still there. Interface 3.19.2 Alert.active.' })),
    type: required(4, enumeration(alertTypes, { description: 'Kind of warning. Interface 3.19.2 AlertMsgEnum.' })),
    severity: optional(
      5,
      enumeration(alertSeverities, { description: 'How bad it is. Interface 3.19.2 Alert.severity.' }),
    ),
    startedAt: required(6, instant({ description: 'Since when. Interface 3.19.2 Alert.startedAt.' })),
    endAt: optional(7, instant({ description: 'Until when; absent while active. Interface 3.19.2 Alert.endAt.' })),
    startPosition: optional(8, positionSchema),
    endPosition: optional(9, positionSchema),
    tid: optional(10, tripId),
  },
  { description: 'A warning of the car. Interface 3.19.2 Alert.' },
);
export type Alert = Static<typeof alertSchema>;
