import { createReadStream } from 'node:fs';
import { Command, Option } from 'commander';
import { DbcFrameReader, type Signal } from '../adapters/can/dbc/index.ts';
import type { FrameFilter } from '../adapters/can/inspect/frame-filter.ts';
import { J1939Transport, type ParameterGroup } from '../adapters/can/j1939/transport.ts';
import { formatNames, packings } from '../adapters/can/log/formats.ts';
import { type LogReader, openLog } from '../adapters/can/log/index.ts';
import { ObdDecoder } from '../adapters/obd/index.ts';
import { ERROR, EXTENDED, type FrameBatch, REMOTE } from '../agent/ports.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { loadDbc } from './dbc-files.ts';
import { decodeFixes } from './decode-fixes.ts';
import { type Decoded, faultWords, groupsIn, ParameterGroupReader } from './decode-groups.ts';
import { decodeAnswers } from './decode-obd.ts';
import { decodeObdLog, isAnswerText } from './decode-obd-log.ts';
import { isFixLog } from './fix-logs.ts';
import { type Chosen, chosenOf, type FilterOptions, filterOf, usedFilters, withFilters } from './frame-filter.ts';
import { detailsLast } from './help.ts';
import { COLUMNS_HELP, reportLog } from './log-summary.ts';
import { type Format, formatOf, Lines, progressBar } from './output.ts';
import { loadSignalSets, standardSets } from './signal-sets.ts';
import { decodeValues, isValueLog, timeZoneOption } from './value-log.ts';

/** Identifier bits of a frame id. */
const IDENTIFIER = 0x1fff_ffff;

/** Exit status if no line could be decoded. */
const NOTHING = 1;

interface Options extends FilterOptions {
  readonly dbc?: string[];
  readonly obd?: string[] | true;
  readonly raw?: boolean;
  readonly columns?: string;
  readonly choices?: boolean;
  readonly timeZone?: string;
  readonly format?: string;
}

export function decodeCommand(): Command {
  const command = new Command('decode')
    .configureHelp(detailsLast)
    .summary('decodes signals of a recorded log, fixes of NMEA or UBX, and values of OBD answers')
    .description(
      `Reads recordings and prints their contents, for people who map a new car.

CAN logs, a line per frame: {t, bus, id, extended, data, message, signals: {name: number}}. Numbers are physical; \
integers beyond 2^53 and values that are not finite are strings. Without \
--raw it omits frames that no DBC describes. --ids, --messages, --signals, --from, --to and --changes select frames; with --signals a line \
has only these signals, and with --changes a frame differs when one of the signals of its line does. With a DBC of a J1939 network, groups of several packets are one line, and DM1 and DM2 have {lamps, faults: [{spn, fmi, count?}]}. The program recognises the format by its content: ${formatNames()}; each also packed (${packings.join(', ')}).

NMEA 0183, u-blox UBX, SiRF and gpsd logs, a line per fix: {t, latitude, longitude, altitude, speed, heading, fix, satellites} in \
degrees, m and km/h. Tables of values (CSV of a phone or data logger: a time and named columns), a line per row: \
{t, values: {name: number}}, in km/h, °C, km, kPa and m/s² where the header names a unit of these.

With --obd, diagnostics (ISO 15765-2 on 7DF, 7E0 to 7EF, 18DB33F1, 18DAxxF1, 18DAF1xx, and on the 11-bit identifiers of the signal \
sets). CAN logs, a line per answer: {t, bus, unit, to, request, commands, values: {signalId: value}}, or {refused: {service, \
code, meaning}}, {unrequested} without its request, {unanswered} for a request without an answer, {data} if no set describes \
it. Texts, a line per answer: {command?, response} of an ELM327 gives {command, values} or {error}; scans of OVMS \
(7e0[7e8]:f190 31 47) give lines as from a log. Answers to 09 02 and 22 F190 have {vin}; answers to 03, 07, 0A and \
19 02 have {faults: [{code, status: [...], name?, unit?, system, definedBy, group?}]}.

Exit status 0, 1 when nothing could be decoded or more than one in a hundred frames of a log was left out, 2 for files \
that cannot be read.`,
    )
    .argument('[log...]', 'log files, packed too; - reads standard input')
    .option('--dbc <file...>', 'network descriptions; all of several are used')
    .option(
      '--obd [file...]',
      'answers of control units in logs, or on standard input, by OBDb signal sets (signalsets/v3/default.json; without a file: SAE J1979)',
    )
    .option('--raw', 'every frame as recorded, undecoded: {t, bus, id, extended, data}')
    .option('--columns <names>', COLUMNS_HELP)
    .addOption(timeZoneOption())
    .option('--choices', 'names of the value table instead of numbers');
  return withFilters(command)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .addHelpText(
      'after',
      `
Examples:
  vigie decode drive.log --dbc car.dbc
  vigie decode drive.log.gz --dbc car.dbc --choices --format text | grep DOOR
  candump -L can0 | vigie decode - --dbc car.dbc
  vigie decode drive.log --dbc car.dbc --signals Speed,DoorDriver --changes --from 60 --to 90
  vigie decode drive.log --raw --ids 1A0,300-3FF --changes
  vigie decode walk.nmea
  echo '{"response": "7E8 03 41 0D 3C"}' | vigie decode --obd default.json
  echo '{"response": "7E8 06 43 02 03 01 04 20"}' | vigie decode --obd
  vigie decode drive.log --obd default.json`,
    )
    .action(decode);
}

