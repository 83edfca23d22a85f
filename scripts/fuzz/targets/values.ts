/** Tests tables of values from phones and data loggers: detection, units, times, numbers. */
import { contentsOf } from '../../../adapters/can/log/contents.ts';
import { openValueTable } from '../../../adapters/can/log/values/index.ts';
import { type Row, valueWriters } from '../../../test/adapters/can/log/value-writers.ts';
import { Contradiction, type FuzzTarget, texts } from '../target.ts';
import { scratchFile } from './scratch-file.ts';

const rows: readonly Row[] = Array.from({ length: 12 }, (_, i) => ({
  at: Date.UTC(2026, 2, 14, 9, 0, i, 500),
  speed: i * 1.5,
  rpm: 800 + i,
  ...(i % 3 === 1 ? {} : { coolant: 70.25 + i }),
}));

export const values: FuzzTarget = {
  name: 'log-values',
  seeds: () => texts(...valueWriters.map((writer) => writer.write(rows))),
  words: [
    '\ufeff',
    ';',
    '\t',
    ',',
    '"',
    '""',
    '-',
    'NaN',
    '1e999',
    '1,234',
    '1.234,5',
    '# StartTime = 03/14/2026 10:00:00',
    'Time',
    'Date',
    'Device Time',
    'epoch',
    'SECONDS;PID;VALUE;UNITS',
    '(mph)',
    '[°F]',
    '(m/s^2)',
    'GMT+02:00',
    ' PM',
    '9999999999999999999',
    '23:59:59.999',
    '29/02/2025 10:00:00',
    '0000-00-00T00:00:00Z',
    'VALUES.Speed',
  ],
  async run(input) {
    const path = scratchFile(input, 'values.csv');
    let rows = 0;
    for await (const { bytes } of contentsOf(path)) {
      const log = await openValueTable(bytes, path, { zone: 'Europe/Paris' });
      for await (const { at, values } of log.rows()) {
        if (!Number.isFinite(at)) throw new Contradiction(`a row has the time ${at}`);
        for (const value of values) {
          if (value !== undefined && !Number.isFinite(value)) throw new Contradiction(`a value is ${value}`);
        }
      }
      rows += log.frames;
    }
    return rows > 0;
  },
};
