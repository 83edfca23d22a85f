/** Formats statistics of signals as lines for programs and for people. */

import { MOST_VALUES, type SignalStatistics } from '../../adapters/can/inspect/index.ts';
import { defined } from '../../protocol/defined.ts';
import type { SignalLine } from './schema.ts';
import { printable, type TableColumn, tableLines } from './table.ts';
import { valuesOf } from './value-text.ts';

/** Largest number of different values of a signal that are listed. */
const LISTED = 16;

export function signalLineOf(seen: SignalStatistics): SignalLine {
  const { message, signal, count, minimum, maximum, first, last, firstAt, lastAt, changes, falls, raws } = seen;
  const value = valuesOf(signal);
  const listed = !seen.more && raws.size <= LISTED && raws.size > 0;
  return {
    kind: 'signal',
    message: message.name,
    signal: signal.name,
    unit: signal.unit,
    frames: count,
    ...(count === 0
      ? {}
      : {
          minimum: value(minimum),
          maximum: value(maximum),
          first: value(first),
          last: value(last),
          firstAt,
          lastAt,
        }),
    distinct: raws.size,
    more: seen.more,
    changes,
    falls,
    ...(listed
      ? {
          values: [...raws]
            .sort(([a], [b]) => a - b)
            .map(([raw, frames]) => {
              const name = signal.choices?.get(raw);
              return {
                value: value(raw * signal.factor + signal.offset),
                ...defined({ name }),
                frames,
              };
            }),
        }
      : {}),
  };
}

const columns: readonly TableColumn[] = [
  { title: 'signal', align: 'left', breakable: true },
  { title: 'frames', align: 'right', dispensable: 1 },
  { title: 'min', align: 'right' },
  { title: 'max', align: 'right' },
  { title: 'unit', align: 'left', dispensable: 5 },
  { title: 'values', align: 'right', dispensable: 4 },
  { title: 'changes', align: 'right', dispensable: 3 },
  { title: 'first', align: 'right', dispensable: 2 },
  { title: 'last', align: 'right', dispensable: 2 },
];

/** Returns the table of the signals that were seen, including the names of their values. */
export function signalText(lines: readonly SignalLine[], width: number): string[] {
  const seen = lines.filter(({ frames }) => frames > 0);
  const rows = seen.map((line) => ({
    cells: [
      printable(`${line.message}.${line.signal}`),
      line.frames.toLocaleString('en'),
      String(line.minimum),
      String(line.maximum),
      printable(line.unit),
      line.more ? `>${MOST_VALUES}` : String(line.distinct),
      line.changes.toLocaleString('en'),
      String(line.first),
      String(line.last),
    ],
    details: (line.values ?? []).flatMap(({ value, name, frames }) =>
      name === undefined ? [] : [`${value} ${printable(name)} (${frames.toLocaleString('en')})`],
    ),
  }));
  const absent = lines.length - seen.length;
  return [
    ...(rows.length === 0 ? [] : tableLines(columns, rows, width)),
    ...(absent === 0
      ? []
      : [`${absent.toLocaleString('en')} of ${lines.length.toLocaleString('en')} signals not seen`]),
  ];
}
