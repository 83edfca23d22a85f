/** Writes a table as Apache Parquet. */
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { type Cell, type ExportColumn, type ExportTable, headerOf, msName } from './table.ts';

/** Rows that are in memory together. */
const GROUP_ROWS = 20_000;

type ParquetType = 'DOUBLE' | 'BOOLEAN' | 'BYTE_ARRAY' | 'INT64';

interface ParquetColumn {
  readonly name: string;
  readonly type: ParquetType;
  readonly converted_type?: 'UTF8' | 'TIMESTAMP_MILLIS';
  readonly cell: (value: Cell) => unknown;
}

const plain = (value: Cell): unknown => value ?? null;
const milliseconds = (value: Cell): unknown => (typeof value === 'number' ? BigInt(Math.round(value)) : null);

function columnsOf(column: ExportColumn): readonly ParquetColumn[] {
  const name = headerOf(column);
  switch (column.type) {
    case 'time':
      return [
        { name, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', cell: milliseconds },
        { name: msName(column.name), type: 'INT64', cell: milliseconds },
      ];
    case 'number':
      return [{ name, type: 'DOUBLE', cell: plain }];
    case 'boolean':
      return [{ name, type: 'BOOLEAN', cell: plain }];
    case 'text':
      return [{ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', cell: plain }];
  }
}

export async function writeParquet(table: ExportTable, path: string): Promise<void> {
  const own = table.columns.flatMap((column, index) => columnsOf(column).map((one) => ({ ...one, index })));
  const schema = [
    { name: 'root', num_children: own.length },
    ...own.map(({ name, type, converted_type }) => {
      return { name, type, repetition_type: 'OPTIONAL' as const, ...(converted_type && { converted_type }) };
    }),
  ];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema, createdBy: 'vigie' });
  let group: (readonly Cell[])[] = [];
  const writeGroup = (): void => {
    const columnData = own.map(({ name, index, cell }) => ({ name, data: group.map((row) => cell(row[index])) }));
    void writer.write({ columnData, rowGroupSize: GROUP_ROWS });
    group = [];
  };
  for await (const row of table.rows()) {
    if (group.push(row) === GROUP_ROWS) writeGroup();
  }
  if (group.length > 0) writeGroup();
  void writer.finish();
}
