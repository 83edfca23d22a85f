/** Cost of the engines alone for the same bytes: a broker with a receiver that acknowledges, and PostgreSQL's COPY. */
import { dirname, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { upFilter } from '../../protocol/topics.ts';
import type { PostgresRig } from '../../test/rig/postgres.ts';
import type { Departure } from '../scenarios/drive.ts';
import { costOf } from './cost.ts';
import { Crowd } from './crowd.ts';
import type { FleetBroker } from './engines.ts';

export interface BrokerFloor {
  readonly messages: number;
  /** Message rate in messages/s. */
  readonly rate: number;
  /** Processor time of the broker and of the receiver in µs per message. */
  readonly broker: number;
  readonly receiver: number;
}

/** Sends as many messages per second as `cars` cars do, from fewer and faster cars, for `seconds` s. */
export async function brokerFloor(
  broker: FleetBroker,
  { cars, speed, seconds, drive }: { cars: number; speed: number; seconds: number; drive: readonly Departure[] },
): Promise<BrokerFloor> {
  const at = { host: '127.0.0.1', ports: broker.ports, version: broker.version };
  const count = Math.min(cars, 500);
  const faster = (speed * cars) / count;
  const receiver = Crowd.receiving({ ...at, clientId: 'floor', filter: upFilter() });
  while ((await receiver.state()).connected === 0) await after(100);
  const crowd = Crowd.of({ ...at, first: 500_000, cars: count, drive, speed: faster, leaving: 1 });
  while ((await crowd.state()).connected < count) await after(200);
  const before = [costOf(...broker.pids).cpu, costOf(receiver.pid).cpu] as const;
  const began = performance.now();
  crowd.drive();
  while (performance.now() - began < seconds * 1000 && (await crowd.state()).arrived < count) await after(250);
  const { received } = await receiver.state();
  const took = (performance.now() - began) / 1000;
  const floor = {
    messages: received,
    rate: received / took,
    broker: ((costOf(...broker.pids).cpu - before[0]) / received) * 1e6,
    receiver: ((costOf(receiver.pid).cpu - before[1]) / received) * 1e6,
  };
  await Promise.all([crowd.end(), receiver.end()]);
  return floor;
}

export interface CopyFloor {
  /** Processor time of PostgreSQL in µs per message, and disk space in bytes per message. */
  readonly cpu: number;
  readonly bytes: number;
}

/** Copies the payloads of all messages into a table that has no other columns. */
export async function copyFloor(server: PostgresRig, url: string, messages: number): Promise<CopyFloor> {
  const file = join(dirname(server.files), 'payloads.copy');
  await server.execute(url, `COPY (SELECT payload FROM messages) TO '${file}' (FORMAT binary)`);
  const bare = await server.create();
  await server.execute(
    bare,
    'CREATE TABLE payloads (payload bytea)',
    'ALTER TABLE payloads ALTER COLUMN payload SET STORAGE EXTERNAL',
  );
  const before = costOf(server.pid).cpu;
  await server.execute(bare, `COPY payloads FROM '${file}' (FORMAT binary)`);
  const cpu = costOf(server.pid).cpu - before;
  const [row] = await server.execute(bare, "SELECT pg_total_relation_size('payloads') AS n");
  return { cpu: (cpu / messages) * 1e6, bytes: Number(row?.['n']) / messages };
}
