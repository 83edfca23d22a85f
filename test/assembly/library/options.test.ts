/**
 * Wrong options of createAgent: programs without a compiler get an error with a code, and no partly configured agent.
 */
import { expect, test } from 'vitest';
import { canLog, DbcCodec, parseDbc, recordFrames, slcan, socketcan } from '../../../assembly/library/can.ts';
import { gpsd, receiver } from '../../../assembly/library/gnss.ts';
import { localInterface } from '../../../assembly/library/http.ts';
import { type CreateAgentOptions, createAgent, VigieError } from '../../../assembly/library/index.ts';
import { mqtt } from '../../../assembly/library/mqtt.ts';
import { elm327, isotp } from '../../../assembly/library/obd.ts';
import { directory, memoryStore } from '../../../assembly/library/store.ts';
import { simulatedCar } from '../../../assembly/library/testing.ts';
import { loadVehicle } from '../../../assembly/vehicle.ts';
import { outboxSettings } from '../../../protocol/settings.ts';

const sound = { vin: 'VF3VGEBENCH000001', profile: 'bench' };

const refused: [what: string, options: unknown, where: string, words: string][] = [
  ['no options', undefined, 'options', 'must be an object'],
  ['options without a VIN', { profile: 'bench' }, 'vin', 'must be a vehicle identification number'],
  ['an invalid VIN', { ...sound, vin: 'VF3/GEBENCH+00001' }, 'vin', '17 capital letters and digits'],
  ['a VIN in small letters', { ...sound, vin: 'vf3vgebench000001' }, 'vin', 'capital letters'],
  ['options without a profile', { vin: sound.vin }, 'profile', 'generic-obd2'],
  ['an empty profile', { ...sound, profile: '' }, 'profile', 'the folder of a profile'],
  [
    'an option that does not exist',
    { ...sound, sorces: [] },
    'sorces',
    'sorces: unknown option; did you mean sources?',
  ],
  ['an option like none', { ...sound, broker: 'x' }, 'broker', 'known: vin, profile, sources'],
  ['one source instead of a list', { ...sound, sources: { can: {} } }, 'sources', 'must be a list'],
  ['a source that is a text', { ...sound, sources: ['can0'] }, 'sources', "socketcan('can0')"],
  ['a source that is nothing', { ...sound, sources: [undefined] }, 'sources', 'must be a list'],
  ['an object that is no source', { ...sound, sources: [{}] }, 'sources', 'or of sources'],
  ['an address as link', { ...sound, link: 'mqtt://broker' }, 'link', 'must be what mqtt({ url }) gives'],
  ['a link without an address', { ...sound, link: mqtt({ url: [] }) }, 'link', 'mqtt({ url })'],
  ['a broker that does not speak MQTT', { ...sound, link: mqtt({ url: 'http://broker' }) }, 'link', 'mqtt://host:1883'],
  ['a store without records', { ...sound, store: { ...memoryStore(), records: undefined } }, 'store', 'memoryStore()'],
  ['a link that cannot publish', { ...sound, link: { open() {}, close() {} } }, 'link', 'open, publish and close'],
  ['a path as store', { ...sound, store: '/var/lib/vigie' }, 'store', "directory('/path')"],
  ['a directory without a path', { ...sound, store: directory('') }, 'store', "directory('/path')"],
  ['commands without trusted keys', { ...sound, store: directory('x'), remotes: {} }, 'remotes', '{ trust: file }'],
  ['a recorder that is no function', { ...sound, recorders: [{}] }, 'recorders', 'functions'],
  ['a port as interface', { ...sound, http: 8080 }, 'http', 'localInterface()'],
  ['a time zone that does not exist', { ...sound, timeZone: 'Mars/Base' }, 'timeZone', 'Europe/Paris'],
  ['a log that cannot warn', { ...sound, log: { info() {}, error() {} } }, 'log', 'info, warn and error'],
  ['an invalid clock', { ...sound, clock: Date }, 'clock', 'now, monotonic and after'],
  ['a section that does not exist', { ...sound, settings: { outbix: {} } }, 'settings.outbix', 'did you mean outbox?'],
  [
    'a setting that does not exist',
    { ...sound, settings: { outbox: { batsch: 1 } } },
    'settings.outbox.batsch',
    'did you mean batch?',
  ],
  [
    'a time as people write it',
    { ...sound, settings: { outbox: { batch: '2s' } } },
    'settings.outbox.batch',
    'must be a number of milliseconds',
  ],
  ['a time of nothing', { ...sound, settings: { outbox: { batch: 0 } } }, 'settings.outbox.batch', 'at least 1'],
  [
    'half a byte',
    { ...sound, settings: { collect: { bytesPerDay: 2048.5 } } },
    'settings.collect.bytesPerDay',
    'whole',
  ],
  [
    'a setting beyond what an agent can work with',
    { ...sound, settings: { outbox: { limit: 1024 } } },
    'settings.outbox.limit',
    outboxSettings.limit.range?.fault ?? '',
  ],
  ['limits of the profile', { ...sound, settings: { trips: {} } }, 'settings.trips', 'are in the profile'],
  ['a charge of 101 %', { ...sound, settings: { power: { battery: 101 } } }, 'settings.power.battery', 'at most 100'],
];
for (const [what, options, where, words] of refused) {
  test(`createAgent refuses ${what}, and names the option and its valid values`, async () => {
    const agent = createAgent(options as CreateAgentOptions);
    await expect(agent).rejects.toBeInstanceOf(VigieError);
    await expect(agent).rejects.toMatchObject({ code: 'usage.wrong', where, message: expect.stringContaining(words) });
  });
}

