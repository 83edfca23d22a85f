/** The tests of each area of the hub, files and folders; `npm run test:hub -- AREA…` runs them. */
export const hubAreas: Readonly<Record<string, readonly string[]>> = {
  // From a car to the database and the interface, commands, a hub that is killed, cars of the bench.
  thread: [
    'test/assembly/hub.test.ts',
    'test/assembly/hub-commands.test.ts',
    'test/assembly/hub-health.test.ts',
    'test/commands/hub.test.ts',
    'test/commands/bench-fleet.test.ts',
  ],
  // Store and interface, on SQLite and on PostgreSQL: operations, filters, pages, links.
  contract: [
    'test/adapters/database',
    'test/assembly/hub.test.ts',
    'test/assembly/hub-postgres.engine.test.ts',
    'test/assembly/hub-answers.test.ts',
    'test/assembly/hub-answers.engine.test.ts',
    'test/assembly/hub-lists.test.ts',
    'test/assembly/hub-lists.engine.test.ts',
    'test/assembly/hub-diagnostics.test.ts',
    'test/assembly/hub-diagnostics.engine.test.ts',
    'test/assembly/hub-signals.test.ts',
    'test/assembly/hub-signals.engine.test.ts',
    'test/assembly/hub-document.test.ts',
  ],
  // What arrived, was given up and is missing; its metric; what cars keep and send again; brokers that lose messages.
  numbers: [
    'test/hub/numbers.test.ts',
    'test/hub/lives.test.ts',
    'test/hub/resend.test.ts',
    'test/hub/resend-trouble.test.ts',
    'test/hub/vehicle-status.test.ts',
    'test/hub/intake.test.ts',
    'test/adapters/store/kept.test.ts',
    'test/agent/outbox/repetition.test.ts',
    'test/assembly/hub-health.test.ts',
    'test/assembly/hub-restore.test.ts',
    'test/assembly/hub-restore.engine.test.ts',
  ],
  commands: [
    'test/hub/commands.test.ts',
    'test/agent/remotes/agent-commands.test.ts',
    'test/assembly/hub-commands.test.ts',
    'test/assembly/hub-restore.test.ts',
  ],
  // What one hub receives reaches those who follow at another.
  live: ['test/hub/live.test.ts', 'test/assembly/hub-live.test.ts', 'test/assembly/hub-live.engine.test.ts'],
  // The operations, monitors in real cars, their events on the way to receivers.
  monitors: [
    'test/hub/monitor-sync.test.ts',
    'test/assembly/hub-monitors.test.ts',
    'test/assembly/hub-monitors.engine.test.ts',
    'test/assembly/hub-car-monitors.test.ts',
    'test/assembly/hub-car-monitors.engine.test.ts',
    'test/assembly/hub-deliveries.test.ts',
    'test/assembly/hub-deliveries.engine.test.ts',
  ],
  // A car added, enrolled, expired, renewed, removed, refused and forgotten; who sees what, and what the broker lets whom do.
  enrol: [
    'test/assembly/hub-enrolment.test.ts',
    'test/assembly/hub-folder.test.ts',
    'test/assembly/renewal.test.ts',
    'test/assembly/hub-revoked.engine.test.ts',
    'test/assembly/hub-access.test.ts',
    'test/assembly/hub-access-matrix.test.ts',
    'test/assembly/hub-access-matrix.engine.test.ts',
    'test/assembly/hub-command-rights.test.ts',
    'test/assembly/hub-data-rights.test.ts',
    'test/assembly/hub-forget.test.ts',
    'test/assembly/hub-forget.engine.test.ts',
    'test/hub/erasures.test.ts',
    'test/adapters/database/registry.test.ts',
    'test/adapters/database/registry-postgres.engine.test.ts',
    'test/commands/hub-registry.test.ts',
  ],
  // A configuration to a few cars, to all, to those away; a car that goes back; stopped.
  rollout: [
    'test/assembly/hub-rollout.test.ts',
    'test/assembly/hub-rollout.engine.test.ts',
    'test/assembly/generation.test.ts',
    'test/commands/hub-rollout.test.ts',
  ],
  // hub.yaml, and hubs at Mosquitto, NATS and RabbitMQ: restarted, and one of two killed while cars drive.
  brokers: [
    'test/config/hub.test.ts',
    'test/adapters/mqtt/shared.engine.test.ts',
    'test/commands/hub-brokers.engine.test.ts',
  ],
  // Hub and broker killed, PostgreSQL restarted or away, a full disk, a wrong clock, a taken name, garbage, other VINs.
  failure: [
    'test/commands/hub.test.ts',
    'test/commands/hub-postgres.engine.test.ts',
    'test/commands/hub-disk.engine.test.ts',
    'test/commands/hub-deliveries.engine.test.ts',
    'test/assembly/hub-failure.test.ts',
    'test/assembly/hub-lives.test.ts',
    'test/assembly/hub-lives.engine.test.ts',
    'test/assembly/hub-clocks.test.ts',
    'test/assembly/hub-clocks.engine.test.ts',
    'test/assembly/hub-broker.engine.test.ts',
    'test/commands/hub-brokers.engine.test.ts',
  ],
  // What is removed after the days of its kind, and what is kept all the same.
  retention: ['test/assembly/hub-retention.test.ts', 'test/assembly/hub-retention.engine.test.ts'],
  // An older copy of the database is put back.
  restore: ['test/assembly/hub-restore.test.ts', 'test/assembly/hub-restore.engine.test.ts'],
  // Light cars at a broker, all cars at a glance, lists along indexes; `npm run fleet` is the measurement.
  scale: [
    'test/scripts/fleet.long.test.ts',
    'test/scripts/fleet.test.ts',
    'test/hub/overview.test.ts',
    'test/hub/viewers.test.ts',
    'test/assembly/hub-lists.test.ts',
    'test/assembly/hub-lists.engine.test.ts',
  ],
};
