/** Emits values as readings, so that a profile maps `{ signal: VALUES.Speed_OBD }` like signals of a bus. */
import type { ReadingSink, WantedSignal } from '../../../../agent/ports.ts';
import type { ValueRow } from './reader.ts';
import type { Column } from './units.ts';

/** Message name under which profiles refer to a column by its own name. */
const valuesMessage = 'VALUES';

/** Returns the letters and digits in lower case, for comparing columns with signals. */
function key(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

interface Known {
  /** Signal name `Message.Signal`, as from other kinds of sources. */
  readonly signal: string;
  /** Pattern of the column names, for {@link key}. */
  readonly names: RegExp;
  /** Unit of the signal; a column with another unit does not match. */
  readonly unit?: string;
  readonly value?: (written: number) => number;
}

const ENGINE = /^((engine)?rpm|engine(speed|rpm)|(engine)?revolutions|(motor)?drehzahl)$/;

/**
 * Column names of phones and loggers for the signals of other sources, so that the profile of a live car also replays
 * their tables. Any other signal of `OBD` is matched by its own name: `Engine load` is `OBD.EngineLoad`.
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

/** Delivers the wanted columns of a table. */
export class ValueReadings {
  /** True once a wanted value was delivered. */
  any = false;
  readonly #wanted: readonly WantedSignal[];
  readonly #sink: ReadingSink;
  readonly #columns: readonly Column[];
  /** Wanted signals by column, for the columns examined so far. */
  readonly #delivered: (readonly Delivered[])[] = [];
  /** Indexes of the fix signals, and of the columns of a position. */
  readonly #fix: readonly number[];
  #latitude = -1;
  #longitude = -1;
  #altitude = -1;
  /** Wanted signals that have a column. If several columns match, the first is used. */
  readonly #claimed = new Set<number>();

  /** @param columns columns of the table; may grow */
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
    // Apps do not record the kind of fix: a position implies a fix.
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
