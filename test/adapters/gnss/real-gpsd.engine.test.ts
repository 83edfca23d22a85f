import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { GnssSource } from '../../../adapters/gnss/index.ts';
import { tcpLine } from '../../../adapters/lines/index.ts';
import { describePeer, findPeer } from '../../rig/peers.ts';
import { FarEnd } from '../lines/server.ts';
import { told } from './sentences.ts';

const program = findPeer('gpsd');

const folder = mkdtempSync(join(tmpdir(), 'vigie-gpsd-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A currently free port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** A gpsd process; `end` resolves after it has ended. */
class Gpsd {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  /**
   * -n: polls receivers even without a client; -N: stays in the foreground; -S: port; -F: control socket, without which
   * gpsd needs a receiver on its command line.
   */
  constructor(port: number, ...receivers: string[]) {
    const options = ['-n', '-N', '-S', `${port}`, '-F', join(folder, 'control')];
    this.#process = spawn(program as string, [...options, ...receivers], { stdio: 'ignore' });
    this.#ended = once(this.#process, 'exit');
  }

  async end(): Promise<void> {
    this.#process.kill();
    await this.#ended;
  }
}

describePeer('gpsd', 'the real gpsd', () => {
  it('the source delivers fixes of gpsd without a receiver, with one, and after gpsd restarts', async () => {
    const port = await freePort();
    const receiver = await FarEnd.listen();
    const latitudes: number[] = [];
    const times: number[] = [];
    let changed: () => void = () => undefined;
    const source = new GnssSource({
      name: `tcp://127.0.0.1:${port}`,
      format: 'gpsd',
      open: tcpLine({ host: '127.0.0.1', port }),
      clock: new SystemClock(),
      earliest: Date.UTC(2025, 0, 1),
      // gpsd takes a moment to listen.
      random: () => 0.1,
      silence: 2_000,
      time: (time) => {
        times.push(time);
      },
    });
    await source.start([{ message: 'GNSS', signal: 'latitude' }], {
      reading: (_, value) => {
        latitudes.push(value);
        changed();
      },
      settled: () => undefined,
      alive: () => undefined,
    });
    const until = async (holds: () => boolean): Promise<void> => {
      // Send one second of the receiver's data at a time.
      let second = 0;
      const speak = setInterval(() => {
        receiver.say(epoch(second++));
        changed();
      }, 100);
      while (!holds()) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
      clearInterval(speak);
    };
    let gpsd = new Gpsd(port);
    await until(() => source.health().reason === 'gpsd has no receiver');
    expect(source.health().counts['fixes']).toBe(0);
    await gpsd.end();
    for (const round of [1, 2]) {
      const before = latitudes.length;
      gpsd = new Gpsd(port, `tcp://127.0.0.1:${receiver.port}`);
      await until(() => latitudes.length >= before + 3);
      expect(source.health()).toMatchObject({ state: 'running' });
      expect(source.health().counts['opened']).toBeGreaterThan(round);
      await gpsd.end();
    }
    for (const latitude of latitudes) expect(latitude).toBeCloseTo(48.1173, 6);
    const noon = Date.UTC(2026, 0, 1, 12);
    // The first reports of gpsd may have a position but no date.
    expect(times.length).toBeGreaterThan(0);
    for (const time of times) expect((time - noon) % 1_000).toBe(0);
    await source.stop();
    await receiver.close();
  });
});

function epoch(second: number): string {
  const time = new Date(Date.UTC(2026, 0, 1, 12) + second * 1_000).toISOString().slice(11, 19).replaceAll(':', '');
  return told(
    `GPGGA,${time}.00,4807.038,N,01130.000,E,1,08,0.9,545.4,M,46.9,M,,`,
    'GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,1.5,0.9,1.2',
    `GPRMC,${time}.00,A,4807.038,N,01130.000,E,010.0,084.4,010126,,`,
  );
}
