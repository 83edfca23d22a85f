import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { deflate } from '../../../assembly/deflate.ts';
import { compile } from '../../../protocol/cbor/codec.ts';
import { dictionary } from '../../../protocol/cbor/dictionary.ts';
import { decodeMessage, encodeMessage } from '../../../protocol/cbor/message.ts';
import { parse } from '../../../protocol/cbor/wire.ts';
import { portableDeflate } from '../../../protocol/columns/deflate.ts';
import { NumberWriter } from '../../../protocol/columns/numbers.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { type Body, type BodyKind, bodies, type Message, messageSchema } from '../../../protocol/schema/message.ts';
import { assemble } from '../../../protocol/slots.ts';
import { type StatusOfDrive, statusOfDrive } from '../../rig/status-of-drive.ts';
import { dictionary as naiveDictionary, messageOf as naiveMessage, pointsOf } from '../columns/naive.ts';
import { knowledge } from '../schema/arbitrary.ts';
import { BASE, valuesOf } from './arbitrary.ts';

const envelope = { version: 1, seq: 70_000, boot: 300, at: BASE, clock: 'gnss' } as const;
const messageOf = <K extends BodyKind>(kind: K, body: Body<K>) => ({ ...envelope, kind, body }) as Message<K>;

/** The message without packing. */
const plain = (message: Message): Uint8Array =>
  compile(messageSchema(message.kind)).encode(message as never, message.at);

const statuses = knowledge.map(({ values, createdAt }) =>
  messageOf('status', { full: true, status: assemble(values, createdAt) }),
);
/** Neighbouring points, each with some of the members. */
const ways = fc
  .array(
    fc.record(
      {
        after: fc.integer({ min: -2000, max: 30_000 }),
        north: fc.integer({ min: -9000, max: 9000 }),
        altitude: fc.integer({ min: -10, max: 3000 }),
        gap: fc.boolean(),
        type: fc.constantFrom('Estimated' as const, 'Acquire' as const),
      },
      { requiredKeys: ['after', 'north', 'type'], noNullPrototype: true },
    ),
    { maxLength: 40 },
  )
  .map((steps) => {
    let at = BASE - 600_000;
    let north = 488_000_000;
    const points = steps.map(({ after, north: way, ...members }) => {
      at += after;
      north += way;
      return { at, latitude: north / 1e7, longitude: 2.25, ...members };
    });
    return messageOf('waypoint', { points });
  });
const otherKinds: readonly BodyKind[] = ['trip', 'alert', 'collision', 'maintenance', 'remote', 'gap', 'hello'];
const others = fc.oneof(
  ...otherKinds.map((kind) =>
    (valuesOf(bodies[kind]) as fc.Arbitrary<Body>).map((body) => messageOf(kind, body as never)),
  ),
);
const messages = fc.oneof(statuses, ways, others) as fc.Arbitrary<Message>;

describe('packed messages', () => {
  test('decode to the same message with a decoder written only from docs/wire-format.md', () => {
    let packed = 0;
    let columns = 0;
    fc.assert(
      fc.property(messages, fc.constantFrom(portableDeflate, deflate), (message, compress) => {
        const payload = encodeMessage(message, compress);
        if (payload[0]! >> 5 === 2) packed++;
        const found = parse(naiveMessage(payload)) as Map<number, Map<number, unknown>>;
        const wanted = parse(plain(message)) as Map<number, Map<number, unknown>>;
        const way = found.get(7)!.get(2);
        if (message.kind === 'waypoint' && way instanceof Uint8Array) {
          columns++;
          for (const point of wanted.get(7)!.get(1) as Map<number, unknown>[]) {
            for (const [key, value] of point) if (typeof value === 'boolean') point.set(key, Number(value));
          }
          found.set(7, new Map([[1, pointsOf(way)]]));
        }
        expect(found).toEqual(wanted);
      }),
      { numRuns: 200 },
    );
    expect(Math.min(packed, columns)).toBeGreaterThan(20);
  });

  test('are used only if they are shorter, and decode like the plain form', () => {
    fc.assert(
      fc.property(messages, fc.constantFrom(portableDeflate, deflate), (message, compress) => {
        const whole = plain(message);
        const payload = encodeMessage(message, compress);
        expect(payload.length).toBeLessThanOrEqual(whole.length);
        expect(decodeMessage(payload)).toEqual(message);
        expect(decodeMessage(whole)).toEqual(message);
      }),
      { numRuns: 200 },
    );
  });

  test('use the dictionary with the hash in docs/wire-format.md, which must never change', () => {
    const page = readFileSync(new URL('../../../docs/wire-format.md', import.meta.url), 'utf8');
    const hash = createHash('sha256').update(dictionary).digest('hex');
    expect(hash).toBe('36cd7a20d69c829b9b43bc6bb090dfe3be9dee7a3205d9bd55155c2c576e75fb');
    expect(page).toContain(`\`${hash}\``);
    expect(page).toContain(`${dictionary.length.toLocaleString('en')} bytes of`);
    expect(naiveDictionary.equals(dictionary)).toBe(true);
  });

  test('golden: a status that another deflate packed', () => {
    const body = { full: false, status: { kinetic: { createdAt: BASE - 20, speed: 81.3, moving: true } } };
    const shape = 'a701000200030004000500060007a201f402a101a30000010003f5';
    // version, kind, seq, boot, at, clock; the age of 20 ms, and 8130 steps
    const numbers = [1, 0, 70_000, 300, BASE, 0, 20, 8130].map(signed);
    const payload = byteString(packedAs(Buffer.from(shape + numbers.join(''), 'hex')));
    expect(decodeMessage(payload)).toEqual(messageOf('status', body));
  });
});

