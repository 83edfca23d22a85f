/** `vigie send` to the agent itself: monitors, callbacks, keys, another configuration. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKey, listKeys, readTrust } from '../../adapters/keys/index.ts';
import { ordersOf, orderUsages } from '../../commands/send/orders.ts';
import type { Details } from '../../commands/send/request.ts';
import { usages } from '../../commands/send/vocabulary.ts';
import { decodeBody, encodeBody } from '../../protocol/command.ts';
import type { CollectOrder } from '../../protocol/schema/collect.ts';
import { orderBodies } from '../../protocol/schema/order.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

let folder: string;
let keys: string;
const files: Record<string, string> = {};

const monitor = (name: string) => ({
  label: name,
  triggerParam: {
    triggers: [{ name: 'fast', data: { data: 'vehicle.kinetic.speed', op: 'greaterThan', value: ['130'] } }],
    boolExp: 'fast',
  },
});
const webhook = { label: 'hook', callback: { webhook: { target: 'https://example.com/hook', name: 'hook' } } };

function put(name: string, contents: unknown): void {
  files[name] = join(folder, name);
  writeFileSync(files[name], typeof contents === 'string' ? contents : JSON.stringify(contents, undefined, 1));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-orders-'));
  keys = join(folder, 'keys');
  put('bare.json', monitor('bare'));
  put('two.yaml', [
    { monitorId: 'a', monitor: monitor('a') },
    { monitorId: 'b', monitor: monitor('b'), status: 'Paused' },
  ]);
  put('faulty.json', { monitorId: 'a', monitor: { ...monitor('a'), triggerParam: { triggers: [], boolExp: '' } } });
  put('hook.json', webhook);
  put('shown.json', { callbackId: 'c1', status: 'Paused', subscribe: { type: ['Monitor'], ...webhook } });
  put('lost.json', { callbackId: 'c1', subscribe: { callback: { webhook: { target: 'nowhere', name: 'x' } } } });
  put('vigie.yaml', 'configuration: 1\nvin: VF3VGEBENCH000001\nprofile: bench\nmqtt: { url: mqtt://localhost }\n');
  put(
    'collection.yaml',
    `name: brakes
until: 2126-01-01T00:00:00Z
interval: 0
while: { path: kinetic.speed, atLeast: 10 }
signals:
  - { signal: BRAKE.*, name: Vehicle.Chassis.Brake.*, heartbeat: 5m }
  - MOTION.Torque
  - { signal: F.Torque, unit: Nm, resolution: 0.5, interval: 100ms }
`,
  );
  put('wrong-collection.yaml', 'name: a\nuntil: 2h\nsignals: [{ signal: M.S, unit: 7 }]\n');
  put('endless.yaml', 'name: a\nsignals: [M.S]\n');
  put('wrong.yaml', 'configuration: 1\nvin: VF3VGEBENCH000001\nprofil: bench\nmqtt: { url: mqtt://localhost }\n');
  await generateKey(keys, 'second', { algorithm: 'Ed25519', kinds: ['Doors', 'Horn'], notAfter: 1_900_000_000_000 });
  const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  put('door.pem', pair.publicKey.export({ type: 'spki', format: 'pem' }));
  put('private.pem', pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  put('rsa.pem', generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Replaces names of files by their paths. */
const words = (text: string): string[] => text.split(' ').map((word) => files[word] ?? word);

async function order(text: string, details: Details = {}) {
  const [what = '', ...rest] = words(text);
  return ordersOf(what, rest, details, keys);
}

