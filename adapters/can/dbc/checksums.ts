/**
 * Counters and checksums that protect command frames, so that a receiver notices lost, repeated and damaged ones. The
 * counter is written first, and then the checksum over all other bits.
 */
import { VigieError } from '../../../protocol/errors.ts';
import { crc8H2f, crc8J1850 } from './crc8.ts';
import type { BitField } from './database.ts';
import { bitsOf, bytesNeeded, readBits, writeBits } from './layout.ts';

/** A sum, exclusive or, or CRC-8 SAE J1850 over all bytes. The bit field is the position of the checksum. */
export interface PlainProtection extends BitField {
  /** `sum` and `xor` count the checksum bits as 0. The CRC skips its own byte. */
  readonly method: 'sum' | 'xor' | 'crc8-j1850';
  /** Counter that uses all values of its bits. */
  readonly counter?: BitField;
}

/** AUTOSAR E2E profile 1 (PRS_E2EProtocol §6.1) with both bytes of the Data ID in the CRC (E2E_P01DataIDMode). */
export interface Profile1 {
  readonly method: 'e2e-profile-1';
  readonly dataId: number;
  /** Bit offset of the CRC, a multiple of 8, and of the counter, a multiple of 4. Variant 1A uses 0 and 8. */
  readonly crcOffset: number;
  readonly counterOffset: number;
}

/** AUTOSAR E2E profile 2 (PRS_E2EProtocol §6.2): CRC in byte 0, counter in the low nibble of byte 1. */
export interface Profile2 {
  readonly method: 'e2e-profile-2';
  /** 16 bytes, one for each counter value. */
  readonly dataIds: readonly number[];
}

export type Protection = PlainProtection | Profile1 | Profile2;

/** Returns the number of values of the counter before it restarts at 0; 1 without a counter. */
function counterModulus(protection: Protection): number {
  if (protection.method === 'e2e-profile-1') return 15;
  if (protection.method === 'e2e-profile-2') return 16;
  return protection.counter === undefined ? 1 : 2 ** protection.counter.length;
}

/**
 * Writes counter and checksum into a payload.
 * @param counter value to send, taken modulo {@link counterModulus}.
 * @throws VigieError `configuration.wrong` if the protection does not fit the payload.
 */
export function protect(data: Uint8Array, protection: Protection, counter = 0): void {
  check(data, protection);
  if (!Number.isSafeInteger(counter) || counter < 0) {
    throw new VigieError('input.malformed', `counter ${counter} is not a whole number from 0 up`);
  }
  const value = counter % counterModulus(protection);
  const place = counterField(protection);
  if (place !== undefined) writeBits(data, place, BigInt(value));
  writeBits(data, checksumField(protection), BigInt(checksum(data, protection)));
}

/** A four-bit field. AUTOSAR counts its offset upwards from the least significant bit (Intel layout). */
const nibbleAt = (start: number): BitField => ({ start, length: 4, byteOrder: 'little' });

function counterField(protection: Protection): BitField | undefined {
  if (protection.method === 'e2e-profile-1') return nibbleAt(protection.counterOffset);
  if (protection.method === 'e2e-profile-2') return nibbleAt(8);
  return protection.counter;
}

function checksumField(protection: Protection): BitField {
  if (protection.method === 'e2e-profile-1') return { start: protection.crcOffset, length: 8, byteOrder: 'little' };
  if (protection.method === 'e2e-profile-2') return { start: 0, length: 8, byteOrder: 'little' };
  return protection;
}

function checksum(data: Uint8Array, protection: Protection): number {
  if (protection.method === 'sum' || protection.method === 'xor') return sum(data, protection);
  const own = byteOf(checksumField(protection));
  const bytes = [...data].filter((_, i) => i !== own);
  if (protection.method === 'e2e-profile-1') {
    const { dataId } = protection;
    // PRS_E2E_00163: the low byte comes first. PRS_E2E_00083: the CRC starts at 0 and is not inverted, unlike the plain
    // one.
    return crc8J1850([dataId & 0xff, dataId >>> 8, ...bytes], 0, 0);
  }
  if (protection.method === 'e2e-profile-2') {
    return crc8H2f([...bytes, protection.dataIds[Number(readBits(data, nibbleAt(8)))]!]);
  }
  return crc8J1850(bytes);
}

function sum(data: Uint8Array, protection: PlainProtection): number {
  const bytes = data.slice();
  writeBits(bytes, protection, 0n);
  const modulus = 2 ** protection.length;
  if (protection.method === 'xor') return bytes.reduce((all, one) => all ^ one, 0) & (modulus - 1);
  return bytes.reduce((all, one) => all + one, 0) % modulus;
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
    const { dataId } = protection;
    if (!Number.isInteger(dataId) || dataId < 0 || dataId > 0xffff) throw wrong(`data id ${dataId} is not 0 to 65535`);
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
    if (!whole) throw wrong(`the ${what} at bit ${start} with ${length} bits is not a place of 1 to 32 bits`);
    if (bytesNeeded(field) > data.length) throw wrong(`the ${what} lies past the ${data.length} bytes of the frame`);
  }
  if (protection.method !== 'sum' && protection.method !== 'xor') {
    const field = checksumField(protection);
    const bits = bitsOf(field);
    const aligned = field.length === 8 && bits[0]! % 8 === 0;
    if (!aligned) throw wrong('the checksum must be one whole byte');
  }
}
