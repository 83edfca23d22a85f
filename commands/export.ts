import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { instantOf } from '../protocol/calendar.ts';
import { classOf } from '../protocol/classes.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { type ExportContent, exportContents, exportKinds } from '../protocol/interface/own/message-pages.ts';
import type { Gap } from '../protocol/schema/gap.ts';
import { type ClassCoverage, ExportedNumbers } from './export/coverage.ts';
import { csvLines, geojsonLines, gpxLines, ndjsonLines, writeText } from './export/files.ts';
import { hubSource } from './export/hub-source.ts';
import { type ExportSource, folderSource, sequenceSource } from './export/local-sources.ts';
import { type ColumnNames, type ExportPeriod, ReadingsTable } from './export/readings.ts';
import { RecordsTable, TripsTable } from './export/records.ts';
import { Spool } from './export/spool.ts';
import { type ExportTable, isoTime } from './export/table.ts';
import { vinOf } from './rig.ts';

/** Writers by format. The one for Parquet is loaded on demand. */
const writers: Readonly<Record<string, (table: ExportTable, path: string) => Promise<void>>> = {
  csv: (table, path) => writeText(table, path, csvLines),
  parquet: async (table, path) => (await import('./export/parquet.ts')).writeParquet(table, path),
  gpx: (table, path) => writeText(table, path, gpxLines),
  ndjson: (table, path) => writeText(table, path, ndjsonLines),
  geojson: (table, path) => writeText(table, path, geojsonLines),
};

interface Options {
  readonly content: ExportContent;
  readonly from?: number;
  readonly to?: number;
  readonly format: string;
  readonly data?: string;
  readonly input?: string;
  readonly hub?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly names: ColumnNames;
  readonly output?: string;
}

export function exportCommand(): Command {
  return new Command('export')
    .summary('writes readings, records or trips of a car to a file, with a list of what is missing')
    .description(
      `Writes the data of a car to a file: readings (a row for each time, a column for each value), records and events \
in their newest form, or trips as a logbook. Next to it, FILE.manifest.json has the numbers of all messages that it \
contains, those that the car gave up, and those that are missing. Times are UTC, as ISO 8601 and in ms; units are in the \
headers. A GPX has the route; everything else is an extension of the point before it.

The data come from a hub (--hub), from a folder of records (--data, also while the agent runs) or from messages that \
vigie replay --cbor wrote (--input). A hub gives what the token may see.

Exit status 0, 1 when messages are missing, 2 wrong input.`,
    )
    .argument('<vin>', 'the car', vinOf)
    .addOption(new Option('--content <content>', 'what to export').choices(exportContents).default('readings'))
    .option('--from <time>', 'from this time on: a day or a time such as 2026-01-31T08:00:00Z', moment)
    .option('--to <time>', 'before this time', moment)
    .addOption(new Option('--format <format>', 'format of the file').choices(Object.keys(writers)).default('csv'))
    .option('--hub <url>', 'interface of a hub, such as https://hub.example:8080')
    .option('--token-file <file>', 'file with a token of the hub')
    .option('--ca <file>', 'certificates (PEM) of the authorities that sign the hub’s certificate')
    .option('--data <dir>', 'folder of records of the car, which is only read')
    .option('--input <file>', 'messages as a CBOR sequence')
    .addOption(
      new Option('--names <names>', 'names of the columns of readings').choices(['paths', 'vss']).default('paths'),
    )
    .option('-o, --output <file>', 'file to write (default: VIN-CONTENT.FORMAT)')
    .addHelpText(
      'after',
      `
Examples:
  vigie export VF3VGEBENCH000001 --data /var/lib/vigie --from 2026-01-01 --to 2026-02-01
  vigie export VF3VGEBENCH000001 --hub https://hub.example:8080 --token-file token --format gpx
  vigie export VF3VGEBENCH000001 --data /var/lib/vigie --content trips --format parquet -o trips.parquet`,
    )
    .action(exportFile);
}

