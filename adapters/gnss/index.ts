export type { Fix, FixParser } from './fix.ts';
export { GpsdParser } from './gpsd.ts';
export { NmeaParser } from './nmea.ts';
export { type FixFormat, type FixReader, isFixRecording, openFixLog } from './reader.ts';
export { FixReadings, gnssMessage, gnssSignals } from './readings.ts';
export { GnssSource, type GnssSourceOptions } from './source.ts';
export { ubxPositions } from './ubx.ts';
