import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type FixFormat, GnssSource, type GnssSourceOptions } from '../../../adapters/gnss/index.ts';
import { fileLine, tcpLine } from '../../../adapters/lines/index.ts';
import type { ReadingSink } from '../../../agent/ports.ts';
import { UnitRest } from '../../../agent/power/rest.ts';
import { fixLogsIn } from '../../../commands/fix-logs.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { describeShared } from '../../shared.ts';
import { Cable } from '../lines/cable.ts';
import { FarEnd } from '../lines/server.ts';
import { own, type Recording, receivers, shared } from './recordings.ts';
import { sentence, told } from './sentences.ts';
import { older, posllh, pvt, ubxFrame } from './ubx-writer.ts';

const noon = Date.UTC(2026, 0, 1, 12);
const earliest = Date.UTC(2025, 0, 1);
const wanted = ['latitude', 'longitude', 'fix'].map((signal) => ({ message: 'GNSS', signal }));
const folder = mkdtempSync(join(tmpdir(), 'vigie-gnss-live-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Sentences for the second `second` after noon. */
function epoch(second: number, status = 'A'): string {
  const time = new Date(noon + second * 1_000).toISOString().slice(11, 19).replaceAll(':', '');
  return told(
    `GPGGA,${time},4807.038,N,01130.000,E,${status === 'A' ? 1 : 0},08,0.9,545.4,M,46.9,M,,`,
    `GPRMC,${time},${status},4807.038,N,01130.000,E,010.0,084.4,010126,,`,
  );
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

function listening(options: Partial<GnssSourceOptions> = {}) {
  const clock = new VirtualClock(noon);
  const cable = new Cable();
  const readings: number[][] = [];
  const settled: number[] = [];
  const times: [number, number][] = [];
  const sink: ReadingSink = {
    reading: (signal, value, _, at) => {
      readings.push([signal, value, at]);
    },
    settled: (at) => {
      settled.push(at);
    },
    alive: () => undefined,
  };
  const source = new GnssSource({
    name: '/dev/ttyUSB0',
    format: 'nmea',
    open: cable.open,
    clock,
    earliest,
    random: () => 0.5,
    time: (time, received) => {
      times.push([time, received]);
    },
    ...options,
  });
  return { clock, cable, readings, settled, times, source, sink };
}

describe('a receiver on a line', () => {
  it('is closed without a timer while the unit sleeps, and reopened when the unit wakes', async () => {
    const rest = new UnitRest();
    const { clock, cable, settled, source, sink } = listening({ rest });
    rest.set(true);
    await source.start(wanted, sink);
    await clock.settle(60_000, 10_000);
    expect([cable.opened, clock.pending]).toEqual([0, 0]);
    expect(source.health()).toMatchObject({ state: 'waiting', reason: 'the unit sleeps' });
    rest.set(false);
    await clock.settle(50);
    cable.say(epoch(60));
    await clock.settle(300);
    expect(settled).toHaveLength(1);
    // The unit falls asleep in the middle of an epoch. An incomplete epoch is not a fix.
    cable.say((epoch(61).split(/(?<=\n)/) as [string])[0]);
    rest.set(true);
    await clock.settle(60_000, 10_000);
    expect([cable.opened, cable.closed, clock.pending, settled.length]).toEqual([1, 1, 0, 1]);
    rest.set(false);
    await clock.settle(50);
    cable.say(epoch(122));
    await clock.settle(300);
    expect(settled).toHaveLength(2);
    expect(source.health()).toMatchObject({ state: 'running', counts: { fixes: 2, opened: 2 } });
    await source.stop();
    rest.set(true);
    rest.set(false);
    await clock.settle(50);
    expect([cable.opened, clock.pending]).toEqual([2, 0]);
  });

  it('may send UBX and sentences together, and yields the time only once UBX calls it resolved', async () => {
    const { clock, cable, readings, times, source, sink } = listening();
    await source.start(wanted, sink);
    await clock.settle(50);
    const place = { latitude: 48.1173004, longitude: 11.5000005, fix: '3D' } as const;
    cable.say(latin1(pvt({ ...place, t: noon }, { valid: 3 })));
    await clock.settle(1_000);
    cable.say(epoch(1) + latin1(pvt({ ...place, t: noon + 1_000 })));
    await clock.settle(1_000);
    cable.say(latin1(older({ ...place, fix: 'none', t: noon + 2_000 })));
    await clock.settle(1_000);
    expect(readings.map(([signal, value]) => [signal, value])).toEqual([
      [0, 48.1173004],
      [1, 11.5000005],
      [2, 3],
      [0, 48.1173004],
      [1, 11.5000005],
      [2, 3],
      [2, 0],
    ]);
    expect(times.map(([time]) => time)).toEqual([noon + 1_000]);
    expect(source.health()).toMatchObject({ state: 'running', counts: { fixes: 3, positions: 2, broken: 0 } });
    await source.stop();
  });

  it('yields a fix as soon as its epoch is complete, with the time of the fix', async () => {
    const { clock, cable, readings, settled, times, source, sink } = listening();
    await source.start(wanted, sink);
    await clock.settle(50);
    expect(source.health()).toMatchObject({ state: 'opening' });
    const [first, second] = epoch(0).split(/(?<=\n)/) as [string, string];
    cable.say(first);
    await clock.settle(100);
    cable.say(second);
    await clock.settle(150);
    expect(readings).toEqual([
      [0, 48.1173, noon],
      [1, 11.5, noon],
      [2, 3, noon],
    ]);
    expect(settled).toEqual([noon]);
    expect(times).toEqual([[noon, 50]]);
    expect(source.health()).toMatchObject({
      state: 'running',
      counts: { fixes: 1, positions: 1, records: 2, broken: 0 },
    });
    await source.stop();
    expect(clock.pending).toBe(0);
  });

  it('without pauses yields a fix when the next epoch begins, timed by its first byte', async () => {
    const { clock, cable, times, source, sink } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    for (let second = 0; second < 3; second++) {
      for (const part of epoch(second).match(/.{1,20}/gs) as string[]) {
        cable.say(part);
        await clock.settle(100, 100);
      }
    }
    expect(times.length).toBeGreaterThanOrEqual(2);
    const parts = epoch(0).match(/.{1,20}/gs)?.length as number;
    expect(times.slice(0, 2).map(([time]) => time)).toEqual([noon, noon + 1_000]);
    expect(times[0]?.[1]).toBe(1);
    // The first sentence of the second epoch is complete four parts later.
    expect(times[1]?.[1]).toBeLessThanOrEqual(1 + (parts + 4) * 100);
    await source.stop();
  });

  it('without a fix yields neither position nor time', async () => {
    const { clock, cable, readings, times, source, sink } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    cable.say(epoch(0, 'V'));
    await clock.settle(200);
    // The date of a receiver without a fix is ignored as well.
    expect(readings).toEqual([[2, 0, noon + 1]]);
    expect(times).toEqual([]);
    expect(source.health().counts).toMatchObject({ fixes: 1, positions: 0 });
    await source.stop();
  });

  it('with a wrong time yields fixes with the time of reception, which never goes back', async () => {
    const { clock, cable, settled, source, sink } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    const said = [-7_000, 1, 2, 1, 4, 3_600, 5];
    for (const second of said) {
      cable.say(epoch(second));
      await clock.settle(1_000);
    }
    expect(settled).toHaveLength(said.length);
    expect(settled[0]).toBe(noon + 1);
    for (const [i, at] of settled.entries()) {
      expect(at).toBeGreaterThanOrEqual(settled[i - 1] ?? 0);
      expect(at).toBeLessThanOrEqual(noon + 1 + (i + 1) * 1_000);
    }
    await source.stop();
  });

  it('that falls silent or sends nonsense is reopened, and health shows the reason', async () => {
    const { clock, cable, source, sink, readings } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    cable.say(epoch(0));
    await clock.settle(10_100, 100);
    expect(source.health()).toMatchObject({ state: 'waiting', reason: 'nothing came for 10 s' });
    await clock.settle(1_000, 100);
    expect([cable.opened, source.health().state]).toEqual([2, 'opening']);
    for (let i = 0; i < 12; i++) {
      cable.say('\xff\x00\x81rubbish');
      if (i === 5) expect(source.health().reason).toMatch(/check the speed of the line/);
      await clock.settle(1_000, 100);
    }
    expect(source.health().counts).toMatchObject({ lost: 2, opened: 3 });
    const before = readings.length;
    cable.say(epoch(30));
    await clock.settle(200);
    expect(readings.length).toBeGreaterThan(before);
    expect(source.health().state).toBe('running');
    await source.stop();
  });

  it('with an unsupported protocol is reported until it sends another', async () => {
    const { clock, cable, source, sink } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    // Reports of Trimble's TSIP: DLE, kind, content, DLE ETX.
    const reports = '\x10\x8f\xab\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x10\x03'.repeat(20);
    for (let i = 0; i < 8; i++) {
      cable.say(reports);
      await clock.settle(1_000, 100);
    }
    await expect
      .poll(() => source.health().reason, { timeout: 30_000 })
      .toBe('the receiver speaks Trimble TSIP, which is not read: set it to NMEA 0183 or UBX');
    cable.say(epoch(8));
    await clock.settle(200);
    expect(source.health()).toMatchObject({ state: 'running' });
    expect(source.health().reason).toBeUndefined();
    await source.stop();
  });

  it('that sends UBX without a position is running, and health shows the reason until there is a position', async () => {
    const { clock, cable, source, sink } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    cable.say(latin1(ubxFrame(0x0215, new Uint8Array(16))));
    await clock.settle(200);
    expect(source.health()).toMatchObject({
      state: 'running',
      reason: expect.stringMatching(
        /^no message tells a position \(UBX RXM-0x15\): set the receiver to send NAV-PVT or/,
      ),
    });
    const place = { latitude: 48, longitude: 11, fix: '3D' } as const;
    cable.say(latin1(posllh({ ...place, t: noon })));
    await clock.settle(200);
    expect(source.health().reason).toBe(
      'positions come without NAV-SOL, which says whether they are valid: send NAV-PVT',
    );
    cable.say(latin1(pvt({ ...place, t: noon + 200 })));
    await clock.settle(200);
    expect(source.health().reason).toBeUndefined();
    await source.stop();
  });

  it('that is unplugged in mid-sentence starts afresh', async () => {
    const { clock, cable, source, sink, settled } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    cable.say(epoch(0).slice(0, 40));
    cable.cut();
    await clock.settle(1_000, 100);
    cable.say(epoch(1));
    await clock.settle(200);
    expect(settled).toEqual([noon + 1_000]);
    expect(source.health().counts).toMatchObject({ opened: 2, lost: 1, broken: 0 });
    await source.stop();
  });

  it('yields the same fixes however the bytes are split', async () => {
    const drive = Array.from({ length: 20 }, (_, second) => epoch(second)).join('');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(drive.length), { maxLength: 60 }), async (cuts) => {
        const { clock, cable, source, sink, readings } = listening();
        await source.start(wanted, sink);
        await clock.settle(1);
        const places = [0, ...cuts.sort((a, b) => a - b), drive.length];
        for (const [i, to] of places.slice(1).entries()) cable.say(drive.slice(places[i], to));
        await clock.settle(200);
        expect(readings.filter(([signal]) => signal === 0)).toHaveLength(20);
        await source.stop();
      }),
      { numRuns: 50 },
    );
  });
});

