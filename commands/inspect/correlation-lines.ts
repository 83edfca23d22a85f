/** Formats correlations with a reference, as lines for programs and for people. */
import type { BoundDatabase } from '../../adapters/can/dbc/index.ts';
import { bitsOf, MessageFinder } from '../../adapters/can/dbc/index.ts';
import type { Correlation } from '../../adapters/can/inspect/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import type { CorrelationLine } from './schema.ts';
import { identifierText, printable, type TableColumn, tableLines } from './table.ts';

/** Identifier bits of a frame id. */
const IDENTIFIER = 0x1fff_ffff;

export function correlationLinesOf(
  correlations: readonly Correlation[],
  databases: readonly BoundDatabase[],
): CorrelationLine[] {
  const finder = new MessageFinder(databases);
  return correlations.map(({ bus, id, field, coefficient, scale, offset, samples }) => {
    const message = finder.find(bus, id);
    const own = new Set(bitsOf(field));
    const signals = message?.signals.filter((signal) => bitsOf(signal).some((bit) => own.has(bit))) ?? [];
    return {
      kind: 'correlation',
      bus,
      id: id & IDENTIFIER,
      extended: (id & EXTENDED) !== 0,
      ...(message === undefined ? {} : { message: message.name }),
      start: field.start,
      bits: field.length,
      byteOrder: field.byteOrder,
      signed: field.signed,
      coefficient,
      scale,
      offset,
      samples,
      signals: signals.map(({ name }) => name),
    };
  });
}

const columns: readonly TableColumn[] = [
  { title: 'bus', align: 'left', dispensable: 1 },
  { title: 'id', align: 'right' },
  { title: 'as in a DBC', align: 'left' },
  { title: 'r', align: 'right' },
  { title: 'scale', align: 'right' },
  { title: 'offset', align: 'right' },
  { title: 'samples', align: 'right', dispensable: 2 },
];

export function correlationText(lines: readonly CorrelationLine[], width: number): string[] {
  if (lines.length === 0) return ['nothing correlates'];
  const single = new Set(lines.map(({ bus }) => bus)).size === 1;
  const rows = lines.map((line) => ({
    cells: [
      single ? '' : printable(line.bus),
      identifierText(line.id, line.extended),
      `${line.start}|${line.bits}@${line.byteOrder === 'little' ? 1 : 0}${line.signed ? '-' : '+'}`,
      line.coefficient.toFixed(3),
      digits(line.scale),
      digits(line.offset),
      line.samples.toLocaleString('en'),
    ],
    details: [...(line.message === undefined ? [] : [printable(line.message)]), ...line.signals.map(printable)],
  }));
  return tableLines(columns, rows, width);
}

/** Rounds to four significant digits. */
function digits(value: number): string {
  return String(Number(value.toPrecision(4)));
}
