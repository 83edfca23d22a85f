/** Starts the measurement of trends, and returns the state of the hub on request. */
import { version } from '../../assembly/version.ts';
import type { HubStatus } from '../../protocol/interface/own/hub-status.ts';
import { type HubStatusParts, statusOf } from '../core/status.ts';
import { Trends } from '../core/trends.ts';
import type { HubParts, HubStart } from './options.ts';

export function startStatus(
  { options, clock, after, teardowns }: HubStart,
  { database, measures }: Pick<HubParts, 'database' | 'measures'>,
  { intake, broker }: Pick<HubStatusParts, 'intake' | 'broker'>,
): (limit: number) => Promise<HubStatus> {
  const begun = clock.monotonic();
  const monotonic = (): number => clock.monotonic();
  const trends = new Trends({ disk: database.disk, counted: () => measures.snapshot(), monotonic, after });
  trends.begin();
  teardowns.unshift(() => trends.stop());
  const { reader, deliveries, unregistered } = database;
  const parts: HubStatusParts = {
    kind: options.database === undefined ? 'sqlite' : 'postgresql',
    retention: { store: database.retention, days: options.retention ?? {} },
    uptime: () => clock.monotonic() - begun,
    ...{ version, reader, deliveries, unregistered, broker, intake, measures, trends, clock },
  };
  return (limit) => statusOf(parts, limit);
}
