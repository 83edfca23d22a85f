export { isValueTable, openValueLog, openValueTable, type ValueLog, type ValueRow } from './reader.ts';
export { ValueReadings } from './readings.ts';