function tellsTheSame(recordings: readonly Recording[]): void {
  it.each(recordings)('$name yields the same fixes as from a file', async ({ path }) => {
    const expected: (number | undefined)[] = [];
    for await (const { log } of fixLogsIn(path)) {
      for await (const fixes of log.fixes()) expected.push(...fixes.map(({ latitude }) => latitude));
    }
    const { clock, cable, source, sink, readings } = listening();
    await source.start(wanted, sink);
    await clock.settle(1);
    const text = readFileSync(path, 'latin1');
    for (let from = 0; from < text.length; from += 333) cable.say(text.slice(from, from + 333));
    await clock.settle(200);
    const latitudes = expected.filter((latitude) => latitude !== undefined);
    expect(latitudes.length).toBeGreaterThan(5);
    expect(readings.filter(([signal]) => signal === 0).map(([, value]) => value)).toEqual(latitudes);
    await source.stop();
  });
}

describe('a recording that a line repeats', () => tellsTheSame(receivers(own())));
describeShared('a recording beside the project that is told on a line', () => tellsTheSame(receivers(shared())));

describe('a receiver in a file', () => {
  it('is read as the file grows', async () => {
    const path = join(folder, 'nmea');
    writeFileSync(path, epoch(0));
    const clock = new VirtualClock(noon);
    const { source, sink, settled } = listening({ open: fileLine({ path, clock }), clock });
    await source.start(wanted, sink);
    while (settled.length < 1) await clock.settle(50, 50);
    appendFileSync(path, `${epoch(1)}${sentence('GPRMC,1')}\r\n`);
    while (settled.length < 2) await clock.settle(50, 50);
    expect(source.health()).toMatchObject({ state: 'running', counts: { broken: 1 } });
    await source.stop();
  });
});

