/** Readings of telemetry as rows (`reading-tables.ts`). */

import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { readingsFromTelemetry } from '../../protocol/schema/telemetry.ts';
import { type Slot, type SlotValue, slots } from '../../protocol/slots.ts';
import type { PlacedMessage, PlacedOf } from '../core/commit.ts';
import type { CarMessage } from '../core/message.ts';
import type { SqlStatement } from './registry.ts';
import type { SqlValue } from './rows.ts';

/** Columns of {@link readingRows}. */
export const READING_COLUMNS = 'vehicle, path, at, received, boot, number, flag, text';

const isTime = ({ kind }: Slot): boolean => kind === 'instant';

/** Returns the statement that adds the slots of this version. */
export function addPaths(): SqlStatement {
  const objects = new Map<number, number>();
  for (const { id, object } of slots) if (!objects.has(object)) objects.set(object, id);
  const rows = slots.map((slot) => {
    const { id, path, unit, object } = slot as Slot & { readonly unit?: string };
    const shown = unit === undefined || unit === '1' || isTime(slot) ? null : unit;
    return [id, path, shown, objects.get(object), isTime(slot) ? 1 : 0] as SqlValue[];
  });
  const marks = rows.map(() => '(?, ?, ?, ?, ?)').join(', ');
  return [`INSERT INTO paths (id, path, unit, object, is_time) VALUES ${marks} ON CONFLICT DO NOTHING`, ...rows.flat()];
}

/**
 * Yields the rows of the telemetry among new messages. `lateness` returns by how many ms the times of a message are
 * behind. Flags are 0 or 1. Calls `unreadable` for a message with columns that cannot be read.
 */
export function* readingRows(
  messages: readonly PlacedMessage[],
  lateness: (one: PlacedMessage) => number,
  unreadable: (one: CarMessage) => void,
): Generator<(string | number | null)[], void> {
  for (const one of messages) {
    if (!isTelemetry(one)) continue;
    const { vehicle, received, message } = one;
    const late = lateness(one);
    const boot = message.clock === 'none' && late === 0 ? message.boot : null;
    let readings: ReturnType<typeof readingsFromTelemetry>;
    try {
      readings = readingsFromTelemetry(message.body);
    } catch {
      unreadable(one);
      continue;
    }
    for (const { slot, value, at } of readings) {
      yield [vehicle, slot.id, Math.round(at) + late, received, boot, ...columnsOf(slot, value)];
    }
  }
}

const isTelemetry = (one: PlacedMessage): one is PlacedOf<'telemetry'> => one.message.kind === 'telemetry';

/** Returns the columns `number`, `flag` and `text`, one of which has the value. */
function columnsOf(slot: Slot, value: SlotValue): [number | null, 0 | 1 | null, string | null] {
  if (isTime(slot) && typeof value === 'number') return [null, null, dateTime(value)];
  if (typeof value === 'number') return [value, null, null];
  if (typeof value === 'boolean') return [null, value ? 1 : 0, null];
  return [null, null, Array.isArray(value) ? value.join(',') : String(value)];
}
