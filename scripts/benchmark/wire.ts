/** Cost of radio transmission: the bytes that drives need, and the work of encoding them. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { Encoder } from 'cbor-x/index-no-eval';
import { deflate } from '../../assembly/deflate.ts';
import { encodeMessage } from '../../protocol/cbor/message.ts';
import { portableDeflate } from '../../protocol/columns/deflate.ts';
import { type Reading, type TelemetryOptions, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { generatedDrives } from '../../test/drives/generated.ts';
import { statusOfDrive } from '../../test/rig/status-of-drive.ts';
import { figure, median } from './contest.ts';
import { batchesOf, type DriveRow, readDrives, readingsOf, rowsOf } from './drives.ts';
import { vehicleData } from './fleetwise.ts';
import { installPeers, peer } from './peers.ts';
import type { BenchmarkTarget, Section, Size, Table } from './section.ts';

const folder = fileURLToPath(new URL('../../../shared/data/drives/', import.meta.url));
/** Largest deviation in ms of times from the full second. */
const JITTER = 10;
/**
 * Size in bytes of one publish with QoS 1 and its acknowledgement, without the payload but with TCP and IPv4 headers.
 */
const TRANSPORT = 115;
const HOUR = 3_600_000;
const BATCHES = [200, 1000] as const;
/** Number of batches that are timed together. */
const TIMED = 20;

const JSON_OBJECTS = 'JSON objects';
const OURS = '**vigie**, zlib';
const ZLIB = 'zlib alone, the columns of vigie';

interface Drives {
  readonly kind: 'generated' | 'recorded';
  readonly rows: ReadonlyMap<string, readonly DriveRow[]>;
}

/** An encoding of a batch of readings as one payload. */
interface Encoding {
  readonly name: string;
  encode(readings: readonly Reading[]): Uint8Array;
}

const cborMaps = new Encoder({ useRecords: false, mapsAsObjects: true, variableMapSize: true });
const utf8 = new TextEncoder();

function vigie(name: string, options: TelemetryOptions): Encoding {
  return {
    name,
    encode(readings) {
      const body = telemetryFromReadings(readings, options);
      const at = (readings.at(-1)?.at ?? 0) + 500;
      return encodeMessage({ version: 1, kind: 'telemetry', seq: 5_000, boot: 30, at, clock: 'gnss', body });
    },
  };
}

/** Only compresses: the columns of a batch are made when it is encoded for the first time, which is not timed. */
function zlibAlone(): Encoding {
  const made = new WeakMap<readonly Reading[], Uint8Array>();
  return {
    name: ZLIB,
    encode(readings) {
      let columns = made.get(readings);
      if (columns === undefined) {
        const keep = (bytes: Uint8Array): Uint8Array => {
          columns = bytes.slice();
          return bytes;
        };
        telemetryFromReadings(readings, { deflate: keep });
        columns ??= new Uint8Array();
        made.set(readings, columns);
      }
      return deflate(columns);
    },
  };
}

const fleetwise = (readings: readonly Reading[]): Uint8Array => vehicleData(readings, readings[0]?.at ?? 0);

/** The encoding of the FleetWise edge agent, if snappy is installed. */
function snappy(): Encoding[] {
  if (installPeers() !== undefined) return [];
  const { compressSync } = peer('snappy') as { compressSync(bytes: Uint8Array): Uint8Array };
  return [{ name: 'protobuf of FleetWise, snappy', encode: (readings) => compressSync(fleetwise(readings)) }];
}

const plain: readonly Encoding[] = [
  {
    name: JSON_OBJECTS,
    encode: (readings) =>
      utf8.encode(JSON.stringify(readings.map(({ slot, value, at }) => ({ path: slot.path, value, at })))),
  },
  {
    name: 'CBOR maps',
    encode: (readings) => cborMaps.encode(readings.map(({ slot, value, at }) => ({ slot: slot.id, value, at }))),
  },
  { name: 'protobuf of FleetWise', encode: fleetwise },
  { name: 'protobuf of FleetWise, deflate', encode: (readings) => deflateRawSync(fleetwise(readings)) },
  vigie(OURS, { deflate }),
  zlibAlone(),
  vigie('**vigie**, portable deflate', { deflate: portableDeflate }),
  vigie(`${OURS}, times to 10 ms`, { deflate, resolution: 10 }),
  vigie(`${OURS}, times to 100 ms`, { deflate, resolution: 100 }),
];

