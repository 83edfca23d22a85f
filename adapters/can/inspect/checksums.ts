/** Finds the bits and the method of a checksum by trial. */
import { crc8H2f, crc8J1850 } from '../dbc/crc8.ts';
import type { FoundCounter } from './counters.ts';
import { type Algorithm, checksumAt, type Place, residual } from './residuals.ts';

export interface FoundChecksum extends Algorithm {
  readonly place: Place;
  /**
   * Combined effect of start value, Data ID and inversion. For sums, the initial value; for CRCs, the value that is
   * exclusive-ored to the CRC (start value and inversion 0xFF: SAE J1850; CRC8H2F of AUTOSAR) of the payload and
   * `appended` zeros.
   */
  readonly constant?: number;
  /** Alternative to `constant`: one per counter value; undefined for values not seen. */
  readonly constants?: readonly (number | undefined)[];
  /** Name of this layout in AUTOSAR's E2E protocol, with the known part of the Data ID. */
  readonly profile?: E2eProfile;
  /** Number of tested frames, and number of those with the right checksum. */
  readonly frames: number;
  readonly right: number;
}

/**
 * PRS_E2EProtocol: profiles 1 and 11 have CRC-8 SAE J1850, a counter from 0 to 14 and a Data ID of 16 bits before the
 * payload (§6.1). Profiles 2 and 22 have CRC8H2F, a counter from 0 to 15 and, after the payload, one of 16 Data IDs of
 * 8 bits, selected by the counter (§6.2). Profiles 11 and 22 may have the CRC at another offset.
 */
export interface E2eProfile {
  readonly names: '1 or 11' | '2 or 22';
  /** Known if its low and high byte alternate (E2E_P01DataIDMode alternating): 8 bits do not determine 16. */
  readonly dataId?: number;
  /** One for each counter value; undefined where that value was not seen. */
  readonly dataIds?: readonly (number | undefined)[];
}

/** Minimum number of payloads that differ outside the checksum, in addition to the number of unknown constants. */
const FEWEST = 20;
/** Minimum number of varying bytes besides the checksum: a checksum of one byte might be a copy. */
const FEWEST_BYTES = 2;
/** Minimum number of different checksum values, by the width of the checksum in bits. */
const FEWEST_VALUES = { 8: 12, 4: 6 };
/** Tolerated share of frames with a wrong checksum: senders may start with wrong ones. */
const TOLERATED = 0.02;
/** Number of frames after which a mostly failing trial is given up. */
const PROBE = 48;

/**
 * Returns the checksum of an identifier, or undefined if no method fits, too few payloads differ, or methods of
 * different kinds fit.
 * @param frames all of the same payload length, in any order
 */
export function findChecksum(
  frames: readonly Uint8Array[],
  counters: readonly FoundCounter[],
): FoundChecksum | undefined {
  const bytes = frames[0]?.length ?? 0;
  if (bytes < 2 || frames.length < FEWEST) return undefined;
  const places = (length: 8 | 4): Place[] => placesOf(bytes, length, counters);
  const whole = matches(frames, places(8), wholeBytes, counters);
  // Where the exclusive or of bytes is constant, that of their nibbles is too.
  const all = whole.length > 0 ? whole : matches(frames, places(4), nibbles, counters);
  const [found] = all;
  if (found === undefined || all.some((one) => one.method !== found.method || one.appended !== found.appended))
    return undefined;
  // A constant total does not show which part of it is the checksum. The usual places come first.
  const symmetric = found.method === 'xor' || found.method === 'negated-sum';
  return symmetric || all.length === 1 ? found : undefined;
}

const wholeBytes: readonly Algorithm[] = [
  ...(['xor', 'sum', 'negated-sum'] as const).map((method) => ({ method, appended: 0 as const })),
  ...(['crc8-j1850', 'crc8-h2f'] as const).flatMap((method) => [
    { method, appended: 0 as const },
    { method, appended: 1 as const },
  ]),
];
const nibbles: readonly Algorithm[] = wholeBytes.slice(0, 3);

/**
 * Returns the places by likelihood: the last byte, the first, then backwards from the last. Places with counters come
 * last.
 */
function placesOf(bytes: number, length: 8 | 4, counters: readonly FoundCounter[]): Place[] {
  const order = [bytes - 1, 0, ...Array.from({ length: bytes - 2 }, (_, i) => bytes - 2 - i)];
  const places = order.flatMap((byte): Place[] =>
    length === 8 ? [{ byte, bit: 0, length }] : [0, 4].map((bit) => ({ byte, bit, length })),
  );
  // The sum over a counter and little else also counts up.
  const counts = (place: Place): number => Number(counters.some((counter) => isWithin(counter, place)));
  return places.sort((a, b) => counts(a) - counts(b));
}

/** Returns true if the field shares bits with the place. */
export function isWithin({ field }: FoundCounter, { byte, bit, length }: Place): boolean {
  const first = byte * 8 + bit;
  return field.start < first + length && first < field.start + field.length;
}

function matches(
  frames: readonly Uint8Array[],
  places: readonly Place[],
  algorithms: readonly Algorithm[],
  counters: readonly FoundCounter[],
): FoundChecksum[] {
  return places.flatMap((place) => {
    if (new Set(frames.map((frame) => checksumAt(frame, place))).size < FEWEST_VALUES[place.length]) return [];
    return algorithms.flatMap((algorithm) => match(frames, place, algorithm, counters) ?? []);
  });
}