test('createAgent accepts every default of a setting, and 0 where it is valid', async () => {
  const { limit, keepAcknowledged, batch } = outboxSettings;
  for (const kept of [keepAcknowledged.default, 0]) {
    const outbox = { limit: limit.default, keepAcknowledged: kept, batch: batch.default };
    await createAgent({ ...sound, settings: { outbox } });
  }
});

test('mqtt() refuses an unknown option and suggests the nearest one', () => {
  expect(() => mqtt({ ulr: 'mqtt://broker' } as unknown as Parameters<typeof mqtt>[0])).toThrowError(
    expect.objectContaining({
      code: 'usage.wrong',
      where: 'mqtt.ulr',
      message: expect.stringContaining('unknown option; '),
    }),
  );
});

/** Called like from a program without a compiler. */
const loose = {
  canLog,
  elm327,
  gpsd,
  isotp,
  localInterface,
  mqtt,
  receiver,
  recordFrames,
  simulatedCar,
  slcan,
  socketcan,
} as unknown as Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;

const refusedCalls: [name: string, values: unknown[], where: string, words: string][] = [
  ['canLog', ['x.log', { speed: 'fast' }], 'canLog.speed', 'must be a number above 0'],
  ['canLog', ['x.log', { speed: 0 }], 'canLog.speed', 'must be a number above 0'],
  ['canLog', ['x.log', { sped: 2 }], 'canLog.sped', 'did you mean speed?'],
  ['canLog', ['x.log', { loop: 'yes' }], 'canLog.loop', 'true or false'],
  ['canLog', ['x.log', 'body'], 'canLog', 'the options must be an object with bus, speed, loop, ended'],
  ['canLog', [undefined], 'canLog', 'the name of a recording'],
  ['socketcan', ['can0', { bus: 7 }], 'socketcan.bus', 'the name of a bus'],
  ['slcan', ['/dev/ttyACM0', { bitrate: '500k' }], 'slcan.bitrate', 'bit/s'],
  ['recordFrames', ['logs', { keeep: 3 }], 'recordFrames.keeep', 'did you mean keep?'],
  ['recordFrames', ['logs', { keep: 0 }], 'recordFrames.keep', 'at least 1'],
  ['elm327', ['/dev/rfcomm0', { protocol: 'can' }], 'elm327.protocol', 'must be one of '],
  ['isotp', [{ over: 'body' }], 'isotp', 'the name of a bus'],
  ['receiver', ['/dev/ttyUSB1', { clock: 1 }], 'receiver.clock', 'true or false'],
  ['gpsd', [2947], 'gpsd', 'must be an address'],
  ['simulatedCar', [{ scenario: 'drive' }], 'simulatedCar.scenario', 'one of loop, parked, day'],
  ['localInterface', ['8080'], 'localInterface', 'a port from 0 to 65535'],
  ['mqtt', ['mqtt://localhost'], 'mqtt', 'mqtt({ url:'],
  ['mqtt', [{ url: 'mqtts://broker', crt: 'x' }], 'mqtt.crt', 'cert'],
  ['mqtt', [{ url: 'mqtts://broker', cert: 'a.pem' }], 'mqtt.cert', 'the content of a PEM file, not its name'],
];
for (const [name, values, where, words] of refusedCalls) {
  test(`${name}(${JSON.stringify(values).slice(1, -1)}) is refused, and the error names ${where}`, () => {
    expect(() => loose[name]?.(...values)).toThrowError(
      expect.objectContaining({ code: 'usage.wrong', where, message: expect.stringContaining(words) }),
    );
  });
}

test('a codec refuses databases without their wrapper, and names a value by the table of its signal', () => {
  const { databases } = loadVehicle('bench');
  const bare = databases.map(({ database }) => database) as unknown as typeof databases;
  expect(() => new DbcCodec(bare)).toThrowError(
    expect.objectContaining({ code: 'usage.wrong', message: expect.stringContaining('new DbcCodec([{ database }])') }),
  );
  const dbc =
    'BU_: Car\nBO_ 256 BODY: 8 Car\n SG_ Locks : 0|2@1+ (1,0) [0|3] "" Car\nVAL_ 256 Locks 1 "open" 2 "locked" ;\n';
  const { database } = parseDbc(new TextEncoder().encode(dbc), 'car.dbc');
  const codec = new DbcCodec([{ database }]);
  expect([codec.valueName('BODY', 'Locks', 2), codec.valueName('BODY', 'Locks', 3)]).toEqual(['locked', undefined]);
  expect(() => codec.encode('BODY', { Locks: 'lock' })).toThrow('did you mean locked? (known: open, locked)');
});

test('createAgent refuses an unknown profile with a list of the existing ones', async () => {
  await expect(createAgent({ ...sound, profile: 'peugoet' })).rejects.toMatchObject({
    code: 'configuration.wrong',
    message: expect.stringMatching(/there is no profile "peugoet" \(known: bench, /),
  });
});

test('start() refuses a missing recording and names the file', async () => {
  const agent = await createAgent({ ...sound, sources: [canLog('no-such.log')] });
  await expect(agent.start()).rejects.toMatchObject({ code: 'input.unreadable', where: 'no-such.log' });
});

test('memoryStore() is a complete store that the next agent can continue with', async () => {
  const store = memoryStore();
  for (const run of ['first', 'second']) {
    const agent = await createAgent({ ...sound, store });
    await agent.start();
    store.records.put('notes', { id: run, at: 1, record: { run } });
    await agent.stop();
  }
  expect([...store.records.list('notes')].map(({ id }) => id)).toEqual(['first', 'second']);
});
