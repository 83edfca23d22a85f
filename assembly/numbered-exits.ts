/** Exits that get every record once, also those of an outage: they follow the numbers of the records on the disk. */
import { readFileSync } from 'node:fs';
import { Forwarder, type NumberedItem, recordSource } from '../adapters/exits/forwarder.ts';
import { InfluxClient } from '../adapters/exits/influx.ts';
import { influxLines } from '../adapters/exits/influx-lines.ts';
import type { Agent } from '../agent/agent.ts';
import type { Clock, Log } from '../agent/ports.ts';
import type { Rest } from '../agent/power/rest.ts';
import { readSecret } from '../config/credentials.ts';
import type { ExitsConfiguration } from '../config/exits.ts';
import type { InfluxConfiguration } from '../config/influx.ts';
import { VigieError } from '../protocol/errors.ts';
import { scopeOfPath } from '../protocol/interface/visible-members.ts';
import type { Telemetry } from '../protocol/schema/telemetry.ts';
import type { Slot } from '../protocol/slots.ts';
import type { OpenRecords } from './records.ts';

interface NumberedExitsOptions {
  readonly configuration: ExitsConfiguration;
  readonly vin: string;
  readonly agent: Pick<Agent, 'timeKnown'>;
  readonly store: OpenRecords['store'];
  readonly rest: Rest;
  readonly clock: Clock;
  readonly log: Log;
}

/** Times in ms between two looks for new records, awake and asleep: telemetry is recorded every minute or two seconds. */
const INTERVAL_MS = 2_000;
const ASLEEP_INTERVAL_MS = 60_000;

export interface NumberedExits {
  /** Running exits, one for each receiver and collection. */
  readonly running: readonly Pick<Forwarder<unknown>, 'report' | 'poke'>[];
  close(): Promise<void>;
}

/** Starts the exits. */
export function openNumberedExits(options: NumberedExitsOptions): NumberedExits {
  const { configuration, vin } = options;
  const { influx, scopes } = configuration;
  if (influx === undefined) return { running: [], close: async () => undefined };
  const client = influxClient(influx);
  const sees = ({ path }: Slot): boolean => scopes.has(scopeOfPath(path));
  const readings = carForwarder('influx', 'telemetry', options, (items, closing) => {
    const { measurement } = influx;
    const lines = items.flatMap(({ number, stored }) =>
      influxLines(stored.record as Telemetry, number, { measurement, vin, sees }),
    );
    return client.write(lines, closing);
  });
  return {
    running: [readings],
    async close() {
      await readings.close();
      await client.close();
    },
  };
}

/** Returns a client that reads its secret for each request. */
export function influxClient({ url, target, secretFile, ca }: InfluxConfiguration): InfluxClient {
  return new InfluxClient({
    url,
    target,
    ...(secretFile !== undefined && { secret: () => readSecret(secretFile) }),
    ...(ca !== undefined && { ca: () => readFileSync(ca) }),
  });
}

/** Starts to forward a collection. Its state is stored in the commits of the records. */
function carForwarder(
  exit: string,
  collection: string,
  { agent, store, rest, clock, log }: NumberedExitsOptions,
  write: (items: readonly NumberedItem[], closing: AbortSignal) => Promise<void>,
): Forwarder<NumberedItem> {
  const { numbered, memory, outbox } = store;
  if (numbered === undefined) {
    throw new VigieError('usage.wrong', `exits.${exit} needs records on the disk: give a directory of records (data)`);
  }
  const name = `${exit} ${collection}`;
  const key = `exit.${exit}.${collection}`;
  const forwarder = new Forwarder<NumberedItem>(
    {
      ...{ name, write, clock, log },
      interval: () => (rest.asleep ? ASLEEP_INTERVAL_MS : INTERVAL_MS),
      source: recordSource(numbered, collection, () => agent.timeKnown),
      save: async (_state, idle) => {
        // A running agent commits often; after a failure, the receiver gets the same items again.
        if (idle) await outbox.commit();
      },
    },
    memory.recall(key),
  );
  memory.keep(() => [[key, forwarder.state]]);
  log.info('exit.started', { exit: name, waiting: forwarder.report.waiting });
  void forwarder.poke();
  return forwarder;
}
