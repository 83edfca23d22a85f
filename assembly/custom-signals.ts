/** Custom signals of a profile, completed with data from network descriptions. */

import { type BoundDatabase, type DbcMessage, readable, type Signal, signalNamed } from '../adapters/can/dbc/index.ts';
import type { WrittenSignal } from '../config/signals.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import type { CustomSignal, TextSignal } from '../protocol/profile.ts';
import { stepFault } from './signal-steps.ts';

/** Maximum number of custom signals, since they are numbered (agent/signals/numbers.ts). */
const MOST = 16_384;
/** Size in bits, without the sign, of integers in columns. */
const BITS = 51;
/** Maximum length in characters of a string in a catalog (protocol/schema/fields.ts). */
const LONGEST = 256;
/** Maximum total size in bytes of an enumeration's names, which one message carries (protocol/cbor/message.ts). */
const MOST_NAMES = 1_000_000;
/** Maximum overhead in bytes of each name in a catalog. */
const BESIDE = 16;

export type SignalOfBus = Pick<CustomSignal, 'bus' | 'message' | 'signal'>;

export function isSameSignal(one: SignalOfBus, other: SignalOfBus): boolean {
  return other.bus === one.bus && other.message === one.message && other.signal === one.signal;
}

interface Network {
  /** Buses that DBC files describe. */
  readonly frames: ReadonlySet<string>;
  readonly databases: readonly BoundDatabase[];
  /** True if there is only one such bus; its name in a log then does not matter. */
  readonly single: boolean;
  /** Signals that the profile maps to a position. */
  readonly positions: readonly SignalOfBus[];
  /** Path of the profile. */
  readonly file: string;
}

