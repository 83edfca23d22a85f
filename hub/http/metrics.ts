/** Metrics of a hub in the text format of Prometheus. No metric has a label for each car. */

import { type Metric, type MetricValue, pageOf } from '../../adapters/service/metrics.ts';
import { carLimits } from '../core/car-limits.ts';
import type { HubExitReport } from '../core/exits.ts';
import type { HubMeasurements } from '../core/measures.ts';
import type { MissingNumbers } from '../core/ports.ts';
import type { BrokerState } from '../core/status.ts';
import type { DiskUsage } from '../core/trends.ts';
import type { UnregisteredTotals } from '../core/unregistered.ts';

interface HubSnapshot {
  readonly counted: HubMeasurements;
  /** Time since the start in ms. */
  readonly uptime: number;
  /** UTC ms of the hub. */
  readonly now: number;
  /** Number of messages that wait for a commit. */
  readonly waiting: number;
  readonly broker: BrokerState;
  /** Values from the database. Undefined if it does not answer. */
  readonly kept:
    | {
        readonly cars: number;
        readonly missing: readonly MissingNumbers[];
        readonly deliveries: { readonly waiting: number; readonly receivers: number };
        readonly unregistered: UnregisteredTotals;
        readonly disk: DiskUsage;
        readonly exits: readonly HubExitReport[];
      }
    | undefined;
}

const perClass = (sums: readonly number[], divisor = 1): MetricValue[] =>
  sums.map((sum, priority) => [sum / divisor, { class: String(priority) }] as const);

const metric = (
  kind: Metric['kind'],
  name: string,
  help: string,
  value: (snapshot: HubSnapshot) => number | undefined,
): Metric<HubSnapshot> => ({
  name: `vigie_hub_${name}`,
  kind,
  help,
  values: (snapshot) => {
    const found = value(snapshot);
    return found === undefined ? [] : [[found]];
  },
});

const byClass = (
  kind: Metric['kind'],
  name: string,
  help: string,
  values: (snapshot: HubSnapshot) => readonly MetricValue[],
): Metric<HubSnapshot> => ({ name: `vigie_hub_${name}`, kind, help, labels: ['class'], values });

const byExit = (
  kind: Metric['kind'],
  name: string,
  help: string,
  value: (exit: HubExitReport, now: number) => number,
): Metric<HubSnapshot> => ({
  ...{ name: `vigie_hub_exits_${name}`, kind, help, labels: ['exit'] },
  values: ({ kept, now }) => (kept?.exits ?? []).map((exit) => [value(exit, now), { exit: exit.name }] as const),
});

/** Returns a sample for each class, 0 if nothing is missing: alert rules cannot detect a metric without samples. */
const missing = ({ kept, counted }: HubSnapshot, value: (one: MissingNumbers) => number): MetricValue[] => {
  if (kept === undefined) return [];
  const found = new Map(kept.missing.map((one) => [one.class, value(one)]));
  return perClass(counted.messages.map((_, priority) => found.get(priority) ?? 0));
};