/** A signed number of a column, in hexadecimal. */
function signed(value: number): string {
  const writer = new NumberWriter();
  writer.signed(value);
  return Buffer.from(writer.written).toString('hex');
}

function sized(size: number, data: Uint8Array): Uint8Array {
  const writer = new NumberWriter();
  writer.unsigned(size);
  return Buffer.concat([writer.written, data]);
}

const packedAs = (content: Uint8Array, size = content.length): Uint8Array =>
  sized(size, deflateRawSync(content, { dictionary }));

function byteString(bytes: Uint8Array): Uint8Array {
  const head = Buffer.from([0x59, 0, 0]);
  head.writeUInt16BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

describe('an invalid packed message', () => {
  test.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(), 'message.malformed'],
    ['more than is allowed', sized(1 << 17, new Uint8Array(1000)), 'message.unbounded'],
    ['more than it can give', sized(60_000, new Uint8Array(9)), 'message.malformed'],
    ['a bomb', packedAs(new Uint8Array(10_000_000), 60_000), 'message.malformed'],
    ['another size', packedAs(Buffer.from('a0', 'hex'), 2), 'message.malformed'],
    ['no message', packedAs(Buffer.from('a0', 'hex')), 'message.malformed'],
    ['packed twice', packedAs(Buffer.from('4100', 'hex')), 'message.malformed'],
    ['nesting without end', packedAs(Buffer.from(`${'81'.repeat(500)}0000`, 'hex')), 'message.unbounded'],
    ['items without end', packedAs(Buffer.from(`99ffff${'f5'.repeat(100)}`, 'hex')), 'message.malformed'],
  ])('%s', (_, packed, code) => {
    expect(() => decodeMessage(byteString(packed))).toThrow(expect.objectContaining({ code }));
  });

  test('of any bytes causes at most a VigieError', () => {
    const head = Buffer.from('a701000200030004000500060007', 'hex');
    const content = fc.array(fc.oneof(fc.nat(3), fc.constantFrom(0xa1, 0xa2, 0x81), fc.nat(255)), { maxLength: 60 });
    fc.assert(
      fc.property(content, fc.boolean(), (bytes, compressed) => {
        const packed = Uint8Array.from(bytes);
        try {
          decodeMessage(byteString(compressed ? packedAs(Buffer.concat([head, packed])) : packed));
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('with invalid columns of waypoints is refused, also if only a point is invalid', () => {
    const way = (columns: number[]): Uint8Array => {
      const head = Buffer.from('a7010102020307040305 1b00000197 7420dc00 0600 07a102'.replaceAll(' ', ''), 'hex');
      return Buffer.concat([head, Buffer.from([0x58, columns.length, ...columns])]);
    };
    // One point with at, latitude 1, longitude 1, type Estimated.
    const members = [1, 1, 1, 0, 2, 1, 1, 2, 3, 1, 1, 2, 7, 1, 1, 0];
    expect(decodeMessage(way([1, 4, ...members])).body).toEqual({
      points: [{ at: BASE, latitude: 1e-7, longitude: 1e-7, type: 'Estimated' }],
    });
    for (const columns of [[], [1], [1, 4, ...members, 0], [2, 4, ...members], [1, 3, ...members.slice(0, 12)]]) {
      expect(() => decodeMessage(way(columns)), columns.join()).toThrow(
        expect.objectContaining({ code: 'message.malformed' }),
      );
    }
    const far = [1, 1, 1, 0, 2, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 3, 1, 1, 2, 7, 1, 1, 0];
    expect(() => decodeMessage(way([1, 4, ...far]))).toThrow(/points\[0\]\.latitude must be/);
  });
});

describe('a drive of the simulated car', () => {
  let drive: StatusOfDrive;

  beforeAll(async () => {
    drive = await statusOfDrive(BASE);
  });

  test('a whole Status takes at most 330 bytes', () => {
    const sizes = drive.whole.map((message) => encodeMessage(message).length);
    expect(sizes.length).toBeGreaterThan(20);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(330);
    expect(Math.min(...drive.whole.map((message) => plain(message).length))).toBeGreaterThan(400);
  });

  test('a change of ten values takes at most 90 bytes', () => {
    const sizes = drive.tens.map((message) => encodeMessage(message).length);
    expect(sizes.length).toBeGreaterThan(50);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(90);
  });

  test('a batch of points takes less than a third of the size of single points', () => {
    const moving = drive.points.filter(({ speed }) => (speed ?? 0) > 0).slice(0, 20);
    expect(moving).toHaveLength(20);
    const at = moving.at(-1)!.at;
    const batch = encodeMessage({ ...messageOf('waypoint', { points: moving }), at }).length;
    const single = moving.map((point) => encodeMessage({ ...messageOf('waypoint', { points: [point] }), at }).length);
    expect(batch * 3).toBeLessThan(single.reduce((sum, size) => sum + size));
  });
});
