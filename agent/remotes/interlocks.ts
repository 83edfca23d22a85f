import type { ErrorCode } from '../../protocol/errors.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import type { StatusReader } from '../status.ts';

/** What must hold, as the car itself shows it now, before an action may touch the car. */
export interface Interlock {
  readonly action: string;
  readonly slot: Slot;
  /** Called only with a fresh value: an unknown or stale one refuses, because unknown is not safe. */
  readonly holds: (value: unknown) => boolean;
  readonly refusal: ErrorCode;
  /** For people: what the car should be like. */
  readonly demand: string;
}

/** Above this a door must not open from afar, km/h. */
export const WALKING_SPEED = 6;

/** One line per condition; an action with no line has none. */
export const interlocks: readonly Interlock[] = [
  {
    action: 'doors.unlock',
    slot: slotByPath.get('kinetic.speed') as Slot,
    holds: (speed) => typeof speed === 'number' && speed <= WALKING_SPEED,
    refusal: 'command.vehicleInUse',
    demand: `speed known and at most ${WALKING_SPEED} km/h`,
  },
];

/** The first interlock that refuses `action` now. */
export function refuses(action: string, status: StatusReader, now: number): Interlock | undefined {
  return interlocks.find(
    (lock) => lock.action === action && !(status.fresh(lock.slot, now) && lock.holds(status.value(lock.slot))),
  );
}
