import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyFrame, readFrame, writeFrame } from '../../../../adapters/can/slcan/codec.ts';
import { LineSplitter } from '../../../../adapters/can/slcan/splitter.ts';
import { BIT_RATE_SWITCH, EXTENDED, FD, REMOTE } from '../../../../agent/ports.ts';

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

function read(line: string) {
  const frame = emptyFrame();
  if (!readFrame(bytes(line), frame)) return undefined;
  const { id, flags, length, data, stamp } = frame;
  return { id, flags, data: [...data.subarray(0, length)], ...(Number.isNaN(stamp) ? {} : { stamp }) };
}

const classicLengths = fc.integer({ min: 0, max: 8 });
const fdLengths = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64);
const identifier = fc.oneof(
  fc.integer({ min: 0, max: 0x7ff }),
  fc.integer({ min: 0, max: 0x1fff_ffff }).map((id) => (id | EXTENDED) >>> 0),
);
const frames = fc.oneof(
  fc.record({
    id: identifier,
    flags: fc.constant(0),
    data: classicLengths.chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
  }),
  fc.record({
    id: identifier,
    flags: fc.constantFrom(FD, FD | BIT_RATE_SWITCH),
    data: fdLengths.chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
  }),
  fc
    .record({ id: identifier, length: classicLengths })
    .map(({ id, length }) => ({ id: (id | REMOTE) >>> 0, flags: 0, data: new Uint8Array(length) })),
);

describe('an slcan line', () => {
  it.each([
    ['t10021133', { id: 0x100, flags: 0, data: [0x11, 0x33] }],
    ['t1230', { id: 0x123, flags: 0, data: [] }],
    ['T000001002AABB', { id: (0x100 | EXTENDED) >>> 0, flags: 0, data: [0xaa, 0xbb] }],
    ['t7ff1fe', { id: 0x7ff, flags: 0, data: [0xfe] }],
    ['t100111EA5F', { id: 0x100, flags: 0, data: [0x11], stamp: 59_999 }],
    ['t100111000F4240', { id: 0x100, flags: 0, data: [0x11], stamp: 1_000 }],
    ['r1002', { id: (0x100 | REMOTE) >>> 0, flags: 0, data: [0, 0] }],
    ['r1002FFFF', { id: (0x100 | REMOTE) >>> 0, flags: 0, data: [0, 0] }],
    ['R000001001', { id: (0x100 | REMOTE | EXTENDED) >>> 0, flags: 0, data: [0] }],
    ['d1009000102030405060708090A0B', { id: 0x100, flags: FD, data: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }],
    ['B1FFFFFFF0', { id: (0x1fff_ffff | EXTENDED) >>> 0, flags: FD | BIT_RATE_SWITCH, data: [] }],
  ])('%s', (line, frame) => {
    expect(read(line)).toEqual(frame);
  });

  it.each([
    '',
    't',
    't10',
    't100',
    't1002113',
    't100211',
    't10021133F',
    't1009112233445566778899',
    't800100',
    'T200000000',
    't10G111',
    't1001G1',
    't100111EA60',
    't1001110',
    'x1000',
    'F00',
    'z',
  ])('%j is not a frame', (line) => {
    expect(read(line)).toBeUndefined();
  });

  it.each([
    { id: 0x800, flags: 0, data: new Uint8Array(0) },
    { id: 0x100, flags: 0, data: new Uint8Array(9) },
    { id: 0x100, flags: FD, data: new Uint8Array(9) },
    { id: (0x100 | REMOTE) >>> 0, flags: FD, data: new Uint8Array(0) },
    { id: (0x2000_0000 | EXTENDED) >>> 0, flags: 0, data: new Uint8Array(0) },
  ])('cannot represent the frame %j', (frame) => {
    expect(writeFrame(frame)).toBeUndefined();
  });

  it('that was written is read back', () => {
    fc.assert(
      fc.property(frames, (frame) => {
        const line = writeFrame(frame) as string;
        const data = (frame.id & REMOTE) === 0 ? [...frame.data] : [...frame.data].fill(0);
        expect(read(line)).toEqual({ id: frame.id, flags: frame.flags, data });
      }),
    );
  });

  it('of any characters is a valid frame or refused', () => {
    const hexish = fc.array(fc.constantFrom(...'tTrRdDbB0123456789ABCDEFabcdefgz'), { maxLength: 160 });
    fc.assert(
      fc.property(
        fc.oneof(
          hexish.map((all) => all.join('')),
          fc.string(),
        ),
        (line) => {
          const frame = read(line);
          if (frame === undefined) return;
          expect(frame.id & 0x1fff_ffff).toBeLessThanOrEqual((frame.id & EXTENDED) === 0 ? 0x7ff : 0x1fff_ffff);
          expect(frame.data.length).toBeLessThanOrEqual(frame.flags === 0 ? 8 : 64);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('the line splitter', () => {
  function split(parts: readonly string[]): string[] {
    const found: string[] = [];
    const splitter = new LineSplitter({
      line: (text) => found.push(String.fromCharCode(...text)),
      bell: () => found.push('BEL'),
      overlong: () => found.push('overlong'),
    });
    for (const part of parts) splitter.push(bytes(part));
    return found;
  }

  it('finds line ends, refusals and lines that are too long', () => {
    expect(split(['\rt1230\r\nV1013\n\x07half\x07z\r', `${'x'.repeat(161)}\r${'y'.repeat(160)}\r`])).toEqual([
      '',
      't1230',
      'V1013',
      'BEL',
      'BEL',
      'z',
      'overlong',
      'y'.repeat(160),
    ]);
  });

  it('finds the same lines however the bytes are split', () => {
    const text = fc.array(fc.constantFrom('\r', '\n', '\x07', 't1230', 'z', 'x'.repeat(90)), { maxLength: 40 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(500), { maxLength: 20 }), (pieces, cuts) => {
        const whole = pieces.join('');
        const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        const parts = places.slice(1).map((to, i) => whole.slice(places[i], to));
        expect(split(parts)).toEqual(split([whole]));
      }),
    );
  });
});
