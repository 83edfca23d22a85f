/** Compares the packet check with the library's parser, and feeds packets that pass it to a real client and broker. */
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { MqttClient } from 'mqtt';
import { parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { malformation, type ProtocolLevel } from '../../../adapters/mqtt/packet-form.ts';
import { type Property, type PropertyPlace, properties } from '../../../adapters/mqtt/packet-properties.ts';
import { PacketSplitter } from '../../../adapters/mqtt/packet-splitter.ts';
import { runs } from '../../rig/runs.ts';
import '../../rig/seed.ts';

const two = (value: number): number[] => [value >> 8, value & 0xff];
const text = (value: string): number[] => [...two(value.length), ...Buffer.from(value)];

function variable(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...variable(value >> 7)];
}

function packet(first: number, body: readonly number[]): Buffer {
  return Buffer.from([first, ...variable(body.length), ...body]);
}

const withProperties = (list: readonly number[]): number[] => [...variable(list.length), ...list];

/** MQTT 5 packets with the given properties, by name, and the kind of their properties. */
const packets: Readonly<Record<string, readonly [PropertyPlace, (list: readonly number[]) => Buffer]>> = {
  CONNECT: ['CONNECT', (p) => packet(0x10, [...text('MQTT'), 5, 2, 0, 60, ...withProperties(p), ...text('car')])],
  'CONNECT with a will': [
    'will',
    (p) =>
      packet(0x10, [...text('MQTT'), 5, 6, 0, 60, 0, ...text('car'), ...withProperties(p), ...text('t'), ...text('x')]),
  ],
  CONNACK: ['CONNACK', (p) => packet(0x20, [0, 0, ...withProperties(p)])],
  'PUBLISH with QoS 0': ['PUBLISH', (p) => packet(0x30, [...text('a/b'), ...withProperties(p), 1, 2, 3])],
  'PUBLISH with QoS 1': ['PUBLISH', (p) => packet(0x32, [...text('a/b'), 0, 7, ...withProperties(p), 1, 2, 3])],
  PUBACK: ['PUBACK', (p) => packet(0x40, [0, 7, 0, ...withProperties(p)])],
  PUBREC: ['PUBACK', (p) => packet(0x50, [0, 7, 0, ...withProperties(p)])],
  PUBREL: ['PUBACK', (p) => packet(0x62, [0, 7, 0, ...withProperties(p)])],
  PUBCOMP: ['PUBACK', (p) => packet(0x70, [0, 7, 0, ...withProperties(p)])],
  SUBSCRIBE: ['SUBSCRIBE', (p) => packet(0x82, [0, 7, ...withProperties(p), ...text('a/#'), 1])],
  SUBACK: ['PUBACK', (p) => packet(0x90, [0, 7, ...withProperties(p), 1])],
  UNSUBSCRIBE: ['UNSUBSCRIBE', (p) => packet(0xa2, [0, 7, ...withProperties(p), ...text('a/#')])],
  UNSUBACK: ['PUBACK', (p) => packet(0xb0, [0, 7, ...withProperties(p), 0])],
  DISCONNECT: ['DISCONNECT', (p) => packet(0xe0, [0, ...withProperties(p)])],
  AUTH: ['AUTH', (p) => packet(0xf0, [0x18, ...withProperties(p)])],
};

/** A property with a valid value, zero if allowed. */
function encode(id: number, { type, positive }: Property): number[] {
  const least = positive ? 1 : 0;
  const value = {
    flag: [0],
    two: [0, least],
    four: [0, 0, 0, least],
    variable: [least],
    text: text('x'),
    binary: text('x'),
    pair: [...text('x'), ...text('y')],
  }[type];
  return [id, ...value];
}

const all = Object.entries(properties).map(([id, property]) => [Number(id), property] as const);
const has = ({ places }: Property, place: PropertyPlace): boolean => places === 'all' || places.includes(place);

describe.each(Object.entries(packets))('%s', (name, [place, make]) => {
  test('accepts exactly the properties that MQTT 5 allows there', () => {
    for (const [id, property] of all) {
      const fault = malformation(make(encode(id, property)), 5);
      expect([property.name, fault === undefined]).toEqual([property.name, has(property, place)]);
    }
  });

  test('accepts a repeated property only where MQTT 5 allows it', () => {
    for (const [id, property] of all.filter(([, one]) => has(one, place))) {
      const fault = malformation(make([...encode(id, property), ...encode(id, property)]), 5);
      const repeats = property.name === 'user property' || (id === 0x0b && name.startsWith('PUBLISH'));
      expect([property.name, fault === undefined]).toEqual([property.name, repeats]);
      if (!repeats) expect(fault).toContain(`the property ${property.name} twice`);
    }
  });

  test('refuses a truncated property, and properties longer than the packet', () => {
    for (const [id, property] of all.filter(([, one]) => has(one, place))) {
      const whole = encode(id, property);
      for (let end = 1; end < whole.length; end++) {
        expect(malformation(make(whole.slice(0, end)), 5)).toBeDefined();
      }
    }
    const bytes = make([]);
    for (let cut = 1; cut < bytes.length - 2; cut++) {
      const shorter = packet(bytes[0] ?? 0, [...bytes.subarray(2, bytes.length - cut)]);
      if (malformation(shorter, 5) === undefined) expect(parses(shorter, 5)).toBe(true);
    }
  });
});

