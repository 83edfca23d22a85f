/**
 * mqtt-packet caches the encoded bytes of each packet length that it has written, and cuts them from a slab of Node's
 * shared pool: four bytes kept the 64 KiB around them alive, and a car that sends packets of many lengths grew by 2 MiB
 * a day. Here they have separate memory. Import this before every import of mqtt, which captures the function once.
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
