/** Cost for a receiver of reading messages: the fast method, the plain method, and decompression alone, in turn. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { deflate } from '../../assembly/deflate.ts';
import { dictionary } from '../../protocol/cbor/dictionary.ts';
import { decodeMessage, decodePlainly, encodeMessage } from '../../protocol/cbor/message.ts';
import { unpackParts } from '../../protocol/cbor/packing.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { generatedDrives } from '../../test/drives/generated.ts';
import { statusOfDrive } from '../../test/rig/status-of-drive.ts';
import { figure, median } from './contest.ts';
import { batchesOf, readingsOf, rowsOf } from './drives.ts';
import type { Section } from './section.ts';

/** Start of the drive in the messages: 2026-01-01T00:00:00Z. */
const START = Date.UTC(2026, 0, 1);
/** Number of messages that are timed together. */
const TIMED = 2000;

interface Case {
  readonly name: string;
  readonly payloads: readonly Uint8Array[];
  /** Largest time per message, as a multiple of decompression alone, or without that in µs. */
  readonly bound: { readonly timesFloor: number } | number;
}

type Way = (payload: Uint8Array) => unknown;

export const unpacking: Section = {
  name: 'unpack',
  title: 'Reading messages',
  text: 'What a receiver pays for a message, from its bytes to an object with names and physical values: µs of CPU. The plain way is the reference of the tests (`decodePlainly`). Decompression alone is what no way can leave out of a packed message.',
  async run({ rounds }) {
    const found = (await cases()).map((one) => ({ ...one, times: timesOf(one.payloads, rounds) }));
    return [
      {
        title: 'A message',
        columns: ['message', 'bytes', '**vigie**', 'the plain way', 'decompression alone'],
        rows: found.map(({ name, payloads, times }) => ({
          cells: [
            name,
            figure(median(payloads.map(({ length }) => length).sort((a, b) => a - b))),
            ...times.map(figure),
          ],
        })),
        notes: ['The columns of a telemetry message stay compressed until their readings are asked for.'],
        targets: found.map(({ name, bound, times: [measured = Number.NaN, , floor = Number.NaN] }) => {
          const most = typeof bound === 'number' ? bound : bound.timesFloor * floor;
          return { what: `${name}: µs of CPU`, measured, bound: most, wanted: 'at most', floor };
        }),
      },
    ];
  },
};

async function cases(): Promise<Case[]> {
  const { whole, points } = await statusOfDrive(START);
  const moving = points.filter(({ speed = 0 }) => speed > 0).slice(0, 20);
  const [, drive = ''] = [...generatedDrives()][0] ?? [];
  const options = { onChange: false, together: false, jitter: 10 };
  const [readings = []] = batchesOf(readingsOf(rowsOf(drive), options), 200);
  return [
    { name: 'a whole Status', payloads: whole.map((message) => encodeMessage(message)), bound: { timesFloor: 3 } },
    { name: 'an alert', payloads: whole.map((message) => encodeMessage(alertOf(message))), bound: { timesFloor: 3 } },
    {
      name: '20 waypoints',
      payloads: [encoded('waypoint', moving.at(-1)?.at ?? START, { points: moving })],
      bound: { timesFloor: 3 },
    },
    {
      name: 'telemetry, 200 readings',
      payloads: [encoded('telemetry', readings.at(-1)?.at ?? START, telemetryFromReadings(readings, { deflate }))],
      bound: 8,
    },
  ];
}

function encoded(kind: 'telemetry' | 'waypoint', at: number, body: object): Uint8Array {
  return encodeMessage({ version: 1, kind, seq: 70_000, boot: 300, at, clock: 'gnss', body });
}

/** Returns a warning whose start and end have the position of the car. */
function alertOf({ at, body, ...envelope }: Message<'status'>): Message<'alert'> {
  const { lastPosition } = body.status;
  const positions = lastPosition === undefined ? {} : { startPosition: lastPosition, endPosition: lastPosition };
  const alert = {
    active: false,
    type: 'EngineMisfiringFuel',
    severity: 'Warning',
    startedAt: at - 60_000,
    endAt: at,
  } as const;
  return {
    ...envelope,
    at,
    kind: 'alert',
    body: { createdAt: at, id: `a-${at.toString(16)}`, ...alert, ...positions },
  };
}

/** Returns the processor time per message in µs: of the fast method, the plain method, and decompression alone. */
function timesOf(payloads: readonly Uint8Array[], rounds: number): number[] {
  const ways: readonly Way[] = [decodeMessage, decodePlainly];
  const compressed = payloads.map((payload) => {
    const parts = unpackParts(payload);
    return parts === undefined ? undefined : deflateRawSync(parts, { dictionary });
  });
  const jobs = ways.map((way) => (index: number) => way(payloads[index]!));
  const packed = compressed.filter((bytes) => bytes !== undefined);
  if (packed.length === payloads.length) jobs.push((index) => inflateRawSync(packed[index]!, { dictionary }));
  const times = jobs.map((): number[] => []);
  for (let round = -3; round < rounds; round++) {
    for (const [number, job] of jobs.entries()) {
      const before = process.cpuUsage();
      for (let index = 0; index < TIMED; index++) job(index % payloads.length);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) times[number]?.push((user + system) / TIMED);
    }
  }
  return [0, 1, 2].map((number) => median(times[number]?.sort((a, b) => a - b) ?? []));
}
