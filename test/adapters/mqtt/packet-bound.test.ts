import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PacketBound, packetBytes } from '../../../adapters/mqtt/packet-bound.ts';

const MAXIMUM = 300;

interface Packet {
  readonly first: number;
  readonly topic: string;
  readonly id: number;
  readonly size: number;
}

/** A packet with `size` bytes after its fixed header. A PUBLISH starts with topic and identifier. */
function encode({ first, topic, id, size }: Packet): Uint8Array {
  const length: number[] = [];
  for (let rest = size; ; rest >>= 7) {
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    if (rest <= 0x7f) break;
  }
  const head = [topic.length >> 8, topic.length & 0xff, ...Buffer.from(topic), id >> 8, id & 0xff];
  const body = new Uint8Array(size).fill(0xff);
  body.set(head.slice(0, size));
  return Uint8Array.of(first, ...length, ...body);
}

const packet = fc.record({
  first: fc.integer({ min: 0x10, max: 0xff }),
  topic: fc.string({ maxLength: 40, unit: fc.constantFrom('a', '/', 'b') }),
  id: fc.integer({ min: 1, max: 0xffff }),
  size: fc.integer({ min: 0, max: MAXIMUM - 3 }),
});
/** A PUBLISH with QoS 1, larger than allowed. */
const poison = fc.record({
  first: fc.constantFrom(0x32, 0x3a, 0x33, 0x3b),
  topic: fc.string({ maxLength: 40, unit: fc.constantFrom('a', '/', 'b') }),
  id: fc.integer({ min: 1, max: 0xffff }),
  size: fc.integer({ min: MAXIMUM, max: 40_000 }),
});

describe('the packet size check', () => {
  it('passes allowed packets, however they are split', () => {
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 8 }), fc.array(fc.nat(3000)), (packets, cuts) => {
        const bound = new PacketBound(MAXIMUM);
        for (const chunk of cut(packets.map(encode), cuts)) expect(bound.feed(chunk)).toBeUndefined();
      }),
    );
  });

  it('finds the packet that is too large, its size and its identifier, byte by byte', () => {
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 4 }), poison, (packets, large) => {
        const bound = new PacketBound(MAXIMUM);
        const bytes = encode(large);
        const before = packets.reduce((sum, one) => sum + encode(one).length, 0);
        const headerBytes = bytes.length - large.size;
        const stream = Buffer.concat([...packets.map(encode), bytes]);
        for (const [i, byte] of stream.entries()) {
          const found = bound.feed(Uint8Array.of(byte));
          const seen = i + 1 - before;
          if (seen < headerBytes) expect(found).toBeUndefined();
          else {
            const id = seen - headerBytes >= 4 + large.topic.length ? large.id : undefined;
            expect(found).toEqual({ bytes: bytes.length, acknowledged: true, id, complete: seen === bytes.length });
          }
        }
        expect(packetBytes(large.size)).toBe(bytes.length);
      }),
      { numRuns: 20 },
    );
  });

  it('finds it in every split that needs reassembly', () => {
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 4 }), poison, fc.array(fc.nat(3000)), (packets, large, cuts) => {
        const bound = new PacketBound(MAXIMUM);
        const bytes = encode(large);
        const chunks = cut([...packets.map(encode), bytes, encode({ first: 0xd0, topic: '', id: 1, size: 0 })], cuts);
        const start = packets.reduce((sum, one) => sum + encode(one).length, 0) + bytes.length - large.size;
        // Chunks that contain the first and last byte of the body.
        const [begin, end] = [start, start + large.size - 1].map((at) => chunkAt(chunks, at));
        const found = chunks.map((chunk) => bound.feed(chunk)).at(-1);
        const expected = { bytes: bytes.length, acknowledged: true, id: large.id, complete: true };
        // The last byte of the header decides in which chunk the body begins.
        const header = chunkAt(chunks, start - 1);
        expect(found).toEqual(header === end && begin === end ? undefined : expected);
      }),
    );
  });

  it('treats an endless remaining length as a packet of unlimited size', () => {
    const bound = new PacketBound(MAXIMUM);
    expect(bound.feed(Uint8Array.of(0x32, 0xff, 0xff, 0xff))).toBeUndefined();
    expect(bound.feed(Uint8Array.of(0xff, 0x7f, 1, 2, 3))).toEqual({
      bytes: Number.POSITIVE_INFINITY,
      acknowledged: false,
      id: undefined,
      complete: false,
    });
  });
});

function cut(parts: readonly Uint8Array[], cuts: readonly number[]): readonly Uint8Array[] {
  const stream = Buffer.concat(parts);
  const places = [...new Set([0, ...cuts.map((at) => Math.min(at, stream.length)), stream.length])].sort(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, i) => stream.subarray(places[i], end));
}

function chunkAt(chunks: readonly Uint8Array[], at: number): number {
  let end = 0;
  return chunks.findIndex((chunk) => {
    end += chunk.length;
    return at < end;
  });
}
