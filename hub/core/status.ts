/** Collects the state of a hub, for operators. */
import { DAY } from '../../protocol/calendar.ts';
import { type Age, ageOfSilence } from '../../protocol/interface/own/hub-overview.ts';
import type { HubStatus, StoredStatus } from '../../protocol/interface/own/hub-status.ts';
import type { DeliveryStore } from './deliveries.ts';
import type { HubMeasures } from './measures.ts';
import type { NumbersStore, WallClock } from './ports.ts';
import type { RetentionDays, RetentionStore } from './retention.ts';
import type { Trends } from './trends.ts';
import type { UnregisteredStore } from './unregistered.ts';

/** Connection of a hub to its broker. */
export interface BrokerState {
  readonly connected: boolean;
  /** False while another hub receives the messages of the group. */
  readonly receiving: boolean;
}

export interface HubStatusParts {
  readonly kind: HubStatus['database']['kind'];
  readonly version: string;
  readonly reader: Pick<NumbersStore, 'vehicles' | 'missingNumbers'>;
  readonly deliveries: Pick<DeliveryStore, 'totals'>;
  readonly unregistered: Pick<UnregisteredStore, 'totals' | 'newest'>;
  readonly retention: { readonly store: Pick<RetentionStore, 'confirms'>; readonly days: RetentionDays };
  readonly broker: { readonly url: string; state(): BrokerState };
  readonly intake: { readonly waiting: number };
  readonly measures: Pick<HubMeasures, 'snapshot'>;
  readonly trends: Pick<Trends, 'lag' | 'disk'>;
  /** Time since the start in ms. */
  readonly uptime: () => number;
  readonly clock: WallClock;
}

/** Returns the state of the hub, with at most `limit` unregistered cars. Never rejects. */
export async function statusOf(parts: HubStatusParts, limit: number): Promise<HubStatus> {
  const { kind, version, broker, intake, measures, trends, uptime, clock } = parts;
  const { refused, refusedCars, failedCommits, failing, deliveries } = measures.snapshot();
  const stored = await storedStatus(parts, limit).catch((error: Error) => error.message);
  const isAway = typeof stored === 'string';
  return {
    at: Math.round(clock.now()),
    version,
    uptime: Math.round(uptime()),
    broker: { url: broker.url, ...broker.state() },
    database: { kind, answers: !isAway, ...(isAway && { reason: stored }) },
    commits: { waiting: intake.waiting, failed: failedCommits, failing },
    lag: trends.lag(),
    refused: { unreadable: refused, ...refusedCars },
    sent: { delivered: deliveries.delivered, failed: deliveries.failed, lost: { ...deliveries.lost } },
    ...(!isAway && { stored }),
  };
}

async function storedStatus(parts: HubStatusParts, limit: number): Promise<StoredStatus> {
  const { reader, deliveries, unregistered, retention, trends, clock } = parts;
  const now = Math.round(clock.now());
  const [vehicles, missing, waiting, totals, newest, disk, isConfirmed] = await Promise.all([
    reader.vehicles(),
    reader.missingNumbers(),
    deliveries.totals(),
    unregistered.totals(),
    unregistered.newest(limit),
    trends.disk(),
    Object.keys(retention.days).length === 0 || retention.store.confirms(now, DAY),
  ]);
  const ages: Record<Age, number> = { minute: 0, hour: 0, day: 0, older: 0 };
  for (const { lastSeen } of vehicles) ages[ageOfSilence(now - lastSeen)]++;
  return {
    cars: { total: vehicles.length, ages },
    missing,
    unregistered: { ...totals, newest },
    deliveries: waiting,
    disk,
    retention: { days: retention.days, paused: !isConfirmed },
  };
}
