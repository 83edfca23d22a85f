/** Finds values of a private time in everything that an agent stores, sends or logs. */
import { HIDDEN, MARKS } from './car.ts';

const ranges = Object.entries(MARKS);

/** The first marked number in a value at any depth, including numbers in texts. */
export function findMark(value: unknown): string | undefined {
  if (typeof value === 'number') {
    const found = ranges.find(([, [least, most]]) => value >= least && value <= most);
    return found && `${found[0]} ${value}`;
  }
  if (typeof value === 'string') {
    for (const [number] of value.matchAll(/-\d+\.\d+/g)) {
      const mark = findMark(Number(number));
      if (mark !== undefined) return mark;
    }
    return undefined;
  }
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return undefined;
  for (const member of value instanceof Map ? value.values() : Object.values(value)) {
    const mark = findMark(member);
    if (mark !== undefined) return mark;
  }
  return undefined;
}

/** Marked values as files may contain them: CBOR numbers, native floats, and text. */
const patterns = Object.values(HIDDEN).flatMap((value) => {
  const [big, little] = [Buffer.alloc(8), Buffer.alloc(8)];
  big.writeDoubleBE(value);
  little.writeDoubleLE(value);
  return [big, little, Buffer.from(value.toFixed(2))].map((bytes) => ({ value, bytes }));
});

/** The first marked value in the bytes of a file. */
export function findMarkIn(file: Uint8Array): string | undefined {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const found = patterns.find(({ bytes: pattern }) => bytes.includes(pattern));
  return found && String(found.value);
}
