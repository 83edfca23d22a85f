/** Metrics of the agent in the text format of Prometheus. */
import type { Counter, Gauge, Registry } from 'prom-client';
import { droppedBy, type HealthSnapshot } from '../../agent/health/health.ts';
import { linkStates } from '../../protocol/schema/hello.ts';

type Labels = Readonly<Record<string, string>>;
export type MetricValue = readonly [value: number, labels?: Labels];

export interface Metric<S = HealthSnapshot> {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  readonly labels?: readonly string[];
  values(snapshot: S): readonly MetricValue[];
}

const metric = (
  kind: Metric['kind'],
  name: string,
  help: string,
  value: (snapshot: HealthSnapshot) => number | undefined,
): Metric => ({
  name: `vigie_${name}`,
  kind,
  help,
  values: (snapshot) => {
    const found = value(snapshot);
    return found === undefined ? [] : [[found]];
  },
});

const labelled = (
  kind: Metric['kind'],
  name: string,
  help: string,
  labels: readonly string[],
  values: (snapshot: HealthSnapshot) => readonly MetricValue[],
): Metric => ({ name: `vigie_${name}`, kind, help, labels, values });

/** All metrics. Their names follow the conventions of Prometheus: base units; names of counters end in `_total`. */
export const metrics: readonly Metric[] = [
  metric('gauge', 'up', '1 while the pipeline moves, 0 while it is stuck', ({ stuck }) =>
    stuck === undefined ? 1 : 0,
  ),
  metric('gauge', 'minimal', '1 in the minimal mode after repeated crashes', ({ mode }) =>
    mode === 'minimal' ? 1 : 0,
  ),
  metric('gauge', 'uptime_seconds', 'Time since the start', ({ uptime }) => uptime / 1000),
  labelled('counter', 'frames_total', 'Frames or deliveries read, by source', ['source'], ({ sources }) =>
    sources.map(({ name, frames }) => [frames, { source: name }]),
  ),
  labelled('counter', 'frames_dropped_total', 'Frames lost before they were read, by source', ['source'], (s) =>
    s.sources.map((source) => [droppedBy(source), { source: source.name }]),
  ),
  labelled('gauge', 'source_running', '1 while a source runs', ['source'], ({ sources }) =>
    sources.map(({ name, state }) => [state === 'running' ? 1 : 0, { source: name }]),
  ),
  labelled('gauge', 'source_silence_seconds', 'Time since the last delivery of a source', ['source'], ({ sources }) =>
    sources.flatMap(({ name, silence }) =>
      silence === undefined ? [] : [[silence / 1000, { source: name }] as const],
    ),
  ),
  labelled('counter', 'source_events_total', 'Counters of a source', ['source', 'event'], ({ sources }) =>
    sources.flatMap(({ name, counts }) =>
      Object.entries(counts).map(([event, count]) => [count, { source: name, event }] as const),
    ),
  ),
  metric('counter', 'readings_total', 'Readings of wanted signals', ({ agent }) => agent.readings),
  metric('counter', 'decode_errors_total', 'Readings with an impossible value', ({ agent }) => agent.refused),
  metric(
    'counter',
    'faults_total',
    'Defects that prevented the processing of a batch or a tick',
    (s) => s.agent.faults,
  ),
  labelled('gauge', 'outbox_messages', 'Waiting messages, by priority class', ['class'], ({ outbox }) =>
    outbox.map(({ class: priority, count }) => [count, { class: String(priority) }]),
  ),
  labelled('gauge', 'outbox_bytes', 'Their payload, by priority class', ['class'], ({ outbox }) =>
    outbox.map(({ class: priority, bytes }) => [bytes, { class: String(priority) }]),
  ),
  labelled('gauge', 'outbox_oldest_seconds', 'Age of the oldest, by priority class', ['class'], ({ outbox, at }) =>
    outbox.flatMap(({ class: priority, oldest }) =>
      oldest === undefined ? [] : [[Math.max(0, at - oldest) / 1000, { class: String(priority) }] as const],
    ),
  ),
  metric('counter', 'outbox_refused_total', 'Commits that the disk refused', ({ outboxRefused }) => outboxRefused),
  metric('counter', 'journal_written_bytes_total', 'Bytes written to the journal', ({ journal }) => journal.written),
  metric('counter', 'journal_flashed_bytes_total', 'Bytes put on the medium, whole pages', (s) => s.journal.flashed),
  metric('counter', 'journal_flushes_total', 'Flushes to the medium', ({ journal }) => journal.flushes),
  metric('counter', 'journal_failures_total', 'Writes and flushes that failed', ({ journal }) => journal.failures),
  metric('gauge', 'journal_disk_bytes', 'Bytes of all files of the journal', ({ journal }) => journal.disk),
  metric('gauge', 'link_connected', '1 while the broker is connected', ({ link }) => (link.connected ? 1 : 0)),
  metric('counter', 'link_connections_total', 'Number of established connections', ({ link }) => link.connections),
  labelled('gauge', 'link_state', '1 for the present state of the link', ['state'], ({ link: { details } }) =>
    details === undefined ? [] : linkStates.map((state) => [state === details.state ? 1 : 0, { state }] as const),
  ),
  labelled('gauge', 'link_info', '1 for the broker and the MQTT version in use', ['broker', 'protocol'], ({ link }) => {
    const { broker = '', protocol = '' } = link.details ?? {};
    return broker === '' ? [] : [[1, { broker, protocol }] as const];
  }),
  metric('counter', 'link_attempts_total', 'Connections begun', ({ link }) => link.details?.counts.attempts),
  metric('counter', 'link_losses_total', 'Number of lost connections', ({ link }) => link.details?.counts.losses),
  metric('gauge', 'link_keepalive_seconds', 'Keep-alive in force', ({ link }) => link.details?.keepalive),
  metric('gauge', 'link_certificate_expiry_seconds', 'Expiry of the certificate, Unix time', ({ link }) => {
    const expires = link.details?.certificateExpires;
    return expires === undefined ? undefined : expires / 1000;
  }),
  metric('counter', 'published_total', 'Messages that the broker acknowledged', ({ link }) => link.published),
  metric('counter', 'published_bytes_total', 'Their payload', ({ link }) => link.sent),
  labelled('counter', 'commands_total', 'Commands that ended, by outcome', ['outcome'], ({ commands }) =>
    Object.entries(commands).map(([outcome, count]) => [count, { outcome }] as const),
  ),
  metric('gauge', 'event_loop_delay_seconds', 'Longest recent tick delay', ({ delay }) => delay / 1000),
  metric('gauge', 'event_loop_busy_ratio', 'Share of the time the event loop was busy', (s) => s.process.busy),
  metric('counter', 'cpu_seconds_total', 'Processor time', (s) => s.process.cpu / 1000),
  metric('gauge', 'memory_resident_bytes', 'Resident memory', (s) => s.process.residentBytes),
  metric('gauge', 'memory_private_bytes', 'Memory that no other process shares', (s) => s.process.privateBytes),
  metric('gauge', 'memory_heap_bytes', 'JavaScript heap in use', (s) => s.process.heapBytes),
];

