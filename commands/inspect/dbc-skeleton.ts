/** Creates a network description with the messages of a log, from which people who map a car can start. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { BitField, Database } from '../../adapters/can/dbc/index.ts';
import { fieldsOf } from '../../adapters/can/inspect/fields.ts';
import type { ObservedBus, ObservedMessage, Traffic } from '../../adapters/can/inspect/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { loadDbc } from '../dbc-files.ts';
import { checksumText, counterText, identifierLineOf } from './traffic-lines.ts';

const CYCLE_TIME = 'GenMsgCycleTime';
/** Statements in the order in which a DBC contains them. Unlisted statements precede these. */
const SECTIONS: readonly RegExp[] = [
  /^(BO_|SG_)\s/,
  /^(BO_TX_BU_|EV_|ENVVAR_DATA_|SGTYPE_)\s/,
  /^CM_\s/,
  /^(BA_DEF_|BA_DEF_REL_|BA_DEF_SGTYPE_)\s/,
  /^(BA_DEF_DEF_|BA_DEF_DEF_REL_)\s/,
  /^(BA_|BA_REL_)\s/,
  /^(VAL_|SIG_GROUP_|SIG_VALTYPE_|SIG_TYPE_REF_|SGTYPE_VAL_|SG_MUL_VAL_)\s/,
];
const [MESSAGES, COMMENTS, DEFINITIONS, DEFAULTS, VALUES] = [0, 2, 3, 4, 5] as const;
const EMPTY = 'VERSION ""\n\nNS_ :\n\nBS_:\n\nBU_:\n\n';

type Section = typeof MESSAGES | typeof COMMENTS | typeof DEFINITIONS | typeof DEFAULTS | typeof VALUES;
type Additions = Record<Section, string[]>;

/**
 * Writes the messages of a log to a DBC. To an existing file it only adds missing messages; it changes nothing.
 * @returns a human-readable summary; undefined if there was nothing to write
 * @throws VigieError `configuration.wrong` if the DBC cannot be read; `input.unreadable` if it cannot be written
 */
export function writeSkeleton(path: string, traffic: Traffic): string | undefined {
  const exists = existsSync(path);
  const known: Database['messages'] = exists ? loadDbc(path).database.messages : [];
  // Latin-1 preserves every byte of a file in any encoding.
  const before = exists ? readFileSync(path, 'latin1') : EMPTY;
  const missing = newMessages(traffic, new Set(known.map(({ id }) => id)));
  if (missing.length === 0) return undefined;
  const text = withAdditions(before, additionsOf(missing, before));
  try {
    writeFileSync(`${path}.new`, text, 'latin1');
    renameSync(`${path}.new`, path);
  } catch (error) {
    const reason = `the DBC cannot be written: ${(error as Error).message}`;
    throw new VigieError('input.unreadable', reason, { where: path, cause: error });
  }
  const count = `${missing.length} ${missing.length === 1 ? 'message' : 'messages'}`;
  return exists ? `${path}: ${count} added to the ${known.length} that it had` : `${path}: ${count} written`;
}

interface Seen {
  readonly bus: ObservedBus;
  readonly observed: ObservedMessage;
}

/** Returns the missing messages. A DBC has one bus: for an identifier on several, the bus with most frames. */
function newMessages(traffic: Traffic, known: ReadonlySet<number>): Seen[] {
  const seen = new Map<number, Seen>();
  for (const bus of traffic.buses) {
    for (const observed of bus.messages) {
      const other = seen.get(observed.id);
      if (known.has(observed.id) || observed.frames === 0) continue;
      if (other === undefined || other.observed.frames < observed.frames) seen.set(observed.id, { bus, observed });
    }
  }
  return [...seen.values()].sort((a, b) => a.observed.id - b.observed.id);
}

