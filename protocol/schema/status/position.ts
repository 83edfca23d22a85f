import { constant, enumeration, optional, quantity, record, required, text, tuple } from '../fields.ts';
import { flat, item, unmapped } from '../mapping.ts';
import { createdAt } from './created.ts';

/** 1e-7 degrees are 11 mm on the equator, finer than any receiver in a car. */
const COORDINATE = 1e-7;

export const longitude = quantity({
  unit: 'deg',
  resolution: COORDINATE,
  minimum: -180,
  maximum: 180,
  description: 'Longitude, WGS 84, positive to the east. RFC 7946 §3.1.1, first coordinate.',
});

export const latitude = quantity({
  unit: 'deg',
  resolution: COORDINATE,
  minimum: -90,
  maximum: 90,
  description: 'Latitude, WGS 84, positive to the north. RFC 7946 §3.1.1, second coordinate.',
});

export const altitude = quantity({
  unit: 'm',
  resolution: 0.1,
  minimum: -1000,
  maximum: 20_000,
  description: 'Height above mean sea level. RFC 7946 §3.1.1, third coordinate; absent without a 3D fix.',
});

export const heading = quantity({
  unit: 'deg',
  resolution: 1,
  minimum: 0,
  maximum: 360,
  description: 'Course over ground, clockwise from true north. Interface 3.19.2 Position.properties.heading.',
});

export const signalQuality = quantity({
  unit: '1',
  resolution: 1,
  minimum: 0,
  maximum: 255,
  description:
    'Quality of the satellite signal, larger is better; 0 to 9 are seen. Interface 3.19.2 Position.properties.signalQuality.',
});

export const positionType = enumeration(['Estimated', 'Acquire'], {
  description: 'Acquire: measured by the receiver; Estimated: extrapolated. Interface 3.19.2 Position.properties.type.',
});

export const fixStatus = enumeration(['2D', '3D'], {
  description: 'Dimensions of the fix, only with type Acquire. Interface 3.19.2 Position.properties.fixStatus.',
});

/** A GeoJSON Feature (RFC 7946 §3.2). It exists only when latitude and longitude both do. */
export const positionSchema = record(
  'Position',
  {
    type: required(3, constant('Feature', { description: 'RFC 7946 §3.2.' })),
    geometry: required(
      1,
      flat(
        record(
          'Point',
          {
            type: required(2, constant('Point', { description: 'RFC 7946 §3.1.2.' })),
            coordinates: required(
              1,
              flat(
                tuple<[number, number] | [number, number, number]>(
                  [item('longitude', longitude), item('latitude', latitude), item('altitude', altitude)],
                  { required: 2, description: 'Longitude, latitude, altitude. RFC 7946 §3.1.1.' },
                ),
              ),
            ),
          },
          { description: 'Where the car is. RFC 7946 §3.1.2.' },
        ),
      ),
    ),
    properties: required(
      2,
      flat(
        record(
          'PositionProperties',
          {
            createdAt,
            heading: optional(1, heading),
            signalQuality: optional(2, signalQuality),
            type: optional(3, positionType),
            fixStatus: optional(4, fixStatus),
            vin: optional(
              5,
              unmapped(
                text({
                  maxLength: 17,
                  description:
                    'VIN of the car, for positions that travel alone over HTTP. Interface 3.19.2 Position.properties.vin.',
                }),
              ),
            ),
          },
          { description: 'How the position is known. Interface 3.19.2 Position.properties.' },
        ),
      ),
    ),
  },
  { description: 'A position of the car, a GeoJSON Feature. Interface 3.19.2 Position.' },
);
