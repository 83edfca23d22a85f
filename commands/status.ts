import { join } from 'node:path';
import { Command, Option } from 'commander';
import { droppedBy, type LinkDetails } from '../agent/health/health.ts';
import { type Lacking, STATUS_SOCKET, type StatusReport } from '../assembly/service.ts';
import { loadConfiguration } from '../config/configuration.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { classes } from '../protocol/classes.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { size, span } from './amounts.ts';
import { finishUnread, formatOf, Lines } from './output.ts';
import { readSocket } from './socket-report.ts';

interface Options {
  readonly config?: string;
  readonly data?: string;
  readonly format?: string;
}

export function statusCommand(): Command {
  return new Command('status')
    .summary('shows the health of the running agent')
    .description(
      `Shows the state of the agent on this machine: sources, waiting messages, use of memory and processor. A line of JSON for programs. \
Exit status 0, 1 when it is stuck or in its minimal mode, 2 when no agent runs.`,
    )
    .option('-c, --config <file>', 'its configuration, which names the folder of the records')
    .option('--data <dir>', `its folder of records (default: ${configurationDefaults.data})`)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action(status);
}

async function status(options: Options): Promise<void> {
  finishUnread();
  const data = folderOf(options);
  const report = await readSocket<StatusReport>(join(data, STATUS_SOCKET), {
    program: 'agent',
    absent: 'no agent runs here (vigie run; a bench has no status): name its folder with --data or -c',
  });
  const lines = new Lines();
  if (formatOf(options.format) === 'ndjson') lines.line(JSON.stringify(report));
  else for (const line of describe(report)) lines.line(line);
  await lines.flush();
  if (report.stuck !== undefined || report.mode === 'minimal') process.exitCode = 1;
}

/** Returns the data directory: that of the options, of the configuration, or of the environment. */
export function folderOf({ config, data }: Pick<Options, 'config' | 'data'>): string {
  if (data !== undefined) return data;
  if (config === undefined) return process.env['VIGIE_DATA'] || configurationDefaults.data;
  const { configuration } = loadConfiguration(config, process.env, undefined, 'awaited');
  if (configuration !== undefined) return configuration.data;
  throw new VigieError('configuration.wrong', 'it has errors (`vigie check`); name the folder with --data', {
    where: config,
  });
}

/** Formats the report as human-readable lines. */
export function describe(report: StatusReport): string[] {
  const { agent, link, journal, process: own, configuration } = report;
  const state = report.stuck ?? (report.mode === 'minimal' ? `minimal mode: ${report.reason ?? ''}` : 'running');
  const waiting = report.outbox.map(({ class: priority, count, bytes, oldest }) => {
    const age = oldest === undefined ? '' : `, oldest ${span(report.at - oldest)}`;
    return `  ${(classes[priority]?.name ?? `class ${priority}`).padEnd(20)} ${counted(count, 'message')}, ${size(bytes)}${age}`;
  });
  const sources = report.sources.map((source) => {
    const { name, state: doing, reason, frames, silence } = source;
    const last = silence === undefined ? 'nothing yet' : `last ${span(silence)} ago`;
    const lost = droppedBy(source) === 0 ? '' : `, ${droppedBy(source)} lost`;
    return `  ${name.padEnd(20)} ${doing}${reason === undefined ? '' : ` (${reason})`}, ${counted(frames, 'frame')}${lost}, ${last}`;
  });
  const commands = Object.entries(report.commands).map(([outcome, count]) => `${count} ${outcome}`);
  return [
    `vigie ${report.version}, ${report.vin}, ${report.profile}: ${state}`,
    ...(report.carVin === undefined
      ? []
      : [`the car gives another VIN: ${report.carVin} (correct \`vin\`, or use a folder of records of its own)`]),
    `up ${span(report.uptime)}, process ${report.pid}${report.before === undefined ? '' : `; before: ${report.before}`}`,
    `configuration: generation ${configuration.generation}, ${configuration.state}${configuration.detail === undefined ? '' : ` (${configuration.detail})`}`,
    `link: ${link.connected ? 'connected' : 'not connected'}, ${counted(link.connections, 'time')}, ${counted(link.published, 'message')}, ${size(link.sent)}`,
    ...(link.details === undefined ? [] : [`  ${describeLink(link.details, report.at)}`]),
    ...(report.missing ?? []).map(({ file, consequence }) => `missing: ${file} (${consequence})`),
    ...lacking(report.lacking ?? {}),
    'sources:',
    ...(sources.length === 0 ? ['  none'] : sources),
    `readings: ${agent.readings}, impossible ${agent.refused}, faults ${agent.faults}`,
    ...exitLines(report),
    'outbox:',
    ...(waiting.length === 0 ? ['  empty'] : waiting),
    `disk: ${size(journal.written)} written, ${size(journal.flashed)} on the medium, ${size(journal.disk)} in use, ${counted(journal.failures + report.outboxRefused, 'failure')}`,
    `commands: ${commands.length === 0 ? 'none' : commands.join(', ')}`,
    `process: ${size(own.privateBytes ?? own.residentBytes)} of memory, ${(own.cpu / 1000).toFixed(1)} s of processor, event loop late by at most ${Math.round(report.delay)} ms`,
  ];
}

function exitLines({ exits = [], at }: StatusReport): string[] {
  const lines = exits.map(({ name, state, error, waiting, lost, refused, succeededAt }) => {
    const counts = [
      `${waiting} waiting`,
      ...(lost > 0 ? [`${lost} lost`] : []),
      ...(refused > 0 ? [`${refused} refused`] : []),
    ];
    const last = succeededAt === undefined ? 'nothing sent yet' : `last ${span(at - succeededAt)} ago`;
    return `  ${name.padEnd(20)} ${state}${error === undefined ? '' : ` (${error})`}, ${counts.join(', ')}, ${last}`;
  });
  return lines.length === 0 ? [] : ['exits:', ...lines];
}

/** Returns the parts of the agent that do not work. */
function lacking({ interface: unserved, trust, callbacks }: Lacking): string[] {
  return [
    ...(unserved === undefined ? [] : [`interface: not served (${unserved})`]),
    ...(trust === undefined ? [] : [`trust: ${trust}`]),
    ...(callbacks === undefined ? [] : [`callbacks: not all can be sent (${callbacks})`]),
  ];
}

/** Describes the address and state of the link. */
function describeLink(details: LinkDetails, at: number): string {
  const { state, since, reason, broker, protocol, keepalive, certificateExpires, counts } = details;
  const version = protocol === undefined ? '' : `, MQTT ${protocol}`;
  const why = state === 'up' || reason === undefined ? '' : ` (${reason})`;
  const left = certificateExpires === undefined ? Number.POSITIVE_INFINITY : certificateExpires - at;
  const certificate =
    certificateExpires === undefined
      ? ''
      : `, certificate ${left > 0 ? `for ${span(left)}` : 'expired'} (${new Date(certificateExpires).toISOString().slice(0, 10)})`;
  return `${state} for ${span(at - since)}${why}${broker === undefined ? '' : `, ${broker}`}${version}, keep-alive ${keepalive} s, ${counted(counts.attempts, 'attempt')}, lost ${counted(counts.losses, 'time')}${certificate}`;
}
