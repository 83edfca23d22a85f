/** Formats values for plain topics. */
import type { PresentSignal } from '../../agent/signals/view.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import type { Slot, SlotValue } from '../../protocol/slots.ts';

/** `value`: only the value. `json`: an object with value, unit, time and freshness. */
export type TopicForm = 'value' | 'json';

interface Reading {
  /** Time in UTC ms of the reading that changed the value. */
  readonly at: number;
  /** True if the source of the value has been silent for longer than its timeout. */
  readonly stale: boolean;
}

/**
 * Returns a value as a string: numbers in the unit of Status, `true` and `false`, names, sets of names separated by
 * commas, instants as RFC 3339 in UTC, everything else as JSON.
 */
export function valueText(slot: Slot, value: SlotValue, form: TopicForm, { at, stale }: Reading): string {
  const shown = shownValue(slot, value);
  if (form === 'json') {
    const { unit } = slot;
    return JSON.stringify({ value: shown, ...(unit !== undefined && { unit }), at: dateTime(at), stale });
  }
  if (slot.kind === 'set' && Array.isArray(shown)) return shown.join(',');
  return typeof shown === 'object' ? JSON.stringify(shown) : String(shown);
}

/** Returns the value of a custom signal as a string: a number, a name or a text; empty while it has no value. */
export function signalText({ definition, value, changedAt, stale }: PresentSignal, form: TopicForm): string {
  if (value === undefined || changedAt === undefined) return '';
  if (form === 'value') return String(value);
  const { unit } = definition;
  return JSON.stringify({ value, ...(unit !== undefined && { unit }), at: dateTime(changedAt), stale });
}
