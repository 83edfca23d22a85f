/**
 * Counters and checksums that protect command frames, so that a receiver notices lost, repeated and damaged ones.
 * The counter is put in first, then the checksum over everything else.
 */
import { VigieError } from '../../../protocol/errors.ts';
import { crc8H2f, crc8J1850 } from './crc8.ts';
import type { BitField } from './database.ts';
import { bitsOf, bytesNeeded, readBits, writeBits } from './layout.ts';

/** A counter that makers place where they like; it runs through all values of its bits. */
export interface Counted {
  readonly counter?: BitField;
}

/** Adds or exclusive-ors bytes or nibbles, with the bits of the checksum itself as 0. */
export interface SumProtection extends BitField, Counted {
  readonly method: 'sum' | 'xor';
  /** What is added up; default bytes. */
  readonly unit?: 'byte' | 'nibble';
  /** Start value, e.g. what the identifier adds; default 0. */
  readonly initial?: number;
  /** The checksum makes the sum come to `initial`: it is `initial` minus the sum. For `sum` only. */
  readonly negate?: boolean;
  /** Bytes that count: from `first` up to, but without, `end`; default all. */
  readonly first?: number;
  readonly end?: number;
}

/** CRC-8 SAE J1850 over the bytes but that of the checksum, which is 8 bits wide on a byte boundary. */
export interface CrcProtection extends BitField, Counted {
  readonly method: 'crc8-j1850';
  readonly first?: number;
  readonly end?: number;
  /** Bytes that are run through the CRC before the payload, e.g. the identifier; default none. */
  readonly prefix?: readonly number[];
}

/** How a Data ID of 16 bits enters the CRC (AUTOSAR E2E protocol, E2E_P01DataIDMode). */
export type DataIdMode = 'both' | 'alternating' | 'low' | 'nibble';

/** AUTOSAR E2E profile 1 (PRS_E2EProtocol §6.1). By default variant 1A: CRC in byte 0, counter in the low nibble of byte 1. */
export interface Profile1 {
  readonly method: 'e2e-profile-1';
  readonly dataId: number;
  /** Default `both`; `nibble` puts the upper four of 12 bits in the high nibble of byte 1 (variant 1C). */
  readonly mode?: DataIdMode;
  /** Bit offsets, multiples of 8 and 4; default 0, 8 and, for `nibble`, 12. */
  readonly crcOffset?: number;
  readonly counterOffset?: number;
  readonly nibbleOffset?: number;
}

/** AUTOSAR E2E profile 2 (PRS_E2EProtocol §6.2): CRC in byte 0, counter in the low nibble of byte 1. */
export interface Profile2 {
  readonly method: 'e2e-profile-2';
  /** 16 bytes, one for each counter value. */
  readonly dataIds: readonly number[];
}

export type Protection = SumProtection | CrcProtection | Profile1 | Profile2;

/** How many values the counter has before it starts again at 0; 1 when there is no counter. */
export function counterModulus(protection: Protection): number {
  if (protection.method === 'e2e-profile-1') return 15;
  if (protection.method === 'e2e-profile-2') return 16;
  return protection.counter === undefined ? 1 : 2 ** protection.counter.length;
}

/**
 * Writes counter and checksum into a payload.
 * @param counter value to send, taken modulo {@link counterModulus}.
 * @throws VigieError `configuration.wrong` when the protection does not fit the payload.
 */
export function protect(data: Uint8Array, protection: Protection, counter = 0): void {
  check(data, protection);
  if (!Number.isSafeInteger(counter) || counter < 0) {
    throw new VigieError('input.malformed', `counter ${counter} is not a whole number from 0 up`);
  }
  const value = counter % counterModulus(protection);
  const place = counterField(protection);
  if (place !== undefined) writeBits(data, place, BigInt(value));
  if (protection.method === 'e2e-profile-1' && protection.mode === 'nibble') {
    writeBits(data, nibbleField(protection), BigInt(protection.dataId >>> 8));
  }
  writeBits(data, checksumField(protection), BigInt(checksum(data, protection)));
}

/**
 * The counter of a payload whose checksum is right (0 when it has no counter), or undefined when it is not.
 * @throws VigieError `configuration.wrong` when the protection does not fit the payload.
 */
export function verify(data: Uint8Array, protection: Protection): number | undefined {
  check(data, protection);
  if (Number(readBits(data, checksumField(protection))) !== checksum(data, protection)) return undefined;
  if (protection.method === 'e2e-profile-1' && protection.mode === 'nibble') {
    if (Number(readBits(data, nibbleField(protection))) !== protection.dataId >>> 8) return undefined;
  }
  const place = counterField(protection);
  const counter = place === undefined ? 0 : Number(readBits(data, place));
  return counter < counterModulus(protection) ? counter : undefined;
}

/** Four bits at a bit offset as AUTOSAR counts it for Intel layouts: upwards from the least significant. */
const nibbleAt = (start: number): BitField => ({ start, length: 4, byteOrder: 'little' });

