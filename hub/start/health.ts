/** Health of a hub for monitoring programs: `/metrics` and `/health`, on a socket in its directory and on a port. */
import { join } from 'node:path';
import { type ListenAddress, type StatusServer, serve } from '../../adapters/service/status-server.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { HubStatus } from '../../protocol/interface/own/hub-status.ts';
import type { DeliveryStore } from '../core/deliveries.ts';
import type { HubExitReport } from '../core/exits.ts';
import type { Intake } from '../core/intake.ts';
import type { HubMeasures } from '../core/measures.ts';
import type { NumbersStore, OverviewReader } from '../core/ports.ts';
import type { BrokerState } from '../core/status.ts';
import type { DiskReader } from '../core/trends.ts';
import type { UnregisteredStore } from '../core/unregistered.ts';
import { hubMetricsPage } from '../http/metrics.ts';
import { UNREGISTERED_CARS } from '../http/status.ts';

/** Name of the socket in the directory of a hub. */
export const HUB_SOCKET = 'hub.sock';

export interface HubHealthParts {
  readonly data: string;
  /** Port on the loopback interface; 0 for any free port. If omitted, there is no port. */
  readonly port?: number;
  /** Address of this machine. If omitted, 127.0.0.1. */
  readonly host?: string;
  readonly measures: HubMeasures;
  readonly intake: Pick<Intake, 'waiting'>;
  readonly broker: { state(): BrokerState };
  /** Returns the state of the hub. */
  readonly status: (limit: number) => Promise<HubStatus>;
  /** Returns the states of the exits. */
  readonly exits: () => Promise<readonly HubExitReport[]>;
  readonly database: {
    readonly overviewReader: Pick<OverviewReader, 'countVehicles'>;
    readonly reader: Pick<NumbersStore, 'missingNumbers'>;
    readonly deliveries: Pick<DeliveryStore, 'totals'>;
    readonly unregistered: Pick<UnregisteredStore, 'totals'>;
    readonly disk: DiskReader;
  };
  readonly clock: Clock;
  readonly log: Log;
}

interface HubHealth {
  /** Address and port, e.g. `127.0.0.1:9464`. Omitted if there is no port. */
  readonly address?: string;
  /** Rejects with the reason if the hub cannot store messages of cars. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the servers. Rejects with `input.unreadable` if the port is in use. */
export async function serveHealth(parts: HubHealthParts): Promise<HubHealth> {
  const { data, port, host = '127.0.0.1', measures, intake, clock, log } = parts;
  const { overviewReader, reader, deliveries: deliveryStore, unregistered, disk } = parts.database;
  const begun = clock.monotonic();
  const metrics = hubMetricsPage(async () => ({
    counted: measures.snapshot(),
    uptime: clock.monotonic() - begun,
    now: clock.now(),
    waiting: intake.waiting,
    broker: parts.broker.state(),
    kept: await Promise.all([
      overviewReader.countVehicles(),
      reader.missingNumbers(),
      deliveryStore.totals(),
      unregistered.totals(),
      disk.usage(),
      parts.exits(),
    ]).then(
      ([cars, missing, deliveries, aside, usage, exits]) => {
        return { cars, missing, deliveries, unregistered: aside, disk: usage, exits };
      },
      (error: Error) => {
        log.warn('hub.database.silent', { error: error.message });
        return undefined;
      },
    ),
  }));
  const countHealthy = async (): Promise<number> => {
    const cars = await overviewReader.countVehicles();
    if (measures.snapshot().failing) throw new VigieError('store.failed', 'the last commit of messages failed');
    return cars;
  };
  const health = async (): Promise<{ type: string; body: string }> => {
    const cars = await countHealthy();
    return { type: 'application/json', body: `${JSON.stringify({ status: 'ok', cars })}\n` };
  };
  const status = async (): Promise<{ type: string; body: string }> => {
    return { type: 'application/json', body: `${JSON.stringify(await parts.status(UNREGISTERED_CARS))}\n` };
  };
  const servers: StatusServer[] = [];
  const close = async (): Promise<void> => {
    for (const server of servers) await server.close();
  };
  const open = async (place: ListenAddress): Promise<StatusServer> => {
    const pages = { '/metrics': metrics, '/health': health };
    // The status contains VINs: only the user of the hub may read it without a token.
    const server = await (place.kind === 'unix'
      ? serve(place, { ...pages, '/status': status }, 'hub socket')
      : serve(place, pages, 'hub metrics'));
    servers.push(server);
    return server;
  };
  const asked = port === undefined ? undefined : await open({ kind: 'loopback', host, port });
  await open({ kind: 'unix', path: join(data, HUB_SOCKET) }).catch((error: Error) => {
    log.error('hub.health.unserved', { error: error.message });
  });
  const check = async (): Promise<void> => void (await countHealthy());
  return { ...(asked === undefined ? {} : { address: asked.address }), check, close };
}
