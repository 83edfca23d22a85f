import type { ErrorCode, FailureCause } from '../../protocol/errors.ts';
import type { Condition, Requirement } from '../../protocol/profile.ts';
import type { InterlockRule } from '../../protocol/remote/kind.ts';
import { remoteActions } from '../../protocol/remote/table.ts';
import { slotByPath } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import type { Refusal } from './plan.ts';

/** Conditions for each action on the car; an action without a row has no condition. */
export const interlocks: readonly (InterlockRule & { readonly action: string })[] = [...remoteActions].flatMap(
  ([action, { interlocks: rules = [] }]) => rules.map((rule) => ({ action, ...rule })),
);

export interface Circumstances {
  readonly status: StatusReader;
  /** UTC ms. */
  readonly now: number;
  /** Paths of Status that the profile feeds. */
  readonly fed: ReadonlySet<string>;
  /** Further conditions of the profile. */
  readonly requires?: readonly Requirement[];
}

/** One condition of an action, and whether it is met. */
interface InterlockState {
  /** Text for people: the required state, and the state that the car shows. */
  readonly demand: string;
  readonly shown: string;
  readonly holds: boolean;
  /** Refusal of the action while the condition is not met. */
  readonly refusal: Refusal;
}

/** Returns the refusal of the first interlock that is not met, or undefined if `action` is allowed now. */
export function refuses(action: string, circumstances: Circumstances): Refusal | undefined {
  for (const { holds: isHeld, refusal } of interlockStates(action, circumstances)) if (!isHeld) return refusal;
  return undefined;
}

/** Returns the conditions of `action` in this car: the applicable rows of the table, then those of the profile. */
export function* interlockStates(action: string, circumstances: Circumstances): Generator<InterlockState> {
  const { requires = [], fed } = circumstances;
  for (const { action: of, any, none = [], refusal: code, demand, onlyIfFed, fixed } of interlocks) {
    if (of !== action) continue;
    if (fixed !== true && any.some(({ path }) => requires.some((own) => own.path === path))) continue;
    if (onlyIfFed === true && !any.some(({ path }) => fed.has(path))) continue;
    const isShown = (condition: Condition): boolean => holds(condition, circumstances);
    const seen = new Map(any.map((condition) => [condition.path, shownBy(condition, circumstances)]));
    const shown = [...seen.values()].join('; ');
    const refusal = { code, detail: `refused: ${demand} (${shown})` };
    yield { demand, shown, holds: any.some(isShown) && !none.some(isShown), refusal };
  }
  for (const own of requires) {
    const demand = `${own.path} must be ${wanted(own)}, by the profile`;
    const refusal = { code: codes[own.cause], detail: `refused: ${demand}` };
    yield { demand, shown: shownBy(own, circumstances), holds: holds(own, circumstances), refusal };
  }
}

/** Returns true if Status meets the condition, from a reading that is not stale. */
export function holds(condition: Condition, { status, now }: Pick<Circumstances, 'status' | 'now'>): boolean {
  const slot = slotByPath.get(condition.path);
  if (slot === undefined || !status.current(slot, now)) return false;
  const value = status.value(slot);
  const { equals, includes, atMost, atLeast } = condition;
  if (includes !== undefined) return Array.isArray(value) && value.includes(includes);
  if (equals !== undefined) return value === equals;
  if (typeof value !== 'number') return false;
  return (atMost ?? atLeast) !== undefined && value <= (atMost ?? value) && value >= (atLeast ?? value);
}

/** Returns the current value of the path and the limit: `kinetic.speed is 57 km/h; the limit is 6 km/h`. */
function shownBy({ path, atMost }: Condition, { status, now }: Circumstances): string {
  const slot = slotByPath.get(path);
  const unit = slot?.unit === undefined ? '' : ` ${slot.unit}`;
  const known = slot !== undefined && status.current(slot, now) ? status.value(slot) : undefined;
  const value = known === undefined ? 'unknown' : `${String(known)}${typeof known === 'number' ? unit : ''}`;
  return `${path} is ${value}${atMost === undefined ? '' : `; the limit is ${atMost}${unit}`}`;
}

function wanted({ equals, includes, atMost, atLeast }: Condition): string {
  if (includes !== undefined) return includes;
  if (equals !== undefined) return String(equals);
  return atMost !== undefined ? `at most ${atMost}` : `at least ${atLeast}`;
}

/** Error code of each failure cause that a profile can name. */
const codes: Readonly<Record<FailureCause, ErrorCode>> = {
  GeneralError: 'configuration.wrong',
  VehicleError: 'command.unconfirmed',
  WrongCommand: 'command.unsupported',
  VehicleConnectionTimeout: 'command.asleep',
  MissingRights: 'command.forbidden',
  NotPossibleDueToVehicleBatteryLevel: 'command.batteryLow',
  NotPossibleDueToVehiclePrivacyLevel: 'command.private',
  TooManyWakeUpsOverMonth: 'command.wakeUpsUsed',
  TooManyRequestInShortTime: 'command.tooFast',
  SameActionInProgress: 'command.busy',
  NotPossibleDueToVehicleStolenState: 'command.stolen',
  VehicleInUse: 'command.vehicleInUse',
  TooManyRequestSent: 'command.tooMany',
  DoorsOpen: 'command.doorsOpen',
  VehicleErrorOrCidInside: 'command.keyPerhapsInside',
  CidInside: 'command.keyInside',
  ExternalChargingSystemError: 'command.chargingStation',
  VehicleChargingSystemError: 'command.chargingFault',
  VehicleIsNotLocked: 'command.notLocked',
  CanceledByDriver: 'command.canceled',
};