function counterField(protection: Protection): BitField | undefined {
  if (protection.method === 'e2e-profile-1') return nibbleAt(protection.counterOffset ?? 8);
  if (protection.method === 'e2e-profile-2') return nibbleAt(8);
  return protection.counter;
}

function nibbleField(protection: Profile1): BitField {
  return nibbleAt(protection.nibbleOffset ?? 12);
}

function checksumField(protection: Protection): BitField {
  if (protection.method === 'e2e-profile-1')
    return { start: protection.crcOffset ?? 0, length: 8, byteOrder: 'little' };
  if (protection.method === 'e2e-profile-2') return { start: 0, length: 8, byteOrder: 'little' };
  return protection;
}

function isSum(protection: Protection): protection is SumProtection {
  return protection.method === 'sum' || protection.method === 'xor';
}

function checksum(data: Uint8Array, protection: Protection): number {
  if (isSum(protection)) return sum(data, protection);
  const counter = counterField(protection);
  const counted = counter === undefined ? 0 : Number(readBits(data, counter));
  const own = byteOf(checksumField(protection));
  if (protection.method === 'crc8-j1850') {
    const covered = [...data.keys()].slice(protection.first ?? 0, protection.end ?? data.length);
    const bytes = covered.filter((i) => i !== own).map((i) => data[i]!);
    return crc8J1850([...(protection.prefix ?? []), ...bytes]);
  }
  const bytes = [...data].filter((_, i) => i !== own);
  // Profile 1 starts at 0 and does not invert, unlike the CRC by itself (PRS_E2E_00083).
  if (protection.method === 'e2e-profile-1') return crc8J1850([...idBytes(protection, counted), ...bytes], 0, 0);
  return crc8H2f([...bytes, protection.dataIds[counted]!]);
}

/** PRS_E2E_00163: the low byte comes first. */
function idBytes({ dataId, mode = 'both' }: Profile1, counter: number): number[] {
  const low = dataId & 0xff;
  const high = dataId >>> 8;
  if (mode === 'both') return [low, high];
  if (mode === 'alternating') return [counter % 2 === 0 ? low : high];
  return mode === 'low' ? [low] : [low, 0];
}

function sum(data: Uint8Array, protection: SumProtection): number {
  const { method, unit = 'byte', initial = 0, negate = false, first = 0, end = data.length } = protection;
  const blank = data.slice();
  writeBits(blank, protection, 0n);
  const bytes = [...blank.subarray(first, end)];
  const units = unit === 'byte' ? bytes : bytes.flatMap((byte) => [byte >>> 4, byte & 15]);
  const modulus = 2 ** protection.length;
  // As unsigned: of 32 bits the highest would be a sign.
  if (method === 'xor') return (units.reduce((all, one) => all ^ one, initial) & (modulus - 1)) >>> 0;
  const total = units.reduce((all, one) => all + one, 0);
  const result = (negate ? initial - total : initial + total) % modulus;
  return result < 0 ? result + modulus : result;
}

function byteOf(field: BitField): number {
  return bitsOf(field)[0]! >>> 3;
}

function check(data: Uint8Array, protection: Protection): void {
  const wrong = (what: string): VigieError =>
    new VigieError('configuration.wrong', `protection ${protection.method}: ${what}`);
  const fields: [string, BitField | undefined][] = [
    ['checksum', checksumField(protection)],
    ['counter', counterField(protection)],
  ];
  if (protection.method === 'e2e-profile-1') {
    const { dataId, mode } = protection;
    if (mode === 'nibble') fields.push(['Data ID nibble', nibbleField(protection)]);
    const most = mode === 'nibble' ? 0xfff : 0xffff;
    if (!Number.isInteger(dataId) || dataId < 0 || dataId > most) throw wrong(`data id ${dataId} is not 0 to ${most}`);
  }
  if (protection.method === 'e2e-profile-2') {
    const { dataIds } = protection;
    if (dataIds.length !== 16) throw wrong(`it needs 16 data ids, one for each counter, not ${dataIds.length}`);
    const odd = dataIds.find((id) => !Number.isInteger(id) || id < 0 || id > 0xff);
    if (odd !== undefined) throw wrong(`data id ${odd} is not 0 to 255`);
  }
  for (const [what, field] of fields) {
    if (field === undefined) continue;
    const { start, length } = field;
    const whole = Number.isInteger(start) && start >= 0 && Number.isInteger(length) && length >= 1 && length <= 32;
    if (!whole) throw wrong(`the ${what} at bit ${start} with ${length} bits is no place of 1 to 32 bits`);
    if (bytesNeeded(field) > data.length) throw wrong(`the ${what} lies past the ${data.length} bytes of the frame`);
  }
  if (!isSum(protection)) {
    const field = checksumField(protection);
    const bits = bitsOf(field);
    const aligned = field.length === 8 && bits[0]! % 8 === 0;
    if (!aligned) throw wrong('the checksum must be one whole byte');
  }
}
