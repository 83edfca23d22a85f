/** `vigie hub status`: the state of a running hub, for operators. */
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { HUB_SOCKET } from '../hub/start/health.ts';
import { DAY } from '../protocol/calendar.ts';
import { classes } from '../protocol/classes.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import type { DiskStatus, HubStatus, StoredStatus } from '../protocol/interface/own/hub-status.ts';
import { size, span } from './amounts.ts';
import { placeHelp } from './help.ts';
import { type HubAccess, hubInterfaceOf } from './hub-interface.ts';
import { type PlaceOptions, placeOf } from './hub-place.ts';
import { finishUnread, formatOf, Lines } from './output.ts';
import { readSocket } from './socket-report.ts';

interface Options {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly json?: boolean;
  readonly format?: string;
}

export function hubStatusCommand(): Command {
  return new Command('status')
    .configureHelp(placeHelp)
    .description(
      'shows the state of a running hub: broker, database, lag, cars, missing numbers, refused messages, cars that are not registered, ' +
        'deliveries, disk, retention. Exit status 0, 1 without broker or database or after a failed commit, 2 when no hub runs.',
    )
    .option('--url <url>', 'a hub elsewhere, such as https://hub.example:8080')
    .option('--token-file <file>', 'with --url: file with a token of the hub (default: the token in VIGIE_TOKEN)')
    .option('--ca <file>', 'with --url: certificates (PEM) of the authorities that sign the hub’s certificate')
    .option('--json', 'a line of JSON for programs, as --format ndjson')
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action(async (options: Options, command: Command) => {
      finishUnread();
      const { url } = options;
      const status = await (url === undefined ? readHere(command, options) : readAt({ ...options, url }));
      const lines = new Lines();
      const format = options.json === true ? 'ndjson' : formatOf(options.format);
      if (format === 'ndjson') lines.line(JSON.stringify(status));
      else for (const line of hubStatusText(status)) lines.line(line);
      await lines.flush();
      if (!isHealthy(status)) process.exitCode = 1;
    });
}

function readHere(command: Command, { tokenFile, ca }: Options): Promise<HubStatus> {
  if (tokenFile !== undefined || ca !== undefined) {
    throw new VigieError('usage.wrong', '--token-file and --ca are for --url: add --url URL');
  }
  const { data } = placeOf(command.optsWithGlobals<PlaceOptions>());
  return readSocket(join(data, HUB_SOCKET), {
    program: 'hub',
    absent: 'no hub runs here: name its directory with --data or --config, or its address with --url',
  });
}

/** Rejects like {@link HubInterface.ask}. A refused token needs the scope of this page. */
async function readAt(access: HubAccess): Promise<HubStatus> {
  try {
    return await hubInterfaceOf(access, { token: process.env['VIGIE_TOKEN'] }).ask('/vigie/v1/status');
  } catch (error) {
    if (!(error instanceof VigieError) || !/^request\.(unauthenticated|forbidden)$/.test(error.code)) throw error;
    throw new VigieError(error.code, 'needs a token with the scope hub:status:read: name its file with --token-file', {
      where: access.url,
      cause: error,
    });
  }
}

function isHealthy({ broker, database, commits }: HubStatus): boolean {
  return broker.connected && database.answers && !commits.failing;
}

/** Formats the state as human-readable lines. */
export function hubStatusText(status: HubStatus): string[] {
  const { version, uptime, broker, database, commits, lag, refused, sent, stored, at } = status;
  const receives = broker.receiving ? 'receiving' : 'standing by, another hub of the group receives';
  const why = database.reason === undefined ? '' : ` (${database.reason})`;
  const lost = Object.entries(sent.lost).filter(([, count]) => count > 0);
  const classOf = (priority: number): string => (classes[priority]?.name ?? `class ${priority}`).padEnd(20);
  return [
    `vigie ${version}, hub: ${isHealthy(status) ? 'working' : 'failing'}, up ${span(uptime)}`,
    `broker: ${broker.url}, ${broker.connected ? receives : 'not connected'}`,
    `database: ${database.kind}, ${database.answers ? 'answers' : 'does not answer'}${why}`,
    `commits: ${counted(commits.waiting, 'message')} waiting, ${commits.failed} failed${commits.failing ? ', the last one too' : ''}`,
    'lag of the last five minutes:',
    ...(lag.length === 0 ? ['  no message'] : []),
    ...lag.map((one) => `  ${classOf(one.class)} ${counted(one.messages, 'message')}, ${span(one.mean)}`),
    `refused: ${refused.unreadable} unreadable, ${refused.unregistered} of unregistered, ${refused.removed} of removed and ${refused.forgotten} of forgotten cars`,
    `delivered: ${sent.delivered}, ${counted(sent.failed, 'failed request')}${lost.map(([reason, count]) => `, ${count} ${reason}`).join('')}`,
    ...(stored === undefined ? [] : storedText(stored, at, classOf)),
  ];
}

function storedText(stored: StoredStatus, at: number, classOf: (priority: number) => string): string[] {
  const { cars, missing, unregistered, deliveries, disk, retention } = stored;
  const { minute, hour, day, older } = cars.ages;
  const days = Object.entries(retention.days).map(([kind, count]) => `${kind} ${count}`);
  return [
    `cars: ${cars.total}; heard within a minute ${minute}, an hour ${hour}, a day ${day}, before ${older}`,
    `missing numbers:${missing.length === 0 ? ' none' : ''}`,
    ...missing.map((one) => `  ${classOf(one.class)} ${one.numbers} of ${counted(one.cars, 'car')}`),
    `not registered: ${counted(unregistered.cars, 'car')}, ${counted(unregistered.messages, 'message')}, ${size(unregistered.bytes)}`,
    ...unregistered.newest.map(({ vin, lastSeen, messages, dropped }) => {
      return `  ${vin}  ${counted(messages, 'message')}, ${dropped} dropped, last ${span(at - lastSeen)} ago`;
    }),
    `deliveries: ${counted(deliveries.waiting, 'event')} waiting for ${counted(deliveries.receivers, 'receiver')}`,
    `disk: ${diskText(disk)}`,
    `retention: ${days.length === 0 ? 'everything is kept' : `days: ${days.join(', ')}`}${retention.paused ? '; paused: no car confirms the clock' : ''}`,
  ];
}

function diskText({ bytes, free, observed, growth, days }: DiskStatus): string {
  const room = free === undefined ? '' : `, ${size(free)} free`;
  if (growth === undefined) return `${size(bytes)}${room}; full in: unknown (observed for ${span(observed)} of 1 h)`;
  const grows = `grows by ${size(Math.max(0, growth))} a day (observed for ${span(observed)})`;
  if (growth <= 0) return `${size(bytes)}${room}; does not grow (observed for ${span(observed)})`;
  const full = days === undefined ? 'unknown (the disk of PostgreSQL is not visible)' : span(days * DAY);
  return `${size(bytes)}${room}, ${grows}; full in: ${full}`;
}