/** Returns a function that renders the current snapshot, with its media type. The first call loads the library. */
export function metricsPage(snapshot: () => HealthSnapshot): () => Promise<{ type: string; body: string }> {
  return pageOf(snapshot, metrics);
}

/** Like {@link metricsPage}, for other snapshots and the metrics that are defined on them. */
export function pageOf<S>(
  snapshot: () => S | Promise<S>,
  definitions: readonly Metric<S>[],
): () => Promise<{ type: string; body: string }> {
  let made: Promise<Exposition<S>> | undefined;
  return async () => {
    made ??= expose(definitions);
    const { registry, instruments } = await made;
    const now = await snapshot();
    for (const { definition, instrument } of instruments) {
      instrument.reset();
      for (const [value, labels = {}] of definition.values(now)) instrument.inc(labels, value);
    }
    // The library separates metrics by blank lines, which the format has no need for. Values have no line breaks.
    return { type: registry.contentType, body: (await registry.metrics()).replaceAll(/\n+/g, '\n') };
  };
}

interface Exposition<S> {
  readonly registry: Registry;
  readonly instruments: readonly { readonly definition: Metric<S>; readonly instrument: Counter | Gauge }[];
}

async function expose<S>(definitions: readonly Metric<S>[]): Promise<Exposition<S>> {
  // After bundling, a CommonJS module has no named exports.
  const { default: prometheus } = await import('prom-client');
  const { Counter, Gauge, Registry } = prometheus;
  const registry = new Registry();
  const instruments = definitions.map((definition) => {
    const { name, help, labels = [], kind } = definition;
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    return { definition, instrument: kind === 'counter' ? new Counter(options) : new Gauge(options) };
  });
  return { registry, instruments };
}
