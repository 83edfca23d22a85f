/** `vigie hub` on a disk that becomes full while a car drives, with messages in SQLite and in PostgreSQL. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SqliteDatabase } from '../../hub/database/index.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { describeNeeding } from '../needs.ts';
import { program, VigieProcess } from '../rig/bench.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';
import { Relay } from '../rig/relay.ts';
import { canMount, SmallDisk } from '../rig/small-disk.ts';

const hex = (payload: unknown): string => Buffer.from(payload as Uint8Array).toString('hex');
const SELECT = 'SELECT class, seq, boot, payload FROM messages';

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface RunningHub {
  readonly process: VigieProcess;
  readonly port: number;
}

async function startHub(words: readonly string[], inside?: readonly string[]): Promise<RunningHub> {
  const hub = new VigieProcess(['hub', ...words, '--port', '0', '--http', '0'], program, inside);
  onTestFinished(async () => void (await hub.end('SIGKILL')));
  await hub.says('Ctrl-C ends');
  return { process: hub, port: Number(/mqtt:\/\/127\.0\.0\.1:(\d+)/.exec(hub.output)?.[1]) };
}

/** A car drives: the disk becomes full, the hub is killed, space is freed, the hub starts. */
async function driveOnFullDisk({
  disk,
  vin,
  says,
  start,
  revive,
}: {
  disk: SmallDisk;
  vin: string;
  /** Error with the full disk, its path, and advice. Omit it if PostgreSQL may end before it can report the error. */
  says?: RegExp;
  start(): Promise<RunningHub>;
  revive?(): Promise<void>;
}): Promise<DrivingCar> {
  const first = await start();
  const relay = await Relay.open(first.port);
  onTestFinished(() => relay.close());
  const car = await new DrivingCar({ vin, url: relay.url }).start();
  onTestFinished(() => car.remove());
  await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'));
  const fill = (from: number): Promise<void> => {
    return car.until(() => {
      // The database frees space that it no longer needs.
      disk.fill();
      return first.process.output.includes('hub.store.failed', from);
    });
  };
  await fill(0);
  if (says !== undefined) expect(first.process.output).toMatch(says);
  disk.free();
  await revive?.();
  const said = first.process.output.length;
  const more = async (): Promise<void> => {
    const before = car.acknowledged.length;
    await car.until(() => car.acknowledged.length > before + 3);
  };
  await more();
  await fill(said);
  await car.during(first.process.end('SIGKILL'));
  disk.free();
  await revive?.();
  const second = await car.during(start());
  relay.brokerPort = second.port;
  await more();
  await car.stop();
  expect(await second.process.end('SIGTERM')).toBe(0);
  return car;
}

function expectEachOnce(car: DrivingCar, kept: readonly Readonly<Record<string, unknown>>[]): void {
  const payloads = new Set(kept.map(({ payload }) => hex(payload)));
  expect(car.acknowledged.filter(({ payload }) => !payloads.has(hex(payload)))).toEqual([]);
  expect(new Set(kept.map((row) => `${row['class']}/${row['seq']}/${row['boot']}`)).size).toBe(kept.length);
}

describeNeeding(canMount, 'no name space of mounts can be made here', 'a hub on SQLite', () => {
  test('a full disk loses no acknowledged message, and a hub killed on it continues once there is space', async () => {
    const disk = await SmallDisk.create(16);
    onTestFinished(() => disk.remove());
    const data = join(disk.folder, 'hub');
    const start = (): Promise<RunningHub> => startHub(['--data', data], disk.inside);
    const says = /hub\/hub\.sqlite: database or disk is full: make room on this disk/;
    const car = await driveOnFullDisk({ disk, vin: 'VF3VGEHVBD0000001', says, start });
    const copy = ownFolder();
    cpSync(join(disk.seen, 'hub'), copy, { recursive: true });
    const database = await SqliteDatabase.open(join(copy, 'hub.sqlite'));
    onTestFinished(() => database.close());
    expectEachOnce(car, database.all(SELECT));
  });
});

describePeer('initdb', 'a hub on PostgreSQL', () => {
  const mayMount = canMount && userInfo().uid === 0;
  describeNeeding(mayMount, 'only root can start PostgreSQL in a name space of mounts', 'whose disk is full', () => {
    test('a full PostgreSQL disk loses no acknowledged message, and a killed hub continues once there is space', async () => {
      const disk = await SmallDisk.create(160);
      onTestFinished(() => disk.remove());
      const server = new PostgresRig({ disk });
      onTestFinished(() => server.remove());
      await server.start();
      const database = await server.create();
      const words = ['--data', ownFolder(), '--database', database];
      const car = await driveOnFullDisk({
        disk,
        vin: 'VF3VGEHVBD0000002',
        start: () => startHub(words),
        revive: () => server.revive(database),
      });
      expectEachOnce(car, await server.execute(database, SELECT));
    });
  });
});
