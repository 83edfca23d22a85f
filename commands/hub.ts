import { hostname } from 'node:os';
import { Command, Option } from 'commander';
import { SystemClock } from '../adapters/clock/system.ts';
import { RepeatedFaultLog } from '../adapters/logging/repeated.ts';
import { type Level, StreamLog } from '../adapters/logging/stream.ts';
import { isLoopback } from '../config/http.ts';
import { brokerAddress } from '../config/mqtt.ts';
import { hubClock } from '../hub/start/database.ts';
import { startHub } from '../hub/start/hub.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { addCarCommand } from './hub-add.ts';
import { hubAuditCommand } from './hub-audit.ts';
import { backupCommand, restoreCommand } from './hub-backup.ts';
import { certifyCommand } from './hub-certify.ts';
import { introduction } from './hub-introduction.ts';
import { hubKeysCommand } from './hub-keys.ts';
import { DEFAULT_DATA, type PlaceOptions, placeOf } from './hub-place.ts';
import { forgetCarCommand, listCarsCommand, openHubCommand, removeCarCommand } from './hub-registry.ts';
import { rolloutCommand } from './hub-rollout.ts';
import { hubStatusCommand } from './hub-status.ts';
import { hubTokenCommand } from './hub-token.ts';
import {
  chosenPorts,
  portOf,
  STANDARD_BROKER,
  STANDARD_ENROLMENT,
  STANDARD_HTTP,
  STANDARD_SECURE_BROKER,
} from './ports.ts';
import { untilSignal } from './signals.ts';

interface Options extends PlaceOptions {
  readonly port?: number;
  readonly http?: number;
  readonly metrics?: number;
  readonly host?: string;
  readonly tls?: boolean;
  readonly names?: readonly string[];
  readonly enrolment?: number;
  readonly log?: Level;
}

