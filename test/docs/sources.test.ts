/** The example source of docs/sources.md is a working source: it runs here over a real socket. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test, vi } from 'vitest';
import type { Clock, FrameSource, Log } from '../../agent/ports.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'vigie-source-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Shown {
  readonly UdpFrames: new (options: {
    readonly bus: string;
    readonly port: number;
    readonly clock: Clock;
    readonly log: Log;
  }) => FrameSource;
}

async function shown(): Promise<Shown> {
  const page = readFileSync(join(root, 'docs/sources.md'), 'utf8');
  const [, block = ''] = /\n {4}```ts\n(.*?)\n {4}```\n/s.exec(page) ?? [];
  const text = block
    .replaceAll(/^ {4}/gm, '')
    .replaceAll("'../../../", `'${pathToFileURL(root).href}`)
    .replaceAll("'../frames.ts'", `'${pathToFileURL(join(root, 'adapters/can/frames.ts')).href}'`);
  const file = join(folder, 'source.ts');
  writeFileSync(file, text);
  return (await import(pathToFileURL(file).href)) as Shown;
}

async function bound(): Promise<{ socket: Socket; port: number }> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, port: (socket.address() as AddressInfo).port };
}

test('the example source waits for its port, delivers frames, counts invalid ones, and stops', async () => {
  const { UdpFrames } = await shown();
  const [taken, sender, clock, log] = [await bound(), await bound(), new VirtualClock(), new MemoryLog()];
  const frames: unknown[] = [];
  const source = new UdpFrames({ bus: 'body', port: taken.port, clock, log });
  await source.start(({ count, id, length, data, bus }) =>
    frames.push([count, id[0], bus[0], [...data.subarray(0, length[0])]]),
  );
  await vi.waitFor(() => expect(source.health?.().reason).toMatch(/EADDRINUSE/));
  expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);

  taken.socket.close();
  await once(taken.socket, 'close');
  clock.advance(500);
  await vi.waitFor(() => expect(source.health?.().state).toBe('running'));
  sender.socket.send(Buffer.from('80abc123010203', 'hex'), taken.port, '127.0.0.1');
  sender.socket.send(Buffer.from('00', 'hex'), taken.port, '127.0.0.1');
  await vi.waitFor(() => expect(source.health?.().counts).toEqual({ frames: 1, dropped: 1 }));
  expect(frames).toEqual([[1, 0x80abc123, 0, [1, 2, 3]]]);
  expect(source.buses).toEqual(['body']);

  await source.stop();
  expect(source.health?.()).toMatchObject({ state: 'waiting', reason: 'stopped' });
  sender.socket.close();
});

test('every file and heading that the page on sources names exists', () => {
  const page = readFileSync(join(root, 'docs/sources.md'), 'utf8');
  const named = [...page.matchAll(/`([a-z]+\/[^`\s]+)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(15);
  for (const path of named.filter((one) => !one.includes('NAME'))) {
    expect(() => readFileSync(join(root, path.endsWith('/') ? `${path}index.ts` : path)), path).not.toThrow();
  }
});
