/** Position of the car at the time of a telemetry sample: TelemetryExtension.location (interface 3.19.2). */
import { type Feature, feature } from '../../../protocol/interface/json/position.ts';
import { type Slot, type SlotValue, slotAt, slots } from '../../../protocol/slots.ts';
import type { RecordPosition } from '../paging.ts';
import type { Context } from './context.ts';
import type { SampleReader } from './series.ts';

const PREFIX = 'lastPosition.';

/** Slots of Status that contain a part of a position. */
export const placeSlots: readonly Slot[] = slots.filter(({ path }) => path.startsWith(PREFIX));
const privacy = slotAt('privacy.state');
const places: ReadonlySet<Slot> = new Set(placeSlots);

export function isPlace(slot: Slot): boolean {
  return places.has(slot);
}

/** Age in ms from which a value counts as unknown: even unchanged values are read again once a minute. */
const KNOWN = 90_000;

/**
 * Returns the last read position, unless it is more than 90 s old or older than the last privacy period: a privacy
 * choice in the car also forbids conclusions from earlier readings.
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