export const wire: Section = {
  name: 'wire',
  title: 'Bytes over the air',
  text: `Drives, 27 OBD signals once a second, each with its own offset of up to ${JITTER} ms from the full second. Our figures are whole messages with their envelope; the others are the readings alone. The generated drives are those of
\`test/drives/generated.ts\`. The recorded ones are not a part of the project; the benchmark measures them if they are present;
the format was designed without them.`,
  async run(size) {
    const encodings = [...plain, ...snappy()];
    const generated = [...generatedDrives()].map(([name, text]) => [name, rowsOf(text)] as const);
    const sets: Drives[] = [{ kind: 'generated', rows: new Map(generated) }];
    if (existsSync(folder)) sets.push({ kind: 'recorded', rows: readDrives(folder) });
    return [
      ...sets.flatMap((drives) => [
        compare(drives, encodings, false, size),
        compare(drives, encodings, true, size),
        anHour(drives, encodings),
      ]),
      await stateOfVehicle(),
    ];
  },
};

function compare(drives: Drives, encodings: readonly Encoding[], onChange: boolean, size: Size): Table {
  const [small, large] = BATCHES.map((batch) =>
    [...drives.rows.values()].flatMap((rows) =>
      batchesOf(readingsOf(rows, { onChange, together: false, jitter: JITTER }), batch),
    ),
  ) as [Reading[][], Reading[][]];
  // Determine the sizes first: this compiles the code that is then timed.
  const sizes = encodings.map((encoding) => [small, large].map((batches) => bytesPerReading(encoding, batches)));
  const times = timesOf(small, encodings, size.rounds);
  return {
    title: `${onChange ? 'A reading when its value changes' : 'Every sample'}, ${drives.kind} drives`,
    columns: ['encoding', ...BATCHES.map((batch) => `bytes a reading, ${batch} a batch`), 'µs of CPU for 200 readings'],
    rows: encodings.map((encoding, index) => ({
      cells: [encoding.name, ...(sizes[index] ?? []).map(figure), figure(times[index] ?? Number.NaN)],
    })),
    notes: [
      `${small.length} batches of ${BATCHES[0]} and ${large.length} of ${BATCHES[1]} readings from ${drives.rows.size} drives.`,
      'FleetWise sends protobuf with snappy.',
    ],
    targets: targets(drives.kind, onChange, encodings, sizes, times),
  };
}

/**
 * Targets: bytes per reading at both batch sizes, for every sample and for changes only; processor time for 200 readings
 * as a multiple of that of zlib alone.
 */
const wanted = { everySample: [2, 1.15], onChange: [3.1, 2.45], timesZlib: 1.5 } as const;

function targets(
  kind: Drives['kind'],
  onChange: boolean,
  encodings: readonly Encoding[],
  sizes: readonly (readonly number[])[],
  times: readonly number[],
): BenchmarkTarget[] {
  const own = encodings.findIndex(({ name }) => name === OURS);
  const json = encodings.findIndex(({ name }) => name === JSON_OBJECTS);
  const floor = times[encodings.findIndex((encoding) => encoding.name === ZLIB)] ?? Number.NaN;
  const name = `${kind} drives, ${onChange ? 'a reading when its value changes' : 'every sample'}`;
  return [
    ...BATCHES.map((batch, i): BenchmarkTarget => {
      const bound = wanted[onChange ? 'onChange' : 'everySample'][i] ?? Number.NaN;
      const measured = sizes[own]?.[i] ?? Number.NaN;
      return { what: `${name}, ${batch} a batch: bytes a reading`, measured, bound, wanted: 'at most' };
    }),
    {
      what: `${name}: µs of CPU for 200 readings`,
      measured: times[own] ?? Number.NaN,
      bound: wanted.timesZlib * floor,
      wanted: 'at most',
      floor,
      why: `JSON, not compressed, took ${figure(times[json] ?? Number.NaN)} in the same rounds`,
    },
  ];
}

