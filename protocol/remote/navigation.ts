import { extended, type JsonSchema } from '../interface/schemas/json.ts';
import { constant, flag, list, optional, record, required, tuple } from '../schema/fields.ts';
import { flat, item } from '../schema/mapping.ts';
import { altitude, latitude, longitude } from '../schema/status/position.ts';
import { remoteKind } from './kind.ts';

/** Same record as in a position. */
const point = record('Point', 'A place. RFC 7946 §3.1.2.', {
  type: required(2, constant('Point', 'RFC 7946 §3.1.2.')),
  coordinates: required(
    1,
    flat(
      tuple<readonly [number, number] | readonly [number, number, number]>(
        'Longitude, latitude, altitude. RFC 7946 §3.1.1.',
        2,
        [item('longitude', longitude), item('latitude', latitude), item('altitude', altitude)],
      ),
    ),
  ),
});

/** Sends the route to the navigation system of a car whose profile has one. */
export const navigation = remoteKind({
  type: 'Navigation',
  wire: 8,
  body: record('RemoteNavigation', 'Where to go. Interface 3.19.2 RemoteNavigation.', {
    positions: required(
      1,
      list(
        'Up to nine places on the way, at last the destination. Interface 3.19.2 RemoteNavigation.positions.',
        point,
        { minItems: 1, maxItems: 10 },
      ),
    ),
    driverApproval: optional(
      2,
      flag('Deprecated, accepted and without effect. Interface 3.19.2 RemoteNavigation.driverApproval.'),
    ),
  }),
  deprecated: 'driverApproval',
  actions: {
    'navigation.send': {
      framesOnly: 'a destination comes with its command, and a request by diagnostics is always the same',
    },
  },
  asks: () => ['navigation.send'],
  parameters: ({ positions }) => ({ positions: positions.map(({ coordinates }) => [...coordinates]) }),
  quiet: true,
  member: 'navigation',
  http: withoutPointType,
  scope: { name: 'navigation', description: 'Send places to the navigation.' },
  capability: { actions: ['navigation.send'] },
  example: {
    summary: 'Send a place to the navigation (longitude, latitude)',
    body: { positions: [{ type: 'Point', coordinates: [2.2945, 48.8584] }] },
  },
  words: { verb: 'navigate', usage: 'navigate LON,LAT…', bodies: {} },
});

/** If omitted, `type` of a point is Point. */
function withoutPointType(schema: JsonSchema): JsonSchema {
  const { positions = {} } = schema.properties ?? {};
  const { type = {}, ...members } = positions.items?.properties ?? {};
  const items: JsonSchema = {
    ...positions.items,
    title: 'RemotePoint',
    properties: { type: { ...type, default: 'Point' }, ...members },
    required: ['coordinates'],
  };
  return extended(schema, schema.title ?? '', { positions: { ...positions, items } });
}
