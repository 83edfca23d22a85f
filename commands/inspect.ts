import { Command, Option } from 'commander';
import { MessageFinder } from '../adapters/can/dbc/index.ts';
import { type ObservedBus, Traffic } from '../adapters/can/inspect/index.ts';
import { formatNames, packings } from '../adapters/can/log/formats.ts';
import { type LogReader, openLog } from '../adapters/can/log/index.ts';
import { VigieError } from '../protocol/errors.ts';
import { loadDbc } from './dbc-files.ts';
import type { IdentifierLine } from './inspect/schema.ts';
import { busLineOf, identifierLineOf, trafficText } from './inspect/traffic-lines.ts';
import { COLUMNS_HELP, reportLog } from './log-summary.ts';
import { formatOf, Lines, progressBar } from './output.ts';
import type { SignalObserver } from './suggest/observer.ts';

/** Exit status when there is nothing to show. */
const NOTHING = 1;

interface Options {
  readonly dbc?: string[];
  readonly suggest?: string;
  readonly columns?: string;
  readonly format?: string;
}

export function inspectCommand(): Command {
  return new Command('inspect')
    .summary('what a recorded log contains: identifiers, periods, bits that change')
    .description(
      `Reads CAN logs and shows what they contain, for people who map a new car: for each bus and identifier how often \
it comes, every how many milliseconds (the median), the jitter (half of the span of nine in ten of these times), the \
payload length, and which bits change, as a mask in hexadecimal digits with a dot for four bits that never change. Counters and checksums (XOR, sums, CRC-8 0x1D and \
0x2F, AUTOSAR E2E profiles) are found by trial, with their unknown constants, on a sample of the frames. With --dbc, \
the names of messages. Several logs are taken together. With --suggest, a first profile instead: \
lines for the paths of Status whose signals are known by name, unit, labels and values, each with its reason.

Programs get NDJSON: {kind: "bus", …} for each bus and {kind: "identifier", …} for each identifier; docs/inspect.md \
describes the fields. The format of a log is found by content: ${formatNames()}; each also packed \
(${packings.join(', ')}).

Exit status 0, 1 when the logs have no frame or more than one in a hundred frames of a log was left out, 2 for files \
that cannot be read.`,
    )
    .argument('[log...]', 'log files, packed too; - reads standard input')
    .option('--dbc <file...>', 'network descriptions; several add up')
    .option('--suggest <file>', 'write a first profile for the signals of --dbc; works without a log too')
    .option('--columns <names>', COLUMNS_HELP)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .addHelpText(
      'after',
      `
Examples:
  vigie inspect drive.log
  vigie inspect drive.log.gz --dbc car.dbc
  candump -L can0 | vigie inspect - --format text
  vigie inspect drive.log --dbc car.dbc --suggest my-car.yaml
  vigie inspect drive.log | grep '"kind":"identifier"' > identifiers.ndjson`,
    )
    .action(inspect);
}

async function inspect(logs: string[], options: Options): Promise<void> {
  const { suggest } = options;
  if (suggest !== undefined && options.dbc === undefined) {
    throw new VigieError('usage.wrong', '--suggest needs --dbc FILE to know the signals');
  }
  if (logs.length === 0 && suggest === undefined) {
    const hint =
      options.dbc === undefined
        ? 'Give a file, or - for standard input'
        : 'Write it before --dbc, which takes all that follows';
    throw new VigieError('usage.wrong', `which log? ${hint}`);
  }
  const databases = (options.dbc ?? []).map(loadDbc);
  const traffic = new Traffic();
  const suggestions = suggest === undefined ? undefined : await import('./suggest/suggestion-file.ts');
  if (suggest !== undefined) suggestions?.refuseExisting(suggest);
  const observer = suggestions === undefined ? undefined : new suggestions.SignalObserver(databases);
  for (const path of logs) {
    const log = await openLog(path, options.columns === undefined ? {} : { columns: options.columns });
    try {
      await read(log, traffic, observer);
    } finally {
      await log.close();
    }
    if (log.frames === 0) process.stderr.write(`vigie: ${path}: the log has no frame\n`);
    reportLog(log, path);
  }
  if (suggest !== undefined && suggestions !== undefined) {
    const read = logs.length === 0 || observer === undefined ? undefined : { observer, traffic };
    const written = suggestions.writeSuggestions(suggest, databases, read);
    process.stderr.write(`vigie: ${written ?? 'no signal of the DBC fits a path, so no profile is written'}\n`);
    if (written === undefined) process.exitCode = NOTHING;
    return;
  }
  const known = new MessageFinder(databases);
  const identifiers = traffic.buses.flatMap((bus) => identifiersOf(bus, known));
  const lines = new Lines();
  if (formatOf(options.format) === 'text') {
    for (const line of trafficText(traffic, identifiers, widthOf(process.stdout))) lines.line(line);
  } else {
    for (const line of [...traffic.buses.map(busLineOf), ...identifiers]) lines.line(JSON.stringify(line));
  }
  await lines.flush();
  if (traffic.buses.length === 0) process.exitCode = NOTHING;
}

async function read(log: LogReader, traffic: Traffic, observer: SignalObserver | undefined): Promise<void> {
  const bar = await progressBar(log.size, false);
  try {
    for await (const batch of log.batches()) {
      traffic.add(batch, log.buses);
      observer?.add(batch, log.buses);
      bar.update(log.position, log.frames);
    }
  } finally {
    bar.stop();
  }
  traffic.endLog();
}

function identifiersOf(bus: ObservedBus, known: MessageFinder): IdentifierLine[] {
  return bus.messages.map((message) => identifierLineOf(bus, message, known.find(bus.name, message.id)?.name));
}

/** Characters in a line: a terminal's width, and any number where text goes into a file or pipe. */
function widthOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY === true && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}
