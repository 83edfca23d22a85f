/** Exits that get every record once, also those of an outage: they follow the numbers of the records on the disk. */
import { readFileSync } from 'node:fs';
import type { Forwarder } from '../adapters/exits/forwarder.ts';
import { InfluxClient } from '../adapters/exits/influx.ts';
import { influxLines } from '../adapters/exits/influx-lines.ts';
import { readSecret } from '../config/credentials.ts';
import type { ExitsConfiguration } from '../config/exits.ts';
import type { InfluxConfiguration } from '../config/influx.ts';
import { scopeOfPath } from '../protocol/interface/visible-members.ts';
import type { Telemetry } from '../protocol/schema/telemetry.ts';
import type { Slot } from '../protocol/slots.ts';
import { type CarForwarderOptions, carForwarder } from './car-forwarder.ts';
import { exitReport, type OpenExit } from './exit-report.ts';

export interface NumberedExitsOptions extends CarForwarderOptions {
  readonly configuration: ExitsConfiguration;
  readonly vin: string;
}

export interface NumberedExits extends OpenExit {
  /** Running exits, one for each receiver and collection. */
  readonly running: readonly Pick<Forwarder<unknown>, 'report' | 'poke'>[];
}

/** Starts the exits. */
export function openNumberedExits(options: NumberedExitsOptions): NumberedExits {
  const { configuration, vin } = options;
  const { influx, scopes } = configuration;
  if (influx === undefined) return { running: [], served: [], close: async () => undefined };
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
    served: [{ report: () => exitReport('influx', 'influx', [readings.report]), test: () => client.test() }],
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
