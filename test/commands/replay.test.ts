import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deflate } from '../../assembly/deflate.ts';
import { decodeMessage, encodeMessage } from '../../protocol/cbor/message.ts';
import { zip } from '../adapters/can/log/zip-writer.ts';
import { told } from '../adapters/gnss/sentences.ts';
import { pvt } from '../adapters/gnss/ubx-writer.ts';
import { readItem } from '../protocol/cddl/items.ts';
import { matchCddl } from '../protocol/cddl/matcher.ts';
import { program, vigie } from '../rig/bench.ts';
import { describeShared, sharedData } from '../shared.ts';
import { smallCar } from './small-car.ts';

const cddl = readFileSync(new URL('../../protocol/generated/vigie.cddl', import.meta.url), 'utf8');
let car: ReturnType<typeof smallCar>;

beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

interface Line {
  topic: string;
  seq: number;
  at: number;
  body: Record<string, unknown>;
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

describe('replay', () => {
  test('replay prints the messages of the car, the same bytes every time, however the log is read', async () => {
    const plain = await vigie('replay', car.log, '--profile', car.profile);
    expect(plain.status, plain.stderr).toBe(0);
    expect(plain.stderr).toContain('2200 frames');
    writeFileSync(join(car.folder, 'drive.log.gz'), gzipSync(readFileSync(car.log)));
    const packed = await vigie('replay', join(car.folder, 'drive.log.gz'), '--profile', car.folder);
    expect(packed.stdout).toBe(plain.stdout);

    const piped = spawn(process.execPath, [program, 'replay', '-', '--profile', car.profile]);
    let stdout = '';
    piped.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    // Small chunks: the reader cuts its batches elsewhere.
    createReadStream(car.log, { highWaterMark: 777 }).pipe(piped.stdin);
    await once(piped, 'close');
    expect(stdout).toBe(plain.stdout);

    const lines = linesOf(plain.stdout);
    const statuses = lines.filter(({ topic }) => topic.endsWith('/up/status'));
    const doors = statuses.flatMap(({ body }) => {
      const { doorsState } = body['status'] as { doorsState?: { opening: { state: string }[] } };
      return doorsState === undefined ? [] : doorsState.opening.map(({ state }) => state);
    });
    expect(doors).toEqual(expect.arrayContaining(['Closed', 'Open']));
    const seqs = statuses.map(({ seq }) => seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  });

  test('a trip cut off by the end of the log is printed as unfinished and reported', async () => {
    const { stdout, stderr } = await vigie('replay', car.log, '--profile', car.profile);
    const trips = linesOf(stdout).filter(({ topic }) => topic.endsWith('/up/trip'));
    expect(trips).toHaveLength(2);
    expect(trips[1]?.body).toMatchObject({
      id: trips[0]?.body['id'],
      done: false,
      duration: 40,
      distance: 0.56,
      faults: [
        { fault: 'Unstarted', cause: 'Connection' },
        { fault: 'Unfinished', cause: 'Connection' },
      ],
    });
    expect(trips[1]?.body['kinetic']).toMatchObject({ avgSpeed: 50.4, maxSpeed: 80 });
    expect(stderr).toContain(
      'the log ends before its last trip (40 s, 0.56 km so far): the trip is written as it is then, marked Unfinished\n',
    );
  });

  test('replay plays GNSS recordings, compressed too, and reports fixes without time', async () => {
    const start = Date.UTC(2024, 0, 1, 12);
    const ubx = Array.from({ length: 60 }, (_, i) => {
      const place = { latitude: 48 + i / 10_000, longitude: 11, altitude: 500, speed: 40, heading: 0 };
      return pvt({ t: start + i * 1_000, ...place, fix: '3D' }, i < 3 ? { valid: 0 } : {});
    });
    const nmea = Array.from({ length: 30 }, (_, i) => {
      return told(`GPRMC,1201${String(i).padStart(2, '0')},A,4830.000,N,01100.000,E,010.0,000.0,010124,,`);
    });
    const entries = [
      { name: '1.ubx', data: Buffer.concat(ubx) },
      { name: '2.nmea', data: Buffer.from(nmea.join('')) },
    ];
    const file = join(car.folder, 'drive.zip');
    writeFileSync(file, zip(entries));
    const { stdout, stderr, status } = await vigie('replay', file, '--profile', 'generic-obd2');
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('drive.zip/1.ubx: 3 fixes have no time, and cannot be played');
    expect(stderr).toContain('0 frames, 87 fixes in');
    const places = linesOf(stdout).flatMap(({ body }) => {
      const { lastPosition } = (body['status'] ?? {}) as {
        lastPosition?: { geometry: { coordinates: number[] }; properties: { createdAt: number } };
      };
      return lastPosition === undefined
        ? []
        : [[lastPosition.properties.createdAt, ...lastPosition.geometry.coordinates]];
    });
    expect(places[0]).toEqual([start + 3_000, 11, 48.0003, 500]);
    expect(places.at(-1)?.slice(1, 3)).toEqual([11, 48.5]);
    expect(linesOf(stdout).some(({ topic }) => topic.endsWith('/up/trip'))).toBe(true);
    const without = await vigie('replay', file, '--profile', car.profile);
    expect(without.stderr).toContain('no fix carried a signal of the profile: has it a bus with `gnss: true`?');
  });

  test('replay plays the CAN logs of an archive that also has a GNSS recording, and counts it', async () => {
    const plain = await vigie('replay', car.log, '--profile', car.profile);
    const file = join(car.folder, 'both.zip');
    const nmea = told('GPRMC,120100,A,4830.000,N,01100.000,E,010.0,000.0,010124,,').repeat(20);
    writeFileSync(
      file,
      zip([
        { name: 'a.nmea', data: Buffer.from(nmea) },
        { name: 'drive.log', data: readFileSync(car.log) },
      ]),
    );
    const both = await vigie('replay', file, '--profile', car.profile);
    expect(both.stdout).toBe(plain.stdout);
    expect(both.stderr).toContain('1 other files in the archive');
  });

  test('--cbor writes the same messages as a CBOR sequence, each valid by the CDDL', async () => {
    const file = join(car.folder, 'out.cbor');
    const { stdout } = await vigie('replay', car.log, '--profile', car.profile);
    const run = await vigie('replay', car.log, '--profile', car.profile, '--cbor', file);
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toBe('');
    const bytes = readFileSync(file);
    const items: Uint8Array[] = [];
    for (let from = 0; from < bytes.length; ) {
      const item = itemAt(bytes, from);
      items.push(item);
      from += item.length;
    }
    const lines = linesOf(stdout);
    expect(items).toHaveLength(lines.length);
    for (const [index, item] of items.entries()) {
      const message = decodeMessage(item);
      expect(message.seq).toBe(lines[index]?.seq);
      // Deterministic encoding: decoding and encoding again yields the same bytes.
      expect(Buffer.from(encodeMessage(message, deflate)).equals(item)).toBe(true);
      expect(matchCddl(cddl, 'message', item)).toEqual([]);
    }
  });

  test('replay explains why nothing of a log could be used: another car, or other bus names', async () => {
    const foreign = car.file('foreign.log', '(1.000000) can0 7FF#00\n');
    const other = await vigie('replay', foreign, '--profile', car.profile);
    expect(other.stderr).toContain('no frame carried a signal of the profile: is it the right car');
    const text = readFileSync(car.profile, 'utf8')
      .replace('{ name: can, dbc', '{ name: motor, dbc')
      .replace('\nstatus:', '\n  - { name: body, dbc: [small.dbc] }\nstatus:')
      .replaceAll('{ signal', '{ bus: motor, signal');
    const two = car.file('two.yaml', text);
    const named = await vigie('replay', car.log, '--profile', two);
    expect(named.stderr).toContain('the log has bus can0, profile small has motor, body; rename them in the log');
    expect(named.stdout).not.toContain('/up/telemetry');
    const told = await vigie('replay', car.log, '--profile', two, '--bus', 'motor');
    expect(told.stderr).not.toContain('no frame');
    expect(told.stdout).toContain('/up/telemetry');
  });

  test('several logs are one drive', async () => {
    const half = Math.floor(car.lines.length / 2);
    const first = car.file('first.log', `${car.lines.slice(0, half).join('\n')}\n`);
    const second = car.file('second.log', `${car.lines.slice(half).join('\n')}\n`);
    const whole = await vigie('replay', car.log, '--profile', car.profile);
    const parts = await vigie('replay', first, second, '--profile', car.profile);
    expect(parts.stdout).toBe(whole.stdout);
  });
});

/** The item at `from`: the shortest complete piece, because no item is a prefix of another. */
function itemAt(bytes: Uint8Array, from: number): Uint8Array {
  for (let end = from + 1; end <= bytes.length; end++) {
    const piece = bytes.subarray(from, end);
    if (whole(piece)) return piece;
  }
  throw new Error(`no whole item from byte ${from}`);
}

function whole(piece: Uint8Array): boolean {
  try {
    expect(readItem(piece).departures).toEqual([]);
    return true;
  } catch {
    return false;
  }
}

const profileOf = (dbc: string): string => `profile: 1
name: belted
buses: [{ name: f, dbc: [${dbc}] }]
status:
  safety.beltStatus.Driver.belt: { signal: SEATBELT_STATUS.SEATBELT_DRIVER_LATCHED, map: { 0: Omission, 1: Normal } }
  safety.beltStatus.Passenger.belt: { signal: SEATBELT_STATUS.SEATBELT_PASS_LATCHED, map: { 0: Omission, 1: Normal } }
  kinetic.speed: { signal: ENGINE_DATA.XMISSION_SPEED, timeout: 5s }
`;

/** Checks that a replay shows the belts changing while the car stands still, and prints the same bytes twice. */
async function showsTheBelts(log: string, dbc: string): Promise<void> {
  const profile = car.file('belted.yaml', profileOf(dbc));
  const first = await vigie('replay', log, '--profile', profile);
  const second = await vigie('replay', log, '--profile', profile);
  expect(first.status, first.stderr).toBe(0);
  expect(second.stdout).toBe(first.stdout);
  const series = linesOf(first.stdout)
    .filter(({ topic }) => topic.endsWith('/up/telemetry'))
    .flatMap(({ body }) => body['series'] as { path: string; values: unknown[] }[]);
  const values = (path: string) => new Set(series.filter((one) => one.path === path).flatMap((one) => one.values));
  expect(values('safety.beltStatus.Driver.belt')).toEqual(new Set(['Omission', 'Normal']));
  expect(values('kinetic.speed')).toEqual(new Set([0]));
}

describe('replay of a log with belt changes', () => {
  /** Both messages have a counter and other changing bits, like in a real car. A belt changes every ten seconds. */
  const network = `VERSION ""

NS_ :

BS_:

BU_: CAR

BO_ 344 ENGINE_DATA: 8 CAR
 SG_ XMISSION_SPEED : 7|16@0+ (0.01,0) [0|250] "km/h" CAR
 SG_ ENGINE_RPM : 23|16@0+ (1,0) [0|15000] "rpm" CAR
 SG_ COUNTER : 61|2@0+ (1,0) [0|3] "" CAR

BO_ 773 SEATBELT_STATUS: 7 CAR
 SG_ SEATBELT_DRIVER_LATCHED : 13|1@0+ (1,0) [0|1] "" CAR
 SG_ SEATBELT_PASS_LATCHED : 14|1@0+ (1,0) [0|1] "" CAR
 SG_ COUNTER : 53|2@0+ (1,0) [0|3] "" CAR
`;
  const drive = Array.from({ length: 600 }, (_, index) => {
    const at = (1_700_000_000 + index / 10).toFixed(6);
    const rpm = (800 + (index % 13)).toString(16).padStart(4, '0');
    const counter = ((index % 4) << 4).toString(16).padStart(2, '0');
    const latched = Math.floor(index / 100) % 2 === 1 ? '20' : '00';
    return [
      `(${at}) can0 158#0000${rpm}000000${counter}`,
      ...(index % 5 === 0 ? [`(${at}) can0 305#00${latched}00000000${counter}`] : []),
      `(${at}) can0 7FF#00`,
    ].join('\n');
  }).join('\n');

  test('replay shows the belts of a standing car and prints the same bytes twice', async () => {
    await showsTheBelts(car.file('belted.log', `${drive}\n`), car.file('belted.dbc', network));
  });
});

describeShared('replay of a real log', () => {
  test('replay shows the belts of a standing car and prints the same bytes twice', async () => {
    const dbc = join(sharedData, 'dbc/opendbc/honda_common.repaired.dbc');
    await showsTheBelts(join(sharedData, 'canlogs/icsim/sample-can.log'), dbc);
  });
});
