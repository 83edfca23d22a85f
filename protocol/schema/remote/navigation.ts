import { constant, flag, list, optional, record, required, type Static, tuple } from '../fields.ts';
import { flat, item } from '../mapping.ts';
import { altitude, latitude, longitude } from '../status/position.ts';

/** The same record as in a position. */
const point = record(
  'Point',
  {
    type: required(2, constant('Point', { description: 'RFC 7946 §3.1.2.' })),
    coordinates: required(
      1,
      flat(
        tuple<readonly [number, number] | readonly [number, number, number]>(
          [item('longitude', longitude), item('latitude', latitude), item('altitude', altitude)],
          { required: 2, description: 'Longitude, latitude, altitude. RFC 7946 §3.1.1.' },
        ),
      ),
    ),
  },
  { description: 'A place. RFC 7946 §3.1.2.' },
);

/** Body of a command that hands the way to the car's navigation. */
export const navigationSchema = record(
  'RemoteNavigation',
  {
    positions: required(
      1,
      list(point, {
        minItems: 1,
        maxItems: 10,
        description:
          'Up to nine places on the way, at last the destination. Interface 3.19.2 RemoteNavigation.positions.',
      }),
    ),
    driverApproval: optional(
      2,
      flag({
        description: 'Deprecated, accepted and without effect. Interface 3.19.2 RemoteNavigation.driverApproval.',
      }),
    ),
  },
  { description: 'Where to go. Interface 3.19.2 RemoteNavigation.' },
);
export type RemoteNavigation = Static<typeof navigationSchema>;
