/** Network descriptions (DBC): loads them, decodes and encodes frames, and protects frames. */
export { type Protection, protect } from './checksums.ts';
export { DbcCodec } from './codec.ts';
export { type BitField, type Database, type DbcMessage, messageNamed, type Signal, signalNamed } from './database.ts';
export { DbcDecoder } from './decoding/decoder.ts';
export { REPEATED, Readings } from './decoding/readings.ts';
export { DbcFrameReader, type ReadFrame, scaleOf, writable } from './frame-reader.ts';
export { bitsOf, readable, readBits } from './layout.ts';
export { type BoundDatabase, MessageFinder, parameterGroup } from './matching.ts';
export { parseDbc } from './parse.ts';
export { unknownSignals, type WantedSignal } from './wanted.ts';