function moment(text: string): number {
  const at = instantOf(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (at === undefined) throw new InvalidArgumentError('write a day or a time such as 2026-01-31T08:00:00Z.');
  return at;
}

async function exportFile(vin: string, options: Options): Promise<void> {
  const { content, format, names, output = `${vin}-${content}.${format}` } = options;
  const period = { from: options.from ?? Number.NEGATIVE_INFINITY, to: options.to ?? Number.POSITIVE_INFINITY };
  if (period.from >= period.to) throw new VigieError('usage.wrong', '--from must be before --to');
  const source = sourceOf(vin, options, period);
  const spool = new Spool(`${output}.spool`);
  const part = `${output}.part`;
  try {
    const coverage = new ExportedNumbers();
    const table = tableOf(content, spool, period, names);
    await collect(source, content, table, coverage, period);
    // A token that sees trips sees their classes.
    if (table instanceof TripsTable && table.readings > 0) table.classify(await source.tripClasses?.());
    await (writers[format] as (typeof writers)[string])(table, part);
    renameSync(part, output);
    const classes = coverage.report(new Set(exportKinds[content].map(classOf)));
    const columns = table.columns.map(({ name, unit, type }) => ({ name, ...defined({ unit }), type }));
    const manifest = {
      vin,
      content,
      format,
      source: source.name,
      ...defined({ from: timeText(options.from), to: timeText(options.to) }),
      entries: table.readings,
      columns,
      classes,
    };
    writeFileSync(`${output}.manifest.json`, `${JSON.stringify(manifest, undefined, 2)}\n`);
    report(output, content, table.readings, classes);
  } finally {
    rmSync(part, { force: true });
    spool.close();
  }
}

function timeText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : isoTime(at);
}

function sourceOf(vin: string, { data, input, hub, tokenFile, ca }: Options, period: ExportPeriod): ExportSource {
  const given = [data, input, hub].filter((one) => one !== undefined);
  if (given.length !== 1) throw new VigieError('usage.wrong', 'name one source of the data: --hub, --data or --input');
  if (hub !== undefined) return hubSource(vin, { url: hub, tokenFile, ca }, period);
  if (tokenFile !== undefined || ca !== undefined) {
    throw new VigieError('usage.wrong', '--token-file and --ca belong to --hub');
  }
  return data === undefined ? sequenceSource(input as string) : folderSource(data, vin);
}

type ContentTable = ReadingsTable | RecordsTable | TripsTable;

function tableOf(content: ExportContent, spool: Spool, period: ExportPeriod, names: ColumnNames): ContentTable {
  if (content === 'readings') return new ReadingsTable(spool, period, names);
  return content === 'records' ? new RecordsTable(spool, period) : new TripsTable(spool, period);
}

/** Adds all entries of the source to the table, and their numbers to `coverage`. */
async function collect(
  source: ExportSource,
  content: ExportContent,
  table: ContentTable,
  coverage: ExportedNumbers,
  { from }: ExportPeriod,
): Promise<void> {
  for await (const entry of source.entries(content)) {
    if ('numbers' in entry) {
      coverage.unused(entry);
      continue;
    }
    const { class: priority, boot, seq, kind, at, body } = entry;
    if (kind === 'gap') coverage.giveUp(boot, body as Gap);
    const isWanted = kind !== 'gap' && (body === undefined || table.add(entry) > 0);
    if (isWanted) coverage.cover(entry);
    else coverage.unused({ class: priority, boot, numbers: [seq, seq], side: at < from ? -1 : 1 });
  }
}

/** Says on standard error what was written and what is missing. */
function report(output: string, content: ExportContent, entries: number, classes: readonly ClassCoverage[]): void {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const noun = content === 'readings' ? 'reading' : content === 'trips' ? 'trip' : 'record';
  say(`${output}: ${counted(entries, noun)}`);
  const sizeOf = (runs: readonly (readonly [number, number])[]): number =>
    runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  for (const { name, missing, givenUp, hidden, startsAt } of classes) {
    const lines = [
      missing.length > 0 ? `${counted(sizeOf(missing), 'message')} missing: ${listOf(missing)}` : undefined,
      givenUp.length > 0 ? `${counted(sizeOf(givenUp), 'message')} given up by the car: ${listOf(givenUp)}` : undefined,
      hidden === undefined ? undefined : `${counted(hidden, 'message')} that the token may not see`,
      startsAt === undefined ? undefined : `the source begins at number ${startsAt}; earlier ones may be of the period`,
    ];
    for (const line of lines) if (line !== undefined) say(`${name}: ${line}`);
  }
  const isMissing = classes.some(({ missing }) => missing.length > 0);
  if (isMissing) process.exitCode = 1;
  else say('no message of the period is missing');
}

/** Maximum number of runs in a line. */
const MAX_RUNS = 8;

function listOf(runs: readonly (readonly [number, number])[]): string {
  const shown = runs.slice(0, MAX_RUNS).map(([first, last]) => (first === last ? String(first) : `${first}-${last}`));
  return `${shown.join(', ')}${runs.length > MAX_RUNS ? ', …' : ''}`;
}
