/** Finds the signals of a collect command in the profile's network descriptions, which are read only for it. */

import {
  type BoundDatabase,
  type Database,
  type DbcMessage,
  parameterGroup,
  unknownSignals,
  type WantedSignal,
} from '../adapters/can/dbc/index.ts';
import { frameDecoder } from '../adapters/can/j1939/group-decoder.ts';
import type { IdentifierFilter } from '../adapters/can/socketcan/index.ts';
import type { PreparedCollection } from '../agent/collect/running-collection.ts';
import { hiddenFrom } from '../agent/model/privacy.ts';
import { EXTENDED } from '../agent/ports.ts';
import { readCondition } from '../config/conditions.ts';
import { profileDefaults } from '../config/defaults.ts';
import { Findings } from '../config/findings.ts';
import { checkRule } from '../config/recording.ts';
import type { WrittenSignal } from '../config/signals.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { suggestion } from '../protocol/nearest.ts';
import type { Condition, CustomSignal } from '../protocol/profile.ts';
import type { TelemetryRule } from '../protocol/recording.ts';
import type { CollectedSignal, CollectOrder } from '../protocol/schema/collect.ts';
import { slotByPath } from '../protocol/slots.ts';
import { completeSignals, isSameSignal, messagesOf, type SignalOfBus } from './custom-signals.ts';
import { identifiersOf } from './identifiers.ts';
import { readDbc, type Vehicle } from './vehicle.ts';

type Profile = Vehicle['profile'];

export interface PreparedNetwork extends PreparedCollection {
  /** By bus: identifiers of the collected messages. */
  readonly identifiers: ReadonlyMap<string, readonly (number | IdentifierFilter)[]>;
}

/**
 * Reads the DBC files of the buses that the command names; then keeps only the parts that the command's signals need.
 * @throws VigieError `input.unknown` or `input.malformed` for an invalid signal, `input.unreadable` for a DBC file
 * that cannot be read
 */
export function prepareCollection(order: CollectOrder, profile: Profile): PreparedNetwork {
  const buses = profile.buses.filter(({ kind }) => kind === 'can');
  const single = buses.length === 1;
  const frames = new Set(buses.map(({ name }) => name));
  const { signals: asked } = order;
  for (const { bus, signal } of asked) if (bus !== undefined && !frames.has(bus)) throw noBus(bus, signal, [...frames]);
  const named = asked.flatMap(({ bus }) => bus ?? []);
  const read = buses.filter(({ name }) => named.length < asked.length || named.includes(name));
  const databases = read.flatMap(({ name, dbc }) =>
    dbc.map((file): BoundDatabase => ({ ...(single ? {} : { bus: name }), database: databaseOf(file) })),
  );
  const condition = conditionOf(order, profile);
  const written = asked.map((one) => writtenOf(one, order, condition, busOf(one, [...frames], databases)));
  const unknown = unknownIn(written, databases, single);
  if (unknown !== undefined) throw unknown;
  const { signals, diagnostics } = completeSignals(written, { frames, databases, single, positions: [], file: '' });
  const [fault] = diagnostics.filter(({ severity }) => severity === 'error');
  if (fault !== undefined) throw new VigieError('input.malformed', explained(fault));
  const found = signals.map((signal) => {
    return asProfileSays(signal, asked[entryOf(signal, written)] as CollectedSignal, profile);
  });
  checkNames(found, profile);
  const part = databases.map((bound) => ({ ...bound, database: reduced(bound.database, found) }));
  // Clone the strings: a substring of a file would keep the whole file in memory.
  const { all, needed } = structuredClone({ all: found, needed: part });
  const identifiers = new Map(
    [...frames].map((bus) => {
      const own = all.filter((signal) => signal.bus === undefined || signal.bus === bus);
      return [bus, identifiersOf(own, needed, bus)] as const;
    }),
  );
  const wanted = all.map(({ bus, message, signal }) => ({ ...defined({ bus }), message, signal }));
  return { signals: all, identifiers, decoder: decoderOf(wanted, needed) };
}

