/** Groups telemetry readings into samples of at most one second for readers of the interface. */
import { readingsFromTelemetry, type Telemetry } from '../../../protocol/schema/telemetry.ts';
import type { Slot, SlotValue } from '../../../protocol/slots.ts';

/** Readings of the car within one second. Each value was read at `at` or less than a second earlier. */
export interface Sample {
  /** Time of the newest reading in UTC ms. */
  readonly at: number;
  readonly values: ReadonlyMap<Slot, SlotValue>;
}

/**
 * Returns the samples in a stored piece of telemetry, ascending; no two have the same time. A sample ends with its
 * second, or earlier if a slot that it contains is read again, so that no reading is lost. If two readings of a slot
 * have the same time, the later one replaces the earlier.
 */
export function samplesOf(telemetry: Telemetry): Sample[] {
  const samples: { at: number; readonly values: Map<Slot, SlotValue> }[] = [];
  for (const [at, values] of byTime(telemetry)) {
    const open = samples.at(-1);
    if (open === undefined || secondOf(open.at) !== secondOf(at) || overlaps(open.values, values)) {
      samples.push({ at, values });
      continue;
    }
    open.at = at;
    for (const [slot, value] of values) open.values.set(slot, value);
  }
  return samples;
}

/** Groups values by the time at which they were read, ascending. */
function byTime(telemetry: Telemetry): [at: number, values: Map<Slot, SlotValue>][] {
  const times = new Map<number, Map<Slot, SlotValue>>();
  for (const { slot, value, at } of readingsFromTelemetry(telemetry)) {
    const values = times.get(at);
    if (values === undefined) times.set(at, new Map([[slot, value]]));
    else values.set(slot, value);
  }
  return [...times].sort(([a], [b]) => a - b);
}

function secondOf(at: number): number {
  return Math.floor(at / 1_000);
}

function overlaps(one: ReadonlyMap<Slot, unknown>, other: ReadonlyMap<Slot, unknown>): boolean {
  for (const slot of other.keys()) if (one.has(slot)) return true;
  return false;
}
