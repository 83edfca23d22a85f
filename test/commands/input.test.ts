import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pvt } from '../adapters/gnss/ubx-writer.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { smallCar } from './small-car.ts';

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
  writeFileSync(
    join(car.folder, 'wrong.yaml'),
    readFileSync(car.profile, 'utf8').replace('MOTION.Speed', 'MOTION.Sped'),
  );
  writeFileSync(
    join(car.folder, 'noise.bin'),
    Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919) & 0xff),
  );
  writeFileSync(join(car.folder, 'drive.ubx'), pvt({ fix: 'none' }));
  writeFileSync(join(car.folder, 'track.gpx'), '<?xml version="1.0"?>\n<gpx version="1.1">\n');
  writeFileSync(join(car.folder, 'broken.log'), `${car.lines.slice(0, 3).join('\n')}\nnot a frame\n${car.lines[3]}\n`);
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

/** `@` is replaced by the directory of the small car. */
const given = (args: readonly string[]) => args.map((arg) => arg.replace(/^@/, `${car.folder}/`));

describe('wrong input', () => {
  test.each<[string[], string | RegExp]>([
    [['decode', '@nothing.log', '--raw'], /nothing\.log.*no such file|nothing\.log/i],
    [['decode', '@noise.bin', '--raw'], 'noise.bin'],
    [['decode', '@noise.bin'], /noise\.bin: this is not a log of a known format/],
    [['decode', '@drive.log'], '--dbc'],
    [['decode', '@drive.ubx', '--raw'], 'drive.ubx: this is a recording of a receiver: leave out --dbc and --raw'],
    [['decode', '@track.gpx'], /track\.gpx: this is GPX, a track as XML, which is not read/],
    [['replay', '@track.gpx', '--profile', '@profile.yaml'], 'this is GPX, a track as XML, which is not read'],
    [['decode', '@drive.log', '--dbc', '@nothing.dbc'], /nothing\.dbc.*no such file/],
    [['decode', '@drive.log', '--dbc', '@drive.log'], /drive\.log: the DBC cannot be used/],
    [['decode', '@', '--raw'], 'it is a folder'],
    [['decode', '@drive.log', '--dbc', '@'], 'it is a folder'],
    [['decode', '--dbc', '@small.dbc', '@drive.log'], 'Write it before --dbc'],
    [['inspect'], 'which log? Give a file'],
    [['inspect', '@nothing.log'], /nothing\.log.*no such file/],
    [['inspect', '@noise.bin'], 'noise.bin'],
    [['inspect', '@drive.log', '--dbc', '@nothing.dbc'], /nothing\.dbc.*no such file/],
    [['inspect', '--dbc', '@small.dbc', '@drive.log'], 'Write it before --dbc'],
    [['inspect', '@drive.log', '--stats'], '--stats needs --dbc'],
    [['inspect', '@drive.log', '--csv', '-'], '--csv needs --dbc'],
    [['inspect', '@drive.log', '--signals', 'Speed'], '--signals needs --dbc'],
    [
      ['inspect', '@drive.log', '--dbc', '@small.dbc', '--signals', 'Sped'],
      /no DBC has a signal Sped: did you mean .*Speed/,
    ],
    [['inspect', '@drive.log', '--dbc', '@small.dbc', '--messages', 'MOTON'], /did you mean MOTION/],
    [['inspect', '@drive.log', '--dbc', '@small.dbc', '--csv', '/nowhere/a.csv'], '/nowhere/a.csv'],
    [['inspect', '@drive.log', '--compare', '@nothing.log'], /nothing\.log.*no such file/],
    [
      ['inspect', '@drive.log', '--dbc', '@small.dbc', '--stats', '--compare', '@drive.log'],
      '--compare shows nothing else: leave out --stats',
    ],
    [['inspect', '@drive.log', '--correlate', '@nothing.csv'], /nothing\.csv.*no such file/],
    [['inspect', '@drive.log', '--correlate', '@profile.yaml'], /profile\.yaml.*not a table of values/],
    [['inspect', '@drive.log', '--reference', 'Speed'], '--correlate FILE'],
    [['inspect', '@drive.log', '--ids', '1FFF,wings'], /--ids: 'wings'/],
    [['inspect', '@drive.log', '--from', 'noon'], /--from: 'noon' is not a time/],
    [['decode', '@drive.log', '--raw', '--to', 'noon'], /--to: 'noon' is not a time/],
    [['decode', '--obd', '--changes'], '--changes choose CAN frames'],
    [['replay', '--profile', '@profile.yaml', '--dbc', '@small.dbc', '@drive.log'], /^vigie: .*'log': write it before/],
    [['keys', 'make', '--kinds', 'Doors', 'me'], /^vigie: .*'name': write it before/],
    [['keys', 'mak'], /^vigie: /],
    [['hub', 'keys', 'renew', 'pager'], /^vigie: .*'pager'.*commands, tokens, pages/],
    [['send'], /^vigie: missing required argument 'vin'\n$/],
    [['send', 'VF3VGEBENCH00001', 'doors', 'lock'], /^vigie: "VF3VGEBENCH00001" is not a VIN: .*; this has 16\.\n$/],
    [['record', 'can0'], /^vigie: unknown command 'record'\s*: to record buses, vigie run --record FOLDER\n$/],
    [['scan'], /^vigie: missing required argument 'adapter': such as \/dev\/ttyUSB0/],
    [['replay', '@small.dbc', '--profile', '@profile.yaml'], /small\.dbc.*this is a DBC.*--dbc/],
    [['status', '--data', '@drive.log'], 'no agent runs here'],
    [['replay', '@drive.log', '--profile', 'benhc'], 'benhc'],
    [['replay', '@drive.log', '--profile', '@wrong.yaml'], /wrong\.yaml:7.*Sped.*Speed/],
    [['replay', '@drive.log'], '--profile'],
    [['replay', '@drive.log', '--profile', '@profile.yaml', '--speed', 'fast'], 'fast'],
    [['replay', '@drive.log', '--profile', '@profile.yaml', '--cbor', '/nowhere/out.cbor'], '/nowhere/out.cbor'],
    [['run', '-c', '@nothing.yaml'], 'nothing.yaml'],
    [['check'], 'nothing to check'],
    [['send', 'VF3VGEBENCH000001', 'windows', 'open', '--data', '@'], 'windows'],
    [['send', 'SHORT', 'doors', 'lock', '--data', '@', '--broker', 'mqtt://127.0.0.1:1'], 'SHORT'],
    [['send', 'VF3VGEBENCH000001', 'doors', 'lock', '--data', '@'], 'key'],
    [['send', 'VF3VGEBENCH000001', 'navigate', '-1.5,47.2'], /-1\.5,47\.2'.*put -- before/],
    [['watch', 'VF3VGEBENCH000001', '--data', '@'], '--broker'],
    [['watch', 'VF3VGEBENCH000001', '--broker', 'mqtt://127.0.0.1:1'], '127.0.0.1:1'],
    [['bench', '--port', '70000'], '70000'],
    [['bench', '--vin', 'SHORT', '--data', '@bench', '--port', '0', '--http', '0'], /--vin <vin>.*17 capital letters/],
    [['replay', '@drive.log', '--profile', '@profile.yaml', '--vin', 'SHORT'], /--vin <vin>.*17 capital letters/],
    [['fly'], 'fly'],
    [['decode', '--wings'], '--wings'],
  ])('wrong input is refused with one sentence: vigie %j', async (args, sentence) => {
    const { status, stdout, stderr } = await vigie(...given(args));
    expect(status, stderr).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n\s+at .*:\d+/);
    expect(stdout).toBe('');
  });

  test('a bench with an invalid VIN leaves no records behind', async () => {
    const data = join(car.folder, 'short');
    await vigie('bench', '--vin', 'SHORT', '--data', data, '--port', '0', '--http', '0');
    expect(existsSync(data)).toBe(false);
  });

  test('an unreadable line is reported with file and line, and all others are decoded', async () => {
    const { status, stdout, stderr } = await vigie('decode', join(car.folder, 'broken.log'), '--dbc', car.dbc);
    // One line of five exceeds the limit of one in a hundred.
    expect(status).toBe(1);
    expect(stdout.trim().split('\n')).toHaveLength(4);
    expect(stderr).toMatch(/broken\.log:4: /);
  });
});

