import type { Slot } from '../../slots.ts';
import { dateTime } from './date-time.ts';

/** Returns the value as it appears in the interface's Status. */
export function shownValue(slot: Slot, value: unknown): unknown {
  return slot.kind === 'instant' && typeof value === 'number' ? dateTime(value) : value;
}
