import { constant, enumeration, optional, quantity, record, required, text, tuple } from '../fields.ts';
import { flat, item, unmapped } from '../mapping.ts';
import { createdAt } from './created.ts';

/** 1e-7 degrees are 11 mm at the equator, finer than the resolution of any receiver in a car. */
const COORDINATE = 1e-7;

export const longitude = quantity(
  'deg',
  COORDINATE,
  [-180, 180],
  'Longitude, WGS 84, positive to the east. RFC 7946 §3.1.1, first coordinate.',
);

export const latitude = quantity(
  'deg',
  COORDINATE,
  [-90, 90],
  'Latitude, WGS 84, positive to the north. RFC 7946 §3.1.1, second coordinate.',
);

export const altitude = quantity(
  'm',
  0.1,
  [-1000, 20_000],
  'Height above mean sea level. RFC 7946 §3.1.1, third coordinate; absent without a 3D fix.',
);

export const heading = quantity(
  'deg',
  1,
  [0, 360],
  'Course over ground, clockwise from true north. Interface 3.19.2 Position.properties.heading.',
);

export const signalQuality = quantity(
  '1',
  1,
  [0, 255],
  'Quality of the satellite signal, larger is better; 0 to 9 are seen. Interface 3.19.2 Position.properties.signalQuality.',
);

export const positionType = enumeration(
  'Acquire: measured by the receiver; Estimated: extrapolated. Interface 3.19.2 Position.properties.type.',
  ['Estimated', 'Acquire'],
);

export const fixStatus = enumeration(
  'Dimensions of the fix, only with type Acquire. Interface 3.19.2 Position.properties.fixStatus.',
  ['2D', '3D'],
);

/** A GeoJSON Feature (RFC 7946 §3.2). It exists only if both latitude and longitude exist. */
export const positionSchema = record(
  'Position',
  'A position of the car, a GeoJSON Feature. Interface 3.19.2 Position.',
  {
    type: required(3, constant('Feature', 'RFC 7946 §3.2.')),
    geometry: required(
      1,
      flat(
        record('Point', 'Where the car is. RFC 7946 §3.1.2.', {
          type: required(2, constant('Point', 'RFC 7946 §3.1.2.')),
          coordinates: required(
            1,
            flat(
              tuple<[number, number] | [number, number, number]>('Longitude, latitude, altitude. RFC 7946 §3.1.1.', 2, [
                item('longitude', longitude),
                item('latitude', latitude),
                item('altitude', altitude),
              ]),
            ),
          ),
        }),
      ),
    ),
    properties: required(
      2,
      flat(
        record('PositionProperties', 'How the position is known. Interface 3.19.2 Position.properties.', {
          createdAt,
          heading: optional(1, heading),
          signalQuality: optional(2, signalQuality),
          type: optional(3, positionType),
          fixStatus: optional(4, fixStatus),
          vin: optional(
            5,
            unmapped(
              text(
                'VIN of the car, for positions that travel alone over HTTP. Interface 3.19.2 Position.properties.vin.',
                { maxLength: 17 },
              ),
            ),
          ),
        }),
      ),
    ),
  },
);