describe('gpsd', () => {
  const version = '{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}\r\n';
  const devices = (count: number) =>
    `${JSON.stringify({ class: 'DEVICES', devices: Array.from({ length: count }, (_, i) => ({ path: `/dev/tty${i}` })) })}\r\n`;
  const report = (second: number) =>
    `${JSON.stringify({ class: 'TPV', device: '/dev/tty0', mode: 3, time: new Date(noon + second * 1_000).toISOString(), lat: 48.5, lon: -3.25 })}\r\n`;
  const format: FixFormat = 'gpsd';

  it('is asked to report, and its reports become fixes', async () => {
    const { clock, cable, source, sink, readings, times } = listening({ format });
    await source.start(wanted, sink);
    await clock.settle(1);
    expect(cable.written).toBe('?WATCH={"enable":true,"json":true};\n');
    cable.say(`${version}${devices(1)}{"class":"WATCH","enable":true}\r\n{"class":"SKY","uSat":7}\r\n${report(0)}`);
    await clock.settle(200);
    expect(readings).toEqual([
      [0, 48.5, noon],
      [1, -3.25, noon],
      [2, 3, noon],
    ]);
    expect(times).toEqual([[noon, 1]]);
    await source.stop();
  });

  it('without a receiver stays connected as long as it answers', async () => {
    const { clock, cable, source, sink } = listening({ format });
    cable.heard = (text) => cable.say(text.startsWith('?WATCH') ? `${version}${devices(0)}` : devices(0));
    await source.start(wanted, sink);
    await clock.settle(60_000, 100);
    expect(source.health()).toMatchObject({ state: 'waiting', reason: 'gpsd has no receiver', counts: { opened: 1 } });
    cable.heard = (text) => cable.say(text.startsWith('?DEVICES') ? devices(1) : '');
    await clock.settle(6_000, 100);
    cable.say(report(66));
    await clock.settle(200);
    expect(source.health()).toMatchObject({ state: 'running', counts: { fixes: 1 } });
    cable.heard = () => undefined;
    await clock.settle(11_000, 100);
    expect(source.health()).toMatchObject({ counts: { lost: 1 } });
    await source.stop();
  });

  it('that ends and restarts is asked again', async () => {
    const far = await FarEnd.listen();
    const { port } = far;
    const clock = new VirtualClock(noon);
    const { source, sink, settled } = listening({ format, clock, open: tcpLine({ host: '127.0.0.1', port }) });
    far.heard = () => far.say(`${version}${report(0)}`);
    await source.start(wanted, sink);
    while (settled.length < 1) await clock.settle(50, 50);
    await far.close();
    while (source.health().counts['refused'] === 0) await clock.settle(50, 50);
    const again = await FarEnd.listen(port);
    again.heard = () => again.say(`${version}${report(1)}`);
    while (settled.length < 2) await clock.settle(50, 50);
    expect(again.received).toBe('?WATCH={"enable":true,"json":true};\n');
    expect(source.health()).toMatchObject({ state: 'running', counts: { opened: 2, lost: 1 } });
    await source.stop();
    await again.close();
  });
});

it('any bytes are tolerated', async () => {
  const word = fc.oneof(
    fc.constantFrom(epoch(0), epoch(1), '$GP', '\r\n', '{"class":"TPV","mode":3', '{"class":"DEVICES","devices":[]}\n'),
    fc.string({ maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }).map((all) => String.fromCharCode(...all)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { maxLength: 40 }),
      fc.constantFrom<FixFormat>('nmea', 'gpsd'),
      async (words, format) => {
        const { clock, cable, source, sink } = listening({ format });
        await source.start(wanted, sink);
        for (const text of words) {
          await clock.settle(500, 500);
          cable.say(text);
        }
        await source.stop();
        expect(clock.pending).toBe(0);
      },
    ),
    { numRuns: 50 },
  );
});
