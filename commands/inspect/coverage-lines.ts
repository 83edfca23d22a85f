/** Formats how well network descriptions match a log, as lines for programs and for people. */
import type { Coverage } from '../../adapters/can/inspect/index.ts';
import type { DatabaseLine } from './schema.ts';
import { printable, type TableColumn, tableLines } from './table.ts';

export function databaseLineOf({ database, ...counted }: Coverage): DatabaseLine {
  const { file, messages } = database;
  const signals = messages.reduce((sum, message) => sum + message.signals.length, 0);
  return {
    kind: 'database',
    file,
    frames: counted.frames,
    known: counted.known,
    fitting: counted.fitting,
    values: counted.values,
    inRange: counted.inRange,
    messages: counted.messages,
    ofMessages: messages.filter(({ onBus }) => onBus).length,
    signals: counted.signals,
    ofSignals: signals,
  };
}

const columns: readonly TableColumn[] = [
  { title: 'frames known', align: 'right' },
  { title: 'length fits', align: 'right' },
  { title: 'values in range', align: 'right', dispensable: 1 },
  { title: 'messages seen', align: 'right', dispensable: 3 },
  { title: 'signals', align: 'right', dispensable: 2 },
];

/** Returns the table of network descriptions, best match first. */
export function coverageText(lines: readonly DatabaseLine[], width: number): string[] {
  const rows = lines.map((line) => ({
    cells: [
      percent(line.known, line.frames),
      percent(line.fitting, line.frames),
      percent(line.inRange, line.values),
      `${line.messages} of ${line.ofMessages}`,
      `${line.signals} of ${line.ofSignals}`,
    ],
    details: [printable(line.file)],
  }));
  return tableLines(columns, rows, width);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)}%`;
}
