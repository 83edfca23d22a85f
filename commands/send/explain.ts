import type { FailureCause } from '../../protocol/errors.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';

/** Advice for the sender, by cause of failure. */
const advice: Readonly<Record<FailureCause, string>> = {
  GeneralError: 'the unit has a fault of its own, such as a full disk: look into its log',
  VehicleError: 'the car did not do it: see whether its profile fits, and try again',
  WrongCommand: 'this car cannot do it, or not in these words',
  VehicleConnectionTimeout: 'send it again when the car is reachable; see that both clocks are right',
  MissingRights: 'sign with a key that the car trusts for this kind (vigie keys)',
  NotPossibleDueToVehicleBatteryLevel: 'charge the car first',
  NotPossibleDueToVehiclePrivacyLevel: 'somebody in the car chose privacy, and can end it there',
  TooManyWakeUpsOverMonth: 'wait until the car is awake by itself',
  TooManyRequestInShortTime: 'wait a few seconds',
  SameActionInProgress: 'wait until the one before has ended',
  NotPossibleDueToVehicleStolenState: 'this goes only while the car counts as stolen, or only while it does not',
  VehicleInUse: 'wait until the car stands, is switched off, and tells so',
  TooManyRequestSent: 'wait until tomorrow',
  DoorsOpen: 'close doors and windows',
  VehicleErrorOrCidInside: 'see whether a key is in the car',
  CidInside: 'take the key out of the car',
  ExternalChargingSystemError: 'plug the cable in, and see that it gives power',
  VehicleChargingSystemError: 'the charging of the car has a fault',
  VehicleIsNotLocked: 'lock the car first',
  CanceledByDriver: 'somebody at the car acted against it',
};

/** Formats a report for the user. A failure includes advice. */
export function explain({ type, status, failureCause, detail }: RemoteReport): string {
  const cause = failureCause === undefined ? '' : ` (${failureCause})`;
  const reason = detail === undefined ? '' : `: ${detail}`;
  const hint = failureCause === undefined ? '' : `\n  ${advice[failureCause]}`;
  return `${type} ${status}${cause}${reason}${hint}`;
}