async function decode(logs: string[], options: Options): Promise<void> {
  const { obd, dbc, raw, columns, timeZone } = options;
  const format = formatOf(options.format);
  const lines = new Lines();
  let decoded = 0;
  const filters = usedFilters(options);
  if (obd !== undefined) {
    if (filters.length > 0) throw onlyFrames(filters);
    if (dbc !== undefined || raw === true) {
      throw new VigieError('usage.wrong', '--obd decodes answers of control units: leave out --dbc and --raw');
    }
    decoded = await decodeObd(logs, obd === true ? [] : obd, columns, { format, lines });
    if (decoded === 0) process.exitCode = NOTHING;
    return;
  }
  if (logs.length === 0) {
    const hint =
      dbc === undefined
        ? 'Give a file, or - for standard input'
        : 'Write it before --dbc, which takes all that follows';
    throw new VigieError('usage.wrong', `which log? ${hint}`);
  }
  const databases = (dbc ?? []).map(loadDbc);
  const selection = {
    filter: filterOf(options, databases, raw === true ? 'payload' : 'known'),
    chosen: options.signals === undefined ? undefined : chosenOf(options, databases),
  };
  for (const path of logs) {
    if (raw !== true && dbc === undefined) {
      const fixes = await isFixLog(path);
      if (!fixes && !(await isValueLog(path))) {
        // A file that is not a log causes the error of the log reader instead. Standard input cannot be opened twice.
        if (path !== '-') await (await openFrames(path, columns)).close();
        throw new VigieError('usage.wrong', 'decode needs --dbc FILE to name the signals, or --raw for plain frames');
      }
      if (filters.length > 0) throw onlyFrames(filters);
      decoded += fixes ? await decodeFixes(path, format, lines) : await decodeValues(path, timeZone, format, lines);
      continue;
    }
    const log = await openFrames(path, columns);
    let lostGroups: J1939Transport['lost'] | undefined;
    try {
      const signals = new DbcFrameReader(databases, log.buses, { ...options, decimals: true });
      const reader = raw === true ? undefined : new ParameterGroupReader(signals, databases);
      const transport = reader?.isJ1939 === true ? new J1939Transport() : undefined;
      const { frames, printed } = await print(log, { reader, transport }, format, lines, selection);
      lostGroups = transport?.lost;
      decoded += printed;
      if (printed === 0) {
        const frame = counted(frames, 'frame');
        const left = filters.length === 0 ? [] : [`is left by ${filters.join(', ')}`];
        const absent = [...left, ...(raw === true ? [] : ['is in the DBC'])].join(' and ');
        const why = frames === 0 ? 'the log has no frame' : `none of its ${frame} ${absent}`;
        process.stderr.write(`vigie: ${path}: ${why}\n`);
      }
    } finally {
      await log.close();
    }
    // Print lines before the summary. If the reader has ended (`| head`), it receives no more.
    await lines.flush();
    reportLog(log, path);
    for (const [why, count] of lostGroups ?? [])
      process.stderr.write(`${path}: ${counted(count, 'group')} of several packets (J1939) lost: ${why}\n`);
  }
  await lines.flush();
  if (decoded === 0) process.exitCode = NOTHING;
}

/** Decodes diagnostics in logs, or answers in text files; without a log, answers on standard input. */
async function decodeObd(
  logs: readonly string[],
  files: readonly string[],
  columns: string | undefined,
  { format, lines }: { readonly format: Format; readonly lines: Lines },
): Promise<number> {
  const other = files.find((file) => !/\.json$/i.test(file));
  if (logs.length === 0 && other !== undefined) {
    throw new VigieError(
      'usage.wrong',
      `${other} is not a signal set (.json): write logs before --obd, which takes all that follows`,
    );
  }
  const sets = loadSignalSets(files.length === 0 ? standardSets : files);
  const decoder = new ObdDecoder(sets);
  if (logs.length === 0)
    return decodeAnswers(decoder, { stream: process.stdin, name: 'standard input' }, format, lines);
  let decoded = 0;
  for (const path of logs) {
    decoded += (await isAnswerText(path))
      ? await decodeAnswers(decoder, { stream: createReadStream(path), name: path }, format, lines)
      : await decodeObdLog(path, sets, columns, { decoder, format, lines });
  }
  return decoded;
}

interface Selection {
  readonly filter: FrameFilter | undefined;
  /** Signals to print. If undefined, all signals. */
  readonly chosen: Chosen | undefined;
}

