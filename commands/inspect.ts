import { Command, Option } from 'commander';
import { Correlator, SignalObserver, signalsOf, Traffic } from '../adapters/can/inspect/index.ts';
import { formatNames, packings } from '../adapters/can/log/formats.ts';
import { VigieError } from '../protocol/errors.ts';
import { loadDbc } from './dbc-files.ts';
import { chosenOf, type FilterOptions, filterOf, usedFilters, withFilters } from './frame-filter.ts';
import { detailsLast } from './help.ts';
import { CsvExport } from './inspect/csv.ts';
import { FileLines } from './inspect/file-lines.ts';
import { readLog } from './inspect/read-log.ts';
import { readReference } from './inspect/reference.ts';
import { comparisonLines, correlationLines, reportLines } from './inspect/report.ts';
import { COLUMNS_HELP } from './log-summary.ts';
import { formatOf, Lines } from './output.ts';
import { timeZoneOption } from './value-log.ts';

/** Exit status if there is nothing to show. */
const NOTHING = 1;

interface Options extends FilterOptions {
  readonly dbc?: string[];
  readonly compare?: string[];
  readonly correlate?: string;
  readonly reference?: string;
  readonly timeZone?: string;
  readonly stats?: boolean;
  readonly suggest?: string;
  readonly csv?: string;
  readonly dbcOut?: string;
  readonly columns?: string;
  readonly format?: string;
}

export function inspectCommand(): Command {
  const command = new Command('inspect')
    .configureHelp(detailsLast)
    .summary('the contents of a recorded log: identifiers, periods, bits that change')
    .description(
      `Reads CAN logs and shows their contents, for people who map a new car.

For each bus and identifier it shows the number of \
frames, their interval in milliseconds (the median), the jitter (half of the span of nine in ten of these times), the \
payload length, and the bits that change, as a mask in hexadecimal digits with a dot for four bits that never change. \
Counters and checksums (XOR, sums, CRC-8 0x1D and 0x2F, AUTOSAR E2E profiles) are found by trial, with their unknown \
constants, on a sample of the frames. Several logs are treated as one.

With --dbc, the names of messages, and how well each DBC fits: the DBC whose identifiers and payload lengths fit most \
frames comes first, and of equals the DBC with more values in their declared ranges. --stats shows minimum, maximum and \
different values of each signal. --csv writes signals over time: a column of seconds since 1970 and one for each signal, \
MESSAGE.Signal [unit]. There is a row for each change of a value; the other columns repeat their last values, so that \
spreadsheets and pandas (read_csv) need no filling. With --suggest, a first profile instead: lines for the paths of \
Status whose signals are known by name, unit, labels and values, each with its reason. --dbc-out writes a DBC to begin with: messages with lengths, cycle times, counters, checksums, and fields by how often their bits change. What is in the file stays.

With --compare, the differences from other recordings instead of the table: constant bits with different values \
in the recordings, bits that change in only one, identifiers in only one. Bits of switches come before those of \
measured values, counters and checksums: record a door shut and a door open, and its bit is among the first.

With --correlate, the fields that correlate with a value of a table (bits, bytes, 12 and 16 bits in both byte orders), by \
Pearson's coefficient over the latest frames at the times of the table, at least 0.5 in size, with scale and offset by \
least squares. The table is any that decode reads, such as time,value or the CSV of a phone; times without a date count \
from the first frame of the log.

Programs get NDJSON: {kind: "bus", …}, {kind: "identifier", …}, {kind: "database", …}, {kind: "signal", …}, \
{kind: "difference", …}, {kind: "correlation", …}; docs/inspect.md describes the fields. The program recognises the format of a log by its content: ${formatNames()}; each also packed \
(${packings.join(', ')}).

Exit status 0, 1 when there is no frame to show or more than one in a hundred frames of a log was left out, 2 for files \
that cannot be read.`,
    )
    .argument('[log...]', 'log files, packed too; - reads standard input')
    .option(
      '--dbc <file...>',
      'network descriptions; several are ranked, and the first with an identifier gives its name',
    )
    .option('--compare <log...>', 'show the differences from these logs, e.g. of the same car with a door open')
    .option(
      '--correlate <file>',
      'show the fields that correlate with a value over time, from a table such as time,value (CSV)',
    )
    .option('--reference <column>', 'the column of --correlate, if it has several')
    .addOption(timeZoneOption())
    .option('--stats', 'minimum, maximum, different values, first, last and count of each signal')
    .option('--csv <file>', 'signals over time as CSV; - writes it to standard output instead of the other output')
    .option('--suggest <file>', 'write a first profile for the signals of --dbc; works without a log too')
    .option(
      '--dbc-out <file>',
      'write the messages of the log to a DBC: a new one, or those that an existing one lacks',
    )
    .option('--columns <names>', COLUMNS_HELP);
  return withFilters(command)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .addHelpText(
      'after',
      `
Examples:
  vigie inspect drive.log
  vigie inspect drive.log.gz --dbc car.dbc other-car.dbc
  vigie inspect drive.log --dbc car.dbc --stats --signals Speed,Door --from 60 --to 120
  vigie inspect drive.log --dbc car.dbc --signals Speed --csv speed.csv
  vigie inspect drive.log --changes --ids 300-3FF
  vigie inspect door-shut.log --compare door-open.log --dbc car.dbc
  vigie inspect drive.log --correlate phone.csv --reference Speed
  candump -L can0 | vigie inspect - --format text
  vigie inspect drive.log --dbc car.dbc --suggest my-car.yaml
  vigie inspect drive.log --dbc-out car.dbc
  vigie inspect drive.log | grep '"kind":"identifier"' > identifiers.ndjson`,
    )
    .action(inspect);
}