export function hubCommand(): Command {
  return new Command('hub')
    .summary('receives the messages of cars, stores them, and serves them')
    .description(
      `Runs an MQTT broker for cars, keeps their messages in an SQLite file or in PostgreSQL, and serves the connected-vehicle interface \
for all of them, on this machine (127.0.0.1) only. It acknowledges a message when the message is on disk. Ctrl-C ends it; \
the next start continues with the same data.`,
    )
    .option('-c, --config <file>', 'configuration (hub.yaml), also for a broker that you run; options go before it')
    .option('--data <dir>', `directory of the SQLite file and keys (default: "${DEFAULT_DATA}")`)
    .option('--database <url>', 'PostgreSQL instead of the SQLite file: postgres://user@host:port/database')
    .option('--port <port>', `port of the broker; 0: any free (default: ${STANDARD_BROKER}, or any free)`, portOf)
    .option('--http <port>', `port of the HTTP interface; 0: any free (default: ${STANDARD_HTTP}, or any free)`, portOf)
    .option('--tls', 'broker and interface over TLS, with the hub’s own authority, and enrolment of cars (EST)')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1); another needs --tls and a registered car')
    .option('--names <name...>', 'with --tls: names and addresses by which cars and people reach the hub')
    .option('--enrolment <port>', `with --tls: port of enrolment; 0: any free (default: ${STANDARD_ENROLMENT})`, portOf)
    .option('--metrics <port>', 'serves /metrics (Prometheus) and /health on this port of 127.0.0.1 too', portOf)
    .addOption(
      new Option('--log <level>', 'level of the log on standard error (default: "warn")').choices([
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .action(runHub)
    .addCommand(addCarCommand())
    .addCommand(removeCarCommand())
    .addCommand(forgetCarCommand())
    .addCommand(openHubCommand())
    .addCommand(listCarsCommand())
    .addCommand(hubTokenCommand())
    .addCommand(hubKeysCommand())
    .addCommand(certifyCommand())
    .addCommand(rolloutCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(hubStatusCommand())
    .addCommand(hubAuditCommand());
}

/** Exit status if another hub has taken this hub's name (sysexits.h, EX_CONFIG): a restart would take it back. */
const DISPLACED = 78;

async function runHub(options: Options): Promise<void> {
  const signalled = untilSignal();
  const { configuration, data, database, secretFile } = placeOf(options);
  const { broker, http, name, metrics } = configuration ?? {};
  const external = broker !== undefined && 'url' in broker ? broker : undefined;
  if (external !== undefined && options.port !== undefined) {
    throw new VigieError(
      'usage.wrong',
      `--port is for the broker of the hub itself, and ${options.config} names another`,
    );
  }
  const listen = broker !== undefined && 'host' in broker ? broker : undefined;
  const { host } = options;
  const tls = options.tls === true ? (configuration?.tls ?? {}) : configuration?.tls;
  const enrolment = options.enrolment ?? tls?.enrolment ?? STANDARD_ENROLMENT;
  const own = [...new Set([host, listen?.host, http?.host].filter((one) => one !== undefined && !isLoopback(one)))];
  const names =
    options.names ?? tls?.names ?? (own.length === 0 ? ['localhost', '127.0.0.1'] : [hostname(), ...(own as string[])]);
  const secureBroker = tls === undefined ? undefined : STANDARD_SECURE_BROKER;
  const ports = await chosenPorts({
    ...portIn(external === undefined ? (options.port ?? listen?.port ?? secureBroker) : 0, 'port'),
    ...portIn(options.http ?? http?.port, 'http'),
  });
  const hub = await startHub({
    data,
    ...defined({ database, secretFile }),
    ...(external === undefined
      ? {}
      : {
          broker: {
            address: brokerAddress(external),
            group: external.group,
            receiveMaximum: external.receiveMaximum,
          },
        }),
    ...defined({ name }),
    port: ports.port,
    http: ports.http,
    ...(configuration?.trustedProxies === undefined ? {} : { trustedProxies: configuration.trustedProxies }),
    ...(configuration?.tiles === undefined ? {} : { tiles: configuration.tiles }),
    ...defined({ vehicle: configuration?.vehicle, clients: configuration?.clients }),
    ...(configuration?.callbacks === undefined ? {} : { callbacks: configuration.callbacks }),
    ...defined({ exits: configuration?.exits }),
    ...defined({ readings: configuration?.readings }),
    ...(configuration?.retention === undefined ? {} : { retention: configuration.retention }),
    ...(configuration?.signIn === undefined ? {} : { signIn: configuration.signIn }),
    hosts: {
      ...(listen === undefined ? {} : { broker: listen.host }),
      ...(http === undefined ? {} : { http: http.host }),
      ...(options.metrics !== undefined || metrics === undefined ? {} : { metrics: metrics.host }),
      ...(host === undefined ? {} : { broker: host, http: host }),
    },
    ...(tls === undefined ? {} : { secure: { names, enrolment } }),
    ...portIn(options.metrics ?? metrics?.port, 'metrics'),
    clock: await hubClock(database, new SystemClock()),
    log: new RepeatedFaultLog(new StreamLog(process.stderr, options.log ?? configuration?.log.level ?? 'warn'), () =>
      performance.now(),
    ),
  });
  if (external === undefined) ports.say(hub.broker, hub.interface.url);
  const isPostgres = database !== undefined;
  process.stdout.write(introduction(hub, { data, isPostgres, ...(tls === undefined ? {} : { name: names[0] ?? '' }) }));
  const displaced = await Promise.race([signalled.then(() => undefined), hub.displaced]);
  process.stdout.write('stopping\n');
  await hub.stop();
  if (displaced === undefined) return;
  process.stderr.write(`vigie: ${displaced.message}\n`);
  process.exitCode = DISPLACED;
}

function portIn<K extends string>(port: number | undefined, name: K): { readonly [N in K]?: number } {
  return (port === undefined ? {} : { [name]: port }) as { readonly [N in K]?: number };
}
