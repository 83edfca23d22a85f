/** Formats differences between two recordings as lines for programs and for people. */

import type { BoundDatabase } from '../../adapters/can/dbc/index.ts';
import { bitsOf, type DbcMessage, MessageFinder, readBits, type Signal } from '../../adapters/can/dbc/index.ts';
import type { Difference, RecordingSide } from '../../adapters/can/inspect/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import type { DifferenceLine } from './schema.ts';
import { identifierText, placeText, printable, type TableColumn, tableLines } from './table.ts';

/** Identifier bits of a frame id. */
const IDENTIFIER = 0x1fff_ffff;

/** @param begin start of each recording in UTC milliseconds */
export function differenceLinesOf(
  differences: readonly Difference[],
  databases: readonly BoundDatabase[],
  begin: { readonly first: number; readonly second: number },
): DifferenceLine[] {
  const finder = new MessageFinder(databases);
  return differences.map((difference) => {
    const { bus, id, kind, start, bits, first, second, protection } = difference;
    const message = finder.find(bus, id);
    const signals = message === undefined || start === undefined ? [] : signalsAt(message, start, bits ?? 1);
    return {
      kind: 'difference',
      what: kind,
      bus,
      id: id & IDENTIFIER,
      extended: (id & EXTENDED) !== 0,
      ...(message === undefined ? {} : { message: message.name }),
      ...(start === undefined || bits === undefined ? {} : { start, bits }),
      first: sideOf(first, begin.first),
      second: sideOf(second, begin.second),
      signals: signals.map((signal) => ({
        signal: signal.name,
        ...namesOf(signal, first, second),
      })),
      ...defined({ protection }),
    };
  });
}

function sideOf({ frames, value, flips, changedAt }: RecordingSide, begin: number): DifferenceLine['first'] {
  return {
    frames,
    ...defined({ value, flips }),
    ...(changedAt === undefined ? {} : { changedAfter: Math.round(changedAt - begin) / 1000 }),
  };
}

function signalsAt(message: DbcMessage, start: number, bits: number): Signal[] {
  return message.signals.filter((signal) => bitsOf(signal).some((bit) => bit >= start && bit < start + bits));
}

/** Returns the name that the value table has for a constant value. */
function namesOf(
  signal: Signal,
  first: RecordingSide,
  second: RecordingSide,
): { readonly first?: string; readonly second?: string } {
  const nameIn = ({ latest, value }: RecordingSide): string | undefined => {
    if (latest === undefined || value === undefined || Math.max(...bitsOf(signal)) >= latest.length * 8)
      return undefined;
    return signal.choices?.get(Number(readBits(latest, signal)));
  };
  const [own, other] = [nameIn(first), nameIn(second)];
  return defined({ first: own, second: other });
}

const columns: readonly TableColumn[] = [
  { title: 'bus', align: 'left', dispensable: 1 },
  { title: 'id', align: 'right' },
  { title: 'place', align: 'left' },
  { title: 'first', align: 'left' },
  { title: 'second', align: 'left' },
];

/** Returns the table of differences, beginning with the most likely effect of a single action. */
export function differenceText(lines: readonly DifferenceLine[], width: number): string[] {
  if (lines.length === 0) return ['no difference'];
  const single = new Set(lines.map(({ bus }) => bus)).size === 1;
  const rows = lines.map((line) => ({
    cells: [
      single ? '' : printable(line.bus),
      identifierText(line.id, line.extended),
      line.what === 'length' ? 'length' : line.start === undefined ? '' : placeText(line.start, line.bits ?? 1),
      sideText(line, line.first),
      sideText(line, line.second),
    ],
    details: [
      ...(line.message === undefined ? [] : [printable(line.message)]),
      ...line.signals.map(signalText),
      ...(line.protection === true ? ['counter or checksum'] : []),
    ],
  }));
  return tableLines(columns, rows, width);
}

function sideText(
  { what, bits }: DifferenceLine,
  { frames, value, flips, changedAfter }: DifferenceLine['first'],
): string {
  if (what === 'only')
    return frames === 0 ? 'absent' : `${frames.toLocaleString('en')} ${frames === 1 ? 'frame' : 'frames'}`;
  if (what === 'length') return `${value} bytes`;
  if (value !== undefined) return value.toString(2).padStart(bits ?? 1, '0');
  return `${flips?.toLocaleString('en')}× from ${changedAfter?.toFixed(1)} s`;
}

function signalText({ signal, first, second }: DifferenceLine['signals'][number]): string {
  if (first === undefined && second === undefined) return printable(signal);
  return `${printable(signal)} (${printable(first ?? '…')} → ${printable(second ?? '…')})`;
}
