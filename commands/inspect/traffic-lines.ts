/** Formats statistics of buses and identifiers as lines for programs and for people. */

import type { DbcMessage } from '../../adapters/can/dbc/index.ts';
import type { FoundChecksum, ObservedBus, ObservedMessage, Traffic } from '../../adapters/can/inspect/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import { counted } from '../../protocol/counted.ts';
import { hex, hexByte } from '../../protocol/hex.ts';
import type { BusLine, IdentifierLine } from './schema.ts';
import { identifierText, placeText, printable, type Row, type TableColumn, tableLines, wrap } from './table.ts';

/** Identifier bits of a frame id. */
const IDENTIFIER = 0x1fff_ffff;

export function busLineOf(bus: ObservedBus): BusLine {
  const { name, frames, remotes, errors, messages, first, last } = bus;
  return { kind: 'bus', bus: name, frames, remotes, errors, identifiers: messages.length, first, last };
}

/** @param message name and payload length from a network description */
export function identifierLineOf(
  bus: ObservedBus,
  observed: ObservedMessage,
  message?: Pick<DbcMessage, 'name' | 'length'>,
): IdentifierLine {
  const { id, frames, remotes, fdFrames, changes, first, last, intervals, longest } = observed;
  const { median, jitter, minimum, maximum } = intervals;
  return {
    kind: 'identifier',
    bus: bus.name,
    id: id & IDENTIFIER,
    extended: (id & EXTENDED) !== 0,
    ...(message === undefined ? {} : { message: message.name, messageLength: message.length }),
    frames,
    share: bus.frames === 0 ? 0 : frames / bus.frames,
    remotes,
    fdFrames,
    changes,
    ...(frames === 0 ? {} : { first, last }),
    ...(median === undefined || jitter === undefined
      ? {}
      : { period: { median: micro(median), jitter: micro(jitter), minimum: micro(minimum), maximum: micro(maximum) } }),
    lengths: Object.fromEntries(observed.lengths),
    changed: hex(observed.changed.subarray(0, longest)),
    latest: hex(observed.latest.subarray(0, longest)),
    ...protectionOf(observed),
  };
}

function protectionOf(observed: ObservedMessage): Pick<IdentifierLine, 'counters' | 'checksum'> {
  const { counters, checksum } = observed.findProtection();
  return {
    counters: counters.map(({ field, ...counted }) => ({ start: field.start, bits: field.length, ...counted })),
    ...(checksum === undefined ? {} : { checksum: checksumOf(checksum) }),
  };
}

function checksumOf({ place, constants, profile, ...found }: FoundChecksum): NonNullable<IdentifierLine['checksum']> {
  return {
    start: place.byte * 8 + place.bit,
    bits: place.length,
    ...found,
    ...(constants === undefined ? {} : { constants: constants.map((constant) => constant ?? null) }),
    ...(profile === undefined ? {} : { profile: profile.names }),
    ...(profile?.dataId === undefined ? {} : { dataId: profile.dataId }),
    ...(profile?.dataIds === undefined ? {} : { dataIds: profile.dataIds.map((id) => id ?? null) }),
  };
}

const columns: readonly TableColumn[] = [
  { title: 'id', align: 'right' },
  { title: 'frames', align: 'right' },
  { title: 'share', align: 'right', dispensable: 1 },
  { title: 'every ms', align: 'right' },
  { title: 'jitter', align: 'right', dispensable: 2 },
  { title: 'bytes', align: 'right' },
  { title: 'bits that change', align: 'left' },
];

/** Returns, for people, each bus with a table of its identifiers. */
export function trafficText(traffic: Traffic, identifiers: readonly IdentifierLine[], width: number): string[] {
  return traffic.buses.flatMap((bus, i) => {
    const rows = identifiers.filter((line) => line.bus === bus.name).map(rowOf);
    const table = rows.length === 0 ? [] : tableLines(columns, rows, width);
    return [...(i === 0 ? [] : ['']), ...wrap(busPhrases(bus), width), ...table];
  });
}

