import { alertTypes } from './alert-types.ts';
import { enumeration, flag, instant, optional, record, required, type Static } from './fields.ts';
import { identity, tripId } from './identity.ts';
import { positionSchema } from './status/position.ts';

export const alertSeverities = ['Information', 'Warning', 'Critical'] as const;

/** One warning of the car, from its start to its end. Body of an `alert` message. */
export const alertSchema = record('Alert', 'A warning of the car. Interface 3.19.2 Alert.', {
  ...identity,
  active: required(3, flag('It is still there. Interface 3.19.2 Alert.active.')),
  type: required(4, enumeration('Kind of warning. Interface 3.19.2 AlertMsgEnum.', alertTypes)),
  severity: optional(5, enumeration('How bad it is. Interface 3.19.2 Alert.severity.', alertSeverities)),
  startedAt: required(6, instant('Since when. Interface 3.19.2 Alert.startedAt.')),
  endAt: optional(7, instant('Until when; absent while active. Interface 3.19.2 Alert.endAt.')),
  startPosition: optional(8, positionSchema),
  endPosition: optional(9, positionSchema),
  tid: optional(10, tripId),
});
export type Alert = Static<typeof alertSchema>;