describe('directories that cannot be created', () => {
  // Below /proc mkdir fails with ENOENT although the parent exists. Node's recursive mkdir would then retry endlessly.
  test.each<[string[], string]>([
    [['bench', '--data', '/proc/records', '--port', '0', '--http', '0'], '--data'],
    [['replay', '@drive.log', '--profile', '@profile.yaml', '--data', '/proc/records'], '--data'],
    [['run', '-c', '@vigie.yaml', '--data', '/proc/records/of/a/car'], '--data'],
    [['run', '-c', '@vigie.yaml', '--data', '@records', '--record', '/proc/recordings'], '--record'],
    [['keys', 'make', 'me', '--dir', '/proc/keys'], '--dir'],
    [['bench', '--data', '@drive.log/records'], 'it is a file, not a directory'],
  ])('a directory that cannot be created is refused with advice: vigie %j', async (args, sentence) => {
    writeFileSync(
      join(car.folder, 'vigie.yaml'),
      'configuration: 1\nvin: VF3SMALCAR0000001\nprofile: ./profile.yaml\ncan: [{ bus: can, log: drive.log }]\nmqtt: { url: mqtt://127.0.0.1:1 }\n',
    );
    const { status, stderr } = await vigie(...given(args));
    expect(status, stderr).toBe(2);
    expect(stderr).toMatch(/\/proc\/|drive\.log/);
    expect(stderr).toContain(sentence);
  });
});