/** Separate function, because closures of one function share a scope: the caller's would retain all it has read. */
function decoderOf(wanted: readonly WantedSignal[], needed: readonly BoundDatabase[]): PreparedNetwork['decoder'] {
  return (names) => frameDecoder(wanted, needed, names);
}

function databaseOf(file: string): Database {
  const { database, diagnostics } = readDbc(file);
  const [fault] = diagnostics.filter(({ severity }) => severity === 'error');
  if (database !== undefined && fault === undefined) return database;
  throw new VigieError('input.unreadable', `the DBC cannot be read: ${fault?.message}`, { where: file });
}

function noBus(bus: string, signal: string, known: readonly string[]): VigieError {
  const fix = suggestion(bus, known) ?? `buses with a DBC: ${known.join(', ') || 'none'}`;
  return new VigieError('input.unknown', `${signal}: no DBC of the profile describes a bus ${bus} (${fix})`);
}

/** Returns the bus of a signal; if it is omitted, the only bus that has such a message. */
function busOf(
  { bus, signal }: CollectedSignal,
  frames: readonly string[],
  databases: readonly BoundDatabase[],
): string {
  if (bus !== undefined) return bus;
  const [message = ''] = signal.split('.');
  const having = frames.filter((name) => messagesOf(name, message, databases).length > 0);
  if (having.length > 1) {
    throw new VigieError(
      'input.malformed',
      `${signal}: buses ${having.join(' and ')} have such a message; add \`bus\``,
    );
  }
  return having[0] ?? frames[0] ?? '';
}

function writtenOf(
  asked: CollectedSignal,
  { interval }: CollectOrder,
  condition: Condition | undefined,
  bus: string,
): WrittenSignal {
  const { telemetry } = profileDefaults;
  const [message = '', signal = ''] = asked.signal.split('.');
  const name = asked.name ?? asked.signal.replace(/[^A-Za-z0-9_.*-]/g, '_');
  if (name.endsWith('.*') !== (signal === '*')) {
    throw new VigieError(
      'input.malformed',
      `${asked.signal}: a name ends with .* when the signal does, and is ${name}`,
    );
  }
  if (asked.resolution !== undefined && !(asked.resolution > 0)) {
    throw new VigieError('input.malformed', `${asked.signal}: the resolution must be more than 0`);
  }
  const least = asked.interval ?? interval ?? telemetry.interval;
  const rule: TelemetryRule = {
    interval: least,
    deadBand: asked.deadBand ?? telemetry.deadBand,
    heartbeat: asked.heartbeat ?? Math.max(telemetry.heartbeat, least),
  };
  const findings = new Findings('', new Map());
  checkRule(rule, '', findings);
  const [fault] = findings.diagnostics;
  if (fault !== undefined) throw new VigieError('input.malformed', `${asked.signal}: ${explained(fault)}`);
  return {
    name,
    bus,
    message,
    signal,
    line: 0,
    ...defined({ resolution: asked.resolution }),
    scale: profileDefaults.scale,
    shift: profileDefaults.offset,
    invalid: [],
    ...(asked.position === true ? { position: true } : {}),
    rule,
    ...defined({ while: condition }),
  };
}

/** Returns the condition, with its values converted to the types of its path. */
function conditionOf({ while: given }: CollectOrder, { sources, constants }: Profile): Condition | undefined {
  if (given === undefined) return undefined;
  const { equals, ...rest } = given;
  const isFlag = slotByPath.get(given.path)?.kind === 'flag';
  const typed = isFlag && (equals === 'true' || equals === 'false') ? equals === 'true' : equals;
  const condition: Condition = { ...rest, ...defined({ equals: typed }) };
  const findings = new Findings('', new Map());
  const fed = new Set([...sources.map(({ path }) => path), ...Object.keys(constants)]);
  const read = readCondition(condition, '', fed, 'nothing would be recorded', findings);
  const [fault] = findings.diagnostics;
  if (fault !== undefined) throw new VigieError('input.malformed', `while: ${explained(fault)}`);
  return read;
}

function explained({ message, fix }: { readonly message: string; readonly fix?: string }): string {
  return fix === undefined ? message : `${message} (${fix})`;
}

