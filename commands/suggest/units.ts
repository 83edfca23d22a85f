/** Units as written in DBC files, with conversions to the unit of a Status path. */

/** Linear conversion: value in the other unit = value × scale + offset. */
export interface Conversion {
  readonly scale: number;
  readonly offset: number;
}

interface Unit extends Conversion {
  /** Usual symbol, for reasons and questions. */
  readonly name: string;
  /** Spellings in files, in lower case without blanks. */
  readonly written: readonly string[];
}

const linear = (name: string, scale: number, written: string, offset = 0): Unit => {
  return { name, scale, offset, written: [name.toLowerCase(), ...written.split(' ')].map(normalized) };
};

const degC = linear(
  'degC',
  1,
  '°c c ℃ deg_c degc degrec celsius grad_c gradc degreesc degreec deg.c ºc degrecelsi degreecelsius gradcelsius',
);
const kilometre = linear('km', 1, 'kms kilometer kilometre kilometers');

/** Possible units of a value by its path's unit, most usual first. `scale` and `offset` convert to that unit. */
const unitsOf: Readonly<Record<string, readonly Unit[]>> = {
  'km/h': [
    linear('km/h', 1, 'kmh kph km_h kmph km/hr km/hour kilometerperhour kilometreperhour'),
    linear('mph', 1.609344, 'mi/h mile/h miles/h mileperhour mi_h'),
    linear('m/s', 3.6, 'mps m_s meterpersecon meterpersecond m/sec'),
    linear('kn', 1.852, 'knot knots kt kts'),
  ],
  'm/s²': [
    linear(
      'm/s²',
      1,
      'm/s2 m/s^2 m/s/s m/s**2 mps2 m/ss m/sec2 m/(s^2) m/(s*s) meterperseconsquar meterpersecondsquared',
    ),
    linear('g', 9.80665, 'gs gee forceofgravi'),
  ],
  rpm: [
    linear(
      'rpm',
      1,
      '1/min u/min min-1 tr/min rev/min /min min^-1 1/minute minutinver r/min revolutionsperminute upm trs/min',
    ),
    linear('rad/s', 30 / Math.PI, 'rad/sec'),
    linear('Hz', 60, '1/s rps rev/s'),
  ],
  degC: [
    degC,
    linear('degF', 5 / 9, '°f f deg_f fahrenheit degrefahre', -160 / 9),
    linear('K', 1, 'kelvin degk', -273.15),
  ],
  '%': [
    linear('%', 1, 'percent pct prozent proz percen percent% per_cent'),
    linear('share of 1', 100, 'ratio fraction'),
  ],
  km: [kilometre, linear('mi', 1.609344, 'mile miles'), linear('m', 0.001, 'meter metre meters')],
  m: [linear('m', 1, 'meter metre meters'), linear('ft', 0.3048, 'feet foot'), linear('km', 1000, 'kilometer')],
  deg: [
    linear('deg', 1, '° degree degrees grad degre degreofarc degreeofarc'),
    linear('rad', 180 / Math.PI, 'radian radians'),
    linear('microdeg', 1e-6, 'udeg µdeg'),
  ],
  Wh: [
    linear('Wh', 1, 'watthour'),
    linear('kWh', 1000, 'kw*h kilowatthour kilowatthours'),
    linear('J', 1 / 3600, 'joule'),
  ],
  cL: [
    linear('cL', 1, 'centiliter'),
    linear('L', 100, 'liter litre liters litres'),
    linear('mL', 0.1, 'milliliter cm3 cm^3'),
    linear('µL', 1e-4, 'ul mm3 mm^3 microliter'),
  ],
  'L/100km': [linear('L/100km', 1, 'l/100 l/100_km liter/100km ltr/100km'), linear('L/km', 100, '')],
  'kWh/100km': [linear('kWh/100km', 1, 'kwh/100_km'), linear('Wh/km', 0.1, 'wattperkm'), linear('kWh/km', 100, '')],
  d: [linear('d', 1, 'day days tage tag jour jours'), linear('week', 7, 'weeks'), linear('month', 30.4, 'months')],
  s: [
    linear('s', 1, 'sec second seconds secon'),
    linear('min', 60, 'minute minutes minut'),
    linear('h', 3600, 'hour hours hr hrs'),
    linear('ms', 0.001, 'msec milliseconds'),
  ],
};

/** Strings in files that mean "no unit". */
const unstated: ReadonlySet<string> = new Set([
  '',
  '-',
  '1',
  'none',
  'n/a',
  'na',
  'unit',
  'unitless',
  '.',
  '_',
  'no unit',
  'sna',
]);

/** Spellings of degrees, for temperatures or angles. */
const degrees: ReadonlySet<string> = new Set(['deg', 'degree', 'degrees', '°', 'grad', 'degre']);

/** A unit as read from a file. A percentage of another quantity, or a unit that no path has, has only a name. */
interface ReadUnit {
  readonly name: string;
  readonly conversion: Conversion;
}

/** Returns true if the file states no unit. */
export function saysNoUnit(unit: string, wanted: string): boolean {
  const text = unit.trim().toLowerCase();
  return unstated.has(text) || (wanted === 'degC' && degrees.has(text));
}

/** Returns the conversion from the unit `written` to a path's unit `wanted`; undefined if there is none. */
export function conversionTo(wanted: string, written: string): ReadUnit | undefined {
  const text = normalized(written);
  const unit = unitsOf[wanted]?.find((one) => one.written.includes(text));
  return unit === undefined ? undefined : { name: unit.name, conversion: unit };
}

/** Returns every possible unit of a value that is to be converted to `wanted`, most usual first. */
export function unitsFor(wanted: string): ReadUnit[] {
  return (unitsOf[wanted] ?? []).map((unit) => ({ name: unit.name, conversion: unit }));
}

function normalized(unit: string): string {
  return unit
    .trim()
    .toLowerCase()
    .replace(/^unit_/, '')
    .replace(/[\s\u00a0[\]]/g, '')
    .replace('²', '2')
    .replace('µ', 'u')
    .replace('l/100km', 'l/100km')
    .replace('metre', 'meter');
}
