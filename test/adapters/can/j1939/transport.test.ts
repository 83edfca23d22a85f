import { describe, expect, test } from 'vitest';
import { readFaultCodes } from '../../../../adapters/can/j1939/fault-codes.ts';
import { J1939Transport, type ParameterGroup } from '../../../../adapters/can/j1939/transport.ts';
import { Random } from '../../../../scripts/fuzz/random.ts';
import { runs } from '../../../rig/runs.ts';
import { groupId, type Packet, packetsOf, type SentGroup, type TransportKind } from './writer.ts';

interface TimedPacket extends Packet {
  readonly bus: number;
}

function received(
  packets: readonly TimedPacket[],
  gapMs = 10,
): { groups: ParameterGroup[]; transport: J1939Transport } {
  const transport = new J1939Transport();
  const groups: ParameterGroup[] = [];
  for (const [i, { id, data, bus }] of packets.entries()) {
    const group = transport.receive(id, bus, i * gapMs, data, 0, data.length);
    if (group !== undefined) groups.push(group);
  }
  transport.end();
  return { groups, transport };
}

const textOf = (bus: number, id: number, data: Uint8Array): string =>
  `${bus} ${id.toString(16)} ${Buffer.from(data).toString('hex')}`;

/** Packets of groups that several control units send at the same time. Some groups lack a packet. */
function network(seed: number): { packets: TimedPacket[]; whole: string[]; lost: number } {
  const random = new Random('j1939', seed);
  const whole: string[] = [];
  let lost = 0;
  const streams = Array.from({ length: 1 + random.below(6) }, (_, unit) => {
    const kind: TransportKind = random.of(['all', 'all', 'one', 'extended']);
    const bus = random.below(2);
    const packets: TimedPacket[] = [];
    for (let i = 1 + random.below(4); i > 0; i--) {
      const size = kind === 'extended' ? 1786 + random.below(2500) : 9 + random.below(random.once(4) ? 1777 : 60);
      const sent: SentGroup = {
        kind,
        group: random.of([0xfeca, 0xfee3, 0xfd7c, 0x1fecb, 0xef00, 0xd900]),
        source: 10 + unit,
        destination: kind === 'all' ? 0xff : 100 + unit,
        data: Uint8Array.from({ length: size }, () => random.below(256)),
      };
      const all = packetsOf(sent);
      const isDamaged = random.once(4);
      const missing = isDamaged ? 1 + random.below(Math.ceil(size / 7)) : 0;
      for (const packet of all) {
        if (packet.number > 0 && packet.number === missing) continue;
        packets.push({ ...packet, bus });
        // Gateways repeat packets, and receivers request packets again.
        if (packet.number > 0 && random.once(20)) packets.push({ ...packet, bus });
      }
      if (isDamaged) lost++;
      else whole.push(textOf(bus, groupId(sent), sent.data));
    }
    return packets;
  });
  const packets: TimedPacket[] = [];
  for (
    let left = streams.filter(({ length }) => length > 0);
    left.length > 0;
    left = left.filter(({ length }) => length > 0)
  ) {
    packets.push(random.of(left).shift() as TimedPacket);
    if (random.once(10)) packets.push({ id: 0x98fef100, data: new Uint8Array(8), bus: random.below(2) });
  }
  return { packets, whole, lost };
}

test('groups of several packets are reassembled, and a missing packet costs only its own group', () => {
  const count = runs(300, 20_000);
  for (let seed = 1; seed <= count; seed++) {
    const { packets, whole, lost } = network(seed);
    const { groups, transport } = received(packets, 1);
    const found = groups.map(({ bus, id, data }) => textOf(bus, id, data));
    expect([seed, found.sort()]).toEqual([seed, whole.sort()]);
    const counted = [...transport.lost.values()].reduce((sum, one) => sum + one, 0);
    expect([seed, counted]).toEqual([seed, lost]);
  }
});

const sent: SentGroup = {
  kind: 'all',
  group: 0xfeca,
  source: 0x21,
  destination: 0xff,
  data: Uint8Array.from({ length: 22 }, (_, i) => i),
};
const packets = packetsOf(sent).map((packet) => ({ ...packet, bus: 0 }));
const announcement = packets[0] as TimedPacket;

