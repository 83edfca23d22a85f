/** Where the car was at a moment of its telemetry: interface 3.19.2 TelemetryExtension.location. */
import { type Feature, feature } from '../../../protocol/interface/json/position.ts';
import { type Slot, type SlotValue, slotByPath, slots } from '../../../protocol/slots.ts';
import type { RecordPosition } from '../paging.ts';
import type { Context } from './context.ts';
import type { SampleReader } from './series.ts';

const PREFIX = 'lastPosition.';

/** Parts of a position, by their names. */
export const placeSlots: readonly Slot[] = slots.filter(({ path }) => path.startsWith(PREFIX));
const privacy = slotByPath.get('privacy.state') as Slot;
const places: ReadonlySet<Slot> = new Set(placeSlots);

export function isPlace(slot: Slot): boolean {
  return places.has(slot);
}

/** A value that stays the same is read again once a minute; what was not read for longer is not known any more. ms */
const KNOWN = 90_000;

/**
 * The position as it was last read, at most 90 s before the moment and not before privacy hid it: what was chosen in
 * the car since then holds for what is concluded from earlier readings, too.
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
