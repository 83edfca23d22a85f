/** Life of a car at a hub: enrolled, connected, expired, renewed, removed, refused, forgotten. */
import { X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { ClientRequest } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enrol, fetchAuthority, newCarKey, readEnrolmentToken, renew } from '../../../adapters/certificates/index.ts';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { brokerOf } from '../../../assembly/configured.ts';
import { renewalOf } from '../../../assembly/renewal.ts';
import { type Configuration, loadConfiguration } from '../../../config/configuration.ts';
import { issueToken } from '../../../hub/start/enrolment.ts';
import { type Hub, startHub } from '../../../hub/start/hub.ts';
import { type OpenRegistry, openRegistry } from '../../../hub/start/registry.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { vigie } from '../../rig/bench.ts';
import { MemoryLog } from '../../rig/log.ts';
import { MqttClient } from '../../rig/mqtt-client.ts';
import { DrivingCar } from '../driving-car.ts';
import { payloadOf, trip } from '../messages.ts';

const [VIN, OTHER, DRIVING] = ['VF3VGEHVBE0000001', 'VF3VGEHVBE0000002', 'VF3VGEHVBE0000003'] as const;
const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-enrolment-'));
const data = join(folder, 'hub');
const log = new MemoryLog();

/** While `behind` is set, certificates that the hub issues have already expired. */
class HubClock extends SystemClock {
  behind = 0;

  override now(): number {
    return super.now() - this.behind;
  }
}
const clock = new HubClock();
let hub: Hub;
let open: OpenRegistry;
let url: string;

const token = (vin: string): Promise<string> => issueToken(data, open.registry, vin, Date.now());

interface Files {
  readonly config: string;
  readonly cert: string;
  readonly ca: string;
}

/** Configuration of a car before its enrolment. */
function carIn(name: string): Files {
  const car = join(folder, name);
  mkdirSync(car);
  const config = join(car, 'vigie.yaml');
  writeFileSync(
    config,
    `configuration: 1 # of the workshop\nprofile: bench\ncan:\n  - {bus: body, simulated: true}\ndata: records\nmqtt:\n  url: mqtt://old.example\n  username: old\n`,
  );
  return { config, cert: join(car, 'records/hub/car.pem'), ca: join(car, 'records/hub/authority.pem') };
}

const connect = ({ cert, ca }: Pick<Files, 'cert' | 'ca'>, vin: string) => {
  const pem = readFileSync(cert, 'utf8');
  return MqttClient.connect(hub.broker, { clientId: vin, ca: readFileSync(ca), cert: pem, key: pem });
};

const send = (client: MqttClient, vin: string, seq: number) =>
  client.publish(upTopic(vin, 'trip'), payloadOf('trip', trip(`a${seq}`), { vin, seq }));

beforeAll(async () => {
  open = await openRegistry({ data }, log);
  for (const vin of [VIN, OTHER, DRIVING]) await open.registry.add(vin, [{ kind: 'fleet', id: 'north' }], Date.now());
  const secure = { names: ['localhost', '127.0.0.1'], enrolment: 0 };
  hub = await startHub({ data, port: 0, http: 0, secure, clock, log });
  url = `https://127.0.0.1:${hub.enrolment}`;
});

