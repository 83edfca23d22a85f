import { describe, expect, test } from 'vitest';
import { type Row, type TableColumn, tableLines } from '../../../commands/inspect/table.ts';

const columns: readonly TableColumn[] = [
  { title: 'id', align: 'right' },
  { title: 'share', align: 'right', dispensable: 1 },
  { title: 'jitter', align: 'right', dispensable: 2 },
  { title: 'bits', align: 'left' },
];
const rows: readonly Row[] = [
  { cells: ['12F', '1.5%', '0.1', ['..FF', '33..']], details: ['BODY', 'counter in byte 1', 'XOR in byte 7'] },
  { cells: ['1', '98.5%', '', 'F...'], details: [] },
];

describe('tables', () => {
  test('details stand next to the cells if they fit', () => {
    expect(tableLines(columns, rows, 80)).toEqual([
      ' id  share  jitter  bits',
      '12F   1.5%     0.1  ..FF  BODY, counter in byte 1, XOR in byte 7',
      '                    33..',
      '  1  98.5%          F...',
    ]);
  });

  test('details wrap between words if some of them fit', () => {
    expect(tableLines(columns, rows, 51)).toEqual([
      ' id  share  jitter  bits',
      '12F   1.5%     0.1  ..FF  BODY, counter in byte 1,',
      '                    33..  XOR in byte 7',
      '  1  98.5%          F...',
    ]);
  });

  test('details stand below if they do not fit next to the cells', () => {
    expect(tableLines(columns, rows, 30)).toEqual([
      ' id  share  jitter  bits',
      '12F   1.5%     0.1  ..FF',
      '                    33..',
      '    BODY, counter in byte 1,',
      '    XOR in byte 7',
      '  1  98.5%          F...',
    ]);
  });

  test('the least important columns are left out first, and important ones never', () => {
    const titles = (width: number): string => tableLines(columns, rows, width)[0] as string;
    expect(titles(23)).toBe(' id  jitter  bits');
    expect(titles(16)).toBe(' id  bits');
    expect(titles(3)).toBe(' id  bits');
  });

  test('a column that is empty in all rows is left out', () => {
    const empty = rows.map(({ cells, details }) => ({ cells: [cells[0]!, '', '', cells[3]!], details }));
    expect(tableLines(columns, empty, 80)[0]).toBe(' id  bits');
  });

  test('cells of a wrapping column wrap if the other columns leave too little space', () => {
    const breakable = columns.map((column) => ({ ...column, breakable: column.title === 'bits' }));
    const long = [{ cells: ['1', '', '', 'A'.repeat(30)], details: ['word'] }];
    expect(tableLines(breakable, long, 20)).toEqual([
      'id  bits',
      ' 1  AAAAAAAAAAAAAAAA',
      '    AAAAAAAAAAAAAA',
      '    word',
    ]);
  });

  test('a word longer than the line is broken, and without a width nothing is', () => {
    const [row] = rows.map(({ cells }) => ({ cells, details: ['x'.repeat(100)] }));
    const lines = tableLines(columns, [row!], 40);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(lines.join('').replaceAll(/[^x]/g, '')).toHaveLength(100);
    expect(tableLines(columns, [row!], Number.POSITIVE_INFINITY)[1]).toContain('x'.repeat(100));
  });
});
