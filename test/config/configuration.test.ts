import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProfileCommand } from '../../config/commands.ts';
import { type Configuration, loadConfiguration } from '../../config/configuration.ts';
import { readSecret } from '../../config/credentials.ts';
import { configurationDefaults } from '../../config/defaults.ts';
import { type Environment, variables } from '../../config/environment.ts';
import { checkInputs } from '../../config/inputs.ts';

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-configuration-'));
  file = join(folder, 'vigie.yaml');
  for (const name of ['trust.json', 'password', 'ca.pem', 'cert.pem', 'key.pem', 'crl.pem', 'recording.log']) {
    writeFileSync(join(folder, name), 'x', { mode: 0o600 });
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A configuration with some texts replaced. */
function unit(...changes: [string, string][]): string {
  let text = `configuration: 1
vin: VF30A00000B000042
profile: bench
data: records
can:
  - { bus: body, simulated: true }
  - { bus: drive, log: recording.log, speed: 2, loop: true }
  - { bus: radio, log: '-' }
mqtt:
  url: mqtts://broker.example:8883
  protocol: 5
  username: unit
  passwordFile: password
  ca: ca.pem
  cert: cert.pem
  key: key.pem
  keepalive: 30s
commands: { trust: trust.json }
outbox: { limit: 32MiB }
log: { level: warn }
`;
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the configuration has no ${from}`);
    text = text.replace(from, to);
  }
  return text;
}

function load(text: string, environment: Environment = {}) {
  writeFileSync(file, text);
  return loadConfiguration(file, environment);
}

const least = `configuration: 1
vin: VF30A00000B000042
profile: ./car.yaml
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtt://localhost }
`;

describe('a configuration becomes plain data', () => {
  test('with absolute paths, times in ms and sizes in bytes', () => {
    const { configuration, diagnostics } = load(unit());
    expect(diagnostics).toEqual([]);
    expect(configuration).toEqual({
      file,
      vin: 'VF30A00000B000042',
      profile: 'bench',
      data: join(folder, 'records'),
      can: [
        { kind: 'simulated', bus: 'body', line: 6 },
        { kind: 'log', bus: 'drive', log: join(folder, 'recording.log'), speed: 2, loop: true, line: 7 },
        { kind: 'log', bus: 'radio', log: '-', speed: 1, loop: false, line: 8 },
      ],
      mqtt: {
        url: 'mqtts://broker.example:8883',
        protocol: '5',
        username: 'unit',
        passwordFile: join(folder, 'password'),
        ca: join(folder, 'ca.pem'),
        cert: join(folder, 'cert.pem'),
        key: join(folder, 'key.pem'),
        keepalive: 30_000,
      },
      commands: { trust: join(folder, 'trust.json'), maxValidity: 86_400_000 },
      outbox: { limit: 32 * 2 ** 20, keepAcknowledged: 32 * 2 ** 20, batch: 60_000 },
      power: { ...configurationDefaults.power, keepalive: 30_000 },
      callbacks: { networks: [], allowHttp: false, queueLimit: 5_000 },
      captures: { memory: 4 * 2 ** 20, commandsPerDay: 24, bytesPerDay: 33_554_432 },
      collect: { bytesPerDay: 10 * 2 ** 20 },
      health: { every: 6 * 3_600_000 },
      log: { level: 'warn' },
    });
  });

  test('with the time zone', () => {
    expect(load(`${least}timeZone: Atlantic/Azores\n`).configuration).toMatchObject({ timeZone: 'Atlantic/Azores' });
  });

  test('with every default', () => {
    expect(load(least)).toEqual({
      diagnostics: [],
      configuration: {
        file,
        vin: 'VF30A00000B000042',
        profile: join(folder, 'car.yaml'),
        data: '/var/lib/vigie',
        can: [{ kind: 'simulated', bus: 'body', line: 4 }],
        mqtt: { url: 'mqtt://localhost', protocol: 'auto', keepalive: 60_000 },
        outbox: { limit: 64 * 2 ** 20, keepAcknowledged: 32 * 2 ** 20, batch: 60_000 },
        power: { ...configurationDefaults.power, keepalive: 60_000 },
        callbacks: { networks: [], allowHttp: false, queueLimit: 5_000 },
        captures: { memory: 4 * 2 ** 20, commandsPerDay: 24, bytesPerDay: 33_554_432 },
        collect: { bytesPerDay: 10 * 2 ** 20 },
        health: { every: 6 * 3_600_000 },
        log: { level: 'info' },
      },
    });
  });
});

describe('one fault causes one finding', () => {
  const tls = '  ca: ca.pem\n  cert: cert.pem\n  key: key.pem\n';
  const cases: [what: string, text: () => string, line: number, message: RegExp, fix?: RegExp][] = [
    [
      'another version',
      () => unit(['configuration: 1', 'configuration: 3']),
      1,
      /format 3 is not one/,
      /write configuration: 1/,
    ],
    ['a VIN of 16', () => unit(['B000042', 'B00042']), 2, /vin must be a vehicle identification number: 17/],
    ['a VIN with O', () => unit(['B000042', 'BOOOO42']), 2, /without I, O and Q/],
    ['a VIN of digits', () => unit(['VF30A00000B000042', '12345678901234567']), 2, /vin must be/, /quotes/],
    ['unknown profile', () => unit(['profile: bench', 'profile: bnech']), 3, /no profile "bnech"/],
    ['a folder as a name', () => unit(['profile: bench', 'profile: records']), 3, /no profile "records"/],
    ['no time zone', () => `${unit()}timeZone: Europe/Lisboa\n`, 21, /no time zone "Europe\/Lisboa"/, /such as Europe/],
    ['an offset', () => `${unit()}timeZone: '+02:00'\n`, 21, /timeZone must be a name of the IANA data base/],
    ['no profile', () => unit(['profile: bench\n', '']), 0, /"profile" is missing/],
    ['unknown section', () => unit(['outbox:', 'outbocks:']), 19, /unknown member "outbocks"/, /outbox/],
    ['neither log nor simulated', () => unit([', simulated: true', '']), 6, /exactly one of/],
    [
      'both log and simulated',
      () => unit(['simulated: true', "simulated: true, log: '-'"], ["  - { bus: radio, log: '-' }\n", '']),
      6,
      /exactly one of/,
    ],
    [
      'a log that is not there',
      () => unit(['recording.log', 'recording.lgo']),
      7,
      /recording\.lgo cannot be read: it does not exist/,
    ],
    [
      'speed of the simulated car',
      () => unit(['simulated: true', 'simulated: true, speed: 2']),
      6,
      /speed is for a log/,
    ],
    ['standard input in a loop', () => unit(["'-'", "'-', loop: true"]), 8, /has no speed and no loop/],
    [
      'standard input twice',
      () => unit(['log: recording.log, speed: 2, loop: true', "log: '-'"]),
      8,
      /another entry already reads/,
    ],
    ['speed 0', () => unit(['speed: 2', 'speed: 0']), 7, /more than 0, not 0/],
    ['another scheme', () => unit(['mqtts://', 'http://']), 10, /url must be an address such as/],
    ['MQTT over a websocket', () => unit(['mqtts://', 'wss://']), 10, /url must be an address such as/],
    ['a path in the address', () => unit([':8883', ':8883/mqtt']), 10, /url must be an address such as/],
    [
      'a password in the address',
      () => unit(['mqtts://', 'mqtts://unit:secret@']),
      10,
      /without user name or password/,
    ],
    ['an impossible port', () => unit([':8883', ':99999']), 10, /not an address/],
    ['MQTT 4', () => unit(['protocol: 5', 'protocol: 4']), 11, /protocol must be auto, 5 or 3\.1\.1, not 4/],
    ['a password without user', () => unit(['  username: unit\n', '']), 12, /without a user name/],
    [
      'a password in the file',
      () => unit(['passwordFile: password', 'password: secret']),
      13,
      /unknown member "password"/,
      /passwordFile/,
    ],
    ['a certificate without key', () => unit(['  key: key.pem\n', '']), 15, /a certificate without its key/],
    ['a key without certificate', () => unit(['  cert: cert.pem\n', '']), 15, /a key without its certificate/],
    ['TLS files without TLS', () => unit(['mqtts://', 'mqtt://'], [tls, '  ca: ca.pem\n']), 14, /this url has none/],
    ['an hour too many', () => unit(['30s', '19h']), 17, /at most 65535/],
    ['half a second', () => unit(['30s', '1.5s']), 17, /whole seconds/],
    [
      'a trust file where the agent keeps its own',
      () => unit(['data: records', 'data: .']),
      18,
      /the changes of keys by commands/,
      /another folder/,
    ],
    [
      'commands that are valid for a month and a day',
      () => unit(['trust: trust.json', 'trust: trust.json, maxValidity: 31d']),
      18,
      /2m to 30d/,
    ],
    [
      'commands that are valid for a minute',
      () => unit(['trust: trust.json', 'trust: trust.json, maxValidity: 1m']),
      18,
      /2m to 30d/,
    ],
    ['no trust', () => unit(['trust.json', 'none.json']), 18, /none\.json cannot be read/, /vigie keys/],
    ['an outbox of nothing', () => unit(['32MiB', '32B']), 19, /too little/],
    ['a size in words', () => unit(['32MiB', 'big']), 19, /limit must be a size such as 64MiB/],
    [
      'an unknown level',
      () => unit(['level: warn', 'level: wran']),
      20,
      /level must be one of error, warn, info/,
      /warn/,
    ],
    ['an empty section', () => unit(['{ level: warn }', '']), 20, /log must be .*, not empty/, /remove it/],
  ];
  test.each(cases)('%s', (_, text, line, message, fix) => {
    const { configuration, diagnostics } = load(text());
    expect(configuration).toBeUndefined();
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors).toMatchObject([{ file, line, message: expect.stringMatching(message) }]);
    if (fix !== undefined) expect(errors[0]?.fix).toMatch(fix);
  });

  test('several faults are reported together, in the order of the file', () => {
    const { diagnostics } = load(
      unit(
        ['B000042', ''],
        ['recording.log', 'none.log'],
        ['passwordFile: password', 'passwordFile: none'],
        ['32MiB', '1B'],
        ['warn', 'x'],
      ),
    );
    expect(diagnostics.map(({ line }) => line)).toEqual([2, 7, 13, 19, 20]);
  });

  test('a missing file is an error', () => {
    const missing = join(folder, 'none.yaml');
    expect(loadConfiguration(missing, {})).toMatchObject({
      diagnostics: [{ file: missing, line: 0, severity: 'error', message: 'cannot be read: it does not exist' }],
    });
  });

  test.each(['', '[]', '7', 'null', '- a', '"x'])('a document containing only %j is an error', (text) => {
    const { configuration, diagnostics } = load(text);
    expect(configuration).toBeUndefined();
    expect(diagnostics[0]?.severity).toBe('error');
  });
});

describe('secrets', () => {
  test('cause a warning if everyone can read the file', () => {
    chmodSync(join(folder, 'key.pem'), 0o644);
    try {
      const { configuration, diagnostics } = load(unit());
      expect(configuration).toBeDefined();
      const message = expect.stringContaining('every user can access it');
      expect(diagnostics).toMatchObject([{ line: 16, severity: 'warning', message }]);
    } finally {
      chmodSync(join(folder, 'key.pem'), 0o600);
    }
  });

  test('cause a warning if they are sent unencrypted to another machine', () => {
    const password = (host: string) =>
      load(least.replace('mqtt://localhost', `mqtt://${host}, username: u, passwordFile: password`)).diagnostics;
    expect(load(least.replace('localhost', 'far.example')).diagnostics).toEqual([]);
    expect(password('localhost')).toEqual([]);
    expect(password('127.0.0.1:1883')).toEqual([]);
    expect(password('127.0.0.1.far.example')).toMatchObject([{ severity: 'warning' }]);
    expect(password('localhost.far.example')).toMatchObject([{ severity: 'warning', line: 5 }]);
  });

  test('are not repeated in findings', () => {
    const { diagnostics } = load(
      unit(['mqtts://', 'mqtts://unit:s3cret@'], ['passwordFile: password', 'password: s3cret']),
    );
    expect(diagnostics).toHaveLength(2);
    expect(JSON.stringify(diagnostics)).not.toContain('s3cret');
  });

  test('are read without the final line end, and empty ones are refused', () => {
    const secret = join(folder, 'secret');
    for (const [written, read] of [
      ['pass word \n', 'pass word '],
      ['a\r\n', 'a'],
      ['a\n\n', 'a\n'],
      ['a', 'a'],
    ] as const) {
      writeFileSync(secret, written);
      expect(readSecret(secret)).toBe(read);
    }
    writeFileSync(secret, '\n');
    expect(() => readSecret(secret)).toThrow(expect.objectContaining({ code: 'configuration.wrong', where: secret }));
    writeFileSync(secret, 'x'.repeat(5000));
    expect(() => readSecret(secret)).toThrow(expect.objectContaining({ code: 'configuration.wrong' }));
    expect(() => readSecret(join(folder, 'none'))).toThrow(expect.objectContaining({ code: 'input.unreadable' }));
    expect(() => readSecret(folder)).toThrow(expect.objectContaining({ code: 'input.unreadable' }));
  });
});

