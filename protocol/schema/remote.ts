import { failureCauses } from '../errors.ts';
import { enumeration, flag, optional, record, required, type Static, type TSchema, text } from './fields.ts';

/** Interface 3.19.2 RemoteType. */
export const remoteTypes = [
  'ThermalPreconditioning',
  'ElectricBatteryChargingRequest',
  'Horn',
  'Doors',
  'Lights',
  'Immobilization',
  'Stolen',
  'WakeUp',
  'Navigation',
] as const;
export type RemoteType = (typeof remoteTypes)[number];

/** Interface 3.19.2 RemoteActionStatus. Failed, Success and AlreadyDone are final, the others pending. */
export const remoteStatuses = [
  'Accepted',
  'Failed',
  'Success',
  'AlreadyDone',
  'WakingUpVehicle',
  'CheckingVehicle',
  'SentToVehicle',
  'VehicleBatteryChargeTooLow',
  'TooManyWakeUpsOverMonth',
] as const;
export type RemoteStatus = (typeof remoteStatuses)[number];

/** Body of a command to the doors. */
export const doorsSchema = record(
  'RemoteDoorsState',
  {
    state: required(
      1,
      enumeration(['Unlocked', 'Locked'], {
        description: 'What the central locking shall be. Interface 3.19.2 RemoteDoorsState.state.',
      }),
    ),
    forced: optional(
      2,
      flag({ description: 'Deprecated, accepted and without effect. Interface 3.19.2 RemoteDoorsState.forced.' }),
    ),
  },
  { description: 'Locks or unlocks. Interface 3.19.2 RemoteDoorsState.' },
);
export type RemoteDoors = Static<typeof doorsSchema>;

/** Bodies of commands, by type. */
export const remoteBodies = { Doors: doorsSchema } as const satisfies Partial<Record<RemoteType, TSchema>>;

/** Body of a `remote` message: one state that a command has reached. */
export const remoteReportSchema = record(
  'RemoteReport',
  {
    remoteActionId: required(
      1,
      text({ maxLength: 64, description: 'Id of the command, from the command. Interface 3.19.2 RemoteActionId.' }),
    ),
    type: required(2, enumeration(remoteTypes, { description: 'Kind of command. Interface 3.19.2 RemoteType.' })),
    status: required(
      3,
      enumeration(remoteStatuses, { description: 'State it has reached. Interface 3.19.2 RemoteActionStatus.' }),
    ),
    failureCause: optional(
      4,
      enumeration(failureCauses, {
        description: 'Why it failed, with status Failed. Interface 3.19.2 RemoteFailedEventStatus.',
      }),
    ),
    detail: optional(5, text({ description: 'The same for people.' })),
  },
  { description: 'What has become of a command. Interface 3.19.2 RemoteAction.' },
);
export type RemoteReport = Static<typeof remoteReportSchema>;
