/** Classes of trips for a logbook, under `/vigie/v1`. */
import type { Handlers } from '../../adapters/http/call.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import type { Operation } from '../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../protocol/interface/operations/making.ts';
import { type TripClass, type TripClassesPage, tripClasses } from '../../protocol/interface/own/trip-classes.ts';
import type { TripClassStore, VehicleReader } from '../core/ports.ts';
import { query, reading, writing } from './reading.ts';

/** Number of trips in one page. */
const PAGE = 1_000;
const path = '/vigie/v1/vehicles/{vin}/trip-classes';

export const tripClassOperations: readonly Operation[] = [
  reading('hub.tripClasses.list', path, 'Reads which trips of a car have a class, 1,000 at a time.', {
    parameters: [query('after', 'Id of a trip: those after it.', { type: 'string', minLength: 1, maxLength: 256 })],
    description: 'Ids of trips, each with its class.',
  }),
  writing('hub.tripClasses.set', `${path}/{tid}`, {
    summary: 'Sets the class of a trip, which logbooks show.',
    parameters: [
      {
        ...query('class', 'The class; `none` removes it.', { type: 'string', enum: [...tripClasses, 'none'] }),
        required: true,
      },
    ],
    answers: { 200: { description: 'The trip with its class.', media: JSON_MEDIA } },
  }),
];

/** Returns the handlers of the operations `hub.tripClasses.*`. */
export function tripClassHandlers(store: TripClassStore, reader: Pick<VehicleReader, 'vehicle'>): Handlers {
  return {
    'hub.tripClasses.list': async ({ path: { vin = '' }, query: { after = '' } }) => {
      if ((await reader.vehicle(vin)) === undefined) throw unknown('vehicle', vin);
      const trips = await store.tripClasses(vin, String(after), PAGE + 1);
      return found({ trips: trips.slice(0, PAGE), more: trips.length > PAGE } satisfies TripClassesPage);
    },
    'hub.tripClasses.set': async ({ path: { vin = '', tid = '' }, query: { class: asked } }) => {
      const chosen = asked === 'none' ? null : (asked as TripClass);
      if (!(await store.setTripClass(vin, tid, chosen))) throw unknown('trip', tid);
      return found({ id: tid, ...(chosen !== null && { class: chosen }) });
    },
  };
}