/** All metrics of a hub. A sum of seconds divided by its count is a mean. */
export const hubMetrics: readonly Metric<HubSnapshot>[] = [
  metric('gauge', 'up', '1 while the hub keeps messages and the database answers', ({ kept, counted }) =>
    kept === undefined || counted.failing ? 0 : 1,
  ),
  metric('gauge', 'uptime_seconds', 'Time since the start', ({ uptime }) => uptime / 1000),
  metric('gauge', 'broker_connected', '1 while the broker is connected', ({ broker }) => Number(broker.connected)),
  metric(
    'gauge',
    'receiving',
    '1 while this hub receives messages of cars, 0 while another hub of the group does',
    ({ broker }) => Number(broker.receiving),
  ),
  metric('gauge', 'database_up', '1 while the database answers', ({ kept }) => Number(kept !== undefined)),
  metric('gauge', 'database_bytes', 'Size of the database', ({ kept }) => kept?.disk.bytes),
  metric('gauge', 'disk_free_bytes', 'Free space for the SQLite file', ({ kept }) => kept?.disk.free),
  metric('gauge', 'disk_bytes', 'Size of the disk of the SQLite file', ({ kept }) => kept?.disk.total),
  metric('gauge', 'cars', 'Cars in the database', ({ kept }) => kept?.cars),
  metric(
    'gauge',
    'cars_heard',
    'Cars from which this hub received a message in the last five minutes',
    (s) => s.counted.heard,
  ),
  byClass('counter', 'messages_total', 'New messages, by priority class', ({ counted }) => perClass(counted.messages)),
  byClass('counter', 'bytes_total', 'Their payload, by priority class', ({ counted }) => perClass(counted.bytes)),
  byClass('counter', 'lag_seconds_total', 'Sum of the times from making a message to its arrival', ({ counted }) =>
    perClass(counted.lag, 1000),
  ),
  metric('counter', 'repetitions_total', 'Messages that were there already', ({ counted }) => counted.repeated),
  metric('counter', 'refused_total', 'Messages that cannot be read or kept', ({ counted }) => counted.refused),
  metric(
    'counter',
    'forgotten_messages_total',
    'Messages of forgotten cars, which are not kept',
    ({ counted }) => counted.refusedCars.forgotten,
  ),
  metric(
    'counter',
    'removed_car_messages_total',
    'Messages of removed cars, which are not kept',
    ({ counted }) => counted.refusedCars.removed,
  ),
  metric(
    'gauge',
    'unregistered_cars',
    'Cars that are not registered, of which messages are kept aside',
    ({ kept }) => kept?.unregistered.cars,
  ),
  metric('gauge', 'unregistered_messages', 'Messages that are kept aside', ({ kept }) => kept?.unregistered.messages),
  metric('gauge', 'unregistered_bytes', 'Their payload', ({ kept }) => kept?.unregistered.bytes),
  metric(
    'counter',
    'unregistered_received_total',
    'Messages of cars that are not registered',
    ({ counted }) => counted.refusedCars.unregistered,
  ),
  metric(
    'counter',
    'unregistered_dropped_total',
    'Messages of cars that are not registered, dropped because of the bounds or of retention',
    ({ counted }) => counted.droppedUnregistered,
  ),
  {
    ...metric('counter', 'car_limits_total', 'How often cars exceeded a limit for one car', () => undefined),
    labels: ['limit'],
    values: ({ counted }) => carLimits.map((limit) => [counted.limited[limit], { limit }] as const),
  },
  metric('gauge', 'waiting_messages', 'Messages that wait for a commit', ({ waiting }) => waiting),
  metric('counter', 'commits_total', 'Commits of messages', ({ counted }) => counted.commits),
  metric('counter', 'commit_seconds_total', 'Sum of the times of commits', ({ counted }) => counted.commitTime / 1000),
  metric(
    'counter',
    'failed_commits_total',
    'Commits that the database refused',
    ({ counted }) => counted.failedCommits,
  ),
  byClass('gauge', 'backlog_messages', 'Messages that wait in connected cars, as each reported last', ({ counted }) =>
    perClass(counted.backlog),
  ),
  byClass('gauge', 'missing_numbers', 'Missing sequence numbers of all cars', (snapshot) =>
    missing(snapshot, ({ numbers }) => numbers),
  ),
  byClass('gauge', 'missing_cars', 'Cars with missing sequence numbers', (snapshot) =>
    missing(snapshot, ({ cars }) => cars),
  ),
  byClass('counter', 'given_up_messages_total', 'Messages that cars gave up, by priority class', ({ counted }) =>
    perClass(counted.givenUp),
  ),
  {
    ...metric('counter', 'commands_total', 'Commands that ended, by outcome', () => undefined),
    labels: ['outcome'],
    values: ({ counted }) => Object.entries(counted.commands).map(([outcome, count]) => [count, { outcome }] as const),
  },
  metric('gauge', 'deliveries_waiting', 'Events that wait for receivers', ({ kept }) => kept?.deliveries.waiting),
  metric(
    'gauge',
    'deliveries_waiting_receivers',
    'Receivers for which events wait',
    ({ kept }) => kept?.deliveries.receivers,
  ),
  metric(
    'counter',
    'deliveries_total',
    'Events that receivers accepted from this hub',
    ({ counted }) => counted.deliveries.delivered,
  ),
  metric(
    'counter',
    'deliveries_failed_total',
    'Requests that receivers did not accept',
    ({ counted }) => counted.deliveries.failed,
  ),
  {
    ...metric('counter', 'deliveries_lost_total', 'Events that a receiver does not get, by reason', () => undefined),
    labels: ['reason'],
    values: ({ counted }) =>
      Object.entries(counted.deliveries.lost).map(([reason, count]) => [count, { reason }] as const),
  },
  byExit(
    'gauge',
    'waiting',
    'Messages that a receiver of exits has not confirmed, up to 10,000',
    (exit) => exit.waiting,
  ),
  byExit('gauge', 'waiting_seconds', 'Time since the first of them arrived', ({ waitingSince }, now) =>
    waitingSince === undefined ? 0 : Math.max(0, now - waitingSince) / 1000,
  ),
  byExit(
    'counter',
    'lost_total',
    'Messages that were removed before a receiver of exits got them',
    (exit) => exit.lost,
  ),
  byExit(
    'counter',
    'refused_messages_total',
    'Messages that a receiver of exits refused for good',
    (exit) => exit.refused,
  ),
  {
    ...metric(
      'counter',
      'removed_messages_total',
      'Messages that this hub kept long enough and removed',
      () => undefined,
    ),
    labels: ['kind'],
    values: ({ counted }) => Object.entries(counted.removed).map(([kind, count]) => [count, { kind }] as const),
  },
];

/** Returns a function that resolves with the text of a snapshot and its media type. */
export function hubMetricsPage(snapshot: () => Promise<HubSnapshot>): () => Promise<{ type: string; body: string }> {
  return pageOf(snapshot, hubMetrics);
}
