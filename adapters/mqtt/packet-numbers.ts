/**
 * mqtt-packet keeps, for each length of a packet that it has written, the bytes that say it, and they are cut from a slab
 * of Node's shared pool: four bytes kept the 64 KiB around them, and a car that sends packets of ever other lengths grew by
 * 2 MiB a day. Here they have memory of their own. Comes before every import of mqtt, which takes the function once.
 */
// @ts-expect-error: the package has no types for this file.
import untyped from 'mqtt-packet/numbers.js';

const numbers: { genBufVariableByteInt: (value: number) => Buffer } = untyped;
const { genBufVariableByteInt } = numbers;

numbers.genBufVariableByteInt = (value) => {
  const pooled = genBufVariableByteInt(value);
  const bytes = Buffer.alloc(pooled.length);
  bytes.set(pooled);
  return bytes;
};
