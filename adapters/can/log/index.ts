export { type LogFormat, logFormats } from './formats.ts';
export { type LogOptions, type LogReader, openLog } from './reader.ts';
export { CandumpFile, CandumpRecorder, type RecorderOptions } from './recorder.ts';
export { LogSource, type PlayOptions } from './source.ts';
export { closeStandardInput } from './standard-input.ts';
export { formatCandump } from './writer.ts';
