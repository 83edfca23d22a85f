import { join } from 'node:path';
import { Command, Option } from 'commander';
import { SystemClock } from '../adapters/clock/system.ts';
import { type Level, StreamLog } from '../adapters/logging/stream.ts';
import { startHub } from '../assembly/hub.ts';
import { addCarCommand, forgetCarCommand, listCarsCommand, removeCarCommand } from './hub-registry.ts';
import { hubTokenCommand } from './hub-token.ts';
import { chosenPorts, portOf, STANDARD_BROKER, STANDARD_HTTP } from './ports.ts';
import { untilSignal } from './signals.ts';

interface Options {
  readonly data: string;
  readonly database?: string;
  readonly port?: number;
  readonly http?: number;
  readonly metrics?: number;
  readonly log: Level;
}

export function hubCommand(): Command {
  return new Command('hub')
    .summary('receives the messages of cars, stores them, and serves them')
    .description(
      `Runs an MQTT broker for cars, keeps their messages in an SQLite file or in PostgreSQL, and serves the connected-vehicle interface \
for all of them, on this machine (127.0.0.1) only. It acknowledges a message when the message is on disk. Ctrl-C ends it; \
the next start continues with the same data.`,
    )
    .option('--data <dir>', 'directory of the SQLite file and keys', join('.vigie', 'hub'))
    .option('--database <url>', 'PostgreSQL instead of the SQLite file: postgres://user@host:port/database')
    .option('--port <port>', `port of the broker; 0: any free (default: ${STANDARD_BROKER}, or any free)`, portOf)
    .option('--http <port>', `port of the HTTP interface; 0: any free (default: ${STANDARD_HTTP}, or any free)`, portOf)
    .option('--metrics <port>', 'serves /metrics (Prometheus) and /health on this port of 127.0.0.1 too', portOf)
    .addOption(
      new Option('--log <level>', 'level of the log on standard error')
        .choices(['info', 'warn', 'error', 'silent'])
        .default('warn'),
    )
    .action(runHub)
    .addCommand(addCarCommand())
    .addCommand(removeCarCommand())
    .addCommand(forgetCarCommand())
    .addCommand(listCarsCommand())
    .addCommand(hubTokenCommand());
}

async function runHub({ data, database, metrics, log, ...asked }: Options): Promise<void> {
  const signalled = untilSignal();
  const ports = await chosenPorts(asked);
  const hub = await startHub({
    data,
    ...(database === undefined ? {} : { database }),
    ...ports,
    ...(metrics === undefined ? {} : { metrics }),
    clock: new SystemClock(),
    log: new StreamLog(process.stderr, log),
  });
  const { url } = hub.interface;
  ports.say(hub.broker, url);
  process.stdout.write(`ready: hub on ${hub.broker}
Cars publish to ${hub.broker}; each car is known from its first message on.
The HTTP interface: ${url}/docs for people, ${url}/fleets/local/vehicles and ${url}/user/vehicles for programs,
${url}/vigie/v1/vehicles/{VIN}/numbers for what of a car arrived and what is missing,
${url}/vigie/v1/vehicles/{VIN}/remotes for commands; a car obeys that has ${hub.trust} as its trust file.
${database === undefined ? 'Everything is' : 'The messages are in PostgreSQL, the keys'} in ${data}; a second start goes on with it.
Ctrl-C ends the hub.
`);
  await signalled;
  process.stdout.write('stopping\n');
  await hub.stop();
}
