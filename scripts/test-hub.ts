/**
 * `npm run test:hub -- NAME…`: the tests of one part of the hub; without a name, of all parts. They are in `npm test`, those
 * on PostgreSQL in `npm run test:engines`, too.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const parts: Readonly<Record<string, readonly string[]>> = {
  // From a car to the database and the interface, commands, a hub that is killed, cars of the bench.
  thread: [
    'test/assembly/hub.test.ts',
    'test/assembly/hub-commands.test.ts',
    'test/assembly/hub-health.test.ts',
    'test/commands/hub.test.ts',
    'test/commands/bench-fleet.test.ts',
  ],
  // Store and interface, on SQLite and on PostgreSQL.
  contract: [
    'test/adapters/database',
    'test/assembly/hub.test.ts',
    'test/assembly/hub-postgres.engine.test.ts',
    'test/assembly/hub-answers.test.ts',
    'test/assembly/hub-document.test.ts',
    'test/assembly/hub-answers.engine.test.ts',
  ],
  numbers: [
    'test/hub/numbers.test.ts',
    'test/hub/resend.test.ts',
    'test/hub/vehicle-status.test.ts',
    'test/hub/intake.test.ts',
  ],
  commands: ['test/hub/commands.test.ts', 'test/assembly/hub-commands.test.ts'],
  // The operations, monitors in real cars.
  monitors: [
    'test/hub/monitor-sync.test.ts',
    'test/assembly/hub-monitors.test.ts',
    'test/assembly/hub-monitors.engine.test.ts',
    'test/assembly/hub-car-monitors.test.ts',
    'test/assembly/hub-car-monitors.engine.test.ts',
  ],
  // A car added, enrolled, expired, renewed, removed, refused and forgotten; who sees what, and what the broker lets whom do.
  enrol: [
    'test/assembly/hub-enrolment.test.ts',
    'test/assembly/renewal.test.ts',
    'test/assembly/hub-revoked.engine.test.ts',
    'test/assembly/hub-access.test.ts',
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
  // The hub killed, PostgreSQL restarted or away, a full disk, a wrong clock, a name that is taken, garbage, other VINs.
  failure: [
    'test/commands/hub.test.ts',
    'test/commands/hub-postgres.engine.test.ts',
    'test/assembly/hub-failure.test.ts',
    'test/assembly/hub-broker.engine.test.ts',
    'test/commands/hub-brokers.engine.test.ts',
  ],
  // An older copy of the database is put back.
  restore: ['test/assembly/hub-restore.test.ts', 'test/assembly/hub-restore.engine.test.ts'],
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(
    `there is no area ${unknown.join(', ')}: give some of ${Object.keys(parts).join(', ')}, or none for all`,
  );
  process.exit(2);
}
const files = new Set((names.length === 0 ? Object.keys(parts) : names).flatMap((name) => parts[name] ?? []));
const runner = fileURLToPath(new URL('test.ts', import.meta.url));
process.exitCode = spawnSync(process.execPath, [runner, ...files], { stdio: 'inherit' }).status ?? 1;