describe('decode', () => {
  test('decode prints one line per frame, by the schema', async () => {
    const { stdout } = await vigie('decode', car.log, '--dbc', car.dbc);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(2200);
    expect(lines[0]).toEqual({
      t: 1_700_000_000_000,
      bus: 'can0',
      id: 0x100,
      extended: false,
      data: '8813000000000000',
      message: 'MOTION',
      signals: { Speed: 50 },
    });
    expect(lines[1]).toMatchObject({ message: 'BODY', signals: { DoorDriver: 0, BeltDriver: 1, BigCounter: 7 } });
  });

  test('decode prints numbers with the digits of their resolution', async () => {
    for (const format of ['ndjson', 'text']) {
      const { stdout } = await vigie('decode', car.log, '--dbc', car.dbc, '--format', format);
      const speeds = [...stdout.matchAll(/Speed"?[:=]([0-9.]+)/g)].map(([, speed = '']) => speed);
      expect(speeds).toHaveLength(2000);
      // The factor is 0.01.
      expect(speeds.filter((speed) => !/^[0-9]+(\.[0-9]{1,2})?$/.test(speed))).toEqual([]);
    }
  });

  test('decode --raw prints every frame, --choices the names of the value table, and text is for people', async () => {
    const raw = await vigie('decode', car.log, '--raw');
    expect(JSON.parse(raw.stdout.split('\n')[1] as string)).toEqual({
      t: 1_700_000_000_000,
      bus: 'can0',
      id: 0x200,
      extended: false,
      data: '0207',
    });
    const named = await vigie('decode', car.log, '--dbc', car.dbc, '--choices');
    expect(JSON.parse(named.stdout.split('\n')[1] as string).signals.DoorDriver).toBe('Shut');
    const text = await vigie('decode', car.log, '--dbc', car.dbc, '--format', 'text');
    expect(text.stdout.split('\n')[1]).toBe('1700000000.000000 can0 200 BODY DoorDriver=0 BeltDriver=1 BigCounter=7');
  });
});

describe('decode of other recordings', () => {
  const sentence = (body: string): string => {
    let sum = 0;
    for (const char of body) sum ^= char.charCodeAt(0);
    return `$${body}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
  };

  test('decode recognises NMEA by content and prints one line per fix', async () => {
    const file = car.file(
      'walk.nmea',
      [0, 1, 2]
        .flatMap((second) => [
          sentence(`GPGGA,12000${second}.00,4851.360,N,00217.520,E,1,08,1.0,35.0,M,47.0,M,,`),
          sentence(`GPRMC,12000${second}.00,A,4851.360,N,00217.520,E,10.0,90.0,010126,,,A`),
        ])
        .join(''),
    );
    const { status, stdout, stderr } = await vigie('decode', file);
    expect(status, stderr).toBe(0);
    const fixes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, number | string>);
    expect(fixes).toHaveLength(3);
    expect(fixes[0]).toMatchObject({ t: Date.UTC(2026, 0, 1, 12), altitude: 35, heading: 90, satellites: 8 });
    expect(fixes[0]).toMatchObject({ latitude: 48.856, longitude: 2.292, speed: 18.52 });
  });

  test('decode --obd reads answers from standard input in order, and a bad one affects no other', async () => {
    const file = car.file(
      'set.json',
      JSON.stringify({
        commands: [
          {
            hdr: '7E0',
            rax: '7E8',
            cmd: { '01': '0D' },
            freq: 1,
            signals: [{ id: 'VSS', fmt: { len: 8, unit: 'kilometersPerHour' }, name: 'Speed' }],
          },
        ],
      }),
    );
    const decode = new VigieProcess(['decode', '--obd', file]);
    decode.write('{"response": "7E8 03 41 0D 3C"}\n{"response": "NO DATA"}\nnonsense\n{"response": "7E803410D10"}\n');
    decode.endInput();
    expect(await decode.ended(), decode.output).toBe(0);
    const lines = decode.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map((line) => line['values'] ?? Object.keys(line))).toEqual([
      { VSS: 60 },
      ['error'],
      ['error'],
      { VSS: 16 },
    ]);
  });

  test('decode --obd without a file decodes VIN, fault codes and the values of SAE J1979', async () => {
    const decode = new VigieProcess(['decode', '--obd']);
    const vin = '7E8 10 14 49 02 01 31 47 31\\r7E8 21 4A 43 35 34 34 34 52\\r7E8 22 37 32 35 32 33 36 37';
    const answers = [vin, '7E8 06 43 02 03 01 04 20', '7E8 02 43 00', '7E8 03 41 0D 3C', '7E8 04 43 02 03 01'];
    decode.write(`${answers.map((response) => `{"response": "${response}"}`).join('\n')}\n`);
    decode.endInput();
    expect(await decode.ended(), decode.output).toBe(0);
    const lines = decode.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toMatchObject([
      { vin: '1G1JC5444R7252367' },
      {
        faults: [
          { code: 'P0301', status: ['confirmed'], unit: '7E8' },
          { code: 'P0420', status: ['confirmed'], unit: '7E8' },
        ],
      },
      { faults: [] },
      { values: { VehicleSpeed: 60 } },
      { error: 'the answer counts 2 trouble codes and holds 1' },
    ]);
  });

  test('decode --obd prints fault codes for people', async () => {
    const decode = new VigieProcess(['decode', '--obd', '--format', 'text']);
    decode.write('{"command": "03", "response": "7E8 04 43 01 03 01"}\n{"response": "7E8 02 47 00"}\n');
    decode.endInput();
    expect(await decode.ended(), decode.output).toBe(0);
    expect(decode.output).toBe('03 P0301 (confirmed; misfire: in cylinder 1; 7E8)\nno fault codes\n');
  });
});

describe('decode without results', () => {
  const signalSet = fileURLToPath(new URL('../../config/vehicles/generic-obd2/sae-j1979.json', import.meta.url));

  test.each([
    ['hello\nworld\n', 2, 'cannot decode standard input: 2 lines failed'],
    ['{"command": "010D", "response": "NO DATA"}\n', 1, 'cannot decode standard input: 1 line failed'],
    ['\n', 0, 'standard input has no line'],
  ])('decode ends with status 1 if no adapter answer can be decoded: %j', async (input, errors, sentence) => {
    const decode = new VigieProcess(['decode', '--obd', signalSet]);
    decode.write(input);
    decode.endInput();
    expect(await decode.ended(), decode.output).toBe(1);
    expect(decode.output.match(/^\{"error":/gm) ?? []).toHaveLength(errors);
    expect(decode.output).toContain(`vigie: ${sentence}`);
  });

  test('text for people has no more digits of a fraction than an adapter measures', async () => {
    const decode = new VigieProcess(['decode', '--obd', signalSet, '--format', 'text']);
    decode.write('{"command": "0104", "response": "7E8 03 41 04 37"}\n');
    decode.endInput();
    expect(await decode.ended(), decode.output).toBe(0);
    expect(decode.output).toBe('0104 EngineLoad=21.56863\n');
  });

  test('decode ends with status 1 if the DBC describes no frame of the log', async () => {
    const other = car.file(
      'other.dbc',
      'VERSION ""\nBU_: ECU\nBO_ 1 OTHER: 8 ECU\n SG_ Other : 0|8@1+ (1,0) [0|0] "" ECU\n',
    );
    const { status, stdout, stderr } = await vigie('decode', car.log, '--dbc', other);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`vigie: ${car.log}: none of its 2200 frames is in the DBC`);
  });
});

describe('check', () => {
  test('check prints every fault as {file, line, severity, message, fix} and exits with 2', async () => {
    const { status, stdout } = await vigie('check', '--profile', join(car.folder, 'wrong.yaml'));
    expect(status).toBe(2);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(findings).toMatchObject([{ line: 7, severity: 'error', message: expect.stringContaining('Sped') }]);
    expect(findings[0]?.['file']).toBe(join(car.folder, 'wrong.yaml'));
    expect(findings[0]?.['fix']).toContain('Speed');
  });

  test('a valid car and every shipped profile have no errors', async () => {
    const { status, stderr } = await vigie('check', '--profile', car.profile, 'bench', '--dbc', car.dbc);
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('no errors');
  });
});

describe('help', () => {
  test.each(['bench', 'run', 'replay', 'decode', 'inspect', 'check', 'send', 'watch', 'keys'])(
    'vigie %s --help describes the command',
    async (name) => {
      const { status, stdout } = await vigie(name, '--help');
      expect(status).toBe(0);
      expect(stdout).toContain(`Usage: vigie ${name}`);
      expect(stdout.length).toBeGreaterThan(300);
    },
  );

  test('vigie --help names every command and its exit status', async () => {
    const { status, stdout } = await vigie('--help');
    expect(status).toBe(0);
    for (const name of [
      'bench',
      'run',
      'replay',
      'decode',
      'inspect',
      'check',
      'send',
      'watch',
      'keys',
      'Exit status',
    ]) {
      expect(stdout).toContain(name);
    }
  });

  test.each(['add', 'remove', 'forget', 'list', 'token', 'rollout'])(
    'vigie hub %s --help shows the hub options that it uses',
    async (name) => {
      const { stdout } = await vigie('hub', name, '--help');
      const options = [...(stdout.split('Global Options:')[1] ?? '').matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)];
      expect(options.map(([, option]) => option)).toEqual(['--config', '--data', '--database']);
    },
  );

  test.each(['inspect', 'decode'])('vigie %s --help shows options before details', async (name) => {
    const { stdout } = await vigie(name, '--help');
    const places = ['Usage:', 'for people who map a new car.', 'Options:', 'Details:', 'Exit status 0', 'Examples:'];
    const found = places.map((text) => stdout.indexOf(text));
    expect(found).toEqual(found.filter((at) => at >= 0).toSorted((a, b) => a - b));
    expect(stdout.slice(0, stdout.indexOf('Options:')).split('\n').length).toBeLessThan(10);
  });
});