afterAll(async () => {
  await open.close();
  await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a car is enrolled, publishes, renews an expired certificate, is removed, refused and forgotten', async () => {
  const car = carIn('whole');
  const given = await token(VIN);
  const enrolled = await vigie('enroll', url, '--token', given, '-c', car.config);
  expect(enrolled).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(`enrolled: ${VIN}`) });
  const text = readFileSync(car.config, 'utf8');
  expect(text).toContain('# of the workshop');
  expect(text).not.toContain('old');
  const { configuration, diagnostics } = loadConfiguration(car.config, {});
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(configuration).toMatchObject({
    vin: VIN,
    mqtt: { url: `mqtts://127.0.0.1:${new URL(hub.broker).port}`, ca: car.ca, cert: car.cert, key: car.cert, est: url },
  });
  expect(statSync(car.cert).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(configuration?.commands?.trust as string, 'utf8'))).toEqual(
    JSON.parse(readFileSync(hub.trust, 'utf8')),
  );

  const client = await connect(car, VIN);
  expect(await send(client, VIN, 0)).toBe('acknowledged');
  // Its certificate is valid but belongs to the other car.
  expect(await send(client, OTHER, 0)).toBe('ended');

  clock.behind = 200 * DAY;
  const ca = readFileSync(car.ca, 'utf8');
  const expired = await renew(url, ca, { pem: readFileSync(car.cert, 'utf8') });
  clock.behind = 0;
  writeFileSync(car.cert, expired.pem);
  await expect(connect(car, VIN)).rejects.toThrow(/Not authorized/);
  const reasons = log.lines.flatMap(({ event, fields }) =>
    event === 'hub.client.refused' ? [fields?.['reason']] : [],
  );
  expect(reasons).toContainEqual(expect.stringContaining('CERT_HAS_EXPIRED'));
  const renewed = await vigie('enroll', url, '--renew', '--ca', car.ca, '--cert', car.cert);
  expect(renewed).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('renewed: ') });
  expect(readFileSync(car.cert, 'utf8')).not.toBe(expired.pem);
  const again = await connect(car, VIN);
  expect(await send(again, VIN, 1)).toBe('acknowledged');
  expect((await vigie('enroll', url, '--renew', '--ca', car.ca, '--cert', car.cert)).stdout).toMatch(/^not due: /);

  await open.registry.remove(VIN, Date.now());
  await again.closed;
  await expect(connect(car, VIN)).rejects.toThrow(/Not authorized/);
  await expect(renew(url, ca, { pem: readFileSync(car.cert, 'utf8') })).rejects.toThrow(/403: .*revoked/);
  await expect(enrol(url, ca, readEnrolmentToken(given), await newCarKey())).rejects.toThrow(/401: /);

  expect(await open.registry.forget(VIN, Date.now())).toBe(true);
  // The hub clears the retained messages of its broker, and then erases the VIN.
  while ((await open.registry.erasures()).length > 0) await new Promise(setImmediate);
  const files = ['', '-wal'].map((end) => join(data, `hub.sqlite${end}`)).filter(existsSync);
  expect(files.filter((file) => readFileSync(file).includes(VIN))).toEqual([]);
  await expect(renew(url, ca, { pem: readFileSync(car.cert, 'utf8') })).rejects.toThrow(/403: /);
});

test.each([
  ['without a broker', 'data: records\n'],
  ['with an empty section of the broker', 'data: records\nmqtt:\ncommands:\n'],
])('a car can be enrolled into a configuration %s', async (name, text) => {
  const car = carIn(name.replaceAll(' ', '-'));
  writeFileSync(car.config, text);
  const enrolled = await vigie('enroll', url, '--token', await token(OTHER), '-c', car.config);
  expect(enrolled).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(car.config, 'utf8')).toContain(`vin: ${OTHER}\nmqtt:\n  url: mqtts://`);
});

test('a configuration that cannot be written is refused before the token is used', async () => {
  const given = await token(OTHER);
  for (const [index, text] of ['- a list\n', 'mqtt: text\n', 'commands: []\n', 'mqtt: [\n'].entries()) {
    const car = carIn(`refused-${index}`);
    writeFileSync(car.config, text);
    const { status, stderr } = await vigie('enroll', url, '--token', given, '-c', car.config);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(car.config) });
    expect(stderr).not.toContain('internal error');
    expect(readFileSync(car.config, 'utf8')).toBe(text);
  }
  const ca = await fetchAuthority(url, readEnrolmentToken(given));
  await enrol(url, ca, readEnrolmentToken(given), await newCarKey());
});

test('an enrolment that fails after the token was used can be repeated with the same token', async () => {
  const car = carIn('repeated');
  const given = await token(OTHER);
  // A directory blocks the path of the certificate, so storing it fails.
  mkdirSync(car.cert, { recursive: true });
  expect((await vigie('enroll', url, '--token', given, '-c', car.config)).status).not.toBe(0);
  rmSync(car.cert, { recursive: true });
  expect(await vigie('enroll', url, '--token', given, '-c', car.config)).toMatchObject({ status: 0, stderr: '' });
  expect(readdirSync(dirname(car.cert)).sort()).toEqual(['authority.pem', 'car.pem', 'trust.json']);
});

test('a token is valid for one key, and a hub with another authority never receives it', async () => {
  const given = readEnrolmentToken(await token(OTHER));
  const ca = await fetchAuthority(url, given);
  const key = await newCarKey();
  for (const attempt of [await enrol(url, ca, given, key), await enrol(url, ca, given, key)]) {
    expect(new X509Certificate(attempt.pem).subject).toBe(`CN=${OTHER}`);
  }
  await expect(enrol(url, ca, given, await newCarKey())).rejects.toThrow(/401: .*was used/);
  await expect(enrol(url, ca, { ...given, vin: VIN }, key)).rejects.toThrow(/401: /);
  await expect(enrol(url, ca, given, 'no key')).rejects.toMatchObject({ code: 'input.malformed' });

  const heard: string[] = [];
  const pem = readFileSync(join(data, 'hub.pem'));
  const impostor = createServer({ key: pem, cert: pem }, (request, response) => {
    heard.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim());
    response.end(Buffer.from('nothing').toString('base64'));
  });
  await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
  const { port } = impostor.address() as AddressInfo;
  const car = carIn('impostor');
  const { status } = await vigie('enroll', `https://127.0.0.1:${port}`, '--token', given.text, '-c', car.config);
  expect([status, heard]).toEqual([2, ['GET /.well-known/est/cacerts']]);
  expect(existsSync(car.cert)).toBe(false);
  await new Promise((resolve) => impostor.close(resolve));

  const fake = { ...given, fingerprint: 'A'.repeat(43) };
  await expect(fetchAuthority(url, fake)).rejects.toThrow('its authority has another fingerprint');
});

