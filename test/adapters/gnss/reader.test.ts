import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Fix } from '../../../adapters/gnss/index.ts';
import { decodeFixes } from '../../../commands/decode-fixes.ts';
import { fixLogsIn, isFixLog } from '../../../commands/fix-logs.ts';
import { Lines } from '../../../commands/output.ts';
import { describeShared, sharedData } from '../../shared.ts';
import { zip } from '../can/log/zip-writer.ts';
import { own, type Recording, shared } from './recordings.ts';
import { told } from './sentences.ts';
import { posllh, pvt, sol, ubxFrame, velned } from './ubx-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-gnss-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function read(path: string): Promise<{ fixes: Fix[]; faults: readonly { line: number; message: string }[] }> {
  const fixes: Fix[] = [];
  const faults: { line: number; message: string }[] = [];
  for await (const { log } of fixLogsIn(path)) {
    for await (const some of log.fixes()) fixes.push(...some);
    faults.push(...log.faults.first);
  }
  return { fixes, faults };
}

const seconds = Array.from({ length: 5000 }, (_, i) => {
  const time = new Date(i * 1000).toISOString().slice(11, 19).replaceAll(':', '');
  return `GPRMC,${time},A,4807.038,N,01130.000,E,010.0,084.4,010120,,`;
});
const drive = told(...seconds);

describe('recordings of receivers', () => {
  it('are read plain, compressed, and compressed and cut', async () => {
    const packed = gzipSync(drive);
    expect((await read(file('drive.nmea', drive))).fixes).toHaveLength(5000);
    expect((await read(file('drive.nmea.gz', packed))).fixes).toHaveLength(5000);
    const cut = await read(file('cut.gz', packed.subarray(0, packed.length - 2000)));
    expect(cut.fixes.length).toBeGreaterThan(1000);
    expect(cut.fixes.length).toBeLessThan(5000);
  });

  it('are read as zstd, as zip with other files and recordings, and as gzip within zip', async () => {
    expect((await read(file('drive.nmea.zst', zstdCompressSync(drive)))).fixes).toHaveLength(5000);
    const ubx = pvt({ t: Date.UTC(2024, 0, 1), latitude: 1, longitude: 2, fix: '3D' });
    const archive = file(
      'drives.zip',
      zip([
        { name: 'read-me.txt', data: Buffer.from('This is not a recording.\n'.repeat(10)) },
        { name: 'day10.nmea.gz', data: gzipSync(drive) },
        { name: 'day2.ubx', data: ubx, method: 'stored' },
        { name: 'odd.ubx', data: ubx, method: 'bzip2' },
        ...[1, 2, 3].map((i) => ({ name: `text${i}`, data: Buffer.from('text\n') })),
      ]),
    );
    expect(await isFixLog(archive)).toBe(true);
    const said: string[] = [];
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
    const { fixes } = await read(archive);
    stderr.mockRestore();
    expect(fixes).toHaveLength(5001);
    expect(fixes[0]).toMatchObject({ latitude: 1, fix: '3D' });
    expect(said).toEqual([
      expect.stringMatching(/drives\.zip\/odd\.ubx: it is packed by method 12, .*; it was left out\n$/),
      expect.stringMatching(/drives\.zip\/read-me\.txt: this is not a recording; known are .*; it was left out\n$/),
      expect.stringMatching(/drives\.zip\/text1: this is not a recording; .*; it was left out\n$/),
      expect.stringMatching(/drives\.zip: 2 other files were left out\n$/),
    ]);
  });

  it('in a damaged archive are refused, and the archive is not recognised as a recording', async () => {
    const archive = zip([{ name: 'drive.nmea', data: Buffer.from(drive) }]);
    const cut = file('cut.zip', archive.subarray(0, archive.length - 30));
    expect(await isFixLog(cut)).toBe(false);
    await expect(read(cut)).rejects.toMatchObject({ code: 'input.malformed' });
  });

  it('with broken compression are read up to the break, which is a fault', async () => {
    const packed = gzipSync(Buffer.concat([Buffer.from(drive), Buffer.from(drive)]));
    // Damage the checksum and the length of the content (RFC 1952 §2.3.1).
    packed.fill(0, packed.length - 8);
    const { fixes, faults } = await read(file('broken.gz', packed));
    expect(fixes.length).toBeGreaterThan(5000);
    expect(faults).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(/compressed data are broken/) }),
    );
  });

  it('report how far they were read', async () => {
    let last = 0;
    for await (const { log } of fixLogsIn(file('progress.nmea', drive))) {
      expect(log.size).toBe(drive.length);
      for await (const _ of log.fixes()) {
        expect(log.position).toBeGreaterThanOrEqual(last);
        last = log.position;
      }
    }
    expect(last).toBe(drive.length);
  });

  it('of an unknown kind are refused with a list of the known formats', async () => {
    await expect(read(file('can.log', '(1436509052.249713) can0 044#2A366C2BBA\n'))).rejects.toMatchObject({
      code: 'input.malformed',
      message: expect.stringMatching(
        /can\.log: this is not a recording; known are NMEA 0183, UBX, SiRF binary and gpsd JSON/,
      ),
    });
    await expect(read(join(folder, 'absent'))).rejects.toMatchObject({ code: 'input.unreadable' });
    await expect(read(folder)).rejects.toMatchObject({ code: 'input.unreadable' });
  });
});

