import { failureCauses } from '../errors.ts';
import { type RemoteType, remoteKinds } from '../remote/table.ts';
import { enumeration, optional, record, required, type Static, text } from './fields.ts';

/** Kinds of command for the agent itself, by their number on the wire. */
const ownKinds = {
  Monitor: 9,
  Callback: 10,
  Configuration: 11,
  Trust: 12,
  Resend: 13,
  Collect: 14,
  ReadFaults: 15,
  Capture: 16,
} as const;
export type CommandKind = RemoteType | keyof typeof ownKinds;

/**
 * Kinds of signed command: the remote commands of the interface, and the agent's own. On the wire, a
 * kind is its position.
 */
export const commandKinds: readonly CommandKind[] = byWire([
  ...remoteKinds.map(({ type, wire }) => [type, wire] as const),
  ...(Object.entries(ownKinds) as [CommandKind, number][]),
]);

/** @throws Error unless each number from 0 on belongs to exactly one kind */
function byWire(numbers: readonly (readonly [CommandKind, number])[]): CommandKind[] {
  const kinds: CommandKind[] = [];
  for (const [kind, wire] of numbers) {
    if (kinds[wire] !== undefined) throw new Error(`two kinds of command have number ${wire}: ${kinds[wire]}, ${kind}`);
    kinds[wire] = kind;
  }
  if (kinds.length !== numbers.length) throw new Error('the numbers of the kinds of command have a gap');
  return kinds;
}

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

/** Final states of a command: no further state follows. */
export const finalStatuses: ReadonlySet<RemoteStatus> = new Set(['Success', 'AlreadyDone', 'Failed']);

/** Body of a `remote` message: one state that a command has reached. */
export const remoteReportSchema = record('RemoteReport', 'State of a command. Interface 3.19.2 RemoteAction.', {
  remoteActionId: required(
    1,
    text('Id of the command, from the command. Interface 3.19.2 RemoteActionId.', { maxLength: 64 }),
  ),
  type: required(2, enumeration('Kind of command. Interface 3.19.2 RemoteType, and ours.', commandKinds)),
  status: required(3, enumeration('State it has reached. Interface 3.19.2 RemoteActionStatus.', remoteStatuses)),
  failureCause: optional(
    4,
    enumeration('Why it failed, with status Failed. Interface 3.19.2 RemoteFailedEventStatus.', failureCauses),
  ),
  detail: optional(5, text('The same for people.')),
});
export type RemoteReport = Static<typeof remoteReportSchema>;
