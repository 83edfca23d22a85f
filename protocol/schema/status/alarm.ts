import { enumeration, instant, optional, record, required } from '../fields.ts';
import { whole } from '../mapping.ts';
import { createdAt } from './created.ts';
import { positionSchema } from './position.ts';

export const alarmStatusSchema = record('AlarmStatus', 'State of the alarm. Interface 3.19.2 AlarmStatus.', {
  createdAt,
  activation: required(
    1,
    enumeration('Whether the alarm is armed. Interface 3.19.2 AlarmStatus.activation.', ['Inactive', 'Active']),
  ),
});

export const alarmTriggerSchema = record('AlarmTrigger', 'Why the alarm went off. Interface 3.19.2 AlarmTrigger.', {
  createdAt,
  type: required(
    1,
    enumeration('Cause of the alarm. Interface 3.19.2 AlarmTrigger.type.', [
      'NoBreakIn',
      'FrontRightDoorBreakIn',
      'FrontLeftDoorBreakIn',
      'RearRightFrontDoorBreakIn',
      'RearLeftFrontDoorBreakIn',
      'HoodDoorBreakIn',
      'TrunkDoorBreakIn',
      'BackliteDoorBreakIn',
      'RoofBreakIn',
      'VolumetricBreakIn',
      'VehicleLifting',
      'ElectricalsystemBreakIn',
      'KeyLearning',
      'UnauthenticatedStartup',
    ]),
  ),
  startAt: required(2, instant('When it went off. Interface 3.19.2 AlarmTrigger.startAt.')),
  position: optional(3, whole(positionSchema)),
});

export const alarmSchema = record('VehicleStatusAlarm', 'The burglar alarm. Interface 3.19.2 Status.alarm.', {
  status: optional(1, alarmStatusSchema),
  trigger: optional(2, alarmTriggerSchema),
});
