/**
 * Generated drives in the form of a data logger: 27 OBD values, one column each, one row a second, the same in every
 * run. A car with an engine, five gears and a tank follows a plan. The logger polls it every few seconds and repeats
 * its last row in between, like real ones.
 */
import { chance } from '../golden/naive-frames.ts';

interface Leg {
  readonly seconds: number;
  /** Target speed, km/h. */
  readonly kmh: number;
  /** Whether the engine runs. Default: true. */
  readonly engine?: false;
}

interface Plan {
  readonly legs: readonly Leg[];
  /** Coolant temperature at the start, °C. */
  readonly coolant: number;
  /** Fuel level at the start, per cent. */
  readonly fuel: number;
}

const leg = (seconds: number, kmh: number): Leg => ({ seconds, kmh });
const off = (seconds: number): Leg => ({ seconds, kmh: 0, engine: false });
const town = (rounds: number): Leg[] =>
  Array.from({ length: rounds }, (_, round) => [
    leg(38 + (round % 3) * 9, 31 + ((round * 17) % 23)),
    leg(14, 12),
    leg(9 + (round % 4) * 4, 0),
  ]).flat();

const plans: Readonly<Record<string, Plan>> = {
  // A cold start. The engine stalls once and restarts, and runs in the last row.
  'cold-town.csv': {
    coolant: 21,
    fuel: 24,
    legs: [off(9), leg(30, 0), ...town(4), leg(20, 22), leg(6, 0), off(7), leg(5, 0), ...town(3), leg(8, 0)],
  },
  // The engine runs in the first row and in the last one.
  'motorway.csv': {
    coolant: 86,
    fuel: 71,
    legs: [leg(6, 0), ...town(2), leg(420, 112), leg(60, 88), leg(380, 124), ...town(3), leg(10, 0)],
  },
  // The car stands for longer than the grace time: two trips.
  'errand.csv': {
    coolant: 34,
    fuel: 45,
    legs: [off(5), leg(20, 0), ...town(6), leg(12, 0), off(420), leg(15, 0), ...town(7), leg(10, 0), off(20)],
  },
  // Out of town and back, with a stop shorter than the grace time: one trip.
  'commute.csv': {
    coolant: 15,
    fuel: 62,
    legs: [
      off(6),
      leg(25, 0),
      ...town(3),
      leg(260, 78),
      leg(70, 52),
      leg(190, 91),
      ...town(2),
      leg(8, 0),
      off(110),
      leg(12, 0),
      ...town(4),
      leg(300, 83),
      ...town(3),
      leg(9, 0),
      off(15),
    ],
  },
};

/** Lowest speed in each gear, km/h, and engine speed per km/h in it, 1/min. */
const gears: readonly (readonly [from: number, rpm: number])[] = [
  [0, 112],
  [17, 63],
  [33, 43],
  [50, 34],
  [72, 27],
];

/** Title and resolution of each column, in the order of the rows (SAE J1979, annex B). */
const columns = {
  ENGINE_RUN_TIME: 1,
  ENGINE_RPM: 0.25,
  VEHICLE_SPEED: 1,
  THROTTLE: 100 / 255,
  ENGINE_LOAD: 100 / 255,
  COOLANT_TEMPERATURE: 1,
  LONG_TERM_FUEL_TRIM_BANK_1: 100 / 128,
  SHORT_TERM_FUEL_TRIM_BANK_1: 100 / 128,
  INTAKE_MANIFOLD_PRESSURE: 1,
  FUEL_TANK: 100 / 255,
  ABSOLUTE_THROTTLE_B: 100 / 255,
  PEDAL_D: 100 / 255,
  PEDAL_E: 100 / 255,
  COMMANDED_THROTTLE_ACTUATOR: 100 / 255,
  FUEL_AIR_COMMANDED_EQUIV_RATIO: 2 / 65_536,
  ABSOLUTE_BAROMETRIC_PRESSURE: 1,
  RELATIVE_THROTTLE_POSITION: 100 / 255,
  INTAKE_AIR_TEMP: 1,
  TIMING_ADVANCE: 0.5,
  CATALYST_TEMPERATURE_BANK1_SENSOR1: 0.1,
  CATALYST_TEMPERATURE_BANK1_SENSOR2: 0.1,
  CONTROL_MODULE_VOLTAGE: 0.001,
  COMMANDED_EVAPORATIVE_PURGE: 100 / 255,
  TIME_RUN_WITH_MIL_ON: 1,
  TIME_SINCE_TROUBLE_CODES_CLEARED: 1,
  DISTANCE_TRAVELED_WITH_MIL_ON: 1,
  WARM_UPS_SINCE_CODES_CLEARED: 1,
} as const;
type Row = Readonly<Record<keyof typeof columns, number>>;

