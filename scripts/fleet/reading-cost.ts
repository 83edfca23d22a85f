/**
 * Prints the cost of rows for readings (`database.readings`) per message with 200 readings, with and without them, on
 * SQLite and PostgreSQL: time and CPU of the hub's process, and bytes on the disk. `node scripts/fleet/reading-cost.ts`
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../adapters/clock/system.ts';
import { readMessage } from '../../hub/core/message.ts';
import { type HubDatabase, onPostgres, onSqlite } from '../../hub/start/database.ts';
import { PostgresRig } from '../../test/rig/postgres.ts';
import { recordDrive, silent } from '../scenarios/drive.ts';
import { fleetVin } from './car.ts';
import { recutTelemetry } from './recut.ts';
import { readingsIn } from './stored.ts';

/** Number of cars, each of which sends one message in every commit. */
const CARS = 50;
const DRIVE_MINUTES = 20;
/** Number of rounds of the whole drive. The first one is not counted. */
const ROUNDS = 3;

const drive = recutTelemetry(await recordDrive(DRIVE_MINUTES), 200);
const messages = CARS * drive.length;
const readings = CARS * readingsIn(drive);

/** Stores the drive of all cars, and prints what a message costs. `bytes` returns the size of the database. */
async function measure(name: string, hub: HubDatabase, bytes: () => Promise<number>): Promise<void> {
  let [ms, cpu, size] = [0, 0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const [begun, used, empty] = [performance.now(), process.cpuUsage(), await bytes()];
    for (const { payload } of drive) {
      const topicOf = (car: number): string => `vigie/1/${fleetVin(round * CARS + car)}/up/telemetry`;
      const all = Array.from({ length: CARS }, (_, car) => readMessage(topicOf(car), payload, Date.now()));
      await hub.store.save(all, []);
    }
    if (round === 0) continue;
    const { user, system } = process.cpuUsage(used);
    ms += performance.now() - begun;
    cpu += user + system;
    size += (await bytes()) - empty;
  }
  await hub.close();
  const counted = messages * (ROUNDS - 1);
  const perReading = size / (readings * (ROUNDS - 1));
  process.stdout.write(
    `${name}: ${(ms / counted).toFixed(2)} ms and ${(cpu / counted / 1_000).toFixed(2)} ms of CPU of the hub per message, ` +
      `${perReading.toFixed(1)} bytes per reading\n`,
  );
}

process.stdout.write(
  `${messages} messages with ${Math.round(readings / messages)} readings each, ${CARS} per commit\n`,
);
const folder = mkdtempSync(join(tmpdir(), 'vigie-reading-cost-'));
const server = await new PostgresRig().start();
try {
  for (const days of [undefined, 30]) {
    const [name, options] = days === undefined ? ['without rows', {}] : ['with rows', { readings: days }];
    const file = join(folder, `${name}.sqlite`);
    const sizeOf = async (): Promise<number> => statSync(file).size;
    await measure(`SQLite ${name}`, await onSqlite(file, 100, silent, options), sizeOf);
    const url = await server.create();
    const clock = new SystemClock();
    await measure(
      `PostgreSQL ${name}`,
      await onPostgres(url, { limit: 100, clock, log: silent, ...options }),
      async () => {
        const [row] = await server.execute(url, 'SELECT pg_database_size(current_database()) AS bytes');
        return Number(row?.['bytes']);
      },
    );
  }
} finally {
  await server.remove();
  rmSync(folder, { recursive: true });
}
