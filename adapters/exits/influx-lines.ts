/** Readings in the line protocol of InfluxDB. */
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { readingsFromTelemetry, type Telemetry } from '../../protocol/schema/telemetry.ts';
import type { Slot, SlotValue } from '../../protocol/slots.ts';

/** Numbers of records that the digits below a millisecond distinguish. */
const NUMBERS = 1_000;

interface LinesOptions {
  readonly measurement: string;
  readonly vin: string;
  /** Returns true if the exit may send the value. */
  readonly sees: (slot: Slot) => boolean;
}

/**
 * Returns one line for each visible reading of a telemetry record, in their order. InfluxDB keeps one value per series
 * and time, so the six digits below the millisecond are the record's number modulo 1,000 and the position among equal
 * times of the path: repeated lines replace themselves, and two values in one millisecond remain two.
 */
export function influxLines(telemetry: Telemetry, number: number, { measurement, vin, sees }: LinesOptions): string[] {
  const lines: string[] = [];
  let before: { readonly slot: Slot; readonly at: number } | undefined;
  let position = 0;
  for (const { slot, value, at } of readingsFromTelemetry(telemetry)) {
    position = before?.slot === slot && before.at === at ? position + 1 : 0;
    before = { slot, at };
    if (!sees(slot)) continue;
    const below = String((number % NUMBERS) * NUMBERS + position).padStart(6, '0');
    lines.push(
      `${escaped(measurement)},path=${escaped(slot.path)},vin=${escaped(vin)} ${fieldOf(slot, value)} ${at}${below}`,
    );
  }
  return lines;
}

/** Numbers are floats even if they are whole, because a field keeps the type of its first value. */
function fieldOf(slot: Slot, value: SlotValue): string {
  if (slot.kind === 'instant' && typeof value === 'number') return `text=${quoted(dateTime(value))}`;
  if (typeof value === 'number') return `value=${value}`;
  if (typeof value === 'boolean') return `flag=${value}`;
  return `text=${quoted(Array.isArray(value) ? value.join(',') : String(value))}`;
}

/** Escapes a measurement or the value of a tag. */
function escaped(text: string): string {
  return text.replaceAll(/[,= ]/g, (one) => `\\${one}`);
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (one) => `\\${one}`)}"`;
}
