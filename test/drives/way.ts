/** A possible route of a recorded drive, and the sentences of a GNSS receiver on it. */
import { told } from '../adapters/gnss/sentences.ts';

const METRES_PER_DEGREE = 111_195.08;
const BEGIN = { latitude: 47.218, longitude: -1.553 };

/** Straight roads, junctions, roundabouts and bends in sequence: length in m, and turn in degrees. */
const ROADS: readonly (readonly [length: number, turn: number])[] = [
  [400, 0],
  [15, 90],
  [250, 0],
  [120, -60],
  [120, 60],
  [900, 0],
  [60, 200],
  [35, -110],
  [300, 45],
  [12, -90],
  [700, -30],
];

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  /** Degrees from north. */
  readonly heading: number;
}

/** Place after this many metres. */
export class Way {
  readonly #places: Place[] = [];

  constructor(length: number) {
    let { latitude, longitude } = BEGIN;
    let heading = 20;
    for (let road = 0; this.#places.length <= length + 1; road++) {
      const [metres, turn] = ROADS[road % ROADS.length] as (typeof ROADS)[number];
      for (let metre = 0; metre < metres; metre++) {
        this.#places.push({ latitude, longitude, heading });
        const angle = (heading * Math.PI) / 180;
        latitude += Math.cos(angle) / METRES_PER_DEGREE;
        longitude += Math.sin(angle) / (METRES_PER_DEGREE * Math.cos((latitude * Math.PI) / 180));
        heading = (heading + turn / metres + 360) % 360;
      }
    }
  }

  at(metres: number): Place {
    const before = Math.floor(metres);
    const from = this.#places[before] as Place;
    const to = this.#places[before + 1] as Place;
    const part = metres - before;
    return {
      latitude: from.latitude + part * (to.latitude - from.latitude),
      longitude: from.longitude + part * (to.longitude - from.longitude),
      heading: from.heading,
    };
  }
}

/** Metres east and north of another place. */
export function offset(of: Omit<Place, 'heading'>, from: Omit<Place, 'heading'>): [east: number, north: number] {
  const scale = METRES_PER_DEGREE * Math.cos((from.latitude * Math.PI) / 180);
  return [(of.longitude - from.longitude) * scale, (of.latitude - from.latitude) * METRES_PER_DEGREE];
}

/** A place moved by some metres. */
export function moved(place: Place, east: number, north: number): Place {
  return {
    ...place,
    latitude: place.latitude + north / METRES_PER_DEGREE,
    longitude: place.longitude + east / (METRES_PER_DEGREE * Math.cos((place.latitude * Math.PI) / 180)),
  };
}

/** Distance in metres of a place from the straight line between two others. */
export function aside(place: Omit<Place, 'heading'>, from: Omit<Place, 'heading'>, to: Omit<Place, 'heading'>): number {
  const [x, y] = offset(from, place);
  const [u, v] = offset(to, place);
  const square = (u - x) ** 2 + (v - y) ** 2;
  const part = square === 0 ? 0 : Math.min(1, Math.max(0, (-x * (u - x) - y * (v - y)) / square));
  return Math.hypot(x + part * (u - x), y + part * (v - y));
}

/** Sentences of one fix from a GNSS receiver with five decimals of a minute (NMEA 0183). */
export function fix({ latitude, longitude, heading }: Place, kmh: number, at: number): string {
  const [date = '', clock = ''] = new Date(at).toISOString().split('T');
  const time = clock.slice(0, 8).replaceAll(':', '');
  const [year = '', month = '', day = ''] = date.split('-');
  const place = `${angle(latitude, 2)},${latitude < 0 ? 'S' : 'N'},${angle(longitude, 3)},${longitude < 0 ? 'W' : 'E'}`;
  return told(
    `GPGGA,${time}.00,${place},1,09,0.9,38.0,M,48.0,M,,`,
    'GPGSA,A,3,02,05,07,13,15,20,21,29,30,,,,1.6,0.9,1.3',
    `GPRMC,${time}.00,A,${place},${(kmh / 1.852).toFixed(2)},${heading.toFixed(1)},${day}${month}${year.slice(2)},,,A`,
  );
}

function angle(degrees: number, width: number): string {
  const whole = Math.floor(Math.abs(degrees));
  const minutes = (Math.abs(degrees) - whole) * 60;
  return `${String(whole).padStart(width, '0')}${minutes.toFixed(5).padStart(8, '0')}`;
}
