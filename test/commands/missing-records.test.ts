/** Each entry in the list of files in a data directory: a missing file is reported with its consequence. */
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { folderEntries, hasRecords, missingEntries } from '../../assembly/data-folder.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { upFilter } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { stride } from '../rig/runs.ts';

const VIN = 'VF3M1SS1NGREC0001';
const broker = new AedesRig();
let folder: string;
let data: string;
let whole: string;
let cloud: CloudClient;
let messages: Arrivals<Message>;
let unit: VigieProcess | undefined;

async function start(): Promise<Message<'hello'>> {
  messages = new Arrivals();
  unit = new VigieProcess(['run', '-c', join(folder, 'vigie.yaml')]);
  await unit.says('ready: ');
  return (await messages.take(({ kind }) => kind === 'hello')) as Message<'hello'>;
}

async function stop(): Promise<string> {
  const { output = '' } = unit ?? {};
  await unit?.end('SIGTERM');
  unit = undefined;
  return output;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-missing-'));
  [data, whole] = [join(folder, 'records'), join(folder, 'whole')];
  await generateKey(join(folder, 'keys'), 'owner', { algorithm: 'Ed25519', kinds: ['Doors'] });
  await broker.start();
  writeFileSync(
    join(folder, 'vigie.yaml'),
    `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: '${broker.url}' }
commands: { trust: keys/trust.json }
`,
  );
  cloud = await CloudClient.connect(broker.url);
  messages = new Arrivals();
  await cloud.subscribe(upFilter(VIN), (_topic, payload) => messages.push(decodeMessage(payload)));
  for (let starts = 0; starts < 2; starts++) {
    expect((await start()).body.missing ?? []).toEqual([]);
    expect(await stop()).not.toMatch(/records\.(missing|versionDamaged)/);
  }
  cpSync(data, whole, { recursive: true, filter: (path) => !path.endsWith('.sock') });
});
afterEach(async () => {
  await stop();
});
afterAll(async () => {
  await cloud.close();
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the list names every file that an agent creates in its data directory', () => {
  const known = (name: string): boolean =>
    folderEntries.some(
      (entry) => name === entry.name || (entry.kind === 'document' && name === `${entry.name}.previous`),
    );
  expect(readdirSync(whole).filter((name) => !known(name))).toEqual([]);
  expect(missingEntries(whole, 'run')).toEqual([]);
  expect(hasRecords(['lock', 'version', 'version.copy'])).toBe(false);
});

const STEP = stride(3);
const required = folderEntries.filter((entry) => entry.required !== 'no');

test.each(required.filter((_, place) => place % STEP === 0))(
  'a start without $name reports that and what it means, in the log, in hello and in vigie status',
  async ({ name, kind, consequence, reported = 'records.missing' }) => {
    rmSync(data, { recursive: true });
    cpSync(whole, data, { recursive: true });
    // The agent writes the number of the configuration once the cloud has sent one.
    const sent = name === 'configuration.json';
    if (sent) cpSync(join(folder, 'vigie.yaml'), join(data, 'configuration', '1.yaml'));
    rmSync(join(data, name), { recursive: true, force: sent });
    if (kind === 'document') rmSync(join(data, `${name}.previous`), { force: true });
    const { body } = await start();
    expect(body.missing).toEqual([{ file: name, consequence }]);
    expect(JSON.parse((await vigie('status', '--data', data)).stdout).missing).toEqual(body.missing);
    const log = await stop();
    const lines = log.split('\n').filter((line) => line.includes(`"event":"${reported}"`));
    expect(lines.map((line) => line.includes(join(data, name)))).toEqual([true]);
    // The agent has created it again, except for a file that only a configuration from the cloud creates.
    if (!sent) expect((await start()).body).not.toHaveProperty('missing');
  },
);
