/** Writes tables of values in the layouts of phone apps and data loggers. */

export interface Row {
  /** UTC milliseconds. */
  readonly at: number;
  /** km/h */
  readonly speed: number;
  readonly rpm: number;
  /** °C; if omitted, the table has no value there. */
  readonly coolant?: number;
}

export interface ValueWriter {
  readonly layout: string;
  write(rows: readonly Row[]): string;
  /** Names of speed, engine speed and coolant temperature that the reader returns. */
  readonly signals: readonly [speed: string, rpm: string, coolant: string];
  /** If true, the table has only elapsed times, which the reader counts from 1970. */
  readonly elapsed?: true;
  /** Time zone of the table's local times. */
  readonly zone?: string;
  /** Number of decimals that survive writing and reading. */
  readonly digits?: number;
}

const pad = (number: number, digits = 2): string => String(number).padStart(digits, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const plain = (value: number | undefined): string => (value === undefined ? '' : String(value));
const comma = (value: number | undefined): string => plain(value).replace('.', ',');

/** Date and time fields of clocks that are `hours` ahead of UTC. */
function clock(at: number, hours = 0): Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'ms', string> {
  const date = new Date(at + hours * 3_600_000);
  return {
    year: String(date.getUTCFullYear()),
    month: pad(date.getUTCMonth() + 1),
    day: pad(date.getUTCDate()),
    hour: pad(date.getUTCHours()),
    minute: pad(date.getUTCMinutes()),
    second: pad(date.getUTCSeconds()),
    ms: pad(date.getUTCMilliseconds(), 3),
  };
}

/** A writer for tables with one row for each time. */
function wide(
  header: readonly string[],
  cells: (row: Row) => readonly string[],
  { separator = ',', end = '\n', before = '' } = {},
): (rows: readonly Row[]) => string {
  return (rows) => before + [header, ...rows.map(cells)].map((line) => line.join(separator) + end).join('');
}

const usual = ['Speed', 'Engine_RPM', 'Coolant'] as const;

export const valueWriters: readonly ValueWriter[] = [
  {
    layout: 'ISO 8601 times, commas',
    signals: usual,
    write: wide(['timestamp', 'Speed (km/h)', 'Engine RPM (rpm)', 'Coolant [°C]'], ({ at, speed, rpm, coolant }) => [
      new Date(at).toISOString(),
      plain(speed),
      plain(rpm),
      plain(coolant),
    ]),
  },
  {
    layout: 'epoch in seconds, BOM, CRLF',
    signals: usual,
    write: wide(
      ['time', 'speed [kph]', 'engine rpm', 'coolant (C)'],
      ({ at, speed, rpm, coolant }) => [(at / 1000).toFixed(3), plain(speed), plain(rpm), plain(coolant)],
      { end: '\r\n', before: '\ufeff' },
    ),
  },
  {
    layout: 'epoch in milliseconds, tabs, CR',
    signals: usual,
    write: wide(
      ['Timestamp (ms)', 'Speed (km/h)', 'Engine RPM', 'Coolant'],
      ({ at, speed, rpm, coolant }) => [String(at), plain(speed), plain(rpm), plain(coolant)],
      { separator: '\t', end: '\r' },
    ),
  },
  {
    layout: 'semicolons and decimal commas, quoted, with date and time in two columns',
    signals: ['Geschwindigkeit', 'Motordrehzahl', 'Kuehlmittel'],
    zone: 'Europe/Berlin',
    write: wide(
      ['"Datum"', '"Zeit"', '"Geschwindigkeit (km/h)"', '"Motordrehzahl (1/min)"', '"Kuehlmittel (°C)"'],
      ({ at, speed, rpm, coolant }) => {
        const { day, month, year, hour, minute, second, ms } = clock(at, 1);
        const cells = [
          `${day}.${month}.${year}`,
          `${hour}:${minute}:${second}.${ms}`,
          comma(speed),
          comma(rpm),
          comma(coolant),
        ];
        return cells.map((cell) => `"${cell}"`);
      },
      { separator: ';' },
    ),
  },
  {
    layout: 'Torque: two times, local, with - for no value, names again in between',
    signals: ['Speed_OBD', 'Engine_RPM', 'Engine_Coolant_Temperature'],
    zone: 'Europe/Paris',
    write: (rows) => {
      const names = 'GPS Time, Device Time, G(x),Speed (OBD)(km/h),Engine RPM(rpm),Engine Coolant Temperature(°C)';
      const lines = rows.map(({ at, speed, rpm, coolant }) => {
        const { day, month, year, hour, minute, second, ms } = clock(at, 1);
        const time = `${day}-${MONTHS[Number(month) - 1]}-${year} ${hour}:${minute}:${second}.${ms}`;
        return `-,${time},0.01,${speed},${rpm},${plain(coolant) || '-'}`;
      });
      return `${[names, ...lines.slice(0, 2), names, ...lines.slice(2)].join('\n')}\n`;
    },
  },
  {
    layout: 'OBD Fusion: a start time in a comment, seconds since then, miles per hour',
    signals: ['Vehicle_speed', 'Engine_RPM', 'Engine_coolant_temperature'],
    digits: 6,
    write: (rows) => {
      const begin = rows[0]?.at ?? 0;
      const { day, month, year, hour, minute, second, ms } = clock(begin);
      const twelve = pad(Number(hour) % 12 || 12);
      const start = `# StartTime = ${month}/${day}/${year} ${twelve}:${minute}:${second}.${ms}0 ${Number(hour) < 12 ? 'AM' : 'PM'}`;
      const names = 'Time (sec),Vehicle speed (MPH),Engine RPM (RPM),Engine coolant temperature (°F)';
      const lines = rows.map(({ at, speed, rpm, coolant }) => {
        const fahrenheit = coolant === undefined ? '' : ((coolant * 9) / 5 + 32).toFixed(8);
        return `${((at - begin) / 1000).toFixed(3)},${(speed / 1.609344).toFixed(8)},${rpm},${fahrenheit}`;
      });
      return `${[start, names, ...lines].join('\n')}\n`;
    },
  },
  {
    layout: 'Car Scanner: one value a line',
    signals: ['Vehicle_speed', 'Engine_RPM', 'Coolant'],
    elapsed: true,
    write: (rows) => {
      const begin = rows[0]?.at ?? 0;
      const lines = rows.flatMap(({ at, speed, rpm, coolant }) => {
        const values: [string, number | undefined, string][] = [
          ['Vehicle speed', speed, 'km/h'],
          ['Engine RPM', rpm, 'rpm'],
          ['Coolant', coolant, '°C'],
        ];
        return values
          .filter(([, value]) => value !== undefined)
          .map(([name, value, unit]) => `"${((at - begin) / 1000).toFixed(3)}";"${name}";"${value}";"${unit}";`);
      });
      return `${['"SECONDS";"PID";"VALUE";"UNITS";', ...lines].join('\n')}\n`;
    },
  },
  {
    layout: 'a data logger: names, units, metres per second, decimal commas',
    signals: ['v', 'n', 'T_coolant'],
    elapsed: true,
    digits: 6,
    write: (rows) => {
      const begin = rows[0]?.at ?? 0;
      const kelvin = (celsius: number | undefined) => (celsius === undefined ? undefined : celsius + 273.15);
      const lines = rows.map(({ at, speed, rpm, coolant }) =>
        [(at - begin) / 1000, Number((speed / 3.6).toFixed(8)), rpm, kelvin(coolant)].map(comma).join('\t'),
      );
      return `${['Logger 7', '', 'Time\tv\tn\tT coolant', 's\tm/s\trpm\tK', ...lines].join('\n')}\n`;
    },
  },
];
