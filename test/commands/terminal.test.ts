/** Output on a terminal, and in a pipe. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { encodeMessage } from '../../protocol/cbor/message.ts';
import { openCommand } from '../../protocol/command.ts';
import { downTopic, presenceTopic, upTopic } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { program } from '../rig/bench.ts';
import { describePeers } from '../rig/peers.ts';
import { smallCar } from './small-car.ts';

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

describePeers(['script', '/dev/ptmx'], 'on a terminal', () => {
  /** Output on a terminal that runs `vigie` with these words through a shell. */
  const shown = (words: string): string => {
    const command = words.replaceAll('vigie', `'${process.execPath}' '${program}'`);
    return execFileSync('script', ['-qec', `cd '${car.folder}' && ${command}`, '/dev/null'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };

  test('the progress bar is not drawn between lines that a pipe may print to the terminal', () => {
    // Longer than the buffers of pipe and program: the program cannot reach its summary before the reader has left.
    const frames = readFileSync(join(car.folder, 'drive.log'), 'utf8');
    writeFileSync(join(car.folder, 'long.log'), frames.repeat(10));
    expect(shown('vigie decode long.log --raw --format text | head -2')).toBe(
      '1700000000.000000 can0 100 8813000000000000\r\n1700000000.000000 can0 200 0207\r\n',
    );
  });

  test('the progress bar is not drawn between printed lines', () => {
    for (const words of ['vigie decode drive.log --dbc small.dbc', 'vigie replay drive.log -p ./profile.yaml']) {
      expect(shown(words).includes('%'), words).toBe(false);
    }
  });

  test.each([
    'vigie decode drive.log --raw > decoded.txt',
    'vigie replay drive.log --profile ./profile.yaml > published.txt',
    'vigie replay drive.log --profile ./profile.yaml --cbor published.cbor',
    'vigie replay drive.log --profile ./profile.yaml --cbor published.cbor | cat',
  ])('a progress bar is drawn by %s', (words) => {
    expect(shown(words)).toContain('%');
  });
});

describe('output to a closed pipe', () => {
  const VIN = 'VF3UNREADCAR00001';
  let broker: AedesRig;
  let cloud: CloudClient;
  beforeEach(async () => {
    broker = new AedesRig();
    await broker.start();
    cloud = await CloudClient.connect(broker.url);
    await cloud.publish(presenceTopic(VIN), Buffer.from('online'), { retain: true });
  });
  afterEach(async () => {
    await cloud.close();
    await broker.stop();
  });

  /** Starts `vigie` with a standard output that has no reader. */
  const unread = (...args: string[]) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const said = { stderr: '' };
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr += text;
    });
    return { child, said, closed: once(child, 'close') as Promise<[number | null]> };
  };

  test('decode and replay end without an error if the reader of their output has left', async () => {
    for (const args of [
      ['decode', car.log, '--raw'],
      ['replay', car.log, '--profile', car.profile],
    ]) {
      const { said, closed } = unread(...args);
      expect([await closed, said.stderr]).toEqual([[0, null], '']);
    }
  });

  test('watch ends without an error if the reader of its output has left', async () => {
    const { child, said, closed } = unread('watch', VIN, '--broker', broker.url);
    await new Promise<void>((resolve) => {
      child.stderr.on('data', () => said.stderr.includes('watching') && resolve());
    });
    // More than the stream buffers before it waits for its reader.
    const points = Array.from({ length: 500 }, (_, i) => ({
      at: 1_700_000_000_000 + i,
      latitude: 48 + i / 1000,
      longitude: 2.35,
      type: 'Estimated' as const,
    }));
    const envelope = { version: 1, kind: 'waypoint', seq: 0, boot: 1, at: 1_700_000_001_000, clock: 'gnss' } as const;
    await cloud.publish(upTopic(VIN, 'waypoint'), encodeMessage({ ...envelope, body: { points } }));
    expect(await closed).toEqual([0, null]);
    expect(said.stderr).not.toContain('EPIPE');
  });

  test('check keeps its error exit status if the reader of its output has left', async () => {
    const { said, closed } = unread('check', '--profile', car.file('wrong.yaml', 'profile: 1\n'));
    expect(await closed).toEqual([2, null]);
    expect(said.stderr).toMatch(/errors?/);
  });

  test('send keeps the exit status of its command if the reader of its output has left', async () => {
    const keys = join(car.folder, 'keys');
    await generateKey(keys, 'mine', { algorithm: 'Ed25519', kinds: ['Doors'] });
    const report = (remoteActionId: string, seq: number, status: object): Uint8Array => {
      const body = { remoteActionId, type: 'Doors', ...status };
      return encodeMessage({ version: 1, kind: 'remote', seq, boot: 1, at: 1_700_000_000_000, clock: 'gnss', body });
    };
    await cloud.subscribe(downTopic(VIN, 'remote'), async (_topic, payload) => {
      const { id } = openCommand(payload).command;
      await cloud.publish(upTopic(VIN, 'remote'), report(id, 0, { status: 'Accepted' }));
      const failed = { status: 'Failed', failureCause: 'VehicleInUse' };
      await cloud.publish(upTopic(VIN, 'remote'), report(id, 1, failed));
    });
    const { said, closed } = unread('send', VIN, 'doors', 'lock', '--keys', keys, '--broker', broker.url);
    expect([await closed, said.stderr]).toEqual([[1, null], '']);
  });
});