function rowOf(line: IdentifierLine): Row {
  const { id, extended, frames, share, period, lengths, remotes, message, fdFrames } = line;
  const sizes = Object.keys(lengths).map(Number);
  const [shortest = 0] = sizes;
  const longest = sizes.at(-1) ?? 0;
  const misfits = line.messageLength !== undefined && sizes.some((size) => size !== line.messageLength);
  const bytes = shortest === longest ? `${longest}` : `${shortest}-${longest}`;
  return {
    cells: [
      identifierText(id, extended),
      frames.toLocaleString('en'),
      `${(share * 100).toFixed(1)}%`,
      period === undefined ? '' : decimals(period.median),
      period === undefined ? '' : decimals(period.jitter),
      frames === 0 ? '' : bytes,
      bitmap(line.changed),
    ],
    details: [
      ...(message === undefined ? [] : [printable(message)]),
      ...(misfits ? [`${line.messageLength} bytes in the DBC`] : []),
      ...line.counters.map(counterText),
      ...(line.checksum === undefined ? [] : [checksumText(line.checksum)]),
      ...(fdFrames === 0 ? [] : [fdFrames === frames ? 'FD' : `${counted(fdFrames, 'FD frame')}`]),
      ...(sizes.length < 3 ? [] : [`lengths ${sizes.join(' ')}`]),
      ...(remotes === 0 ? [] : [counted(remotes, 'remote frame')]),
    ],
  };
}

/** Returns the mask of the bits that change, with a dot for four bits that never change; eight bytes per line. */
function bitmap(changed: string): string[] {
  const digits = changed.toUpperCase().replaceAll('0', '.');
  return digits.match(/.{1,16}/g) ?? [''];
}

function busPhrases({ name, frames, remotes, errors, messages, first, last }: ObservedBus): string[] {
  return [
    `${printable(name)}: ${frames.toLocaleString('en')} data ${frames === 1 ? 'frame' : 'frames'}`,
    ...(remotes === 0 ? [] : [counted(remotes, 'remote frame')]),
    ...(errors === 0 ? [] : [counted(errors, 'error frame')]),
    counted(messages.length, 'identifier'),
    `${((last - first) / 1000).toFixed(1)} s`,
  ];
}

export function counterText({ start, bits, modulus, frames, right }: IdentifierLine['counters'][number]): string {
  const steps = right === frames ? '' : `; ${right} of ${frames} steps`;
  return `counter ${placeText(start, bits)} (0 to ${modulus - 1}${steps})`;
}

const methodNames: Readonly<Record<string, string>> = {
  xor: 'XOR',
  sum: 'sum',
  'negated-sum': 'negated sum',
  'crc8-j1850': 'CRC-8 0x1D',
  'crc8-h2f': 'CRC-8 0x2F',
};

export function checksumText(checksum: NonNullable<IdentifierLine['checksum']>): string {
  const { method, start, bits, constant, profile, dataId, dataIds, frames, right } = checksum;
  const facts = [
    ...(profile === undefined ? [] : [`AUTOSAR E2E profile ${profile}`]),
    ...(constant === undefined ? [] : [`constant ${hexByte(constant)}`]),
    ...(dataId === undefined ? [] : [`Data ID ${hexByte(dataId >>> 8)}${hexByte(dataId & 0xff)}`]),
    ...(dataIds === undefined ? [] : [`Data IDs ${dataIds.map((id) => (id === null ? '?' : hexByte(id))).join(' ')}`]),
    ...(constant !== undefined || dataId !== undefined || dataIds !== undefined ? [] : ['a constant by counter value']),
    right === frames ? `${frames} frames` : `${right} of ${frames} frames`,
  ];
  return `${methodNames[method]} ${placeText(start, bits)} (${facts.join('; ')})`;
}

/** Formats milliseconds with about four digits. */
function decimals(value: number): string {
  return value.toFixed(value < 100 ? 2 : value < 1000 ? 1 : 0);
}

/** Rounds to whole microseconds, the precision of logs: further digits of the difference of two times are noise. */
function micro(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
