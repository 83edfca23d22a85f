/** Properties of MQTT 5 packets as the client library gets them, against table 2-4 of the standard. */
import fc from 'fast-check';
import { type Packet, parser } from 'mqtt-packet';
import { expect, test } from 'vitest';
import '../../../adapters/mqtt/packet-properties.ts';

/** Bytes of one property of each identifier, with a value that is possible. */
const examples: Readonly<Record<number, readonly number[]>> = {
  1: [1],
  2: [0, 0, 0, 9],
  3: [0, 1, 0x61],
  8: [0, 1, 0x61],
  9: [0, 2, 1, 2],
  11: [5],
  17: [0, 0, 0, 0],
  18: [0, 1, 0x61],
  19: [0, 0],
  21: [0, 1, 0x61],
  22: [0, 1, 7],
  23: [0],
  24: [0, 0, 0, 1],
  25: [1],
  26: [0, 0],
  28: [0, 1, 0x61],
  31: [0, 0],
  33: [0, 1],
  34: [0, 0],
  35: [0, 1],
  36: [0],
  37: [0],
  38: [0, 1, 0x61, 0, 0],
  39: [0, 0, 0, 1],
  40: [1],
  41: [0],
  42: [1],
};

/** The packets of table 2-4 in the order of their types, and what each has before its properties and after them. */
const packets: Readonly<Record<string, { head: number; before: number[]; after: number[]; may: number[] }>> = {
  connect: {
    head: 0x10,
    before: [0, 4, 0x4d, 0x51, 0x54, 0x54, 5, 2, 0, 60],
    after: [0, 1, 0x61],
    may: [17, 33, 39, 34, 25, 23, 38, 21, 22],
  },
  connack: {
    head: 0x20,
    before: [0, 0],
    after: [],
    may: [17, 33, 36, 37, 39, 18, 34, 31, 38, 40, 41, 42, 19, 26, 28, 21, 22],
  },
  publish: { head: 0x30, before: [0, 1, 0x61], after: [1], may: [1, 2, 3, 8, 9, 11, 35, 38] },
  puback: { head: 0x40, before: [0, 1, 0], after: [], may: [31, 38] },
  pubrec: { head: 0x50, before: [0, 1, 0], after: [], may: [31, 38] },
  pubrel: { head: 0x62, before: [0, 1, 0], after: [], may: [31, 38] },
  pubcomp: { head: 0x70, before: [0, 1, 0], after: [], may: [31, 38] },
  subscribe: { head: 0x82, before: [0, 1], after: [0, 1, 0x61, 0], may: [11, 38] },
  suback: { head: 0x90, before: [0, 1], after: [0], may: [31, 38] },
  unsubscribe: { head: 0xa2, before: [0, 1], after: [0, 1, 0x61], may: [38] },
  unsuback: { head: 0xb0, before: [0, 1], after: [0], may: [31, 38] },
  disconnect: { head: 0xe0, before: [0], after: [], may: [17, 28, 31, 38] },
  auth: { head: 0xf0, before: [0], after: [], may: [21, 22, 31, 38] },
};
/** Of a will, which this test does not write; the parser takes them as those of CONNECT. */
const ofWills = [1, 2, 3, 8, 9, 24];

interface Read {
  readonly packet: Packet | undefined;
  readonly error: Error | undefined;
}

function read(bytes: Uint8Array): Read {
  const reader = parser({ protocolVersion: 5 });
  let [packet, error]: [Packet | undefined, Error | undefined] = [undefined, undefined];
  reader.on('packet', (one) => {
    packet = one;
  });
  reader.on('error', (one) => {
    error = one;
  });
  reader.parse(Buffer.from(bytes));
  return { packet, error };
}

function bytesOf(name: string, properties: readonly number[]): Uint8Array {
  const { head, before, after } = packets[name] as (typeof packets)[string];
  const body = [...before, properties.length, ...properties, ...after];
  return Uint8Array.of(head, body.length, ...body);
}

const ids = Object.keys(examples).map(Number);
const propertyOf = (id: number): readonly number[] => [id, ...(examples[id] as number[])];

for (const [name, { may }] of Object.entries(packets)) {
  test(`${name} has the properties of table 2-4 and no others, each once`, () => {
    const allowed = name === 'connect' ? [...may, ...ofWills] : may;
    for (const id of ids) {
      const single = read(bytesOf(name, propertyOf(id)));
      expect([id, single.packet?.cmd]).toEqual([id, allowed.includes(id) ? name : undefined]);
      expect(single.error === undefined).toBe(allowed.includes(id));
      const repeatable = id === 38 || (id === 11 && name === 'publish');
      const twice = read(bytesOf(name, [...propertyOf(id), ...propertyOf(id)]));
      expect([id, twice.packet?.cmd]).toEqual([id, allowed.includes(id) && repeatable ? name : undefined]);
    }
  });

  test(`${name} with properties that are cut off is never read`, () => {
    for (const id of may) {
      const whole = propertyOf(id);
      for (let length = 1; length < whole.length; length++) {
        expect(read(bytesOf(name, whole.slice(0, length))).packet).toBeUndefined();
      }
    }
  });
}

test('properties come with the values that were written', () => {
  const { packet } = read(
    bytesOf('publish', [...ids.filter((id) => packets['publish']?.may.includes(id)).flatMap(propertyOf), 11, 0x80, 1]),
  );
  expect(packet).toMatchObject({
    payload: Buffer.of(1),
    properties: {
      payloadFormatIndicator: true,
      messageExpiryInterval: 9,
      contentType: 'a',
      responseTopic: 'a',
      correlationData: Buffer.of(1, 2),
      subscriptionIdentifier: [5, 128],
      topicAlias: 1,
      userProperties: { a: '' },
    },
  });
});

test('any bytes as properties give a packet or an error, and never an exception', () => {
  const bytes = fc.array(fc.oneof(fc.constantFrom(...ids), fc.integer({ min: 0, max: 255 })), { maxLength: 60 });
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(packets)), bytes, (name, properties) => {
      const { packet, error } = read(bytesOf(name, properties));
      if (packet === undefined) return;
      expect(error).toBeUndefined();
      for (const [property, value] of Object.entries('properties' in packet ? (packet.properties ?? {}) : {})) {
        if (Array.isArray(value)) expect(property).toBe('subscriptionIdentifier');
        expect([-1, null, undefined]).not.toContain(value);
      }
    }),
    { numRuns: 3_000 },
  );
});
