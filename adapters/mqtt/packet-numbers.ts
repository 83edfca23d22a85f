/**
 * mqtt-packet caches the encoded form of each packet length that it has written, as a slice of Node's shared buffer
 * pool: four bytes kept 64 KiB in memory, and a car that sends packets of many lengths grew by 2 MiB a day. This module
 * gives them separate memory. Import it before every import of mqtt, which looks up the function only once.
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
