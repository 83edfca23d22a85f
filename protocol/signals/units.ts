/** Units with the names of COVESA's VSS, and their spellings in network descriptions and by people. */

/** value in the reference unit of the quantity = value × scale + offset */
interface Unit {
  readonly quantity: string;
  readonly scale: number;
  readonly offset: number;
}

const MILE = 1.609_344;
const INCH = 0.0254;
const POUND = 0.453_592_37;
const PSI = 6.894_757;

/**
 * The first unit of a quantity is its reference; the first spelling of a unit is that of VSS, if VSS has the unit. Case
 * is ignored unless a spelling has capitals: kn is knots, kN is kilonewtons.
 */
const table: readonly (readonly [quantity: string, scale: number, spellings: string, offset?: number])[] = [
  ['length', 1, 'm meter meters metre metres'],
  ['length', 1e-3, 'mm millimeter'],
  ['length', 0.01, 'cm centimeter'],
  ['length', 1000, 'km kilometer kilometers kilometre kilometres'],
  ['length', INCH, 'inch in'],
  ['length', 12 * INCH, 'ft feet foot'],
  ['length', 1000 * MILE, 'mi mile miles'],
  ['velocity', 1, 'km/h kmh kph kmph km/hr kmperhour'],
  ['velocity', 3.6, 'm/s mps m/sec'],
  ['velocity', MILE, 'mph mi/h mile/h miles/h'],
  ['velocity', 1.852, 'kn knot knots kt'],
  ['acceleration', 1, 'm/s^2 m/s2 m/s/s m/s**2 m/ss mps2'],
  ['acceleration', 0.01, 'cm/s^2 cm/s2'],
  ['volume', 1, 'l litre liter litres liters'],
  ['volume', 1e-3, 'ml milliliter cm^3 cm3 ccm'],
  ['temperature', 1, 'celsius degc °c c ℃ deg_c degreecelsius degreescelsius'],
  ['temperature', 5 / 9, 'fahrenheit degf °f f deg_f', -160 / 9],
  ['temperature', 1, 'k kelvin degk', -273.15],
  ['angle', 1, 'degrees deg ° degree'],
  ['angle', 180 / Math.PI, 'rad radian radians'],
  ['angular speed', 1, 'degrees/s deg/s °/s degree/s deg/sec degrees/sec'],
  ['angular speed', 180 / Math.PI, 'rad/s rad/sec'],
  ['power', 1, 'w watt'],
  ['power', 1000, 'kw kilowatt'],
  ['power', 735.498_75, 'ps'],
  ['energy', 1, 'kwh kw*h kilowatthour'],
  ['energy', 1e-3, 'wh watthour'],
  ['mass', 1, 'kg kilogram'],
  ['mass', 1e-3, 'g gram'],
  ['mass', POUND, 'lbs lb pound'],
  ['voltage', 1, 'v volt volts'],
  ['voltage', 1e-3, 'mv millivolt'],
  ['current', 1, 'a amp amps ampere amperes'],
  ['current', 1e-3, 'ma milliampere'],
  ['charge', 1, 'ah amperehours'],
  ['duration', 1, 's sec second seconds'],
  ['duration', 1e-3, 'ms msec millisecond milliseconds'],
  ['duration', 60, 'min minute minutes'],
  ['duration', 3600, 'h hour hours hr'],
  ['duration', 86_400, 'day days d'],
  ['duration', 604_800, 'weeks week'],
  ['pressure', 1, 'kpa kilopascal'],
  ['pressure', 1e-3, 'pa pascal'],
  ['pressure', 0.1, 'mbar hpa'],
  ['pressure', 100, 'bar'],
  ['pressure', PSI, 'psi'],
  ['mass flow', 1, 'g/s g/sec'],
  ['emission', 1, 'g/km'],
  ['energy use', 1, 'kwh/100km'],
  ['energy use', 0.1, 'wh/km'],
  ['fuel use', 1, 'l/100km'],
  ['fuel use', 1e-3, 'ml/100km'],
  ['volume flow', 1, 'l/h l/hr lph'],
  ['force', 1, 'n newton'],
  ['force', 1000, 'kN'],
  ['torque', 1, 'nm n*m n·m newtonmeter'],
  ['rotation', 1, 'rpm 1/min u/min min-1 min^-1 rev/min r/min'],
  ['rotation', 60, 'rps rev/s'],
  ['frequency', 1, 'hz hertz'],
  ['frequency', 1000, 'khz'],
  ['share', 1, 'percent % pct'],
  ['share', 100, 'ratio'],
  ['resistance', 1, 'ohm ω'],
  ['resistance', 1000, 'kohm kω'],
  ['illuminance', 1, 'lx lux'],
];

const units: ReadonlyMap<string, Unit> = new Map(
  table.flatMap(([quantity, scale, spellings, offset = 0]) =>
    spellings.split(' ').map((spelling): [string, Unit] => [normalized(spelling), { quantity, scale, offset }]),
  ),
);

/** Conversion from one unit to another. */
export interface UnitConversion {
  /** converted value = value × scale + offset */
  readonly scale: number;
  readonly offset: number;
}

/**
 * Returns the conversion from `from` to `to`: with scale 1 and offset 0 if they are spellings of the same unit.
 * Undefined if their quantities differ, or if one of them is unknown.
 */
export function convertUnit(from: string, to: string): UnitConversion | undefined {
  const [given, wanted] = [unitOf(from), unitOf(to)];
  if (given === undefined && normalized(from).toLowerCase() === normalized(to).toLowerCase()) {
    return { scale: 1, offset: 0 };
  }
  if (given === undefined || given.quantity !== wanted?.quantity) return undefined;
  return {
    scale: significant(given.scale / wanted.scale),
    offset: significant((given.offset - wanted.offset) / wanted.scale),
  };
}

/** Rounds to twelve digits: 0.1 / 0.001 is 100. */
function significant(value: number): number {
  return Number(value.toPrecision(12));
}

function unitOf(text: string): Unit | undefined {
  return units.get(normalized(text)) ?? units.get(normalized(text).toLowerCase());
}

function normalized(unit: string): string {
  return unit
    .replaceAll(/[\s[\]]/g, '')
    .replaceAll('²', '^2')
    .replaceAll('³', '^3');
}
