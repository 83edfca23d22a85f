import { enumeration, instant, optional, record, required } from '../fields.ts';
import { whole } from '../mapping.ts';
import { createdAt } from './created.ts';
import { positionSchema } from './position.ts';

export const alarmStatusSchema = record(
  'AlarmStatus',
  {
    createdAt,
    activation: required(
      1,
      enumeration(['Inactive', 'Active'], {
        description: 'Whether the alarm is armed. Interface 3.19.2 AlarmStatus.activation.',
      }),
    ),
  },
  { description: 'State of the alarm. Interface 3.19.2 AlarmStatus.' },
);

export const alarmTriggerSchema = record(
  'AlarmTrigger',
  {
    createdAt,
    type: required(
      1,
      enumeration(
        [
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
        ],
        { description: 'Cause of the alarm. Interface 3.19.2 AlarmTrigger.type.' },
      ),
    ),
    startAt: required(2, instant({ description: 'When it went off. Interface 3.19.2 AlarmTrigger.startAt.' })),
    position: optional(3, whole(positionSchema)),
  },
  { description: 'Why the alarm went off. Interface 3.19.2 AlarmTrigger.' },
);

export const alarmSchema = record(
  'VehicleStatusAlarm',
  { status: optional(1, alarmStatusSchema), trigger: optional(2, alarmTriggerSchema) },
  { description: 'The burglar alarm. Interface 3.19.2 Status.alarm.' },
);
