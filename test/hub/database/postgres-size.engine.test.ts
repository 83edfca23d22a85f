/** Disk space that hubs use in PostgreSQL while cars drive. */
import { expect, test } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { readMessage } from '../../../hub/core/message.ts';
import { PostgresDatabase, PostgresMessageStore } from '../../../hub/database/postgres/index.ts';
import { fleetVin } from '../../../scripts/fleet/car.ts';
import { recutTelemetry } from '../../../scripts/fleet/recut.ts';
import { readingsIn } from '../../../scripts/fleet/stored.ts';
import { recordDrive } from '../../../scripts/scenarios/drive.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

const PAGE = 8192;

describePeer('initdb', 'the disk of PostgreSQL', () => {
  test('rows, keys and indexes of telemetry with 200 readings a message take less than half the space of the messages', async () => {
    const server = new PostgresRig();
    await server.start();
    try {
      const database = await PostgresDatabase.open(await server.create(), new MemoryLog());
      const store = new PostgresMessageStore(database, idOf);
      const size = async (): Promise<number> => {
        const [{ bytes } = {}] = await database.select('SELECT pg_database_size(current_database()) AS bytes');
        return bytes as number;
      };
      const empty = await size();
      const drive = recutTelemetry(await recordDrive(20), 200);
      const cars = 200;
      for (const [place, { payload }] of drive.entries()) {
        const topicOf = (car: number): string => `vigie/1/${fleetVin(car)}/up/telemetry`;
        const messages = Array.from({ length: cars }, (_, car) => readMessage(topicOf(car), payload, place * 1_000));
        await store.save(messages, []);
      }
      const readings = cars * readingsIn(drive);
      const payloads = cars * drive.reduce((sum, { payload }) => sum + payload.length, 0);
      const written = (await size()) - empty;
      expect(readings / (cars * drive.length)).toBeGreaterThan(190);
      expect(written / payloads).toBeLessThan(3 / 2);
      await database.close();
    } finally {
      await server.remove();
    }
  });

  test('the Status row of a car fits one page however often it changes, even before a vacuum', async () => {
    const server = new PostgresRig({ settings: { autovacuum: 'off' } });
    await server.start();
    try {
      const database = await PostgresDatabase.open(await server.create(), new MemoryLog());
      const hubs = [new PostgresMessageStore(database, idOf), new PostgresMessageStore(database, idOf)];
      const cars = 40;
      const drive = await recordDrive(1);
      const messages = drive.flatMap(({ kind, payload }) =>
        Array.from({ length: cars }, (_, car) => readMessage(`vigie/1/${fleetVin(car)}/up/${kind}`, payload, 0)),
      );
      for (let at = 0, turn = 0; at < messages.length; at += 30, turn++) {
        await hubs[turn % 2]?.save(messages.slice(at, at + 30), []);
      }
      const [{ bytes } = {}] = await database.select(`SELECT pg_relation_size('status') AS bytes`);
      expect(bytes).toBeLessThanOrEqual(cars * PAGE);
      const [{ count } = {}] = await database.select('SELECT count(*) AS count FROM messages');
      expect(count).toBe(messages.length);
      await database.close();
    } finally {
      await server.remove();
    }
  });
});