function match(
  frames: readonly Uint8Array[],
  place: Place,
  algorithm: Algorithm,
  counters: readonly FoundCounter[],
): FoundChecksum | undefined {
  const single = trial(frames, place, algorithm, undefined);
  if (single !== undefined) {
    const constant = single.constants[0]!;
    const profile = profileOf(algorithm, counters);
    return { ...algorithm, place, constant, ...(profile && { profile }), frames: frames.length, right: single.right };
  }
  const isCrc = algorithm.method === 'crc8-j1850' || algorithm.method === 'crc8-h2f';
  for (const counter of isCrc ? counters : []) {
    const each = trial(frames, place, algorithm, counter);
    if (each === undefined) continue;
    const profile = profileOf(algorithm, [counter], each.constants, frames[0]!.length - 1);
    return { ...algorithm, place, ...(profile && { profile }), frames: frames.length, ...each };
  }
  return undefined;
}

/**
 * Returns the most frequent residual, one per counter value if there is a counter, and the number of frames with it.
 */
function trial(
  frames: readonly Uint8Array[],
  place: Place,
  algorithm: Algorithm,
  counter: FoundCounter | undefined,
): { readonly constants: readonly (number | undefined)[]; readonly right: number } | undefined {
  const classes = counter?.modulus ?? 1;
  const seen = new Uint32Array(classes * 256);
  for (const [i, frame] of frames.entries()) {
    const own = counter === undefined ? 0 : counterValue(frame, counter);
    if (own < classes) seen[own * 256 + residual(frame, place, algorithm)]!++;
    // By chance, hardly two frames have the same residual. With a counter, the first frame of each value is always
    // right.
    if (counter === undefined && i === PROBE && Math.max(...seen) < PROBE / 2) return undefined;
  }
  const constants: (number | undefined)[] = [];
  let right = 0;
  for (let own = 0; own < classes; own++) {
    const counts = seen.subarray(own * 256, own * 256 + 256);
    const most = Math.max(...counts);
    right += most;
    constants.push(most === 0 ? undefined : counts.indexOf(most));
  }
  if (right < frames.length * (1 - TOLERATED)) return undefined;
  const known = constants.filter((constant) => constant !== undefined).length;
  return isEvidence(frames, place, known) ? { constants, right } : undefined;
}

/** Returns true if the payloads differ enough to rule out a wrong method. */
function isEvidence(frames: readonly Uint8Array[], place: Place, unknown: number): boolean {
  const [first] = frames;
  const differing = new Set<number>();
  const bodies = new Set<string>();
  const mask = (2 ** place.length - 1) << place.bit;
  for (const frame of frames) {
    const body = frame.slice();
    body[place.byte]! &= ~mask;
    for (let k = 0; k < body.length; k++) {
      const before = k === place.byte ? first![k]! & ~mask : first![k]!;
      if (body[k] !== before) differing.add(k);
    }
    bodies.add(body.join());
  }
  return differing.size >= FEWEST_BYTES && bodies.size >= FEWEST + unknown;
}

/** @param constants by counter value @param covered number of payload bytes that the CRC covers */
function profileOf(
  { method, appended }: Algorithm,
  counters: readonly FoundCounter[],
  constants: readonly (number | undefined)[] = [],
  covered = 0,
): E2eProfile | undefined {
  const counts = (modulus: number): boolean =>
    counters.some((one) => one.field.length === 4 && one.modulus === modulus);
  if (method === 'crc8-j1850' && appended === 0 && counts(15)) {
    if (constants.length === 0) return { names: '1 or 11' };
    const dataId = alternating(constants, covered);
    return dataId === undefined ? undefined : { names: '1 or 11', dataId };
  }
  if (method !== 'crc8-h2f' || appended === 0 || !counts(16)) return undefined;
  const dataIds = constants.map((constant) => (constant === undefined ? undefined : appendedByte(constant)));
  return dataIds.length === 0 ? { names: '2 or 22' } : { names: '2 or 22', dataIds };
}

/** Returns the Data ID of which the low byte enters the CRC for even counter values, and the high byte for odd ones. */
function alternating(constants: readonly (number | undefined)[], covered: number): number | undefined {
  const [even, odd] = [0, 1].map((parity) => constants.filter((one, i) => one !== undefined && i % 2 === parity));
  const same = (list: readonly unknown[]): boolean => new Set(list).size === 1;
  if (even === undefined || odd === undefined || !same(even) || !same(odd)) return undefined;
  const zeros = new Uint8Array(covered);
  // Profile 1 starts at 0 and does not invert (PRS_E2E_00083).
  const own = crc8J1850(zeros);
  const byteOf = (constant: number): number =>
    bytes.find((id) => (crc8J1850([id, ...zeros], 0, 0) ^ own) === constant)!;
  return byteOf(even[0]!) | (byteOf(odd[0]!) << 8);
}

/** Returns the byte that results in this constant if it follows the payload. */
function appendedByte(constant: number): number {
  return bytes.find((id) => crc8H2f([id], 0, 0) === constant)!;
}

const bytes: readonly number[] = Array.from({ length: 256 }, (_, byte) => byte);

function counterValue(frame: Uint8Array, { field: { start, length } }: FoundCounter): number {
  return (frame[start >>> 3]! >>> (start & 7)) & (2 ** length - 1);
}
