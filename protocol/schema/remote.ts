import { failureCauses } from '../errors.ts';
import { enumeration, optional, record, required, type Static, type TSchema, text } from './fields.ts';
import { chargingCommandSchema } from './remote/charging.ts';
import { doorsSchema } from './remote/doors.ts';
import { hornSchema } from './remote/horn.ts';
import { immobilizationSchema } from './remote/immobilization.ts';
import { lightsSchema } from './remote/lights.ts';
import { navigationSchema } from './remote/navigation.ts';
import { preconditioningCommandSchema } from './remote/preconditioning.ts';
import { stolenCommandSchema } from './remote/stolen.ts';
import { wakeUpSchema } from './remote/wake-up.ts';

export { doorsSchema, type RemoteDoors } from './remote/doors.ts';

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

/**
 * What a signed command can be about: the remote commands of the interface, then what is the agent's own. On the wire a
 * kind is its position, so it may only grow at its end.
 */
export const commandKinds = [...remoteTypes, 'Monitor', 'Callback', 'Configuration', 'Trust'] as const;
export type CommandKind = (typeof commandKinds)[number];

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

/** Bodies of commands, by type. */
export const remoteBodies = {
  ThermalPreconditioning: preconditioningCommandSchema,
  ElectricBatteryChargingRequest: chargingCommandSchema,
  Horn: hornSchema,
  Doors: doorsSchema,
  Lights: lightsSchema,
  Immobilization: immobilizationSchema,
  Stolen: stolenCommandSchema,
  WakeUp: wakeUpSchema,
  Navigation: navigationSchema,
} as const satisfies Record<RemoteType, TSchema>;

/** Body of a `remote` message: one state that a command has reached. */
export const remoteReportSchema = record(
  'RemoteReport',
  {
    remoteActionId: required(
      1,
      text({ maxLength: 64, description: 'Id of the command, from the command. Interface 3.19.2 RemoteActionId.' }),
    ),
    type: required(
      2,
      enumeration(commandKinds, { description: 'Kind of command. Interface 3.19.2 RemoteType, and ours.' }),
    ),
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