/** Returns whether the library parses these bytes as one packet without an error. */
function parses(bytes: Buffer, level: ProtocolLevel): boolean {
  let [good, came] = [true, 0];
  const reading = parser({ protocolVersion: level });
  reading.on('error', () => {
    good = false;
  });
  reading.on('packet', () => came++);
  reading.parse(bytes);
  return good && came === 1;
}

const someProperties = fc
  .array(fc.tuple(fc.constantFrom(...all), fc.uint8Array({ maxLength: 5 }), fc.integer({ min: 0, max: 9 })), {
    maxLength: 4,
  })
  .map((list) =>
    list.flatMap(([[id, property], noise, choice]) => (choice < 7 ? encode(id, property) : [id, ...noise])),
  );

/** Almost valid packets of any type, with any kind of properties, sometimes with a few changed bytes. */
const nearlyRight = fc
  .tuple(
    fc.constantFrom(...Object.values(packets)),
    someProperties,
    fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 2 }),
    fc.boolean(),
  )
  .map(([[, make], list, changes, keepsHeader]) => {
    const bytes = make(list);
    for (const [at, value] of changes) if (at < bytes.length && (at > 1 || !keepsHeader)) bytes[at] = value;
    return bytes;
  });

const anyPacket = fc.oneof(
  { arbitrary: nearlyRight, weight: 5 },
  {
    arbitrary: fc.tuple(fc.nat(255), fc.uint8Array({ maxLength: 40 })).map(([first, body]) => packet(first, [...body])),
    weight: 1,
  },
);

/** A stream that emits what the test pushes and accepts all writes. */
const line = (): Duplex => new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });

const CONNACKS: Readonly<Record<4 | 5, Buffer>> = {
  4: packet(0x20, [0, 0]),
  5: packet(0x20, [0, 0, 0]),
};

test('packets that pass the check cause no exception in the client library, at any stage of a connection', async () => {
  const level = fc.constantFrom(4 as const, 5 as const);
  await fc.assert(
    fc.asyncProperty(level, fc.boolean(), fc.array(anyPacket, { maxLength: 6 }), async (version, accepted, list) => {
      const stream = line();
      const client = new MqttClient(() => stream, { protocolVersion: version, reconnectPeriod: 0, clientId: 'car' });
      client.on('error', () => undefined);
      stream.on('error', () => undefined);
      for (const bytes of accepted ? [CONNACKS[version], ...list] : list) {
        for (const whole of new PacketSplitter().feed(bytes)) {
          if (malformation(whole, version) === undefined && !stream.destroyed) stream.push(whole);
        }
        // An exception in the library, now or in its next tick, fails the test as an unhandled error.
        await new Promise((resolve) => setImmediate(resolve));
      }
      client.end(true);
      stream.destroy();
    }),
    { numRuns: runs(300, 5_000) },
  );
});

test('packets that pass the check cause no exception in the broker library', async () => {
  const { Aedes } = await import('aedes');
  const broker = await Aedes.createBroker();
  const connect = packet(0x10, [...text('MQTT'), 4, 2, 0, 60, ...text('car')]);
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(anyPacket, { maxLength: 6 }), async (connected, list) => {
      const stream = line();
      stream.on('error', () => undefined);
      broker.handle(stream as never);
      let level: ProtocolLevel = 4;
      for (const bytes of connected ? [connect, ...list] : list) {
        for (const whole of new PacketSplitter().feed(bytes)) {
          if (malformation(whole, level) !== undefined || stream.destroyed) continue;
          if ((whole[0] ?? 0) >> 4 === 1) level = ((whole[8] ?? 0) & 0x7f) as ProtocolLevel;
          stream.push(whole);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      stream.destroy();
    }),
    { numRuns: runs(300, 5_000) },
  );
  await new Promise<void>((resolve) => broker.close(() => resolve()));
});

test('a stream is split into the same packets, whatever its chunks', () => {
  fc.assert(
    fc.property(fc.array(anyPacket, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 20 })), (list, sizes) => {
      const whole = new PacketSplitter().feed(Buffer.concat(list));
      const pieces = new PacketSplitter();
      const stream = Buffer.concat(list);
      const found: Buffer[] = [];
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const size = sizes[turn % Math.max(1, sizes.length)] ?? 1;
        found.push(...pieces.feed(stream.subarray(at, at + size)));
        at += size;
      }
      expect(found.map((one) => one.toString('hex'))).toEqual(whole.map((one) => one.toString('hex')));
    }),
  );
});