describe('environment variables', () => {
  test('replace or add members', () => {
    const key = join(folder, 'key.pem');
    const { configuration, diagnostics } = load(least, {
      VIGIE_VIN: 'VF30A00000B000043',
      VIGIE_PROFILE: 'cars/mine.yaml',
      VIGIE_DATA: 'there',
      VIGIE_MQTT_URL: 'mqtts://far.example',
      VIGIE_MQTT_PROTOCOL: '5',
      VIGIE_MQTT_USERNAME: '4711',
      VIGIE_MQTT_PASSWORD_FILE: join(folder, 'password'),
      VIGIE_MQTT_CA: join(folder, 'ca.pem'),
      VIGIE_MQTT_CERT: join(folder, 'cert.pem'),
      VIGIE_MQTT_KEY: key,
      VIGIE_MQTT_CRL: join(folder, 'crl.pem'),
      VIGIE_MQTT_KEEPALIVE: '90000',
      VIGIE_COMMANDS_TRUST: join(folder, 'trust.json'),
      VIGIE_OUTBOX_LIMIT: '1GiB',
      VIGIE_OUTBOX_KEEP_ACKNOWLEDGED: '0',
      VIGIE_LOG_LEVEL: 'error',
      PATH: '/bin',
    });
    expect(diagnostics).toEqual([]);
    expect(configuration).toMatchObject({
      vin: 'VF30A00000B000043',
      profile: resolve('cars/mine.yaml'),
      data: resolve('there'),
      mqtt: {
        url: 'mqtts://far.example',
        protocol: '5',
        username: '4711',
        key,
        crl: join(folder, 'crl.pem'),
        keepalive: 90_000,
      },
      commands: { trust: join(folder, 'trust.json'), maxValidity: 86_400_000 },
      outbox: { limit: 2 ** 30, keepAcknowledged: 0, batch: 60_000 },
      log: { level: 'error' },
    });
  });

  test('can complete a file, and count as missing if they are empty', () => {
    const text = least.replace(/mqtt: .*\n/, '');
    expect(load(text).configuration).toBeUndefined();
    expect(load(text, { VIGIE_MQTT_URL: '' }).configuration).toBeUndefined();
    expect(load(text, { VIGIE_MQTT_URL: 'mqtt://localhost' }).configuration?.mqtt.url).toBe('mqtt://localhost');
  });

  test('are named in findings about them, instead of the file', () => {
    const { diagnostics } = load(unit(), { VIGIE_VIN: 'SHORT', VIGIE_MQTT_CA: '/none', VIGIE_OUTBOX_LIMIT: '7' });
    expect(diagnostics.map(({ file, line, severity }) => [file, line, severity])).toEqual([
      ['$VIGIE_VIN', 0, 'error'],
      ['$VIGIE_OUTBOX_LIMIT', 0, 'error'],
      ['$VIGIE_MQTT_CA', 0, 'error'],
    ]);
  });

  test('cause a warning if they are unknown, and must not contain secrets', () => {
    const { configuration, diagnostics } = load(unit(), { VIGIE_VINN: 'x', VIGIE_MQTT_PASSWORD: 'secret' });
    expect(configuration).toBeDefined();
    expect(diagnostics).toMatchObject([
      { file: '$VIGIE_MQTT_PASSWORD', severity: 'warning', fix: expect.stringContaining('VIGIE_MQTT_PASSWORD_FILE') },
      { file: '$VIGIE_VINN', severity: 'warning', fix: 'did you mean VIGIE_VIN?' },
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain('"secret"');
  });

  test('never cause an exception, whatever they contain', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...variables.map(({ name }) => name)), fc.string()),
        fc.constantFrom(unit(), least, 'mqtt: 7\n', '[]'),
        (environment, text) => {
          const { configuration, diagnostics } = load(text, environment);
          expect(configuration === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('arbitrary data in place of any member never causes an exception', () => {
  const members = unit().match(/^[a-z]+: .*$|^ {2}[a-zA-Z]+: .*$|^ {2}- .*$/gm) as string[];
  fc.assert(
    fc.property(fc.constantFrom(...members), fc.jsonValue(), (member, value) => {
      const lead = /^ *(- |[a-zA-Z]+: )/.exec(member)?.[0] as string;
      const { configuration, diagnostics } = load(unit([member, lead + JSON.stringify(value)]));
      expect(configuration === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
    }),
    { numRuns: 500 },
  );
});

/** The minimal configuration with other inputs. */
function listening(inputs: string) {
  return load(least.replace(/^can:.*\n/m, `${inputs}\n`));
}

describe('inputs', () => {
  test('for interfaces, adapters, receivers and recordings become plain data', () => {
    const { configuration, diagnostics } = listening(`can:
  - { bus: body, socketcan: can0 }
  - { bus: drive, slcan: '/dev/ttyACM0', bitrate: 250k }
obd: { isotp: body }
gnss: { nmea: 'serial:/dev/ttyUSB1?baud=4800', clock: false }
record: { folder: recordings, size: 1MiB }`);
    expect(diagnostics).toEqual([]);
    expect(configuration).toMatchObject({
      can: [
        { kind: 'socketcan', bus: 'body', interface: 'can0' },
        { kind: 'slcan', bus: 'drive', address: '/dev/ttyACM0', bitrate: 250_000 },
      ],
      obd: { kind: 'isotp', over: 'body' },
      gnss: { kind: 'nmea', address: 'serial:/dev/ttyUSB1?baud=4800', clock: false },
      record: { folder: join(folder, 'recordings'), size: 2 ** 20, keep: 8 },
    });
  });

  test('for fault codes are off by default, and are read every ten minutes if no interval is given', () => {
    const faultsOf = (written: string) => listening(`obd: { elm327: /dev/ttyUSB0 }\n${written}`).configuration?.faults;
    expect(faultsOf('')).toBeUndefined();
    expect(faultsOf('faults: {}')).toEqual({ every: 600_000 });
    expect(faultsOf('faults: { every: 1h }')).toEqual({ every: 3_600_000 });
  });

  test('need no can section if the car is only polled', () => {
    const { configuration, diagnostics } = listening(
      'obd: { elm327: tcp://192.168.0.10:35000, protocol: can-11-500, bus: obd }\ngnss: { gpsd: tcp://localhost:2947 }',
    );
    expect(diagnostics).toEqual([]);
    expect(configuration).toMatchObject({
      can: [],
      obd: { kind: 'elm327', address: 'tcp://192.168.0.10:35000', protocol: 'can-11-500', bus: 'obd' },
      gnss: { kind: 'gpsd', clock: true },
    });
    const generic = { name: 'generic', buses: [{ name: 'obd', kind: 'obd' as const }] };
    expect(checkInputs(configuration as NonNullable<typeof configuration>, generic)).toMatchObject([
      { severity: 'warning', fix: 'add - { name: sky, gnss: true }' },
    ]);
  });

  test.each([
    ['can:\n  - { bus: body, socketcan: can0, log: recording.log }', 'bus body needs exactly one of'],
    ['can:\n  - { bus: body, socketcan: can0, bitrate: 500k }', 'bitrate is for slcan'],
    ['can:\n  - { bus: body, socketcan: can0/1 }', 'must be the name of a network interface'],
    ['can:\n  - { bus: body, slcan: /dev/ttyACM0, bitrate: fast }', 'must be a bit rate'],
    ['can:\n  - { bus: body, log: recording.log }\nobd: { isotp: body }', 'is a log, which cannot be polled'],
    ['can:\n  - { bus: body, socketcan: can0 }\nobd: { isotp: bodi }', 'no entry under can has bus "bodi"'],
    ['obd: { elm327: /dev/ttyUSB0, isotp: body }', 'obd needs exactly one of'],
    ['obd: { elm327: /dev/ttyUSB0, protocol: morse }', 'must be one of'],
    ['gnss: { clock: true }', 'gnss needs exactly one of'],
    ['gnss: { gpsd: tcp://localhost:2947 }\nfaults: { every: 10m }', 'fault codes are read by obd or can'],
    ['obd: { elm327: /dev/ttyUSB0 }\nfaults: { every: 1s }', 'polling would wait for the fault codes'],
    ['can: []', 'no input configured'],
  ])('%s', (inputs, message) => {
    const { configuration, diagnostics } = listening(inputs);
    expect(configuration).toBeUndefined();
    expect(diagnostics.map((one) => one.message).join()).toContain(message);
  });
});

test('every input needs a bus of the profile, and every bus of the profile an input', () => {
  const { configuration } = load(unit());
  const profile = {
    name: 'car',
    buses: ['body', 'drive', 'rear'].map((name) => ({ name, kind: 'can' as const })),
  };
  expect(checkInputs(configuration as NonNullable<typeof configuration>, profile)).toMatchObject([
    { file, line: 8, severity: 'error', message: 'profile car has no bus "radio" of frames' },
    { file, line: 0, severity: 'warning', message: 'no CAN input feeds bus rear of profile car' },
  ]);
});

test('a bus can have only one input', () => {
  const { configuration } = load(unit(['bus: drive, log', 'bus: body, log'], ["  - { bus: radio, log: '-' }\n", '']));
  const profile = { name: 'car', buses: [{ name: 'body', kind: 'can' as const }] };
  expect(checkInputs(configuration as NonNullable<typeof configuration>, profile)).toMatchObject([
    { file, line: 7, severity: 'error', message: 'bus body has an input already' },
  ]);
});

test('fault codes without obd need control units in the profile, on a bus that is not a log', () => {
  const read = (faults: string) => load(unit(['commands:', `${faults}commands:`])).configuration as Configuration;
  const buses = ['body', 'drive', 'radio'].map((name) => ({ name, kind: 'can' as const }));
  const controlUnits = (bus: string) => [{ bus, address: { request: 0x7a6, extended: false }, statusMask: 0x0d }];
  const plain = { name: 'car', buses };
  expect(checkInputs(read('faults: {}\n'), plain)).toMatchObject([
    { severity: 'error', message: expect.stringContaining('fault codes are read by obd or of controlUnits') },
  ]);
  expect(checkInputs(read(''), plain)).toEqual([]);
  expect(checkInputs(read('faults: {}\n'), { ...plain, controlUnits: controlUnits('drive') })).toMatchObject([
    { file, line: 7, severity: 'warning', message: expect.stringContaining('bus drive is a log') },
  ]);
  expect(checkInputs(read('faults: {}\n'), { ...plain, controlUnits: controlUnits('body') })).toEqual([]);
});

test('commands on a bus that is a log cause a warning', () => {
  const send = (bus: string) => ({ send: { bus } }) as unknown as ProfileCommand;
  const buses = ['body', 'drive', 'radio'].map((name) => ({ name, kind: 'can' as const }));
  const profile = { name: 'car', buses, commands: { 'doors.lock': send('drive'), 'horn.on': send('body') } };
  const read = (text: string) => load(text).configuration as NonNullable<ReturnType<typeof load>['configuration']>;
  expect(checkInputs(read(unit()), profile)).toMatchObject([
    { file, line: 7, severity: 'warning', message: expect.stringContaining('bus drive is a log') },
  ]);
  expect(checkInputs(read(unit(['commands: { trust: trust.json }\n', ''])), profile)).toEqual([]);
});
