import type { ErrorCode, FailureCause } from '../../protocol/errors.ts';
import type { Condition, Requirement } from '../../protocol/profile.ts';
import { type Slot, slotByPath, slots } from '../../protocol/slots.ts';
import type { StatusReader } from '../status.ts';
import type { Refusal } from './plan.ts';

/** What must hold, as the car itself shows it now, before an action may touch the car. */
export interface Interlock {
  readonly action: string;
  /** One of them must hold. */
  readonly any: readonly Condition[];
  /** None of them may be shown, whatever else is. */
  readonly none?: readonly Condition[];
  readonly refusal: ErrorCode;
  /** For people, a sentence: what must be so. */
  readonly demand: string;
  /** Holds also for a car whose profile feeds none of the paths: it has no such part. */
  readonly onlyIfFed?: true;
  /** No profile takes its place. */
  readonly fixed?: true;
}

/** Above this a door must not open from afar, km/h. */
export const WALKING_SPEED = 6;
/** A standing car's speed sensor may still say this, km/h. */
const STANDING = 1;
/** Charge of the traction battery, or of the tank, below which the cabin is not conditioned off the cable, %. */
const RESERVE = 20;

const CHARGING = 'energies.Electric.extension.electric.charging';
const PLUGGED: Condition = { path: `${CHARGING}.plugged`, equals: true };
const inUse = 'command.vehicleInUse';

/** Every door, flap and window that Status knows. */
const openings: readonly Slot[] = slots.filter(({ path }) => path.startsWith('doorsState.opening.'));

/** One line per condition; an action with no line has none. Unknown and stale values refuse: unknown is not safe. */
export const interlocks: readonly Interlock[] = [
  speed('doors.unlock', WALKING_SPEED),
  speed('lights.on', STANDING),
  speed('horn.on', STANDING),
  // Whoever drives must be able to start again, also at a traffic light where the engine has stopped by itself.
  { ...speed('immobilization.on', 0), fixed: true },
  {
    action: 'immobilization.on',
    any: [
      { path: 'ignition.type', equals: 'Stop' },
      { path: 'powertrain.status', equals: 'Stopped' },
      { path: 'powertrain.status', equals: 'NotRunning' },
    ],
    none: [
      ...['StartUp', 'Start'].map((equals) => ({ path: 'ignition.type', equals })),
      ...['Starting', 'Running', 'Stopping'].map((equals) => ({ path: 'powertrain.status', equals })),
    ],
    refusal: inUse,
    demand: 'the engine must be stopped and the ignition off',
    fixed: true,
  },
  {
    action: 'charging.start',
    any: [PLUGGED],
    refusal: 'command.chargingStation',
    demand: 'a cable must be plugged in',
  },
  {
    action: 'preconditioning.start',
    any: [{ path: 'doorsState.opening.Driver.state', equals: 'Closed' }],
    refusal: 'command.doorsOpen',
    demand: 'the driver’s door must be closed',
  },
  ...openings.map(
    ({ path }): Interlock => ({
      action: 'preconditioning.start',
      any: [{ path, equals: 'Closed' }],
      refusal: 'command.doorsOpen',
      demand: 'doors and windows must be closed',
      onlyIfFed: true,
    }),
  ),
  {
    action: 'preconditioning.start',
    any: [
      PLUGGED,
      { path: 'energies.Electric.level', atLeast: RESERVE },
      { path: 'energies.Fuel.level', atLeast: RESERVE },
    ],
    refusal: 'command.batteryLow',
    demand: `the energy must be at least ${RESERVE} %, or a cable plugged in`,
  },
];

export interface Circumstances {
  readonly status: StatusReader;
  /** UTC ms. */
  readonly now: number;
  /** Paths of Status that the profile feeds. */
  readonly fed: ReadonlySet<string>;
  /** What the profile asks for besides. */
  readonly requires?: readonly Requirement[];
}

/** Why `action` must not be done now, by the first interlock that does not hold. */
export function refuses(action: string, circumstances: Circumstances): Refusal | undefined {
  const { requires = [], fed } = circumstances;
  for (const { action: of, any, none = [], refusal, demand, onlyIfFed, fixed } of interlocks) {
    if (of !== action) continue;
    if (fixed !== true && any.some(({ path }) => requires.some((own) => own.path === path))) continue;
    if (onlyIfFed === true && !any.some(({ path }) => fed.has(path))) continue;
    const shown = (condition: Condition): boolean => holds(condition, circumstances);
    if (any.some(shown) && !none.some(shown)) continue;
    const seen = [...new Map(any.map((condition) => [condition.path, shownBy(condition, circumstances)])).values()];
    return { code: refusal, detail: `refused: ${demand} (${seen.join('; ')})` };
  }
  for (const own of requires) {
    if (holds(own, circumstances)) continue;
    return { code: codes[own.cause], detail: `refused: ${own.path} must be ${wanted(own)}, by the profile` };
  }
  return undefined;
}

/** True when Status shows it, from a reading that is not stale. */
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

function speed(action: string, limit: number): Interlock {
  return {
    action,
    any: [{ path: 'kinetic.speed', atMost: limit }],
    refusal: inUse,
    demand: 'the car must be stationary',
  };
}

/** What the car shows at the condition's path, and the limit: `kinetic.speed is 57 km/h; the limit is 6 km/h`. */
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

/** The code of the failure that a profile names by its cause. */
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
