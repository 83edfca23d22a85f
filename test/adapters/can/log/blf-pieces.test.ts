/** A BLF file read in two pieces: its frames and faults must not depend on the place of the cut. */
import { describe, expect, it } from 'vitest';
import { Recording } from '../../../../adapters/can/log/recording.ts';
import { parserOf } from './frames.ts';
import { blf } from './writers.ts';

const frames = Array.from({ length: 3 }, (_, i) => ({
  at: 1_436_509_052_000 + i,
  id: 0x100 + i,
  bus: 'can0',
  flags: 0,
  length: 2,
  data: '0102',
}));

function read(bytes: Uint8Array, cut: number): { frames: number; faults: readonly string[] } {
  const recording = new Recording('log.blf');
  const parser = parserOf('blf', recording, bytes);
  const from = parser.parse(bytes, 0, cut, false);
  parser.parse(bytes, from, bytes.length, true);
  return { frames: recording.batch.count, faults: recording.faults.first.map(({ message }) => message) };
}

describe('a BLF file cut into two pieces anywhere', () => {
  it('has the same frames and faults if its header is longer than usual', () => {
    const plain = blf(frames, 1000, false);
    const file = Buffer.concat([plain.subarray(0, 144), Buffer.alloc(40), plain.subarray(144)]);
    file.writeUInt32LE(184, 4);
    const whole = read(file, 0);
    expect(whole).toEqual({ frames: 3, faults: [] });
    for (let cut = 0; cut <= file.length; cut++) expect([cut, read(file, cut)]).toEqual([cut, whole]);
  });

  it('has the same frames and faults if there are bytes between its objects', () => {
    const plain = blf(frames, 1000, false);
    const file = Buffer.concat([plain.subarray(0, 144), Buffer.from('stray bytes'), plain.subarray(144)]);
    const whole = read(file, 0);
    expect(whole).toEqual({ frames: 3, faults: ['bytes between objects that belong to none'] });
    for (let cut = 0; cut <= file.length; cut++) expect([cut, read(file, cut)]).toEqual([cut, whole]);
  });
});
