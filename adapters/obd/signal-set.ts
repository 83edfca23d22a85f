import { defined } from '../../protocol/defined.ts';
import type { Diagnostic } from '../../protocol/diagnostic.ts';
import { commandId, responseHeaders } from './addressing.ts';
import { JsonObject, type SignalSetText } from './json-object.ts';
import { type ModelYears, yearsText } from './model-years.ts';
import { LONGEST_FIELD, type SignalFormat } from './signal-format.ts';

/** One value of a command's answer. */
export interface ObdSignal {
  /** Unique within the signal set, e.g. `VSS`. */
  readonly id: string;
  readonly name?: string;
  readonly format: SignalFormat;
  /** Fields that do not affect decoding (path, description, suggestedMetric, …) and unknown fields. */
  readonly more: Readonly<Record<string, unknown>>;
}

/** One request and the signals in its answer. */
export interface ObdCommand {
  /** Identifier as in the collection: `7E0.7E8.2101|f=-2018`. */
  readonly id: string;
  /**
   * Request header, upper-case hex: `7E0` (11 bit), `DA10` (29 bit without priority and tester), `686A` (J1850,
   * ISO 9141).
   */
  readonly header: string;
  /** Headers of its answers, as spelled by {@link responseHeaders}; undefined: any ECU may answer. */
  readonly receive: readonly string[] | undefined;
  /** Receive address, as written in `rax`. */
  readonly receiveAddress: string | undefined;
  /** Service identifier of the request, 0..0xBF. */
  readonly service: number;
  /** PID, DID or other parameter after the service, upper-case hex; echoed by the answer. */
  readonly parameter: string;
  /** ISO 15765-2 extended addressing: the first data byte of a frame names the node. */
  readonly extendedAddress: string | undefined;
  readonly tester: string | undefined;
  readonly priority: string | undefined;
  /** Time-out of the adapter, as in the set (hex). */
  readonly timeout: string | undefined;
  readonly flowControl: boolean;
  readonly debug: boolean;
  readonly protocol: string | undefined;
  /** Time in s between two requests. */
  readonly period: number | undefined;
  readonly years: ModelYears | undefined;
  readonly debugYears: ModelYears | undefined;
  readonly signals: readonly ObdSignal[];
  readonly more: Readonly<Record<string, unknown>>;
}

export interface SignalSet {
  readonly file: string;
  readonly commands: readonly ObdCommand[];
  readonly more: Readonly<Record<string, unknown>>;
  /** Reports of unknown fields, which are kept. */
  readonly diagnostics: readonly Diagnostic[];
}

const KNOWN = {
  set: ['commands', 'diagnosticLevel', 'signalGroups', 'synthetics', '$schema'],
  command: ['din', 'dout'],
  signal: ['path', 'description', 'hidden', 'suggestedMetric'],
  format: ['omin', 'omax', 'oval'],
  filter: [],
};

/**
 * Reads an OBDb signal set (`signalsets/v3/*.json`).
 * @throws VigieError `input.malformed` with file, line and path of the invalid field.
 */
export function parseSignalSet(text: string, file: string): SignalSet {
  const source: SignalSetText = { text, file, unknown: new Map() };
  const root = JsonObject.parse(source);
  const commands = root.objects('commands').map(commandOf);
  const more = root.rest('a signal set', KNOWN.set);
  return {
    file,
    commands,
    more,
    diagnostics: [...source.unknown.values()].map(({ count, finding }) => finding(count)),
  };
}

/** Returns the commands that several sets contain, with the files in the order of the sets: the last one is used. */
export function repeatedCommands(
  sets: readonly SignalSet[],
): readonly { readonly command: string; readonly files: readonly string[] }[] {
  const found = new Map<string, { readonly command: string; readonly files: Set<string> }>();
  for (const { file, commands } of sets) {
    for (const { id, header, service, parameter, extendedAddress = '', years } of commands) {
      const key = `${header} ${extendedAddress} ${service} ${parameter} ${years === undefined ? '' : yearsText(years)}`;
      const same = found.get(key) ?? { command: id, files: new Set() };
      found.set(key, same);
      same.files.add(file);
    }
  }
  return [...found.values()]
    .filter(({ files }) => files.size > 1)
    .map(({ command, files }) => ({ command, files: [...files] }));
}

