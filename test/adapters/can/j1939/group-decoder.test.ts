/** Signals of groups in several packets, as the agent in a car and `replay` decode them. */
import { describe, expect, test } from 'vitest';
import { parseDbc } from '../../../../adapters/can/dbc/index.ts';
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import { frameDecoder } from '../../../../adapters/can/j1939/group-decoder.ts';
import type { FrameDecoder, ReadingSink } from '../../../../agent/ports.ts';
import { identifiersOf } from '../../../../assembly/identifiers.ts';
import { packetsOf, type SentGroup } from './writer.ts';

const { database } = parseDbc(
  new TextEncoder().encode(`VERSION ""
BU_: ECU
BO_ ${0x98fee3fe} EC1: 39 ECU
 SG_ IdleSpeed : 0|16@1+ (0.125,0) [0|8031.875] "rpm" ECU
 SG_ MaxSpeed : 296|16@1+ (0.125,0) [0|8031.875] "rpm" ECU
BO_ ${0x98f004fe} EEC1: 8 ECU
 SG_ EngineSpeed : 24|16@1+ (0.125,0) [0|8031.875] "rpm" ECU
BO_ ${0x98fd7cfe} LONG: 100 ECU
 SG_ Early : 480|16@1+ (1,0) [0|0] "" ECU
BA_DEF_ "ProtocolType" STRING ;
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_DEF_DEF_ "ProtocolType" "";
BA_DEF_DEF_ "VFrameFormat" "J1939PG";
BA_ "ProtocolType" "J1939";
`),
  'truck.dbc',
);
const wanted = [
  { message: 'EC1', signal: 'IdleSpeed' },
  { message: 'EC1', signal: 'MaxSpeed' },
  { message: 'EEC1', signal: 'EngineSpeed' },
  { message: 'LONG', signal: 'Early' },
];

const config: Omit<SentGroup, 'kind'> = {
  group: 0xfee3,
  source: 0,
  destination: 0x21,
  data: Uint8Array.from({ length: 39 }, (_, i) => [0x00, 0x14][i] ?? (i === 37 ? 0x80 : i === 38 ? 0x3e : 0)),
};
const long: SentGroup = {
  kind: 'all',
  group: 0xfd7c,
  source: 5,
  destination: 0xff,
  data: Uint8Array.from({ length: 100 }, (_, i) => i),
};
const speed = { id: 0x98f00400, data: Uint8Array.of(0, 0, 0, 0x40, 0x1f, 0, 0, 0) };

interface Sent {
  readonly id: number;
  readonly data: Uint8Array;
}

/** `signal=value@time` of the frames, 10 ms apart, in batches of a size. */
function decoded(frames: readonly Sent[], size: number, decoder: FrameDecoder): string[] {
  const readings: string[] = [];
  const sink: ReadingSink = {
    reading: (signal, value, _, at) => void readings.push(`${wanted[signal]?.signal}=${value}@${at}`),
    settled: () => undefined,
    alive: () => undefined,
  };
  for (let from = 0; from < frames.length; from += size) {
    const batch = createBatch(size, size * 64);
    for (const [i, { id, data }] of frames.slice(from, from + size).entries())
      append(batch, (from + i) * 10, id, 0, 0, data, data.length);
    decoder.decode(batch, sink);
  }
  return readings;
}

const create = (): FrameDecoder => frameDecoder(wanted, [{ database }], ['can0']);

describe('groups in several packets', () => {
  test.each(['one', 'all', 'extended'] as const)(
    'sent to %s have their values, in order of time, whatever the batches',
    (kind) => {
      const group = { ...config, kind, destination: kind === 'all' ? 0xff : 0x21 };
      const packets = packetsOf(group);
      const frames = [
        speed,
        ...packets.slice(0, 3),
        { ...speed, data: speed.data.map((byte) => byte ^ 1) },
        ...packets.slice(3),
      ];
      const last = packets.findLastIndex(({ number }) => number > 0) + 2;
      const expected = [
        'EngineSpeed=1000@0',
        'EngineSpeed=968.125@40',
        `IdleSpeed=640@${last * 10}`,
        `MaxSpeed=2000@${last * 10}`,
      ];
      for (const size of [1, 2, 5, 100])
        expect(decoded(frames, size, create()), `batches of ${size}`).toEqual(expected);
    },
  );

  test('that lack a packet have none', () => {
    const packets = packetsOf({ ...config, kind: 'one' }).filter(({ number }) => number !== 3);
    expect(decoded(packets, 4, create())).toEqual([]);
  });

  test('that are lost are reported at powers of two', () => {
    const reports: number[] = [];
    const decoder = frameDecoder(wanted, [{ database }], ['can0'], (groups) => reports.push(groups));
    const cut = packetsOf({ ...config, kind: 'one' }).filter(({ number }) => number !== 3);
    for (let count = 0; count < 10; count++) decoded(cut, 4, decoder);
    expect(reports).toEqual([1, 2, 4, 8]);
  });

  test('that are announced with a size of 1 MiB and never sent take no memory', () => {
    const decoder = create();
    // ETP.CM_RTS (ISO 11783-3 §5.11): size (4), group (3), from 250 sources.
    const announced = Array.from({ length: 250 }, (_, source) => ({
      id: 0x9cc821_00 + source,
      data: Uint8Array.of(20, 0, 0, 0x10, 0, 0xe3, 0xfe, 0),
    }));
    const before = process.memoryUsage().arrayBuffers;
    decoded(announced, 50, decoder);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024);
  });

  test('of more than 64 bytes have the values of their first 64', () => {
    expect(decoded(packetsOf(long), 100, create())).toEqual([`Early=${60 + 61 * 256}@150`]);
  });

  test('cost nothing where no signal of one is wanted', () => {
    expect(frameDecoder(wanted.slice(2, 3), [{ database }], ['can0']).read).toBeDefined();
  });
});

test('the filter of a bus passes the packets only if a signal of a longer group is wanted', () => {
  const passes = (names: readonly string[], id: number): boolean =>
    identifiersOf(
      names.map((message) => ({ message })),
      [{ database }],
      'can0',
    ).some((filter) => (typeof filter === 'number' ? filter === id : ((id ^ filter.id) & filter.mask) === 0));
  for (const kind of ['one', 'all', 'extended'] as const) {
    for (const { id } of packetsOf({ ...config, kind })) {
      expect(passes(['EC1'], id)).toBe(true);
      expect(passes(['EEC1'], id)).toBe(false);
    }
  }
  expect(passes(['EC1'], 0x18ff0000 + 0x8000_0000)).toBe(false);
});
