/** `npm run fleet`: its packets as parsed by a library, and its final account. */
import { type IPublishPacket, type Packet, parser } from 'mqtt-packet';
import { expect, test } from 'vitest';
import { dueAfter } from '../../scripts/fleet/crowd.ts';
import {
  acknowledgePacket,
  connectPacket,
  PacketReader,
  publishedId,
  publishPacket,
  subscribePacket,
} from '../../scripts/fleet/packets.ts';
import { requestTable } from '../../scripts/fleet/requests-table.ts';
import { countStored } from '../../scripts/fleet/stored.ts';

function parsed(version: 4 | 5, bytes: Uint8Array): Packet {
  const packets: Packet[] = [];
  const reader = parser({ protocolVersion: version });
  reader.on('packet', (packet) => packets.push(packet));
  reader.on('error', (error) => {
    throw error;
  });
  reader.parse(Buffer.from(bytes));
  expect(packets).toHaveLength(1);
  return packets[0] as Packet;
}

test.each([4, 5] as const)('packets of a simulated car are valid MQTT %i according to a library', (version) => {
  const connect = connectPacket({ version, clientId: 'car', keepAlive: 120, will: 'gone' });
  expect(parsed(version, connect)).toMatchObject({
    cmd: 'connect',
    protocolVersion: version,
    clientId: 'car',
    clean: false,
    keepalive: 120,
    will: { topic: 'gone', payload: Buffer.from('offline'), qos: 1, retain: true },
    ...(version === 5 ? { properties: { sessionExpiryInterval: 3600 } } : {}),
  });
  expect(parsed(version, subscribePacket(version, 7, 'a/#'))).toMatchObject({
    cmd: 'subscribe',
    messageId: 7,
    subscriptions: [{ topic: 'a/#', qos: 1 }],
  });
  // Longer than fits a length of one byte, and of two.
  for (const length of [3, 300, 20_000]) {
    const payload = new Uint8Array(length).fill(1);
    const sent = { topic: 'a/b', payload, id: 9, retain: true, repeated: true, expiry: 60 };
    const { payload: read, ...packet } = parsed(version, publishPacket(version, sent)) as IPublishPacket;
    expect(packet).toMatchObject({ cmd: 'publish', topic: 'a/b', messageId: 9, qos: 1, retain: true, dup: true });
    expect(Buffer.from(payload).equals(read as Buffer)).toBe(true);
    if (version === 5) expect(packet.properties).toEqual({ messageExpiryInterval: 60 });
  }
  expect(parsed(version, acknowledgePacket(515))).toMatchObject({ cmd: 'puback', messageId: 515 });
});

test('a stream of packets is parsed the same however it is split', () => {
  const publish = (id: number, size: number): Buffer =>
    publishPacket(4, { topic: 'a', payload: new Uint8Array(size), id, retain: false, repeated: false, expiry: 1 });
  const stream = Buffer.concat([publish(1, 5), acknowledgePacket(2), publish(3, 200), publish(4, 0)]);
  for (let size = 1; size <= stream.length; size++) {
    const reader = new PacketReader();
    const read: unknown[] = [];
    for (let at = 0; at < stream.length; at += size) {
      reader.read(stream.subarray(at, at + size), (first, body) =>
        read.push([first >> 4, first >> 4 === 3 ? publishedId(first, body) : body.readUInt16BE(0)]),
      );
    }
    expect(read).toEqual([
      [3, 1],
      [4, 2],
      [3, 3],
      [3, 4],
    ]);
  }
});

test('the account of a fleet finds lost messages, duplicates and messages that no car sent', () => {
  const message = (number: number) => ({ after: 0, kind: 'trip', payload: Uint8Array.of(number), retain: false });
  const stored = (...copies: readonly (readonly [number, number])[]) =>
    copies.map(([number, count]) => ({ payload: Uint8Array.of(number), copies: count }));
  const drive = [message(1), message(2), message(3)];
  const right = { stored: 9, lost: 0, duplicated: 0, strange: 0 };
  expect(countStored(stored([1, 3], [2, 3], [3, 3]), drive, 3)).toEqual(right);
  expect(countStored(stored([1, 2], [2, 4], [4, 1]), drive, 3)).toEqual({
    stored: 7,
    lost: 4,
    duplicated: 1,
    strange: 1,
  });
});

test('the expected count includes the messages of each car from its departure on', () => {
  const drive = [0, 1000].map((after) => ({ after, kind: 'trip', payload: Uint8Array.of(1), retain: false }));
  // The second car leaves after 500 ms; car time passes twice as fast.
  const crowd = { first: 0, cars: 2, drive, speed: 2, leaving: 1000 };
  expect([0, 499, 500, 999, 1000, 5000].map((elapsed) => dueAfter(elapsed, crowd))).toEqual([1, 1, 3, 3, 4, 4]);
});

test('the table of requests compares medians and 99 % of two sizes, and shows the exponent of the growth', () => {
  const timed = (cars: number, factor: number) => ({
    cars,
    messages: 1000,
    rounds: 100,
    load: 1,
    cores: 2,
    pages: [{ name: 'trips', statements: 4, times: Array.from({ length: 100 }, (_, index) => (index + 1) * factor) }],
  });
  const table = requestTable([timed(10, 1), timed(1000, 10)]);
  expect(table).toContain('| 10,000 messages: median, ms | 99 % | 1,000,000: median, ms | 99 % |');
  expect(table).toContain('| trips | 4 | 50.0 | 99.0 | 500.0 | 990.0 | 0.50 |');
});
