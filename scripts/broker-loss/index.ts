/**
 * Cuts the power of a broker's disk again and again while cars publish, and counts what is lost: `npm run broker-loss --
 * --broker mosquitto --cuts 60 --folder F`. It stops after `--for` and continues with the same folder. Needs root.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { groupSecretIn } from '../../test/hub/hub-tokens.ts';
import { PostgresRig } from '../../test/rig/postgres.ts';
import { brokers, type SingleBroker } from '../fleet/engines.ts';
import { CarsAndHub } from './cars.ts';
import { CuttableDisk } from './disk.ts';
import { PlainPair } from './plain-pair.ts';

/** Number of plain messages between a start of the broker and the cut. */
const MESSAGES_PER_CUT = 200;

interface Sum {
  readonly cuts: number;
  readonly plain: { readonly acknowledged: number; readonly lost: number; readonly twice: number };
  /** Messages of cars that the broker acknowledged, that the hub requested again, that it does not have, and that it has twice. */
  readonly cars: {
    readonly acknowledged: number;
    readonly requested: number;
    readonly missing: number;
    readonly twice: number;
  };
}
const NOTHING: Sum = {
  cuts: 0,
  plain: { acknowledged: 0, lost: 0, twice: 0 },
  cars: { acknowledged: 0, requested: 0, missing: 0, twice: 0 },
};

const { values } = parseArgs({
  options: {
    broker: { type: 'string', default: 'mosquitto' },
    cuts: { type: 'string', default: '60' },
    cars: { type: 'string', default: '4' },
    folder: { type: 'string' },
    for: { type: 'string', default: '10' },
  },
});
const makeBroker = brokers[values.broker];
if (makeBroker === undefined || values.folder === undefined || process.getuid?.() !== 0) {
  console.error(`as root, with --folder F, and --broker with one of ${Object.keys(brokers).join(', ')}`);
  process.exit(2);
}
const folder = resolve(values.folder, values.broker);
mkdirSync(folder, { recursive: true });
const state = join(folder, 'sum.json');
let sum: Sum = existsSync(state) ? (JSON.parse(readFileSync(state, 'utf8')) as Sum) : NOTHING;
const deadline = performance.now() + Number(values.for) * 60_000;
const cuts = Number(values.cuts);

if (sum.cuts < cuts) await cutMany(makeBroker);
console.log(`${values.broker}: ${sum.cuts} of ${cuts} cuts`);
console.table({ 'without numbers': sum.plain, 'cars and hub': sum.cars });
process.exitCode = sum.cars.missing + sum.cars.twice > 0 ? 1 : 0;

async function cutMany(make: () => SingleBroker): Promise<void> {
  const run = mkdtempSync(join(folder, 'run-'));
  const disk = new CuttableDisk(run);
  await disk.prove();
  // The rig makes the broker's folder in the folder for temporary files.
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk.folder;
  const broker = make();
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  const server = new PostgresRig();
  const fleet = new CarsAndHub(run, Number(values.cars));
  let done = 0;
  try {
    await Promise.all([broker.start(), server.start()]);
    const database = await server.create();
    const url = `mqtt://127.0.0.1:${broker.ports[0]}`;
    const plain = new PlainPair(url, broker.version);
    await fleet.start(url, database, groupSecretIn(run));
    await plain.start();
    await plain.untilAcknowledged(MESSAGES_PER_CUT);
    disk.sync();
    for (; sum.cuts + done < cuts && performance.now() < deadline; done++) {
      // Every second time the receivers are away, as in an upgrade, so that messages wait at the broker.
      const away = done % 2 === 0;
      if (away) await Promise.all([fleet.leave(), plain.leave()]);
      await plain.untilAcknowledged(MESSAGES_PER_CUT);
      // It acknowledges nothing after the cut.
      for (const pid of broker.pids) process.kill(-pid, 'SIGSTOP');
      disk.cut();
      await broker.kill();
      await disk.power();
      await broker.start();
      await Promise.all([fleet.attend(), plain.attend()]);
      await plain.untilAcknowledged(MESSAGES_PER_CUT);
      console.log(`cut ${sum.cuts + done + 1}: requested ${fleet.requested}, lost without numbers ${plain.lost}`);
    }
    await plain.end();
    const { acknowledged, missing } = await fleet.end();
    const repeated = await server.execute(
      database,
      'SELECT vehicle FROM messages GROUP BY vehicle, class, seq, boot HAVING count(*) > 1',
    );
    for (const one of missing.slice(0, 20)) console.log(`missing: ${one}`);
    sum = {
      cuts: sum.cuts + done,
      plain: added(sum.plain, { acknowledged: plain.acknowledged, lost: plain.lost, twice: plain.twice }),
      cars: added(sum.cars, {
        acknowledged,
        requested: fleet.requested,
        missing: missing.length,
        twice: repeated.length,
      }),
    };
    writeFileSync(state, JSON.stringify(sum));
  } finally {
    await fleet.remove();
    await server.remove();
    await broker.kill();
    await disk.remove();
    await broker.remove();
    rmSync(run, { recursive: true, force: true });
  }
}

function added<T extends Readonly<Record<keyof T, number>>>(one: T, other: T): T {
  return Object.fromEntries(
    Object.entries(one).map(([name, number]) => [name, Number(number) + Number(other[name as keyof T])]),
  ) as T;
}
