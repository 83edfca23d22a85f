/** Telemetry: readings of the car, sample by sample. */
import { defined } from '../../../protocol/defined.ts';
import { dateTime } from '../../../protocol/interface/json/date-time.ts';
import { serviceJson } from '../../../protocol/interface/json/records.ts';
import { rootMembers, telemetryJson, vehicleMembers } from '../../../protocol/interface/json/telemetry.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Period } from '../../../protocol/interface/parameters.ts';
import { telemetrySections } from '../../../protocol/schema/monitor/extensions.ts';
import type { StatusContents } from '../../../protocol/schema/status.ts';
import { tripBegin } from '../../../protocol/schema/trip.ts';
import { assemble, type Slot, type SlotValue, slots, statusObjects } from '../../../protocol/slots.ts';
import type { Answer } from '../call.ts';
import { type RecordPosition, scopeOf, viewOf } from '../paging.ts';
import { collection } from './collection.ts';
import { type Context, periodsOf } from './context.ts';
import { addressOf, linksOf, linkTo, type ResourceLink } from './links.ts';
import { isPlace, locationOf, placeSlots } from './location.ts';
import { nextService } from './maintenance.ts';
import type { Sample } from './samples.ts';
import { seriesOf } from './series.ts';
import { tripAskedFor } from './trips.ts';

const all: readonly string[] = [...rootMembers, ...vehicleMembers];

/** `GET …/vehicles/{vid}/telemetry` */
export async function telemetry(context: Context): Promise<Answer> {
  return listed(context, periodsOf(context.call) ?? (await periodOfList(context)));
}

/** `GET …/trips/{tid}/telemetry` */
export async function tripTelemetry(context: Context): Promise<Answer> {
  const trip = await tripAskedFor(context);
  const to = trip.stoppedAt === undefined ? Number.POSITIVE_INFINITY : trip.stoppedAt + 1;
  return listed(context, common(periodsOf(context.call) ?? [{}], tripBegin(trip), to));
}

async function listed(context: Context, periods: readonly Period[] | undefined): Promise<Answer> {
  const series = seriesOf(context.car.records);
  const extensions = new Set(context.call.query['extension'] as readonly string[] | undefined);
  const types = context.call.query['type'] as readonly string[] | undefined;
  const shown = shownOf(context, types);
  const places = await series.places(
    new Set([...shown.slots, ...(extensions.has('location') && context.sees('data:position') ? placeSlots : [])]),
    `${shown.key} ${extensions.has('location')} ${context.sees('data:position')}`,
    periods,
  );
  const reader = series.reader();
  const service = extensions.has('maintenance') ? await nextService(context) : undefined;
  const represent = async (place: RecordPosition): Promise<Members> => {
    const written = entryOf(context, place, await reader.at(place), shown);
    const location = extensions.has('location') ? await locationOf(context, place, reader) : undefined;
    const extension = {
      ...defined({ location }),
      ...(service === undefined ? {} : { maintenance: serviceJson(context.viewer, service) }),
    };
    if (Object.keys(extension).length > 0) written['_embedded'] = { extension };
    return written;
  };
  return collection(context, 'telemetries', places, represent, (shownPlaces) => reader.prepare(shownPlaces));
}

/** Data of a sample that the response contains. */
interface Shown {
  readonly slots: ReadonlySet<Slot>;
  /** Identifies the set of slots. */
  readonly key: string;
  /** Requested kinds. */
  readonly types: readonly string[] | undefined;
}

/** Returns the slots of the requested kinds (interface 3.19.2 TelemetryEnum); `types` undefined: of all kinds. */
function shownOf({ sees }: Context, types: readonly string[] | undefined): Shown {
  const names = types === undefined ? all : [...new Set(types)].sort().flatMap((type) => telemetrySections[type] ?? []);
  const members = sees('data:telemetry') ? names : [];
  const found = slots.filter(({ path }) => members.some((member) => path.startsWith(`${member}.`)));
  return { slots: new Set(found), key: members.join(','), types };
}

function entryOf(context: Context, place: RecordPosition, sample: Sample | undefined, shown: Shown): Members {
  return {
    _links: linksOf({
      self: atMoment(context, place.at),
      vehicle: linkTo(context, 'vehicles.get'),
      trip: context.call.path['tid'] === undefined ? undefined : linkTo(context, 'trips.get'),
    }),
    ...telemetryJson(context.viewer, contentsOf(sample, shown.slots), place.at, shown.types),
  };
}

/** Returns the address of the list that contains only this sample. */
function atMoment(context: Context, at: number): ResourceLink {
  const list = context.call.path['tid'] === undefined ? 'telemetry.list' : 'tripTelemetry.list';
  const period = encodeURIComponent(`${dateTime(at)}/${dateTime(at)}`);
  return { href: `${addressOf(context, list)}?timestamps=${period}` };
}

const values: (SlotValue | undefined)[] = new Array(slots.length).fill(undefined);
const createdAt = new Float64Array(statusObjects.length).fill(Number.NaN);

/** Returns the objects of Status that consist of the readings. */
function contentsOf(sample: Sample | undefined, wanted: ReadonlySet<Slot>): StatusContents {
  const read = [...(sample?.values ?? [])].filter(([slot]) => wanted.has(slot) && !isPlace(slot));
  for (const [slot, value] of read) {
    values[slot.index] = value;
    createdAt[slot.object] = sample?.at ?? 0;
  }
  const contents = assemble(values, createdAt);
  for (const [slot] of read) {
    values[slot.index] = undefined;
    createdAt[slot.object] = Number.NaN;
  }
  return contents;
}

/** Returns the period of a list if the request has none; undefined: all time. Later pages use the first page's. */
async function periodOfList({ car, call, tokens }: Context): Promise<Period[] | undefined> {
  const walk = viewOf(call, tokens, scopeOf(call, 'ascending'));
  if (walk !== undefined) return [{ from: walk.first.at, to: walk.last.at + 1 }];
  const from = await seriesOf(car.records).newestBegin();
  return from === undefined ? undefined : [{ from }];
}

/** Returns the parts of the periods between `from` (inclusive) and `to` (exclusive). */
function common(periods: readonly Period[], from: number, to: number): Period[] {
  return periods.flatMap((period) => {
    const begin = Math.max(from, period.from ?? from);
    const end = Math.min(to, period.to ?? to);
    return begin < end ? [{ from: begin, to: end }] : [];
  });
}
