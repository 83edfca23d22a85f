import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { hexByte } from '../../protocol/hex.ts';
import { hexOf } from './hex.ts';

/** Diagnostic trouble codes: their structure (ISO 15031-6, SAE J2012) and the answers that contain them. */

export type TroubleCodeSystem = 'powertrain' | 'chassis' | 'body' | 'network';

export interface TroubleCode {
  /** Five characters, e.g. `P0301`; for UDS followed by the failure type: `P0301-1C`. */
  readonly code: string;
  readonly system: TroubleCodeSystem;
  /** Origin of its meaning: the standard or the manufacturer; `reserved`: not defined yet. */
  readonly definedBy: 'standard' | 'manufacturer' | 'reserved';
  /** Name of the group in the standard, for powertrain codes. */
  readonly group?: string;
}

const LETTERS = ['P', 'C', 'B', 'U'] as const;
const SYSTEMS = ['powertrain', 'chassis', 'body', 'network'] as const;

/** Groups of powertrain codes by the third character (ISO 15031-6 §6). */
const POWERTRAIN_GROUPS: readonly string[] = [
  'fuel and air metering and auxiliary emission controls',
  'fuel and air metering',
  'fuel and air metering (injector circuit)',
  'ignition system or misfire',
  'auxiliary emission controls',
  'vehicle speed, idle control and auxiliary inputs',
  'computer and auxiliary outputs',
  'transmission',
  'transmission',
  'transmission',
  'hybrid propulsion',
];

/**
 * Decodes a code of two bytes: two bits for the letter, two for the first digit, three hexadecimal digits.
 *
 *     high  S S D D  h h h h    low  h h h h  h h h h
 */
export function troubleCode(high: number, low: number): TroubleCode {
  const system = (high >> 6) & 3;
  const digit = (high >> 4) & 3;
  const third = high & 15;
  const group = system === 0 ? POWERTRAIN_GROUPS[third] : undefined;
  return {
    code: `${LETTERS[system] as string}${digit}${third.toString(16).toUpperCase()}${hexByte(low)}`,
    system: SYSTEMS[system] as TroubleCodeSystem,
    definedBy: definedBy(system, digit, third),
    ...defined({ group }),
  };
}

/**
 * Returns who defines a code (ISO 15031-6 Table 1): the standard x0, P2 and P34 to P3F; the manufacturer x1 and other
 * x2.
 */
function definedBy(system: number, digit: number, third: number): TroubleCode['definedBy'] {
  if (digit === 0) return 'standard';
  if (digit === 1) return 'manufacturer';
  if (system === 0) return digit === 2 || third >= 4 ? 'standard' : 'manufacturer';
  return digit === 2 ? 'manufacturer' : 'reserved';
}

/** Kind of storage by first byte of the answer to the three services of SAE J1979. */
const STORES = new Map([
  [0x43, 'confirmed'],
  [0x47, 'pending'],
  [0x4a, 'permanent'],
] as const);

interface TroubleCodes {
  readonly store: 'confirmed' | 'pending' | 'permanent';
  readonly codes: readonly TroubleCode[];
}

/**
 * Parses an answer to service 03, 07 or 0A; `data` begins with 43, 47 or 4A (SAE J1979 §6.3, §6.7, §6.10).
 * On CAN a count comes first; J1850, ISO 9141-2 and ISO 14230-4 send three codes per message, padded with 0000.
 * @throws VigieError `input.malformed` for another answer, or for one with fewer codes than its count.
 */
export function readTroubleCodes(data: Uint8Array): TroubleCodes {
  const store = STORES.get((data[0] ?? 0) as 0x43);
  if (store === undefined) throw foreign(data, 'service 03, 07 or 0A');
  // Codes are pairs of bytes: an odd number means that the count precedes them.
  const counted = data.length % 2 === 0;
  const begin = counted ? 2 : 1;
  const available = (data.length - begin) / 2;
  const count = counted ? (data[1] ?? 0) : available;
  if (count > available) {
    throw new VigieError('input.malformed', `the answer counts ${count} trouble codes and holds ${available}`);
  }
  const codes: TroubleCode[] = [];
  for (let i = 0; i < count; i++) {
    const high = data[begin + 2 * i] ?? 0;
    const low = data[begin + 2 * i + 1] ?? 0;
    if (high !== 0 || low !== 0) codes.push(troubleCode(high, low));
  }
  return { store, codes };
}

/** Bits of statusOfDTC, least significant first (ISO 14229-1:2020 Annex D.2). */
const STATUS_BITS = [
  'testFailed',
  'testFailedThisOperationCycle',
  'pendingDTC',
  'confirmedDTC',
  'testNotCompletedSinceLastClear',
  'testFailedSinceLastClear',
  'testNotCompletedThisOperationCycle',
  'warningIndicatorRequested',
] as const;
export type TroubleCodeStatus = (typeof STATUS_BITS)[number];

export interface UdsTroubleCode extends TroubleCode {
  /** Failure type byte (ISO 15031-6 Annex; SAE J2012DA), 0..255. */
  readonly failureType: number;
  readonly status: readonly TroubleCodeStatus[];
}

export interface UdsTroubleCodes {
  /** Status bits that this ECU supports. */
  readonly available: readonly TroubleCodeStatus[];
  readonly codes: readonly UdsTroubleCode[];
}

/**
 * Parses an answer to ReadDTCInformation, reportDTCByStatusMask; `data` begins with 59 02: a mask of the supported
 * status bits, then four bytes per code (ISO 14229-1:2020 §12.3.3, Table 327).
 * @throws VigieError `input.malformed` for another answer or an incomplete record.
 */
export function readUdsTroubleCodes(data: Uint8Array): UdsTroubleCodes {
  const available = data[2];
  if (data[0] !== 0x59 || data[1] !== 0x02 || available === undefined) throw foreign(data, 'service 19 02');
  const records = data.subarray(3);
  if (records.length % 4 !== 0) {
    throw new VigieError('input.malformed', `the trouble codes end in a record of ${records.length % 4} of 4 bytes`);
  }
  const codes: UdsTroubleCode[] = [];
  for (let i = 0; i < records.length; i += 4) {
    const [high = 0, low = 0, failureType = 0, status = 0] = records.subarray(i, i + 4);
    const base = troubleCode(high, low);
    codes.push({ ...base, code: `${base.code}-${hexByte(failureType)}`, failureType, status: statusNames(status) });
  }
  return { available: statusNames(available), codes };
}

/** Returns the three bytes of a code in requests. */
export function udsTroubleCodeBytes({ code, failureType }: UdsTroubleCode): readonly number[] {
  const high = (LETTERS.indexOf(code.charAt(0) as 'P') << 6) | Number.parseInt(code.slice(1, 3), 16);
  return [high, Number.parseInt(code.slice(3, 5), 16), failureType];
}

function statusNames(bits: number): TroubleCodeStatus[] {
  return STATUS_BITS.filter((_, bit) => (bits & (1 << bit)) !== 0);
}

function foreign(data: Uint8Array, service: string): VigieError {
  return new VigieError('input.malformed', `${hexOf(data.subarray(0, 3)) || 'nothing'} is not an answer to ${service}`);
}