/** @throws VigieError as {@link openLog}; `usage.wrong` for a recording of a GNSS receiver */
async function openFrames(path: string, columns: string | undefined): Promise<LogReader> {
  try {
    return await openLog(path, defined({ columns }));
  } catch (error) {
    if (!(error instanceof VigieError) || error.code !== 'input.malformed' || !(await isFixLog(path))) throw error;
    throw new VigieError('usage.wrong', 'this is a recording of a receiver: leave out --dbc and --raw', {
      where: path,
    });
  }
}

interface Counts {
  readonly frames: number;
  /** Number of frames for which a line was printed. */
  readonly printed: number;
}

interface Readers {
  readonly reader: ParameterGroupReader | undefined;
  readonly transport: J1939Transport | undefined;
}

async function print(
  log: LogReader,
  { reader, transport }: Readers,
  format: Format,
  lines: Lines,
  { filter, chosen }: Selection,
): Promise<Counts> {
  const names = new Map([...(chosen ?? [])].map(([message, signals]) => [message.name, namesOf(signals)]));
  const bar = await progressBar(log.size);
  let frames = 0;
  let printed = 0;
  try {
    for await (const batch of log.batches()) {
      frames += batch.count;
      const groups = transport === undefined ? [] : groupsIn(batch, transport);
      filter?.apply(batch, log.buses);
      const printGroups = (until: number): void => {
        for (let group = groups[0]; group !== undefined && group.at < until; group = groups[0]) {
          groups.shift();
          const { at, id, bus, data } = group;
          if (filter?.passes(at, id, bus, log.buses, () => data) === false) continue;
          const read = reader?.group(group);
          const decoded = chosen === undefined ? read : only(names, read);
          if (decoded === undefined) continue;
          lines.line(groupLine(log.buses[bus] as string, group, decoded, format));
          printed++;
        }
      };
      for (let i = 0; i < batch.count; i++) {
        printGroups(batch.at[i] as number);
        const read = reader?.frame(batch, i);
        const decoded = chosen === undefined ? read : only(names, read);
        if (reader !== undefined && decoded === undefined) continue;
        lines.line(format === 'ndjson' ? ndjson(log, batch, i, decoded) : text(log, batch, i, decoded));
        printed++;
        if (lines.full) await lines.flush();
      }
      printGroups(Number.POSITIVE_INFINITY);
      bar.update(log.position, frames);
    }
  } finally {
    bar.stop();
  }
  transport?.end();
  filter?.endLog();
  return { frames, printed };
}

function namesOf(signals: readonly Signal[]): ReadonlySet<string> {
  return new Set(signals.map(({ name }) => name));
}

/** Returns the frame with only the chosen signals; undefined if it contains none of them. */
function only(names: ReadonlyMap<string, ReadonlySet<string>>, decoded: Decoded | undefined): Decoded | undefined {
  const chosen = decoded === undefined ? undefined : names.get(decoded.message);
  if (decoded === undefined || chosen === undefined) return undefined;
  const signals = Object.entries(decoded.signals).filter(([name]) => chosen.has(name));
  return signals.length === 0 ? undefined : { message: decoded.message, signals: Object.fromEntries(signals) };
}

function onlyFrames(filters: readonly string[]): VigieError {
  return new VigieError('usage.wrong', `${filters.join(', ')} choose CAN frames, not fixes or answers`);
}

function groupLine(bus: string, { at, id, data }: ParameterGroup, decoded: Decoded, format: Format): string {
  if (format === 'text') return `${headOf(at, bus, id)} ${signalsOf(decoded)}`;
  const frame = { t: at, bus, id: id & IDENTIFIER, extended: true, data: Buffer.from(data).toString('hex') };
  return JSON.stringify({ ...frame, ...decoded });
}

function ndjson(log: LogReader, batch: FrameBatch, i: number, decoded: Decoded | undefined): string {
  const id = batch.id[i] as number;
  return JSON.stringify({
    t: batch.at[i],
    bus: log.buses[batch.bus[i] as number],
    id: id & IDENTIFIER,
    extended: (id & EXTENDED) !== 0,
    ...((id & REMOTE) === 0 ? {} : { remote: true }),
    ...((id & ERROR) === 0 ? {} : { error: true }),
    data: payload(batch, i),
    ...decoded,
  });
}

function text(log: LogReader, batch: FrameBatch, i: number, decoded: Decoded | undefined): string {
  const head = headOf(batch.at[i] as number, log.buses[batch.bus[i] as number] as string, batch.id[i] as number);
  return `${head} ${decoded === undefined ? payload(batch, i) : signalsOf(decoded)}`;
}

function headOf(at: number, bus: string, id: number): string {
  return `${(at / 1000).toFixed(6)} ${bus} ${(id & IDENTIFIER).toString(16).toUpperCase()}`;
}

function signalsOf(decoded: Decoded): string {
  const signals = Object.entries(decoded.signals).map(([signal, value]) => `${signal}=${value}`);
  return `${decoded.message} ${[...signals, ...faultWords(decoded)].join(' ')}`;
}

function payload(batch: FrameBatch, i: number): string {
  const from = batch.offset[i] as number;
  return Buffer.from(batch.data.buffer, batch.data.byteOffset + from, batch.length[i]).toString('hex');
}