describe('recognition', () => {
  it.each<[string, string | Uint8Array, boolean]>([
    ['sentences', drive, true],
    ['sentences packed', gzipSync(drive), true],
    ['reports of gpsd', '{"class":"VERSION","release":"3.25"}\n{"class":"TPV","mode":1}\n', true],
    ['sentences behind a long header', `${'# comment\n'.repeat(3000)}${drive}`, true],
    ['nothing', '', false],
    ['one byte', '$', false],
    ['candump', '(1436509052.249713) can0 044#2A366C2BBA\n', false],
    ['other JSON', '{"class":"x"}\n{"t":1}\n', false],
    ['a broken sentence', '$GPGGA,1*00\n', false],
    ['a program with variables', '$COUNT,$STATE,\n', false],
    ['a UBX frame', pvt({ fix: 'none' }), true],
    ['a protocol that is not read', '<?xml version="1.0"?>\n<gpx version="1.1">', true],
    ['sentences without checksums', '$GPGLL,4807.038,N,01130.000,E,120000,A\n', true],
  ])('%s', async (name, content, known) => {
    expect(await isFixLog(file(`recognise ${name}`, content))).toBe(known);
  });

  it('does not read standard input', async () => {
    expect(await isFixLog('-')).toBe(false);
  });
});

async function printed(path: string, format: 'ndjson' | 'text'): Promise<{ out: string[]; err: string }> {
  let out = '';
  let err = '';
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text;
    return true;
  });
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text;
    return true;
  });
  try {
    const lines = new Lines();
    await decodeFixes(path, format, lines);
    await lines.flush();
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
  return { out: out.trimEnd().split('\n'), err };
}

describe('decode', () => {
  it('prints a line for each fix, and the faults', async () => {
    const path = file('two.nmea', `${told(seconds[0] as string)}$GPGGA,*00\n${told(seconds[1] as string)}`);
    const { out, err } = await printed(path, 'ndjson');
    expect(out.map((line) => JSON.parse(line))).toEqual(
      [0, 1000].map((after) => ({
        t: Date.UTC(2020, 0, 1) + after,
        latitude: 48.1173,
        longitude: 11.5,
        speed: 18.52,
        heading: 84.4,
        fix: '2D',
      })),
    );
    expect(err).toMatch(/two\.nmea:2: error: the checksum is 00/);
    expect(err).toMatch(/two\.nmea: 1 broken sentence or message was left out/);
    expect((await printed(path, 'text')).out[0]).toBe(
      '2020-01-01T00:00:00.000Z 2D 48.1173000 11.5000000 18.5 km/h 84.4°',
    );
  });
});

describe('decode of UBX', () => {
  const place = { latitude: 48.1, longitude: 11.5, altitude: 500, speed: 36, heading: 90, satellites: 7 } as const;
  const fix = { t: Date.UTC(2024, 0, 1), fix: '3D', ...place } as const;

  it('prints its fixes', async () => {
    const { out, err } = await printed(file('drive.ubx', pvt(fix)), 'ndjson');
    expect(out.map((line) => JSON.parse(line))).toEqual([fix]);
    expect(err).toBe('');
  });

  it('lists the messages of a recording without fixes', async () => {
    const raw = Buffer.concat([ubxFrame(0x0215, new Uint8Array(16)), ubxFrame(0x0135, new Uint8Array(8)), velned(fix)]);
    const { out, err } = await printed(file('raw.ubx', Buffer.concat([raw, raw])), 'ndjson');
    expect(out).toEqual(['']);
    expect(err).toMatch(
      /raw\.ubx: the log has no fix: it has UBX RXM-0x15 \(2 times\), UBX NAV-0x35 \(2 times\); a fix is in NAV-PVT/,
    );
  });

  it('reports why positions were left out', async () => {
    const frames = Buffer.concat([posllh(fix), posllh({ ...fix, t: fix.t + 1000 })]);
    expect((await printed(file('unproven.ubx', frames), 'ndjson')).err).toMatch(
      /unproven\.ubx: 2 positions were left out: nothing says whether they are valid, as NAV-SOL/,
    );
    const both = Buffer.concat([posllh(fix), sol(fix)]);
    expect((await printed(file('proven.ubx', both), 'ndjson')).err).toBe('');
  });

  it('reports an unsupported protocol', async () => {
    await expect(read(file('track.gpx', '<gpx version="1.1">'))).rejects.toMatchObject({
      code: 'input.malformed',
      message: expect.stringMatching(/this is GPX, a track as XML, which is not read: record NMEA 0183 or UBX/),
    });
  });
});

function areRecordings(recordings: readonly Recording[]): void {
  it.each(recordings)('$name is recognised and has fixes', async ({ path }) => {
    expect(await isFixLog(path)).toBe(true);
    expect((await read(path)).fixes.length).toBeGreaterThan(5);
  });
}

function areNone(folder: string): void {
  it.each(readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()))(
    'the CAN log $name is not recognised as a recording',
    async ({ parentPath, name }) => {
      expect(await isFixLog(join(parentPath, name))).toBe(false);
    },
  );
}

describe('recordings of receivers and of buses', () => {
  areRecordings(own());
  areNone(fileURLToPath(new URL('../can/log/recorded/', import.meta.url)));
});
describeShared('recordings of receivers and of buses beside the project', () => {
  areRecordings(shared());
  areNone(join(sharedData, 'canlogs'));
});
