/** `vigie bench` at a broker of the user with TLS that requires a certificate of each client. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { Authority, type Certificate } from '../rig/certificates.ts';
import { TlsAedesRig } from '../rig/tls-aedes.ts';

const VIN = 'VF3VGEBENCH000001';
const folder = mkdtempSync(join(tmpdir(), 'vigie-bench-tls-'));
const authority = new Authority(folder);
let broker: TlsAedesRig;

beforeAll(async () => {
  broker = await TlsAedesRig.start({ server: authority.issue('broker'), clientsBy: authority });
});
afterAll(async () => {
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
});

const shown = ({ certFile, keyFile }: Certificate): string[] => ['--cert', certFile, '--cert-key', keyFile];
const trusting = ['--ca', authority.certFile];

function bench(data: string, ...more: string[]): VigieProcess {
  const words = ['--broker', broker.url, '--data', join(folder, data), '--http', '0', '--scenario', 'parked'];
  const running = new VigieProcess(['bench', ...words, ...more]);
  onTestFinished(async () => {
    await running.end('SIGKILL');
  });
  return running;
}

test('a bench shows its certificate to the broker, and lists the commands that need one with their options', async () => {
  const options = [...trusting, ...shown(authority.issue('bench'))];
  const running = bench('own', ...options);
  await running.says(/published .*\/up\/status/);
  expect(running.output).toContain(`watch ${VIN} --data ${join(folder, 'own')} ${options.join(' ')}\n`);
  expect(await running.end('SIGINT'), running.output).toBe(0);
});

test('a bench with the certificate of a car lists commands for its hub, because the broker admits the car only', async () => {
  const running = bench('car', ...trusting, ...shown(authority.issue(VIN)));
  await running.says(/published .*\/up\/status/);
  expect(running.output).toContain(`send ${VIN} doors lock --hub https://127.0.0.1:8080 --token-file TOKEN`);
  expect(running.output).not.toContain(`watch ${VIN}`);
  expect(await running.end('SIGINT'), running.output).toBe(0);
});

test('a bench without a certificate reports that the broker requires one, and continues', async () => {
  const running = bench('without', ...trusting);
  await running.says('requires a certificate of its clients');
  await running.says('Ctrl-C ends the bench.');
  expect(running.output).not.toMatch(/published .*\/up\/status/);
  expect(await running.end('SIGINT'), running.output).toBe(0);
});

const [cert, key] = [join(folder, 'none.pem'), join(folder, 'none.key')];
test.each([
  ['a certificate for the embedded broker', ['--cert', cert, '--cert-key', key], '--cert is for a broker of yours'],
  ['a certificate without its key', ['--broker', 'mqtts://127.0.0.1:1', '--cert', cert], 'go together'],
  [
    'a certificate that does not exist',
    ['--broker', 'mqtts://127.0.0.1:1', '--cert', cert, '--cert-key', key],
    `${cert}: cannot be read: there is no such file`,
  ],
  [
    'a certificate for a broker without TLS',
    ['--broker', 'mqtt://127.0.0.1:1', '--cert', authority.certFile, '--cert-key', authority.certFile],
    'write mqtts://',
  ],
])('%s is refused, and the error says how to go on', async (_case, options, message) => {
  const { status, stderr } = await vigie('bench', '--data', join(folder, 'refused'), ...options);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});
