export { Faults, type Fix, type FixKind, type FixParser } from './fix.ts';
export { GpsdParser } from './gpsd.ts';
export { type NmeaOptions, NmeaParser } from './nmea.ts';
export {
  detectFixFormat,
  type FixBytes,
  type FixFormat,
  type FixReader,
  isFixRecording,
  openFixLog,
} from './reader.ts';
export { FixReadings, type GnssSignal, gnssMessage, gnssSignals } from './readings.ts';
export { type FixTime, GnssSource, type GnssSourceOptions } from './source.ts';
export { ubxPositions } from './ubx.ts';
