/**
 * `npm run fleet`: runs a fleet against real hubs, a real broker and a real database. During the drive a hub is killed,
 * and PostgreSQL is stopped immediately and restarted. The cars are bare sockets that send what a real agent sent on a
 * drive. At the end, the messages in the database are compared with those that the broker acknowledged to the cars.
 *
 *     npm run fleet                                   # 300 cars, 1 minute of driving, Mosquitto and PostgreSQL
 *     npm run fleet -- --cars 10000 --minutes 2
 *     npm run fleet -- --broker nats --speed 6        # six minutes of driving in one minute
 *     npm run fleet -- --broker rabbitmq --nodes 3 --cars 100
 *     npm run fleet -- --broker embedded --database sqlite --failures no
 *     npm run fleet -- --readings 200 --minutes 60 --speed 30    # telemetry alone, 200 readings a message
 */
import { parseArgs } from 'node:util';
import { brokers, clusters } from './engines.ts';
import { runFleet } from './fleet.ts';
import type { FleetOptions } from './table.ts';

const DEFAULTS = {
  cars: '300',
  minutes: '1',
  speed: '1',
  broker: 'mosquitto',
  nodes: '1',
  database: 'postgresql',
  failures: 'yes',
  readings: '',
};
const BROKERS = ['embedded', ...Object.keys(brokers)];
const USAGE = `usage: npm run fleet -- [--cars 300] [--minutes 1] [--speed 1] [--broker ${BROKERS.join('|')}] \
[--nodes 1|3] [--database postgresql|sqlite] [--failures yes|no] \
[--readings 200]`;

const problems = await runFleet(read(process.argv.slice(2)));
for (const problem of problems) console.error(`failed: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;

function read(words: string[]): FleetOptions {
  let given: Partial<typeof DEFAULTS> = {};
  try {
    const options = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, { type: 'string' as const }]));
    given = parseArgs({ args: words, options }).values as typeof given;
  } catch (error) {
    refuse((error as Error).message);
  }
  const { cars, minutes, speed, broker, nodes, database, failures, readings } = { ...DEFAULTS, ...given };
  const number = (name: string, text: string, most: number): number => {
    const value = Number(text);
    if (!(value > 0 && value <= most)) refuse(`--${name} needs a number above 0 and up to ${most}, not ${text}`);
    return value;
  };
  const oneOf = (name: string, text: string, all: readonly string[]): string => {
    if (!all.includes(text)) refuse(`--${name} needs one of ${all.join(', ')}, not ${text}`);
    return text;
  };
  // A process opens at most 20,000 files, and so does a broker.
  const count = number('cars', cars, 19_000);
  if (!Number.isInteger(count)) refuse(`--cars needs a whole number, not ${cars}`);
  const several = oneOf('nodes', nodes, ['1', '3']) === '3';
  if (several && clusters[broker] === undefined) {
    refuse(`--nodes 3 needs --broker ${Object.keys(clusters).join(' or ')}, not ${broker}`);
  }
  return {
    cars: count,
    minutes: number('minutes', minutes, 600),
    speed: number('speed', speed, 1000),
    broker: oneOf('broker', broker, BROKERS),
    nodes: several ? 3 : 1,
    database: oneOf('database', database, ['postgresql', 'sqlite']) as FleetOptions['database'],
    ...(readings === '' ? {} : { readings: Math.round(number('readings', readings, 10_000)) }),
    failures: oneOf('failures', failures, ['yes', 'no']) === 'yes',
    say: (text) => console.log(text),
  };
}

function refuse(why: string): never {
  console.error(`${why}\n${USAGE}`);
  process.exit(2);
}
