/** Values as readings, so that a profile maps `{ signal: VALUES.Speed_OBD }` as it does signals of the bus. */
import type { ReadingSink, WantedSignal } from '../../../../agent/ports.ts';
import type { ValueRow } from './reader.ts';
import type { Column } from './units.ts';

/** The message name under which a profile finds a column by its own name. */
const valuesMessage = 'VALUES';

/** Letters and digits in lower case: what columns and signals are compared by. */
function key(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

interface Known {
  /** `Message.Signal`, as sources of other kinds give it. */
  readonly signal: string;
  /** By {@link key}. */
  readonly names: RegExp;
  /** The unit in which the signal comes; a column with another one is not it. */
  readonly unit?: string;
  readonly value?: (written: number) => number;
}

const ENGINE = /^((engine)?rpm|engine(speed|rpm)|(engine)?revolutions|(motor)?drehzahl)$/;

/**
 * Names of phones and loggers for the signals of other sources, so that the profile of a live car also replays
 * their tables. Any other signal of `OBD` is found by its own name: `Engine load` is `OBD.EngineLoad`.
 */
const known: readonly Known[] = [
  { signal: 'OBD.VehicleSpeed', names: /^((vehicle)?speed(obd|sensor)?|obdspeed|vss|geschwindigkeit)$/, unit: 'km/h' },
  { signal: 'OBD.EngineSpeed', names: ENGINE, unit: 'rpm' },
  { signal: 'OBD.EngineRunning', names: ENGINE, unit: 'rpm', value: (rpm) => (rpm > 0 ? 1 : 0) },
  { signal: 'OBD.CoolantTemperature', names: /^(engine)?coolanttemp(erature)?$/, unit: '°C' },
  { signal: 'OBD.IntakeTemperature', names: /^intake(air)?temp(erature)?$/, unit: '°C' },
  { signal: 'OBD.AmbientTemperature', names: /^(ambient|outside|outdoor)(air)?temp(erature)?$/, unit: '°C' },
  { signal: 'OBD.OilTemperature', names: /^(engine)?oiltemp(erature)?$/, unit: '°C' },
  { signal: 'OBD.FuelLevel', names: /^(fuel(tank)?level(input)?(fromengineecu)?|fueltank)$/, unit: '%' },
  { signal: 'OBD.Odometer', names: /^odometer(ecu|fromecu)?$/, unit: 'km' },
  { signal: 'GNSS.latitude', names: /^(gps)?lat(itude)?$/ },
  { signal: 'GNSS.longitude', names: /^(gps)?(lon|lng|long|longitude|longtitude)$/ },
  { signal: 'GNSS.altitude', names: /^(gps)?(alt|altitude)$/, unit: 'm' },
  { signal: 'GNSS.speed', names: /^(gpsspeed|speedgps)$/, unit: 'km/h' },
  { signal: 'GNSS.heading', names: /^(gps)?(bearing|heading|course)$/ },
  { signal: 'GNSS.satellites', names: /^(gps)?satellites$/ },
];

interface Delivered {
  readonly index: number;
  readonly value: (written: number) => number;
}

const asWritten = (value: number): number => value;

/** Delivers the columns of a table that are wanted. */
export class ValueReadings {
  /** Whether a value that is wanted came. */
  any = false;
  readonly #wanted: readonly WantedSignal[];
  readonly #sink: ReadingSink;
  readonly #columns: readonly Column[];
  /** By column; as many as were looked at. */
  readonly #delivered: (readonly Delivered[])[] = [];
  /** Indexes of the fix, and of the columns of a position. */
  readonly #fix: readonly number[];
  #latitude = -1;
  #longitude = -1;
  #altitude = -1;
  /** Wanted signals that have a column: the first of several. */
  readonly #claimed = new Set<number>();

  /** @param columns those of the table; may grow */
  constructor(wanted: readonly WantedSignal[], columns: readonly Column[], sink: ReadingSink) {
    this.#wanted = wanted;
    this.#columns = columns;
    this.#sink = sink;
    this.#fix = wanted.flatMap(({ message, signal }, index) => (`${message}.${signal}` === 'GNSS.fix' ? [index] : []));
  }

  deliver({ at, values }: ValueRow): void {
    while (this.#delivered.length < this.#columns.length) this.#look(this.#delivered.length);
    for (const [column, value] of values.entries()) {
      if (value === undefined) continue;
      for (const { index, value: read } of this.#delivered[column] as readonly Delivered[]) {
        this.any = true;
        this.#sink.reading(index, read(value), read(value), at);
      }
    }
    // Apps write no kind of fix: who has a position has one.
    if (values[this.#latitude] !== undefined && values[this.#longitude] !== undefined) {
      const dimensions = values[this.#altitude] === undefined ? 2 : 3;
      for (const index of this.#fix) this.#sink.reading(index, dimensions, dimensions, at);
    }
    this.#sink.settled(at);
  }

  #look(place: number): void {
    const column = this.#columns[place] as Column;
    const name = key(column.signal);
    const signals = known.filter(
      ({ names, unit }) =>
        names.test(name) && (unit === undefined || column.unit === undefined || column.unit === unit),
    );
    if (signals.some(({ signal }) => signal === 'GNSS.latitude')) this.#latitude = place;
    if (signals.some(({ signal }) => signal === 'GNSS.longitude')) this.#longitude = place;
    if (signals.some(({ signal }) => signal === 'GNSS.altitude')) this.#altitude = place;
    const delivered = this.#wanted.flatMap(({ message, signal }, index): Delivered[] => {
      if (this.#claimed.has(index)) return [];
      const full = `${message}.${signal}`;
      const one = signals.find((entry) => entry.signal === full);
      if (one !== undefined) return [{ index, value: one.value ?? asWritten }];
      if (column.signal === full) return [{ index, value: asWritten }];
      const byName = message === valuesMessage || message === 'OBD';
      return byName && key(signal) === name ? [{ index, value: asWritten }] : [];
    });
    for (const { index } of delivered) this.#claimed.add(index);
    this.#delivered.push(delivered);
  }
}