function bytesPerReading(encoding: Encoding, batches: readonly Reading[][]): number {
  let bytes = 0;
  let readings = 0;
  for (const batch of batches) {
    bytes += encoding.encode(batch).length;
    readings += batch.length;
  }
  return bytes / readings;
}

/** Returns the processor time per batch in µs, by encoding. The encodings alternate round by round. */
function timesOf(batches: readonly Reading[][], encodings: readonly Encoding[], rounds: number): number[] {
  const times = encodings.map((): number[] => []);
  for (let round = -3; round < rounds; round++) {
    for (const [index, encoding] of encodings.entries()) {
      const from = ((round + 3) * TIMED) % Math.max(1, batches.length - TIMED);
      const before = process.cpuUsage();
      for (const batch of batches.slice(from, from + TIMED)) encoding.encode(batch);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) times[index]?.push((user + system) / TIMED);
    }
  }
  return times.map((found) => median(found.sort((a, b) => a - b)));
}

/** Measures the first hour of the longest drive, or all of it, with a reading for each change of a value. */
function anHour(drives: Drives, encodings: readonly Encoding[]): Table {
  const [longest = []] = [...drives.rows.values()].sort((a, b) => b.length - a.length);
  const all = readingsOf(longest, { onChange: true, together: false, jitter: JITTER });
  const readings = all.filter(({ at }) => at < (all[0]?.at ?? 0) + HOUR);
  return {
    title: `At most an hour of a drive, ${drives.kind}, ${readings.length.toLocaleString('en')} readings on change`,
    columns: ['encoding', ...BATCHES.flatMap((batch) => [`payload, ${batch} a batch`, 'with transport'])],
    rows: encodings.map((encoding) => ({
      cells: [
        encoding.name,
        ...BATCHES.flatMap((size) => {
          const batches = Array.from({ length: Math.ceil(readings.length / size) }, (_, batch) =>
            readings.slice(batch * size, (batch + 1) * size),
          );
          const payload = batches.reduce((sum, batch) => sum + encoding.encode(batch).length, 0);
          return [kilobytes(payload), kilobytes(payload + batches.length * TRANSPORT)];
        }),
      ],
    })),
    notes: [
      `Transport: ${TRANSPORT} bytes a publish with QoS 1 over TCP, acknowledgement included; TLS adds about 44.`,
    ],
  };
}

/** Start of the drive in Status: 2026-01-01T00:00:00Z. */
const START = Date.UTC(2026, 0, 1);

async function stateOfVehicle(): Promise<Table> {
  const { whole, tens } = await statusOfDrive(START);
  const cases = [
    { name: 'all of it', messages: whole, bound: 330 },
    { name: 'ten values that changed', messages: tens, bound: 90 },
  ].map(({ messages, ...rest }) => {
    const sizes = messages.map((message) => encodeMessage(message, deflate).length).sort((a, b) => a - b);
    const json = messages.map((message) => utf8.encode(JSON.stringify(message)).length).sort((a, b) => a - b);
    return { ...rest, count: messages.length, sizes, json, most: sizes.at(-1) ?? Number.NaN };
  });
  return {
    title: 'The state of the vehicle, bytes a message',
    columns: ['status message', 'messages', 'median', 'largest', 'the same as JSON, median'],
    rows: cases.map(({ name, count, sizes, most, json }) => ({
      cells: [`**vigie**, ${name}`, String(count), figure(median(sizes)), figure(most), figure(median(json))],
    })),
    notes: ['From the whole day of the bench car, whole messages with their envelope.'],
    targets: cases.map(({ name, most, bound }) => {
      return { what: `the state of the vehicle, ${name}: bytes at most`, measured: most, bound, wanted: 'at most' };
    }),
  };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