function unknownIn(
  written: readonly WrittenSignal[],
  databases: readonly BoundDatabase[],
  single: boolean,
): VigieError | undefined {
  // If the DBC describes the message, it describes all of its signals.
  const checked = written.filter(
    ({ bus, message, signal }) => signal !== '*' || messagesOf(bus, message, databases).length === 0,
  );
  const wanted = checked.map(({ bus, message, signal }) => (single ? { message, signal } : { bus, message, signal }));
  const [first] = unknownSignals(wanted, databases);
  if (first === undefined) return undefined;
  const fix = first.nearest.length === 0 ? '' : ` (did you mean ${first.nearest.join(', ')}?)`;
  return new VigieError('input.unknown', `${first.message}${fix}`);
}

/** Returns the index of the command entry to which a signal belongs. */
function entryOf(signal: CustomSignal, written: readonly WrittenSignal[]): number {
  const named = written.findIndex(({ name }) => name === signal.name);
  if (named >= 0) return named;
  return written.findIndex(
    ({ bus, message, signal: all }) =>
      all === '*' && message === signal.message && (signal.bus === undefined || bus === signal.bus),
  );
}

/**
 * Returns the signal. If the profile also records it, uses the profile's name and definition unless the command
 * overrides them. If the profile maps it to a position, it stays a position, whatever the command contains.
 * @throws VigieError `input.malformed` if the profile's unit differs from the command's
 */
function asProfileSays(signal: CustomSignal, asked: CollectedSignal, { signals = [], sources }: Profile): CustomSignal {
  const isSame = (other: SignalOfBus): boolean => isSameSignal(signal, other);
  const custom = asked.name === undefined && asked.resolution === undefined ? signals.find(isSame) : undefined;
  const position =
    signal.position ||
    signals.some((one) => isSame(one) && one.position) ||
    sources.some((source) => isSame(source) && hiddenFrom(source.path) === 1);
  const { while: _, ...definition } = custom ?? signal;
  const { rule, while: condition } = signal;
  const found = { ...definition, rule, position, ...defined({ while: condition }) };
  if (asked.unit !== undefined && (found.unit ?? '') !== asked.unit) {
    const is = found.unit === undefined ? 'no unit' : `the unit ${found.unit}`;
    throw new VigieError('input.malformed', `${signal.message}.${signal.signal} has ${is}, not ${asked.unit}`);
  }
  return found;
}

/** Checks that each name stands for one signal; otherwise its history would mix two. */
function checkNames(collected: readonly CustomSignal[], { signals = [], texts = [] }: Profile): void {
  const known = new Map<string, SignalOfBus>([...signals, ...texts].map((one) => [one.name, one]));
  const names = new Set<string>();
  for (const one of collected) {
    const { name } = one;
    if (names.has(name)) throw new VigieError('input.malformed', `two signals have the name ${name}: give one another`);
    names.add(name);
    const other = known.get(name);
    if (other === undefined || isSameSignal(one, other)) continue;
    const message = `the profile calls ${other.message}.${other.signal} ${name}: give ${one.message}.${one.signal} another name`;
    throw new VigieError('input.malformed', message);
  }
}

/** Returns the messages of these signals, and all others that can have the same identifiers or parameter groups. */
function reduced(database: Database, signals: readonly CustomSignal[]): Database {
  const names = new Set(signals.map(({ message }) => message));
  const isWanted = ({ name, symbol }: DbcMessage): boolean => names.has(name) || names.has(symbol);
  const wanted = database.messages.filter(isWanted);
  const groups = new Set(wanted.filter(({ j1939 }) => j1939).map(({ id }) => parameterGroup(id)));
  const messages = database.messages.flatMap((message) => {
    if (isWanted(message)) return message;
    return message.id >= EXTENDED && groups.has(parameterGroup(message.id)) ? { ...message, signals: [] } : [];
  });
  const { file, version, attributes } = database;
  const none = { nodes: [], valueTables: new Map(), environmentVariables: [], definitions: new Map() };
  return { file, version, attributes, ...none, messages };
}