/** Rows of a drive, physical values. */
function* drive({ legs, coolant, fuel }: Plan, seed: number): Iterable<Row> {
  const next = chance(seed);
  /** From -1 to 1. */
  const noise = (): number => next() / 127.5 - 1;
  let [kmh, running, ran, longTrim, warm, level] = [0, false, 0, -1.5, coolant, fuel];
  let [catalyst, intake, second] = [coolant + 8, coolant, 0];
  for (const { seconds, kmh: wanted, engine = true } of legs) {
    for (let spent = 0; spent < seconds; spent++, second++) {
      running = engine;
      const before = kmh;
      const aim = wanted === 0 ? 0 : wanted + 2 * noise();
      kmh = Math.max(0, Math.min(kmh + 4.2 + noise(), Math.max(kmh - 6.5 + noise(), aim)));
      const pull = kmh - before;
      ran = running ? ran + 1 : 0;
      const [, ratio = 0] = gears.findLast(([from]) => kmh >= from) ?? [];
      const rpm = running ? Math.max(790 + 14 * noise(), kmh * ratio) : 0;
      const work = running ? Math.max(14, 24 + kmh / 5 + 11 * pull + 3 * noise()) : 0;
      const pedal = Math.max(0, pull * 3 + kmh / 9);
      warm += running ? (89 - warm) / 260 : (20 - warm) / 4000;
      catalyst += running ? (330 + 3 * kmh - catalyst) / 90 : (30 - catalyst) / 900;
      intake += (24 + (kmh > 20 ? 4 : 14) - intake) / 200;
      level -= running ? (0.5 + work / 20) / 4000 : 0;
      if (second % 90 === 0) longTrim = Math.max(-6, Math.min(4, longTrim + 0.8 * noise()));
      yield {
        ENGINE_RUN_TIME: ran,
        ENGINE_RPM: rpm,
        VEHICLE_SPEED: kmh,
        THROTTLE: 16 + pedal,
        ENGINE_LOAD: Math.min(99, work),
        COOLANT_TEMPERATURE: warm,
        LONG_TERM_FUEL_TRIM_BANK_1: longTrim,
        SHORT_TERM_FUEL_TRIM_BANK_1: running ? 3 * noise() : 0,
        INTAKE_MANIFOLD_PRESSURE: running ? Math.min(100, 26 + work * 0.7) : 101,
        // Fuel sloshes when the car brakes and accelerates.
        FUEL_TANK: level + (pull === 0 ? 0 : 0.9 * noise()),
        ABSOLUTE_THROTTLE_B: 48 + pedal,
        PEDAL_D: 16 + 1.2 * pedal,
        PEDAL_E: 32 + 1.2 * pedal,
        COMMANDED_THROTTLE_ACTUATOR: 16 + pedal,
        FUEL_AIR_COMMANDED_EQUIV_RATIO: 0,
        ABSOLUTE_BAROMETRIC_PRESSURE: 101,
        RELATIVE_THROTTLE_POSITION: Math.max(0, pedal - 1),
        INTAKE_AIR_TEMP: intake,
        TIMING_ADVANCE: running ? 12 + 9 * noise() - pull : 5,
        CATALYST_TEMPERATURE_BANK1_SENSOR1: catalyst,
        CATALYST_TEMPERATURE_BANK1_SENSOR2: 20 + catalyst * 0.72,
        CONTROL_MODULE_VOLTAGE: (running ? 14.05 : 12.25) + 0.04 * noise(),
        COMMANDED_EVAPORATIVE_PURGE: warm > 70 && second % 120 > 60 ? 40 : 0,
        TIME_RUN_WITH_MIL_ON: 0,
        TIME_SINCE_TROUBLE_CODES_CLEARED: 10_192 + Math.floor(second / 60),
        DISTANCE_TRAVELED_WITH_MIL_ON: 0,
        WARM_UPS_SINCE_CODES_CLEARED: 255,
      };
    }
  }
}

/** Rows of a logger that finishes a round of requests every three to five seconds. */
function* logged(rows: Iterable<Row>, seed: number): Iterable<readonly number[]> {
  const next = chance(seed);
  let wait = 0;
  let last: readonly number[] = [];
  for (const row of rows) {
    if (wait === 0) {
      last = Object.entries(columns).map(([name, step]) => Math.round(row[name as keyof Row] / step) * step);
      wait = 3 + (next() % 3);
    }
    wait--;
    yield last;
  }
}

/** File names and contents. */
export function generatedDrives(): ReadonlyMap<string, string> {
  const titles = Object.keys(columns).map((name) => `${name} ()`);
  return new Map(
    Object.entries(plans).map(([name, plan], index) => {
      const rows = [...logged(drive(plan, index + 1), index + 101)];
      const lines = rows.map((row) => `${row.map((value) => value.toFixed(6)).join(', ')},`);
      return [name, `${[titles.join(','), ...lines].join('\n')}\n`];
    }),
  );
}
