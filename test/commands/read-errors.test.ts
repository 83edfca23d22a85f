/** A unit whose disk does not return its records: `vigie run` as a process, with real file-system errors. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { UNCOUNTED_BOOT, UNRECORDED_BOOT } from '../../protocol/schema/message.ts';
import { upFilter } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { program, VigieProcess, vigie } from '../rig/bench.ts';
import { describePeer } from '../rig/peers.ts';

const VIN = 'VF3READERRR000001';
let folder: string;
let data: string;
let broker: AedesRig;
let messages: Arrivals<Message>;
let cloud: CloudClient;
let unit: VigieProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-read-errors-'));
  data = join(folder, 'records');
  await generateKey(join(folder, 'keys'), 'fleet', { algorithm: 'Ed25519', kinds: ['Doors'] });
  broker = new AedesRig();
  await broker.start();
  cloud = await CloudClient.connect(broker.url);
  messages = new Arrivals();
  await cloud.subscribe(upFilter(VIN), (_topic, payload) => messages.push(decodeMessage(payload)));
});
afterEach(async () => {
  await unit?.end('SIGKILL');
  unit = undefined;
  await cloud.close();
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** @param inside the program that starts the agent */
function start(url: string, inside: readonly string[] = []): VigieProcess {
  const config = join(folder, 'vigie.yaml');
  writeFileSync(
    config,
    `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, simulated: true }]
mqtt: { url: '${url}' }
commands: { trust: keys/trust.json }
`,
  );
  unit = new VigieProcess(['run', '-c', config], program, inside);
  return unit;
}

/** A first run without a broker, so that its records wait. Returns the number of waiting messages. */
async function recordOffline(): Promise<number> {
  const first = start('mqtt://127.0.0.1:1');
  await first.says('ready: ');
  const waiting = async (): Promise<number> => {
    const { outbox = [] } = JSON.parse((await vigie('status', '--data', data)).stdout) as {
      outbox?: { count: number }[];
    };
    return outbox.reduce((sum, { count }) => sum + count, 0);
  };
  while ((await waiting()) === 0);
  expect(await first.end('SIGTERM'), first.output).toBe(0);
  return 1;
}

/** Checks that all messages of the first run arrive, and that no file was set aside. */
async function nothingLost(): Promise<void> {
  const hello = await messages.take(({ kind, body }) => kind === 'hello' && !('mode' in body));
  expect(hello.boot).toBeLessThan(UNCOUNTED_BOOT);
  expect(hello.body).not.toHaveProperty('trust');
  await messages.take(({ boot }) => boot < hello.boot);
  expect(readdirSync(data, { recursive: true }).filter((name) => /corrupt|damaged/.test(String(name)))).toEqual([]);
  expect(unit?.output).not.toMatch(/store\.(corrupt|lost|missing)|trust\.unconfirmed|outbox\.lost/);
}

describePeer('strace', 'reads that fail with EIO', () => {
  /** The first `count` reads of these files fail, and the first `whole` reads of complete files. */
  const failing = (count: number, paths: readonly string[], whole = count): string[] => [
    'strace',
    '-D',
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    ...paths.flatMap((path) => ['-P', path]),
    '-e',
    'trace=read,pread64',
    '-e',
    `inject=pread64:error=EIO:when=1..${count}`,
    '-e',
    `inject=read:error=EIO:when=1..${whole}`,
  ];
  const segments = (): string[] =>
    readdirSync(join(data, 'outbox')).flatMap((name) =>
      name.endsWith('.journal') ? [join(data, 'outbox', name)] : [],
    );

  test.each([
    ['boot.json', () => [join(data, 'boot.json')]],
    ['trust.json', () => [join(data, 'trust.json')]],
    ['remotes.json', () => [join(data, 'remotes.json')]],
    ['the journal', segments],
  ])('a short read error of %s at start is retried, and nothing is lost', async (_, paths) => {
    await recordOffline();
    const again = start(broker.url, failing(3, paths()));
    await again.says('records.rereading');
    await again.says('ready: ');
    await nothingLost();
  });

  test('a longer read error is reported in minimal mode, and the agent recovers with all records', async () => {
    await recordOffline();
    const before = readdirSync(join(data, 'outbox')).sort();
    const again = start(broker.url, failing(5, segments(), 1));
    await again.says('records.unreadable');
    await again.says('minimal: ');
    const { boot, body } = await messages.take(({ kind, body: of }) => kind === 'hello' && 'mode' in of);
    expect(boot).toBeGreaterThanOrEqual(UNRECORDED_BOOT);
    expect(body).toMatchObject({ mode: 'minimal', reason: expect.stringMatching(/\.journal: .*EIO.*check the disk/) });
    const status = JSON.parse((await vigie('status', '--data', data)).stdout);
    expect(status).toMatchObject({ mode: 'minimal', reason: expect.stringContaining('EIO') });
    expect(readdirSync(join(data, 'outbox')).sort()).toEqual(before);
    await again.says('ready: ');
    await nothingLost();
    expect(await again.end('SIGTERM')).toBe(0);
  });
});