interface Completed {
  readonly signals: readonly CustomSignal[];
  readonly texts: readonly TextSignal[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Replaces wildcards by the signals of their message. Omits signals that no DBC has. Also returns all faults. */
export function completeSignals(written: readonly WrittenSignal[], network: Network): Completed {
  const diagnostics: Diagnostic[] = [];
  const signals: CustomSignal[] = [];
  const texts: TextSignal[] = [];
  const lines = new Map<string, number>();
  const find = (severity: Diagnostic['severity'], line: number, message: string, fix?: string): void => {
    diagnostics.push({ file: network.file, line, severity, message, ...defined({ fix }) });
  };
  const named = new Set(written.filter(({ signal }) => signal !== '*').map(keyOf));
  for (const one of written) {
    for (const { entry: found, described } of spread(one, network, named)) {
      const entry = { ...found, position: found.position ?? saysPlace(found, network.positions) };
      const twin = lines.get(entry.name);
      if (twin !== undefined) {
        find(
          'error',
          one.line,
          `${entry.name} is a signal already${twin === 0 ? '' : `, in line ${twin}`}`,
          'give one another name',
        );
        continue;
      }
      lines.set(entry.name, one.line);
      if (entry.kind === 'text') {
        const { name, bus, message, signal, position, timeout } = entry;
        texts.push({ name, bus, message, signal, position, ...defined({ timeout }) });
        continue;
      }
      const complete = completed(entry, entry.kind, described);
      if (typeof complete === 'string') {
        find('error', one.line, complete, 'add resolution: the smallest step that matters, in the unit');
        continue;
      }
      const [unsendable, fix] = unsendableIn(complete);
      if (unsendable !== undefined) {
        find('error', one.line, unsendable, fix);
        continue;
      }
      const fault = stepFault(complete, described, one.signal === '*');
      if (fault !== undefined) find(fault.severity, one.line, fault.message, fault.fix);
      if (fault?.severity === 'error') continue;
      if (complete.raw && described !== undefined && described.length > BITS) {
        find(
          'warning',
          one.line,
          `${entry.name} has ${described.length} bits: values beyond 2^${BITS} are not recorded`,
        );
      }
      signals.push(network.single && network.frames.has(one.bus) ? withoutBus(complete) : complete);
    }
  }
  if (signals.length > MOST) find('error', 0, `${signals.length} custom signals; at most ${MOST} allowed`);
  return { signals, texts, diagnostics };
}

/** Returns true if the signal's name, or a path that the signal feeds, reveals the position of the car. */
function saysPlace(signal: WrittenSignal, positions: readonly SignalOfBus[]): boolean {
  const isPlace = (part: string): boolean => ['Location', 'CurrentLocation', 'lastPosition'].includes(part);
  return signal.name.split('.').some(isPlace) || positions.some((other) => isSameSignal(signal, other));
}

/** If a property of the signal does not fit into a catalog, returns what is wrong, and advice. */
function unsendableIn({ name, unit = '', names = [] }: CustomSignal): readonly [message?: string, fix?: string] {
  const beyond = (what: string, text: string): string | undefined =>
    text.length > LONGEST ? `${what} has ${text.length} characters; at most ${LONGEST} allowed` : undefined;
  const long = beyond(name, name);
  if (long !== undefined) return [long, 'give it a shorter name'];
  const wordy = beyond(`the unit of ${name}`, unit);
  if (wordy !== undefined) return [wordy, 'write a shorter unit'];
  const fix = 'name its values under names, or write kind: quantity';
  let bytes = 0;
  for (const { count, name: text } of names) {
    const fault = beyond(`${name}: the name of ${count}`, text);
    if (fault !== undefined) return [fault, fix];
    bytes += new TextEncoder().encode(text).length + BESIDE;
  }
  if (bytes <= MOST_NAMES) return [];
  return [`${name} has ${names.length} names of ${bytes} bytes; at most ${MOST_NAMES} allowed`, fix];
}

function withoutBus({ bus: _, ...signal }: CustomSignal): CustomSignal {
  return signal;
}

function keyOf({ bus, message, signal }: Pick<WrittenSignal, 'bus' | 'message' | 'signal'>): string {
  return `${bus}/${message}.${signal}`;
}

interface Entry {
  readonly entry: WrittenSignal;
  /** If omitted, no DBC describes the signal's bus. */
  readonly described?: Signal;
}

/** Yields the signals of an entry. For a wildcard, these are the message's signals that no other entry names. */
function* spread(written: WrittenSignal, network: Network, named: ReadonlySet<string>): Generator<Entry> {
  const { bus, message, signal, name } = written;
  if (!network.frames.has(bus)) {
    if (signal !== '*') yield { entry: written };
    return;
  }
  const messages = messagesOf(bus, message, network.databases);
  if (signal !== '*') {
    const described = messages.flatMap((one) => signalNamed(one, signal) ?? []).find(readable);
    if (described !== undefined) yield { entry: written, described };
    return;
  }
  for (const described of messages[0]?.signals.filter(readable) ?? []) {
    const entry = { ...written, signal: described.name, name: name.slice(0, -1) + partOf(described.name) };
    const symbol = { ...entry, signal: described.symbol };
    if (!named.has(keyOf(entry)) && !named.has(keyOf(symbol))) yield { entry, described };
  }
}

/** Returns the messages called `name` on a bus. */
export function messagesOf(bus: string, name: string, databases: readonly BoundDatabase[]): DbcMessage[] {
  return databases
    .filter((bound) => bound.bus === undefined || bound.bus === bus)
    .flatMap(({ database }) => database.messages)
    .filter((message) => message.name === name || message.symbol === name);
}

/** Converts a signal's name to one segment of a dotted name. */
function partOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** Returns the completed signal, or the reason why it cannot be recorded. */
function completed(
  written: WrittenSignal & Pick<CustomSignal, 'position'>,
  chosen: CustomSignal['kind'] | undefined,
  described: Signal | undefined,
): CustomSignal | string {
  const { names: given, resolution, ...rest } = written;
  const kind = chosen ?? kindOf(described);
  const { bus, message, signal, name, scale, shift, invalid, timeout, position, rule, while: condition } = rest;
  const common = {
    name,
    bus,
    message,
    signal,
    scale,
    shift,
    invalid,
    position,
    rule,
    ...defined({ timeout, while: condition }),
  };
  if (kind === 'flag') return { ...common, kind, raw: false };
  if (kind === 'enumeration') {
    const choices = [...(described?.choices ?? [])].map(([count, of]) => ({ count, name: of }));
    const names = given ?? choices.filter(({ count }) => Math.abs(count) < 2 ** BITS).sort((a, b) => a.count - b.count);
    return { ...common, kind, raw: true, ...(names.length === 0 ? {} : { names }) };
  }
  const unit = written.unit ?? described?.unit ?? '';
  const quantity = { ...common, kind, ...(unit === '' ? {} : { unit }) };
  if (resolution !== undefined) return { ...quantity, raw: false, resolution };
  if (described === undefined) return `nothing says how exact ${name} is`;
  if (described.type === 'float') return `${name} is a floating-point number, which has no step of its own`;
  if (described.factor === 0) return `${name} has the factor 0 in the DBC, so it has no step`;
  const step = decimal(described.factor * scale);
  const offset = decimal(described.offset * scale + shift);
  return { ...quantity, raw: true, ...(step === 1 ? {} : { resolution: step }), ...(offset === 0 ? {} : { offset }) };
}

/** Removes binary rounding errors from a product: 0.1 × 0.1 is 0.01. */
function decimal(value: number): number {
  return Number(value.toPrecision(14)) + 0;
}

/** Returns the kind according to the DBC. Value names of a signal with a unit or scale are only special values. */
function kindOf(signal: Signal | undefined): CustomSignal['kind'] {
  if (signal === undefined || signal.type === 'float' || signal.unit !== '') return 'quantity';
  if (signal.factor !== 1 || signal.offset !== 0) return 'quantity';
  if ((signal.choices?.size ?? 0) >= 2) return 'enumeration';
  return signal.length === 1 && signal.type === 'unsigned' ? 'flag' : 'quantity';
}