describe('words of the command line', () => {
  test.each<[string, Details, string, object[]]>([
    [
      'monitor pause a b',
      {},
      'Monitor',
      [
        { monitorId: 'a', status: 'Paused' },
        { monitorId: 'b', status: 'Paused' },
      ],
    ],
    ['monitor resume a', {}, 'Monitor', [{ monitorId: 'a', status: 'Running' }]],
    ['monitor remove a', {}, 'Monitor', [{ monitorId: 'a', remove: true }]],
    ['monitor add bare.json', {}, 'Monitor', [{ monitorId: 'bare', monitor: monitor('bare') }]],
    ['monitor add bare.json', { id: 'mine' }, 'Monitor', [{ monitorId: 'mine', monitor: monitor('bare') }]],
    [
      'monitor add two.yaml bare.json',
      {},
      'Monitor',
      [
        { monitorId: 'a', monitor: monitor('a') },
        { monitorId: 'b', monitor: monitor('b'), status: 'Paused' },
        { monitorId: 'bare', monitor: monitor('bare') },
      ],
    ],
    ['callback pause c', {}, 'Callback', [{ callbackId: 'c', status: 'Paused' }]],
    ['callback remove c', {}, 'Callback', [{ callbackId: 'c', remove: true }]],
    [
      'callback add hook.json',
      { side: 'user', id: 'c2' },
      'Callback',
      [{ callbackId: 'c2', side: 'user', subscribe: webhook }],
    ],
    [
      'callback add shown.json',
      { side: 'user' },
      'Callback',
      [{ callbackId: 'c1', side: 'user', status: 'Paused', subscribe: { type: ['Monitor'], ...webhook } }],
    ],
  ])('send parses %s %j', async (text, details, kind, bodies) => {
    const requests = await order(text, details);
    expect(requests).toEqual(bodies.map((body) => ({ kind, body })));
    // The encoded body equals the decoded one.
    for (const request of requests)
      expect(decodeBody(request.kind, encodeBody(request.kind, request.body))).toEqual(request.body);
  });

  test('a key is added by name or file, and revoked by name, file or id', async () => {
    const [second] = await readTrust(keys);
    const spki = second?.publicKey.export({ type: 'spki', format: 'der' });
    const known = { name: 'second', publicKey: new Uint8Array(spki ?? []), notAfter: 1_900_000_000_000 };
    expect(await order('trust add second')).toEqual([
      { kind: 'Trust', body: { add: { ...known, kinds: ['Doors', 'Horn'] } } },
    ]);
    expect(await order('trust add second', { kinds: 'Lights' })).toMatchObject([
      { body: { add: { kinds: ['Lights'] } } },
    ]);
    const [added] = await order('trust add door.pem', { kinds: 'Doors, Lights' });
    expect(added).toMatchObject({ body: { add: { name: 'door', kinds: ['Doors', 'Lights'] } } });
    const { add } = decodeBody('Trust', encodeBody('Trust', added?.body ?? {}));
    expect(
      createPublicKey({ key: Buffer.from(add?.publicKey ?? []), type: 'spki', format: 'der' }).asymmetricKeyType,
    ).toBe('ec');

    const kid = (await listKeys(keys))[0]?.kid ?? '';
    const revoke = { kind: 'Trust', body: { revoke: new Uint8Array(Buffer.from(kid, 'hex')) } };
    expect(await order('trust revoke second')).toEqual([revoke]);
    expect(await order(`trust revoke ${kid.toUpperCase()}`)).toEqual([revoke]);
    expect((await order('trust revoke door.pem second'))[1]).toEqual(revoke);
  });

  test('missing messages are requested by class and runs of numbers', async () => {
    const numbers = [
      [17, 20],
      [31, 31],
    ];
    const [request] = await order('resend 5 17-20 31');
    expect(request).toEqual({ kind: 'Resend', body: { class: 5, numbers } });
    expect(decodeBody('Resend', encodeBody('Resend', request?.body ?? {}))).toEqual({ class: 5, numbers });
  });

  test('a collection ends at a date-time or after a duration, and is stopped by name', async () => {
    const start = Date.now();
    const details = { until: '2h', interval: '100ms', while: 'kinetic.speed>=10' };
    const [request] = await order('collect start test can:MOTION.Torque CELLS.*', details);
    const body = request?.body as CollectOrder;
    expect(request).toEqual({
      kind: 'Collect',
      body: {
        name: 'test',
        signals: [{ signal: 'MOTION.Torque', bus: 'can' }, { signal: 'CELLS.*' }],
        until: body.until,
        interval: 100,
        while: { path: 'kinetic.speed', atLeast: 10 },
      },
    });
    expect(body.until).toBeGreaterThanOrEqual(start + 2 * 3_600_000);
    expect(decodeBody('Collect', encodeBody('Collect', body))).toEqual(body);
    const [fixed] = await order('collect start a M.S', {
      until: '2126-01-01T00:00:00+01:00',
      while: 'ignition.type=Start',
    });
    expect(fixed?.body).toMatchObject({
      until: Date.UTC(2125, 11, 31, 23),
      while: { path: 'ignition.type', equals: 'Start' },
    });
    expect(await order('collect stop a b')).toEqual([
      { kind: 'Collect', body: { name: 'a', signals: [] } },
      { kind: 'Collect', body: { name: 'b', signals: [] } },
    ]);
  });

  test('a collection is sent from a file, with times as people write them', async () => {
    expect(await order('collect file collection.yaml')).toEqual([
      {
        kind: 'Collect',
        body: {
          name: 'brakes',
          until: Date.UTC(2126, 0, 1),
          interval: 0,
          while: { path: 'kinetic.speed', atLeast: 10 },
          signals: [
            { signal: 'BRAKE.*', name: 'Vehicle.Chassis.Brake.*', heartbeat: 300_000 },
            { signal: 'MOTION.Torque' },
            { signal: 'F.Torque', unit: 'Nm', resolution: 0.5, interval: 100 },
          ],
        },
      },
    ]);
  });

  test('a configuration is sent unchanged', async () => {
    expect(await order('configuration vigie.yaml')).toMatchObject([
      { kind: 'Configuration', body: { configuration: expect.stringMatching(/^configuration: 1\nvin: /) } },
    ]);
  });

  test('fault codes are read on request', async () => {
    const [request] = await order('faults read');
    expect(request).toEqual({ kind: 'ReadFaults', body: {} });
    expect(decodeBody('ReadFaults', encodeBody('ReadFaults', {}))).toEqual({});
  });

  test('a capture has the duration and frames given on the command line', async () => {
    expect(await order('capture take Ticket-7')).toEqual([{ kind: 'Capture', body: { name: 'Ticket-7' } }]);
    const details = { before: '10s', after: '0', buses: 'can,body', identifiers: '1A0,0x18FEF100' };
    const body = {
      name: 'b',
      before: 10_000,
      after: 0,
      buses: ['can', 'body'],
      identifiers: [0x1a0, 0x18fef100],
    };
    expect(await order('capture take b', details)).toEqual([{ kind: 'Capture', body }]);
    expect(decodeBody('Capture', encodeBody('Capture', body))).toEqual(body);
  });

  test('each kind of command to the agent has words on the command line', () => {
    expect(orderUsages).toHaveLength(Object.keys(orderBodies).length);
  });

  test.each<[string, Details, RegExp]>([
    ['monitor', {}, /monitor add FILE/],
    ['monitor add', {}, /monitor add FILE/],
    ['monitor stop a', {}, /monitor add FILE/],
    ['monitor pause', {}, /pause\|resume/],
    ['monitor pause a/b', {}, /"a\/b" is not a monitorId/],
    ['monitor pause a', { id: 'b' }, /has no --id/],
    ['monitor add bare.json', { side: 'user' }, /has no --side/],
    ['monitor add two.yaml', { id: 'x' }, /two\.yaml has its own/],
    ['monitor add none.yaml', {}, /none\.yaml: error: cannot be read/],
    ['monitor add faulty.json', {}, /faulty\.json:\d+: error: triggerParam\.triggers: must have 1 to 5 entries/],
    ['callback add hook.json', {}, /--side fleet or --side user/],
    ['callback add hook.json', { side: 'both' }, /--side fleet or --side user/],
    ['callback add hook.json', { side: 'fleet', id: 'c2' }, /hook\.json: error: .*remoteTypes/],
    ['callback add lost.json', { side: 'user' }, /lost\.json:6: error: .*target/],
    ['callback add hook.json', { side: 'user' }, /"hook" is not a callbackId: .*give --id/],
    ['callback pause hook', {}, /"hook" is not a callbackId/],
    ['trust add', {}, /trust add KEY/],
    ['trust forget second', {}, /trust add KEY/],
    ['trust add third', {}, /neither a file with a public key \(PEM\) nor a key in .*keys \(second\)/],
    ['trust add second', { kinds: 'Dors' }, /--kinds has Dors; known are/],
    ['trust add door.pem', {}, /give --kinds/],
    ['trust add private.pem', { kinds: 'Doors' }, /not a public key/],
    ['trust add rsa.pem', { kinds: 'Doors' }, /not a key of P-256 or Ed25519/],
    ['trust revoke 12ab', {}, /neither a key id/],
    ['resend', {}, /resend CLASS/],
    ['resend 9 1', {}, /not a priority class/],
    ['resend 5 20-17', {}, /not a run of numbers/],
    ['collect', {}, /collect start NAME/],
    ['collect start a M.S', {}, /needs an end: give --until/],
    ['collect start a M.S', { until: 'soon' }, /--until must be a time from now such as 2h/],
    ['collect start a M.S', { until: '2020-01-01T00:00:00Z' }, /--until is in the past/],
    ['collect start a M.S', { until: '2h', interval: 'often' }, /--interval must be a time such as 100ms/],
    ['collect start a M.S', { until: '2h', while: 'kinetic.speed>=fast' }, /--while must be such as/],
    ['collect start a Speed', { until: '2h' }, /"Speed" is not a signal like MOTION\.Speed/],
    ['collect start a/b M.S', { until: '2h' }, /"a\/b" is not a name/],
    ['collect stop a', { until: '2h' }, /has no --until/],
    ['collect file wrong-collection.yaml', {}, /wrong-collection\.yaml was not sent: .*unit/],
    ['collect file endless.yaml', {}, /until is missing/],
    ['capture take', {}, /capture take NAME/],
    ['capture take a', { identifiers: '2FFFFFFF' }, /"2FFFFFFF" is not a CAN identifier/],
    ['capture take a', { before: 'long' }, /--before must be a time such as/],
    ['faults', {}, /faults read/],
    ['faults read now', {}, /faults read/],
    ['configuration', {}, /configuration FILE/],
    ['configuration vigie.yaml again', {}, /configuration FILE/],
    ['configuration wrong.yaml', {}, /wrong\.yaml:3: error: unknown member "profil"/],
  ])('"%s" %j is refused with advice', async (text, details, message) => {
    await expect(order(text, details)).rejects.toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^(usage|configuration)\.wrong$/),
        message: expect.stringMatching(message),
      }),
    );
  });

  test('an unknown word is refused with a list of all words', async () => {
    const { status, stderr } = await vigie('send', 'VF3VGEBENCH000001', 'fly');
    expect(status).toBe(2);
    for (const usage of [...usages, ...orderUsages]) expect(stderr).toContain(usage);
  });
});