/** Returns the packets with one byte of the announcement changed. */
const changed = (at: number, byte: number): TimedPacket[] =>
  packets.map((packet) =>
    packet === announcement ? { ...packet, data: packet.data.map((old, i) => (i === at ? byte : old)) } : packet,
  );

describe('a group is lost', () => {
  test.each([
    ['whose size needs another number of packets', changed(3, 9), 'its announcement contradicts itself'],
    ['that would fit in one frame', changed(1, 8), 'its announcement contradicts itself'],
    [
      'whose packets come in another order',
      [0, 1, 3, 2, 4].map((i) => packets[i] as TimedPacket),
      'packets are missing',
    ],
    ['whose last packet does not come', packets.slice(0, -1), 'the log ends within it'],
    [
      'that its sender gives up',
      [
        ...packets.slice(0, 2),
        { ...announcement, data: Uint8Array.of(255, 3, 255, 255, 255, 0xca, 0xfe, 0) },
        ...packets.slice(2),
      ],
      'its sender gave it up',
    ],
  ] as const)('%s', (_, content, why) => {
    const { groups, transport } = received(content);
    expect(groups).toEqual([]);
    expect(transport.lost).toEqual(new Map([[why, 1]]));
  });

  test('whose packets pause longer than the protocol allows', () => {
    expect(received(packets, 1251).transport.lost).toEqual(new Map([['packets are missing', 1]]));
    expect(received(packets, 1250).groups).toHaveLength(1);
  });
});

test('frames that only resemble transport packets produce no group', () => {
  const { groups, transport } = received([
    { id: 0x98ebff21, data: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), bus: 0 },
    { id: 0x99ecff21, data: announcement.data, bus: 0 },
    { id: 0x18ecff21, data: announcement.data, bus: 0 },
    { id: 0x98ecff21, data: announcement.data.subarray(0, 7), bus: 0 },
  ]);
  expect(groups).toEqual([]);
  expect(transport.lost).toEqual(new Map());
});

describe('fault codes', () => {
  test('are read to the last lamp', () => {
    const states = ['off', 'on'] as const;
    for (let state = 0; state < 256; state++) {
      for (const flash of [0, 0b00_01_10_11, 0xff]) {
        const { lamps } = readFaultCodes(Uint8Array.of(state, flash, 0, 0, 0, 0, 255, 255)) ?? {};
        for (const [i, name] of (['malfunction', 'redStop', 'amberWarning', 'protect'] as const).entries()) {
          const bits = (state >> (6 - 2 * i)) & 3;
          const flashes = ['slowFlash', 'fastFlash', 'on', 'on'][(flash >> (6 - 2 * i)) & 3];
          expect(lamps?.[name]).toBe(bits === 3 ? undefined : bits === 1 ? flashes : states[0]);
        }
      }
    }
  });

  test('have SPN, failure mode and count', () => {
    // SPN 100, FMI 1, count 5; SPN 520192, FMI 31, no count; SPN 91 in an older format.
    const bytes = Uint8Array.of(0x04, 0xff, 100, 0, 0x01, 5, 0x00, 0xf0, 0xff, 127, 91, 0, 0x03, 0x82);
    expect(readFaultCodes(bytes)?.faults).toEqual([
      { spn: 100, fmi: 1, count: 5 },
      { spn: 520192, fmi: 31 },
      { spn: 91, fmi: 3, count: 2, olderSpn: true },
    ]);
  });

  test('are empty if the code is all zeros or all ones', () => {
    expect(readFaultCodes(Uint8Array.of(0, 255, 0, 0, 0, 0, 255, 255))?.faults).toEqual([]);
    expect(readFaultCodes(Uint8Array.of(0, 255, 255, 255, 255, 255, 255, 255))?.faults).toEqual([]);
    expect(readFaultCodes(Uint8Array.of(0, 255, 0, 0, 0))).toBeUndefined();
  });
});