function commandOf(from: JsonObject): ObdCommand {
  const header = from.hex('hdr', 2, 8);
  if (header === undefined) throw from.fault('has no "hdr", the header of the request');
  const request = from.object('cmd');
  if (request === undefined) throw from.fault('has no "cmd", e.g. {"22": "F190"}');
  const { service, parameter } = requestOf(request);
  const address = {
    header,
    receiveAddress: from.hex('rax', 1, 8),
    extendedAddress: from.hex('eax', 1, 2),
    tester: from.hex('tst', 1, 2),
    priority: from.hex('pri', 1, 2),
  };
  const years = yearsOf(from, 'filter');
  const settings = {
    timeout: from.hex('tmo', 1, 4),
    flowControl: from.boolean('fcm1') ?? false,
    protocol: from.text('proto'),
  };
  return {
    ...address,
    ...settings,
    id: commandId({ ...address, ...settings, service, parameter, years }),
    receive: responseHeaders(address),
    service,
    parameter,
    debug: from.boolean('dbg') ?? false,
    period: from.number('freq'),
    years,
    debugYears: yearsOf(from, 'dbgfilter'),
    signals: from.objects('signals').map(signalOf),
    more: from.rest('a command', KNOWN.command),
  };
}

function requestOf(request: JsonObject): { service: number; parameter: string } {
  const services = request.names();
  const name = services[0];
  if (name === undefined || services.length > 1 || !/^[0-9A-Fa-f]{2}$/.test(name)) {
    throw request.fault('must name one service in two hexadecimal digits, e.g. {"01": "0D"}');
  }
  const service = Number.parseInt(name, 16);
  // ISO 14229-1 §7.4: bit 6 of a service identifier marks an answer.
  if ((service & 0x40) !== 0) throw request.fault(`${name} is the identifier of an answer, not of a request`);
  const parameter = request.hex(name, 0, 16) ?? '';
  if (parameter.length % 2 !== 0) throw request.fault(`parameter ${parameter} has half a byte too many`);
  return { service, parameter };
}

function yearsOf(from: JsonObject, name: string): ModelYears | undefined {
  const filter = from.object(name);
  if (filter === undefined) return undefined;
  const first = filter.number('from');
  const last = filter.number('to');
  const years = filter.numbers('years');
  filter.rest('a filter', KNOWN.filter);
  return defined({ from: first, to: last, years });
}

function signalOf(from: JsonObject): ObdSignal {
  const id = from.text('id');
  if (id === undefined || id === '') throw from.fault('has no "id"');
  const format = from.object('fmt');
  if (format === undefined) throw from.fault(`signal ${id} has no "fmt"`);
  const name = from.text('name');
  return {
    id,
    ...defined({ name }),
    format: formatOf(format),
    more: from.rest('a signal', KNOWN.signal),
  };
}

function formatOf(from: JsonObject): SignalFormat {
  const bix = from.number('bix') ?? 0;
  const len = from.number('len');
  if (len === undefined) throw from.fault('has no "len", the length in bits');
  if (!Number.isInteger(len) || len < 1) throw from.fault(`len ${len} is not a number of bits`);
  if (!Number.isInteger(bix) || bix < 0) throw from.fault(`bix ${bix} is not a bit index`);
  if (bix + len > LONGEST_FIELD) throw from.fault(`bits ${bix}..${bix + len - 1} are beyond the longest answer`);
  const div = from.number('div') ?? 1;
  if (div === 0) throw from.fault('div is 0');
  const bounds = {
    min: from.number('min'),
    max: from.number('max'),
    nullmin: from.number('nullmin'),
    nullmax: from.number('nullmax'),
    unit: from.text('unit'),
  };
  const map = from.object('map');
  const format = {
    bix,
    len,
    div,
    blsb: from.boolean('blsb') ?? false,
    sign: from.boolean('sign') ?? false,
    mul: from.number('mul') ?? 1,
    add: from.number('add') ?? 0,
    ...present(bounds),
    ...(map === undefined ? {} : { map: namesOf(map) }),
  };
  from.rest('a format', KNOWN.format);
  return format;
}

function namesOf(map: JsonObject): Map<string, string> {
  const names = new Map<string, string>();
  for (const raw of map.names()) {
    if (!/^-?\d+$/.test(raw)) throw map.fault(`"${raw}" is not a raw value`);
    const entry = map.textOrObject(raw);
    const name = typeof entry === 'string' ? entry : entry.text('value');
    if (name === undefined) throw map.fault(`raw value ${raw} has no "value", its name`);
    names.set(String(BigInt(raw)), name);
  }
  return names;
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * Returns the fields with a value; `exactOptionalPropertyTypes` distinguishes a missing field from an undefined one.
 */
function present<T extends object>(members: T): Present<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>;
}