test('an oversized or aborted request affects no other request', async () => {
  const given = readEnrolmentToken(await token(OTHER));
  const ca = await fetchAuthority(url, given);
  const authorization = `Basic ${Buffer.from(`${OTHER}:x`).toString('base64')}`;
  const headers = { authorization, 'Content-Type': 'application/pkcs10' };
  const post = (body: string, then: (asking: ClientRequest) => void): Promise<number | undefined> =>
    new Promise((resolve) => {
      const asking = request(new URL('/.well-known/est/simpleenroll', url), {
        method: 'POST',
        headers,
        ca,
        agent: false,
      });
      asking.once('response', ({ statusCode }) => resolve(statusCode));
      asking.once('error', () => resolve(undefined));
      asking.write(body, () => then(asking));
    });
  const long = 'A'.repeat(100_000);
  expect([413, undefined]).toContain(await post(long, (asking) => asking.end()));
  expect([413, undefined]).toContain(await post(long, (asking) => asking.destroy()));
  expect(await post('A', (asking) => asking.destroy())).toBeUndefined();
  expect(await post('A', (asking) => asking.end())).toBe(400);
});

test('a car with an unset clock can verify the hub, because authority and hub are valid since 1970', async () => {
  const given = readEnrolmentToken(await token(OTHER));
  const authority = new X509Certificate(await fetchAuthority(url, given));
  const own = new X509Certificate(readFileSync(join(data, 'hub.pem')));
  for (const certificate of [authority, own]) expect(Date.parse(certificate.validFrom)).toBe(0);
  expect(own.checkIssued(authority) && own.verify(authority.publicKey)).toBe(true);
  for (const name of ['localhost']) expect(own.checkHost(name)).toBe(name);
  expect(own.checkIP('127.0.0.1')).toBe('127.0.0.1');
});

test('an agent whose certificate expired while parked renews it automatically and publishes', async () => {
  const files = carIn('driving');
  expect((await vigie('enroll', url, '--token', await token(DRIVING), '-c', files.config)).status).toBe(0);
  clock.behind = 200 * DAY;
  const expired = await renew(url, readFileSync(files.ca, 'utf8'), { pem: readFileSync(files.cert, 'utf8') });
  clock.behind = 0;
  writeFileSync(files.cert, expired.pem);
  const configuration = loadConfiguration(files.config, {}).configuration as Configuration;
  const runs: (readonly string[])[] = [];
  const dialing = renewalOf(configuration.mqtt, (words) => {
    runs.push(words);
    void vigie(...words);
  });
  const car = new DrivingCar({ vin: DRIVING, url: '', mqtt: brokerOf(configuration, dialing), scenario: 'parked' });
  try {
    await car.start();
    await car.until(() => car.acknowledged.length > 0);
    expect(runs).toEqual([['enroll', url, '--renew', '--ca', files.ca, '--cert', files.cert]]);
    expect((await hub.store.vehicles()).map(({ vin }) => vin)).toContain(DRIVING);
  } finally {
    await car.remove();
  }
});

test('a new configuration needs a directory for the key, and stores its path', async () => {
  const car = join(folder, 'new-car');
  mkdirSync(car);
  const config = join(car, 'vigie.yaml');
  const words = ['enroll', url, '--token', await token(OTHER), '-c', config];
  const refused = await vigie(...words);
  expect([refused.status, refused.stderr]).toEqual([
    2,
    expect.stringContaining('does not exist yet: name with --data'),
  ]);
  expect(existsSync(config)).toBe(false);
  const enrolled = await vigie(...words, '--data', join(car, 'records'));
  expect(enrolled).toMatchObject({ status: 0, stderr: '' });
  expect(enrolled.stdout).toContain('Next: write profile and an input such as can into');
  expect(readFileSync(config, 'utf8')).toContain(`data: ${join(car, 'records')}`);
  expect(existsSync(join(car, 'records/hub/car.pem'))).toBe(true);
});

test('the interface uses TLS with the hub’s certificate; a hub open to other machines needs TLS and a registry', async () => {
  expect(hub.interface.url).toMatch(/^https:/);
  const start = (more: object) =>
    startHub({ data: join(folder, 'open'), port: 0, http: 0, hosts: { http: '0.0.0.0' }, clock, log, ...more });
  await expect(start({})).rejects.toThrow('needs TLS: --tls');
  const secure = { names: ['localhost'], enrolment: 0 };
  await expect(start({ secure })).rejects.toThrow('needs access control: register a car first (vigie hub add)');
});
