export {
  isValueTable,
  openValueLog,
  openValueTable,
  type ValueLog,
  type ValueLogOptions,
  type ValueRow,
} from './reader.ts';
export { ValueReadings, valuesMessage } from './readings.ts';
export type { Column } from './units.ts';