describe('commands to a bench', () => {
  const VIN = 'VF3VGEBENCH000001';
  let data: string;
  let bench: VigieProcess;
  let receiver: Server;
  const told = new Arrivals<{ callbackId?: string; monitorEvent?: { monitorId: string } }>();

  beforeAll(async () => {
    data = join(folder, 'bench');
    receiver = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        told.push(JSON.parse(Buffer.concat(pieces).toString()));
        response.end();
      });
    });
    await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
    bench = new VigieProcess(['bench', '--data', data, '--port', '0', '--http', '0', '--scenario', 'parked']);
    await bench.says('Ctrl-C ends the bench.');
    await bench.says(`published vigie/1/${VIN}/up/telemetry`);
  });
  afterAll(async () => {
    await bench.end('SIGKILL');
    receiver.close();
  });

  const send = (text: string) => vigie('send', VIN, ...words(text), '--data', data, '--signing-key', 'bench');
  const ends = (stdout: string): unknown[] =>
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { status: string }).status);

  // In sequence: each test starts from the state that the previous one left.
  test('monitors can be added, listed, paused and removed at the bench', async () => {
    expect((await send('monitor list')).status).toBe(1);
    const added = await send('monitor add two.yaml');
    expect(ends(added.stdout), added.stderr).toEqual(['Success', 'Success']);
    expect(added.status).toBe(0);
    const { version, monitors } = JSON.parse((await send('monitor list')).stdout);
    expect({ version, monitors }).toMatchObject({
      version: 2,
      monitors: [
        { monitorId: 'a', status: 'Running' },
        { monitorId: 'b', status: 'Paused' },
      ],
    });
    expect((await send('monitor pause a')).status).toBe(0);
    expect((await send('monitor remove b')).status).toBe(0);
    const { stdout } = await send('monitor list --format text');
    expect(stdout).toMatch(/^version 4, 1 monitor\n {2}a +Paused +since 20\d\d-/);
    const unknown = await send('monitor pause nobody --format text');
    expect(unknown.stdout).toMatch(/Monitor Failed \(WrongCommand\): .*no monitor nobody\n/);
    expect(unknown.status).toBe(1);
  });

  test('a callback at the bench gets the events of its monitor', async () => {
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    put('beef.json', { callback: { webhook: { target, name: 'local' } }, type: ['Monitor'] });
    put('still.json', {
      label: 'still',
      subscribeParam: { callbackId: 'beef' },
      triggerParam: {
        triggers: [{ name: 'still', data: { data: 'vehicle.kinetic.speed', op: 'lowerThan', value: ['1'] } }],
        boolExp: 'still',
      },
    });
    const added = await send('callback add beef.json --side user');
    expect(ends(added.stdout), added.stderr).toEqual(['Success']);
    expect((await send('monitor add still.json')).status).toBe(0);
    const message = await told.take(({ monitorEvent }) => monitorEvent?.monitorId === 'still');
    expect(message).toMatchObject({ callbackId: 'beef', type: 'Monitor' });
    expect((await send('callback remove beef')).status).toBe(0);
    expect((await send('callback pause beef')).status).toBe(1);
  });

  test('a key at the bench can be trusted and revoked', async () => {
    const bySecond = () => vigie('send', VIN, 'horn', '--data', data, '--keys', keys, '--valid', '1', '--wait', '1');
    expect((await bySecond()).stderr).toContain('does it trust this key');
    const added = await vigie('send', VIN, 'trust', 'add', ...words('door.pem'), '--kinds', 'Doors', '--data', data);
    expect(ends(added.stdout), added.stderr).toEqual(['Success']);
    const again = await send('trust add door.pem --kinds Lights --format text');
    expect(again.stdout).toMatch(/Trust Failed \(MissingRights\): /);
    expect((await send('trust revoke door.pem')).status).toBe(0);
    expect((await send('trust add door.pem --kinds Doors')).status).toBe(1);
  });

  test('signals of the bench are collected under names and units until the collection is stopped', async () => {
    const watched = new VigieProcess(['watch', VIN, '--data', data]);
    await watched.says(`watching ${VIN}`);
    const added = await send('collect start test MOTION.* --until 1h --interval 0');
    expect(ends(added.stdout), added.stderr).toEqual(['Success']);
    await watched.says('"name":"MOTION.');
    await watched.end('SIGTERM');
    expect((await send('collect stop test')).status).toBe(0);
    const { stdout } = await send('collect start test MOTION.Xyz --until 1h --format text');
    expect(stdout).toMatch(/Collect Failed \(WrongCommand\): message MOTION has no signal Xyz/);
  });

  test('a bench refuses another configuration with the reason', async () => {
    const { status, stdout } = await send('configuration vigie.yaml --format text');
    expect(stdout).toMatch(/Configuration Failed \(WrongCommand\): /);
    expect(status).toBe(1);
  });
});
