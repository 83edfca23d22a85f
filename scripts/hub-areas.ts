/** Tests (files and folders) of each area of the hub. `npm run test:hub -- AREA…` runs them. */
export const hubAreas: Readonly<Record<string, readonly string[]>> = {
  // From a car to the database and the interface; commands; a killed hub; cars of the bench.
  thread: [
    'test/hub/start/hub.test.ts',
    'test/hub/start/commands.test.ts',
    'test/hub/start/health.test.ts',
    'test/hub/core/trends.test.ts',
    'test/hub/start/alerts.engine.test.ts',
    'test/hub/http',
    'test/commands/hub-status.test.ts',
    'test/commands/hub.test.ts',
    'test/commands/bench-fleet.test.ts',
  ],
  // Store and interface, on SQLite and on PostgreSQL: operations, filters, pages, links.
  contract: [
    'test/hub/database',
    'test/hub/start/hub.test.ts',
    'test/hub/start/postgres.engine.test.ts',
    'test/hub/start/answers.test.ts',
    'test/hub/start/answers.engine.test.ts',
    'test/hub/start/same-car.test.ts',
    'test/hub/start/lists.test.ts',
    'test/hub/start/lists.engine.test.ts',
    'test/hub/start/diagnostics.test.ts',
    'test/hub/start/diagnostics.engine.test.ts',
    'test/hub/start/signals.test.ts',
    'test/hub/start/signals.engine.test.ts',
    'test/hub/start/document.test.ts',
  ],
  // Numbers that were received, abandoned or are missing; their metric; messages that cars repeat; brokers that lose
  // messages.
  numbers: [
    'test/hub/core/numbers.test.ts',
    'test/hub/core/lives.test.ts',
    'test/hub/core/resend.test.ts',
    'test/hub/core/resend-trouble.test.ts',
    'test/hub/core/vehicle-status.test.ts',
    'test/hub/core/intake.test.ts',
    'test/hub/core/fair-queue.test.ts',
    'test/hub/core/commit.test.ts',
    'test/adapters/store/kept.test.ts',
    'test/agent/outbox/repetition.test.ts',
    'test/hub/start/health.test.ts',
    'test/hub/start/restore.test.ts',
    'test/hub/start/restore.engine.test.ts',
  ],
  commands: [
    'test/hub/core/commands.test.ts',
    'test/agent/remotes/agent-commands.test.ts',
    'test/hub/database/audit.test.ts',
    'test/hub/database/audit.engine.test.ts',
    'test/commands/hub-audit.test.ts',
    'test/hub/start/commands.test.ts',
    'test/hub/start/restore.test.ts',
  ],
  // Messages that one hub receives reach viewers at another.
  live: ['test/hub/core/live.test.ts', 'test/hub/start/live.test.ts', 'test/hub/start/live.engine.test.ts'],
  // The operations, monitors in real cars, and the delivery of their events to receivers.
  monitors: [
    'test/hub/core/monitor-sync.test.ts',
    'test/hub/start/monitors.test.ts',
    'test/hub/start/monitors.engine.test.ts',
    'test/hub/start/car-monitors.test.ts',
    'test/hub/start/car-monitors.engine.test.ts',
    'test/hub/start/deliveries.test.ts',
    'test/hub/start/deliveries.engine.test.ts',
  ],
  // A car is added, enrolled, expires, is renewed, removed, refused and forgotten; access rights of users, and of
  // clients at the broker.
  enrol: [
    'test/hub/core/registry-state.test.ts',
    'test/hub/start/enrolment.test.ts',
    'test/hub/start/folder.test.ts',
    'test/assembly/renewal.test.ts',
    'test/hub/start/revoked.engine.test.ts',
    'test/hub/start/access.test.ts',
    'test/hub/start/access-matrix.test.ts',
    'test/hub/start/access-matrix.engine.test.ts',
    'test/hub/start/command-rights.test.ts',
    'test/hub/start/data-rights.test.ts',
    'test/hub/start/forget.test.ts',
    'test/hub/start/forget.engine.test.ts',
    'test/hub/core/erasures.test.ts',
    'test/hub/database/registry.test.ts',
    'test/hub/database/registry-postgres.engine.test.ts',
    'test/commands/hub-registry.test.ts',
    'test/commands/hub-certify.test.ts',
  ],
  // A configuration for a few cars, for all cars, and for offline cars; a car that rolls back; a roll-out that was
  // stopped.
  rollout: [
    'test/hub/core/rollouts.test.ts',
    'test/hub/start/rollout.test.ts',
    'test/hub/start/rollout.engine.test.ts',
    'test/assembly/generation.test.ts',
    'test/commands/hub-rollout.test.ts',
  ],
  // hub.yaml; hubs with Mosquitto, NATS and RabbitMQ: restarts, and one of two hubs is killed while cars drive.
  brokers: [
    'test/config/hub.test.ts',
    'test/adapters/mqtt/shared.engine.test.ts',
    'test/hub/broker',
    'test/commands/hub-brokers.engine.test.ts',
  ],
  // Hub and broker killed, PostgreSQL restarted or unreachable, a full disk, a wrong clock, a taken name, garbage,
  // other VINs.
  failure: [
    'test/commands/hub.test.ts',
    'test/commands/hub-postgres.engine.test.ts',
    'test/commands/hub-disk.engine.test.ts',
    'test/commands/hub-deliveries.engine.test.ts',
    'test/hub/start/failure.test.ts',
    'test/hub/start/lives.test.ts',
    'test/hub/start/lives.engine.test.ts',
    'test/hub/start/clocks.test.ts',
    'test/hub/start/clocks.engine.test.ts',
    'test/hub/start/away.engine.test.ts',
    'test/hub/start/broker.engine.test.ts',
    'test/commands/hub-brokers.engine.test.ts',
  ],
  // Records that are removed when the retention of their kind has passed, and records that are always retained.
  retention: ['test/hub/start/retention.test.ts', 'test/hub/start/retention.engine.test.ts'],
  // Receivers of the readings of all cars.
  exits: [
    'test/hub/start/exits.test.ts',
    'test/hub/start/exits.engine.test.ts',
    'test/hub/start/topics.engine.test.ts',
    'test/commands/hub-exits.engine.test.ts',
    'test/commands/hub-topics.engine.test.ts',
  ],
  // An older copy of the database is restored.
  restore: ['test/hub/start/backup.test.ts', 'test/hub/start/restore.test.ts', 'test/hub/start/restore.engine.test.ts'],
  // Keys that the hubs on one database share.
  keys: [
    'test/hub/start/group-keys.test.ts',
    'test/hub/start/several.engine.test.ts',
    'test/hub/start/upgrade.engine.test.ts',
    'test/commands/hub-keys.engine.test.ts',
  ],
  // Simulated cars at a broker, the overview of all cars, indexed lists; `npm run fleet` is the measurement.
  scale: [
    'test/scripts/fleet.long.test.ts',
    'test/scripts/fleet.test.ts',
    'test/hub/core/overview.test.ts',
    'test/hub/core/viewers.test.ts',
    'test/hub/start/lists.test.ts',
    'test/hub/start/lists.engine.test.ts',
    'test/hub/start/totals.test.ts',
    'test/hub/start/totals.engine.test.ts',
  ],
};