function additionsOf(messages: readonly Seen[], before: string): Additions {
  const additions: Additions = {
    [MESSAGES]: [],
    [COMMENTS]: [],
    [DEFINITIONS]: [],
    [DEFAULTS]: [],
    [VALUES]: [],
  };
  for (const seen of messages) describe(seen, additions);
  if (additions[VALUES].length > 0 && !new RegExp(`BA_DEF_\\s+BO_\\s+"${CYCLE_TIME}"`).test(before)) {
    additions[DEFINITIONS].push(`BA_DEF_ BO_ "${CYCLE_TIME}" INT 0 65535;`);
    additions[DEFAULTS].push(`BA_DEF_DEF_ "${CYCLE_TIME}" 0;`);
  }
  return additions;
}

function describe({ bus, observed }: Seen, additions: Additions): void {
  const { id, longest, frames } = observed;
  const line = identifierLineOf(bus, observed);
  const extended = id >= EXTENDED;
  const digits = (id & 0x1fff_ffff)
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0');
  const { counters, checksum } = observed.findProtection();
  const protection: BitField[] = counters.map(({ field }) => field);
  const signals = counters.map(({ field }, i) => ({
    name: `Counter_${field.start}`,
    field,
    comment: line.counters[i] === undefined ? '' : counterText(line.counters[i]),
  }));
  if (checksum !== undefined && line.checksum !== undefined) {
    const { byte, bit, length } = checksum.place;
    const field = { start: byte * 8 + bit, length, byteOrder: 'little' as const };
    protection.push(field);
    signals.push({ name: `Checksum_${field.start}`, field, comment: checksumText(line.checksum) });
  }
  for (const field of fieldsOf(observed, protection)) {
    signals.push({ name: `Field_${field.start}_${field.length}`, field, comment: '' });
  }
  additions[MESSAGES].push(`BO_ ${id} ID_${digits}: ${longest} Vector__XXX`);
  for (const { name, field, comment } of signals.sort((a, b) => a.field.start - b.field.start)) {
    const order = field.byteOrder === 'little' ? 1 : 0;
    additions[MESSAGES].push(` SG_ ${name} : ${field.start}|${field.length}@${order}+ (1,0) [0|0] "" Vector__XXX`);
    if (comment !== '') additions[COMMENTS].push(`CM_ SG_ ${id} ${name} "${plain(comment)}";`);
  }
  additions[MESSAGES].push('');
  const sizes = Object.keys(line.lengths);
  const varies = sizes.length > 1 ? `, ${sizes[0]} to ${sizes.at(-1)} bytes` : '';
  additions[COMMENTS].push(`CM_ BO_ ${id} "${frames} frames in the log${varies}";`);
  const cycle = Math.round(observed.intervals.median ?? 0);
  if (cycle > 0 && cycle <= 65_535) additions[VALUES].push(`BA_ "${CYCLE_TIME}" BO_ ${id} ${cycle};`);
}

/** Returns the text as a DBC string that every tool can read. */
function plain(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^ -~]/g, ' ');
}

/** Inserts each addition before the first statement of a later section; no existing line changes. */
function withAdditions(before: string, additions: Additions): string {
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  const lines = before.split(end);
  // Terminates the last line if it is unterminated.
  if (lines.at(-1) === '') lines.pop();
  const sections = sectionsOf(lines);
  const result: string[] = [];
  const left = new Set<Section>([MESSAGES, COMMENTS, DEFINITIONS, DEFAULTS, VALUES]);
  const add = (until: number): void => {
    for (const section of left) {
      if (section >= until) continue;
      left.delete(section);
      result.push(...additions[section]);
    }
  };
  for (const [i, line] of lines.entries()) {
    add(sections[i] ?? 0);
    result.push(line);
  }
  add(SECTIONS.length);
  return `${result.join(end)}${end}`;
}

/** Returns, for each line that begins a statement, its section. A line within a string begins no statement. */
function sectionsOf(lines: readonly string[]): (number | undefined)[] {
  let quoted = false;
  return lines.map((line) => {
    const section = quoted ? -1 : SECTIONS.findIndex((pattern) => pattern.test(line.trimStart()));
    const quotes = line.replaceAll('\\"', '').split('"').length - 1;
    if (quotes % 2 === 1) quoted = !quoted;
    return section < 0 ? undefined : section;
  });
}
