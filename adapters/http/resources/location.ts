/** Position of the car at the time of its telemetry: interface 3.19.2 TelemetryExtension.location. */
import { type Feature, feature } from '../../../protocol/interface/json/position.ts';
import { type Slot, type SlotValue, slotAt, slots } from '../../../protocol/slots.ts';
import type { RecordPosition } from '../paging.ts';
import type { Context } from './context.ts';
import type { SampleReader } from './series.ts';

const PREFIX = 'lastPosition.';

/** Slots of the parts of a position. */
export const placeSlots: readonly Slot[] = slots.filter(({ path }) => path.startsWith(PREFIX));
const privacy = slotAt('privacy.state');
const places: ReadonlySet<Slot> = new Set(placeSlots);

export function isPlace(slot: Slot): boolean {
  return places.has(slot);
}

/** Age after which a value counts as unknown, ms: an unchanged value is read again once a minute. */
const KNOWN = 90_000;

/**
 * Returns the last read position, at most 90 s old and not older than the last privacy period: a privacy choice in the
 * car also applies to conclusions from earlier readings.
 */
export async function locationOf(
  context: Context,
  place: RecordPosition,
  reader: SampleReader,
): Promise<Feature | undefined> {
  if (!context.sees('data:position')) return undefined;
  const read = new Map<string, SlotValue>();
  for (const { values } of await reader.before(place, KNOWN)) {
    if (values.has(privacy) && values.get(privacy) !== 'None') break;
    for (const [slot, value] of values) {
      const name = slot.path.slice(PREFIX.length);
      if (places.has(slot) && !read.has(name)) read.set(name, value);
    }
  }
  const { longitude, latitude, altitude, ...properties } = Object.fromEntries(read) as Record<string, SlotValue>;
  if (typeof longitude !== 'number' || typeof latitude !== 'number') return undefined;
  return feature(
    context.viewer,
    typeof altitude === 'number' ? [longitude, latitude, altitude] : [longitude, latitude],
    {
      ...properties,
    },
  );
}
