/** Units in the headers of value tables, converted to those of Status: km/h, °C, km, kPa, m/s². */

interface Unit {
  /** Name of the unit in `decode` output and profiles. */
  readonly canonical: string;
  readonly scale: number;
  readonly offset: number;
}

const STANDARD_GRAVITY = 9.806_65;
const MILE = 1.609_344;

/** Spellings in lower case, without blanks and dots. � and ? replace characters that a table lost. */
const spellings: readonly (readonly [canonical: string, scale: number, offset: number, spelled: string])[] = [
  ['km/h', 1, 0, 'km/h kmh kph km/hr kmph kilometers/hour kilometres/hour'],
  ['km/h', MILE, 0, 'mph mi/h mile/h miles/h miles/hour'],
  ['km/h', 3.6, 0, 'm/s mps meters/second metres/second m/sec'],
  ['km/h', 1.852, 0, 'kn knots kt kts'],
  ['m/s²', 1, 0, 'm/s² m/s^2 m/s2 m/ss mps2 m/s� m/s?'],
  ['m/s²', STANDARD_GRAVITY, 0, 'g gforce g-force'],
  ['°C', 1, 0, '°c c celsius degc degreesc �c ?c'],
  ['°C', 5 / 9, -160 / 9, '°f f fahrenheit degf degreesf �f ?f'],
  ['°C', 1, -273.15, 'k kelvin'],
  ['km', 1, 0, 'km kilometers kilometres'],
  ['km', MILE, 0, 'mi mile miles'],
  ['m', 1, 0, 'm meter meters metre metres'],
  ['m', 0.3048, 0, 'ft feet'],
  ['kPa', 1, 0, 'kpa'],
  ['kPa', 100, 0, 'bar'],
  ['kPa', 6.894_757, 0, 'psi'],
  ['kPa', 0.1, 0, 'hpa mbar'],
  ['kPa', 0.001, 0, 'pa'],
  ['V', 1, 0, 'v volt volts'],
  ['V', 0.001, 0, 'mv'],
  ['A', 1, 0, 'a amp amps ampere'],
  ['A', 0.001, 0, 'ma'],
  ['kW', 1, 0, 'kw'],
  ['kWh', 1, 0, 'kwh'],
  ['L', 1, 0, 'l litre litres liter liters'],
  ['L', 3.785_411_784, 0, 'gal gallon gallons'],
  ['L/h', 1, 0, 'l/h lph l/hr'],
  ['L/100 km', 1, 0, 'l/100km'],
  ['g/s', 1, 0, 'g/s g/sec grams/sec'],
  ['Nm', 1, 0, 'nm n·m'],
  ['rpm', 1, 0, 'rpm 1/min r/min min-1'],
  ['%', 1, 0, '% percent'],
  ['°', 1, 0, '° deg degrees'],
  ['°/s', 1, 0, '°/s deg/s'],
  ['rad/s', 1, 0, 'rad/s'],
  ['s', 1, 0, 's sec secs second seconds'],
  ['min', 1, 0, 'min minutes'],
  ['h', 1, 0, 'h hours'],
  ['Hz', 1, 0, 'hz'],
];

const units: ReadonlyMap<string, Unit> = new Map(
  spellings.flatMap(([canonical, scale, offset, spelled]) =>
    spelled.split(' ').map((one): [string, Unit] => [one, { canonical, scale, offset }]),
  ),
);

/** Units that are accepted at the end of a name without brackets, because they are not words. */
const behindName = /[ _](km\/h|kmh|kph|mph|m\/s\^?2|m\/s²|degc|degf|kpa|psi|kwh)$/i;

/** A column of values, identified by its name. */
export interface Column {
  /** Name in profiles: letters, digits and single underscores. */
  readonly signal: string;
  /** Unit of the values after scaling; undefined if unknown: values are then not scaled. */
  readonly unit: string | undefined;
  /** value = written × scale + offset. */
  readonly scale: number;
  readonly offset: number;
}

export function unitOf(text: string): Unit | undefined {
  return units.get(text.toLowerCase().replaceAll(/[\s.]+/g, ''));
}

/**
 * Parses name and unit of a header: `Speed (OBD)(km/h)`, `speed [kph]`, `Vehicle speed / km/h`, `speed_kmh`. Brackets
 * without a unit belong to the name: `G(x)`.
 * @param given the unit, if the table contains it elsewhere
 */
export function columnOf(header: string, given?: string): Column {
  let name = header.trim();
  let unit = given === undefined ? undefined : unitOf(given);
  const bracket = /\s*(?:\(([^()]*)\)|\[([^[\]]*)\])\s*$/.exec(name);
  const inside = bracket?.[1] ?? bracket?.[2];
  if (bracket !== null && inside !== undefined) {
    const found = unitOf(inside);
    // Square brackets always contain a unit, even an unknown one.
    if (found !== undefined || bracket[2] !== undefined) name = name.slice(0, bracket.index);
    unit ??= found;
  } else {
    const slash = /\s+(?:\/|in)\s+(\S+)$/.exec(name);
    const behind = behindName.exec(name);
    const place = slash !== null && unitOf(slash[1] as string) !== undefined ? slash : behind;
    if (place !== null) {
      unit ??= unitOf(place[1] as string);
      name = name.slice(0, place.index);
    }
  }
  // Torque writes the acceleration of the phone in g without a unit.
  if (unit === undefined && /^G ?\([xyz]\)$/i.test(name)) unit = unitOf('g');
  const { canonical, scale, offset } = unit ?? { canonical: undefined, scale: 1, offset: 0 };
  return { signal: signalName(name), unit: canonical, scale, offset };
}

/** Keeps letters and digits, and replaces other text by single underscores, except a point between two names. */
function signalName(name: string): string {
  const plain = name.trim();
  if (/^[^.\s]+\.[^.\s]+$/.test(plain)) return plain;
  return plain.replaceAll(/[^\p{L}\p{N}]+/gu, '_').replaceAll(/^_+|_+$/g, '') || 'column';
}