async function inspect(logs: string[], options: Options): Promise<void> {
  checkUse(logs, options);
  const databases = (options.dbc ?? []).map(loadDbc);
  const filter = filterOf(options, databases, 'payload');
  const chosen = chosenOf(options, databases);
  const suggestions = options.suggest === undefined ? undefined : await import('./suggest/suggestion-file.ts');
  if (options.suggest !== undefined) suggestions?.refuseExisting(options.suggest);
  const suggesting = suggestions === undefined ? undefined : new suggestions.SuggestionObserver(databases);
  const { correlate, reference, timeZone } = options;
  const correlator =
    correlate === undefined ? undefined : new Correlator(await readReference(correlate, reference, timeZone));
  const traffic = new Traffic();
  const observer = options.stats === true ? new SignalObserver(databases, chosen) : undefined;
  const lines = new Lines();
  const file = options.csv === undefined || options.csv === '-' ? undefined : new FileLines(options.csv);
  const csv =
    options.csv === undefined ? undefined : new CsvExport(signalsOf(databases, chosen), databases, file ?? lines);
  const consumers = [traffic, observer, csv, suggesting, correlator].filter((consumer) => consumer !== undefined);
  for (const path of logs) await readLog(path, { columns: options.columns, filter, lines }, consumers);
  file?.close();
  await lines.flush();
  if (options.suggest !== undefined && suggestions !== undefined) {
    const read = logs.length === 0 || suggesting === undefined ? undefined : { observer: suggesting, traffic };
    const { summary, warnings } = suggestions.writeSuggestions(options.suggest, databases, read);
    const unwritten = `no signal of the DBC ${read === undefined ? '' : 'with values in the log '}fits a path, so no profile is written`;
    process.stderr.write(`vigie: ${summary ?? unwritten}\n`);
    if (traffic.buses.length > 0) for (const warning of warnings) process.stderr.write(`vigie: ${warning}\n`);
    if (summary === undefined) process.exitCode = NOTHING;
    else if (read !== undefined && read.observer.buses.length === 0) {
      const filters = usedFilters(options);
      const described = databases.map(({ database }) => database.file).join(', ');
      const reason =
        traffic.buses.length > 0
          ? `no frame of it is in ${described}: is it the right car, and the right bus?`
          : `no frame is ${filters.length > 0 ? `left by ${filters.join(', ')}` : 'in it'}:`;
      process.stderr.write(
        `vigie: ${logs.join(', ')}: ${reason} ${options.suggest} follows from the DBC alone; suggest again with a log of this car and bus\n`,
      );
    }
    return;
  }
  if (options.dbcOut !== undefined) {
    const { writeSkeleton } = await import('./inspect/dbc-skeleton.ts');
    const written = writeSkeleton(options.dbcOut, traffic);
    process.stderr.write(`vigie: ${written ?? `${options.dbcOut}: no message is missing in it`}\n`);
  }
  const format = formatOf(options.format);
  const width = widthOf(process.stdout);
  if (correlator !== undefined) {
    if (correlator.samples === 0) {
      process.stderr.write(`vigie: ${correlate}: no time of it lies within the logs\n`);
      process.exitCode = NOTHING;
    }
    for (const line of correlationLines(correlator, databases, format, width)) lines.line(line);
  } else if (options.compare !== undefined) {
    const other = new Traffic();
    for (const path of options.compare) await readLog(path, { columns: options.columns, filter, lines }, [other]);
    const differences = comparisonLines(traffic, other, databases, format, width);
    for (const line of differences) lines.line(line);
  } else if (options.csv !== '-') {
    const report = { traffic, databases, signals: observer?.statistics, onlyChanged: options.changes === true };
    for (const line of reportLines(report, format, width)) {
      lines.line(line);
      if (lines.full) await lines.flush();
    }
  }
  await lines.flush();
  if (traffic.buses.length === 0) {
    const filters = usedFilters(options);
    if (filters.length > 0) process.stderr.write(`vigie: no frame is left by ${filters.join(', ')}\n`);
    process.exitCode = NOTHING;
  }
}

function checkUse(logs: readonly string[], options: Options): void {
  const { dbc, correlate, reference, stats, csv, suggest, format } = options;
  const alone = (['compare', 'correlate', 'suggest'] as const).filter((name) => options[name] !== undefined);
  const beside = [...alone.slice(1), ...(stats === true ? ['stats'] : []), ...(csv === undefined ? [] : ['csv'])];
  if (alone[0] !== undefined && beside[0] !== undefined) {
    throw new VigieError('usage.wrong', `--${alone[0]} shows nothing else: leave out --${beside.join(', --')}`);
  }
  if (reference !== undefined && correlate === undefined) {
    throw new VigieError('usage.wrong', '--reference names a column of --correlate FILE');
  }
  if (suggest !== undefined && dbc === undefined) {
    throw new VigieError(
      'usage.wrong',
      '--suggest needs --dbc FILE to know the signals (without a DBC, --dbc-out FILE makes one)',
    );
  }
  if (logs.length === 0 && suggest === undefined) {
    const hint =
      dbc === undefined
        ? 'Give a file, or - for standard input'
        : 'Write it before --dbc, which takes all that follows';
    throw new VigieError('usage.wrong', `which log? ${hint}`);
  }
  if (dbc === undefined && stats === true) throw new VigieError('usage.wrong', '--stats needs --dbc FILE');
  if (dbc === undefined && csv !== undefined) throw new VigieError('usage.wrong', '--csv needs --dbc FILE');
  if (csv === '-' && format !== undefined) {
    throw new VigieError('usage.wrong', `--csv - uses standard output; it cannot be combined with --format ${format}`);
  }
}

/** Returns the line width in characters: the width of a terminal, or unlimited for a file or pipe. */
function widthOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY === true && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}
