import { VigieError } from '../../../protocol/errors.ts';
import { hexOf } from '../hex.ts';
import { NEGATIVE, refusal } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequester } from '../requester.ts';
import { readTroubleCodes, readUdsTroubleCodes, type TroubleCode, type UdsTroubleCodes } from '../trouble-codes.ts';
import {
  calibrationIdentifications,
  calibrationVerificationNumbers,
  ecuName,
  vehicleIdentificationNumber,
} from '../vehicle-information.ts';
import { functionalAddress } from './discovery.ts';

/** Malfunction indicator lamp and number of codes of one control unit. */
interface OnBoardMonitorStatus {
  /** CAN identifier of the answer. */
  readonly unit: number;
  readonly lamp: boolean;
  /** Number of confirmed emission-related codes, 0..127. */
  readonly codes: number;
}

/** Information of one control unit about itself; unsupported fields are omitted. */
interface UnitInformation {
  readonly unit: number;
  readonly vin?: string;
  readonly name?: string;
  readonly calibrations?: readonly string[];
  readonly verificationNumbers?: readonly string[];
}

/** Codes of one control unit by kind of storage. */
interface UnitTroubleCodes {
  readonly unit: number;
  readonly confirmed: readonly TroubleCode[];
  readonly pending: readonly TroubleCode[];
  readonly permanent: readonly TroubleCode[];
}

/** Reads service 01, parameter 01, of every control unit (SAE J1979 §6.1). @throws VigieError as the requester does */
export async function readMonitorStatus(
  requester: DiagnosticRequester,
  extended = false,
): Promise<OnBoardMonitorStatus[]> {
  const answers = await positive(requester, functionalAddress(extended), [0x01, 0x01]);
  return answers
    .filter(({ payload }) => payload.length >= 6)
    .map(({ id, payload }) => {
      const status = payload[2] as number;
      return { unit: id, lamp: (status & 0x80) !== 0, codes: status & 0x7f };
    });
}

/**
 * Reads VIN, name, calibration identifications and verification numbers of every control unit (service 09). Omits
 * items that are not valid.
 * @throws VigieError as the requester does
 */
export async function readVehicleInformation(
  requester: DiagnosticRequester,
  extended = false,
): Promise<UnitInformation[]> {
  const units = new Map<number, Record<string, unknown>>();
  const items = [
    [0x02, 'vin', vehicleIdentificationNumber],
    [0x0a, 'name', ecuName],
    [0x04, 'calibrations', calibrationIdentifications],
    [0x06, 'verificationNumbers', calibrationVerificationNumbers],
  ] as const;
  for (const [infoType, member, read] of items) {
    for (const [id, payloads] of byUnit(await positive(requester, functionalAddress(extended), [0x09, infoType]))) {
      const known = units.get(id) ?? {};
      units.set(id, known);
      const value = sensible(() => read(payloads));
      if (value !== undefined) known[member] = value;
    }
  }
  return [...units].sort(([a], [b]) => a - b).map(([unit, known]) => ({ unit, ...known }));
}

/**
 * Reads confirmed, pending and permanent codes of every control unit (services 03, 07 and 0A). A unit without a service
 * has no codes of that kind.
 * @throws VigieError as the requester does, and `input.malformed` if an answer counts more codes than it contains
 */
export async function readStoredCodes(requester: DiagnosticRequester, extended = false): Promise<UnitTroubleCodes[]> {
  const units = new Map<number, { confirmed: TroubleCode[]; pending: TroubleCode[]; permanent: TroubleCode[] }>();
  for (const service of [0x03, 0x07, 0x0a]) {
    for (const { id, payload } of await positive(requester, functionalAddress(extended), [service])) {
      const known = units.get(id) ?? { confirmed: [], pending: [], permanent: [] };
      units.set(id, known);
      const { store, codes } = readTroubleCodes(payload);
      known[store].push(...codes);
    }
  }
  return [...units].sort(([a], [b]) => a - b).map(([unit, codes]) => ({ unit, ...codes }));
}

/**
 * Reads the data of an identifier of one control unit, without the echoed identifier (ISO 14229-1 §11.2, service 22).
 * @param identifier 0..0xFFFF
 * @throws VigieError as the requester does; `input.malformed` if the unit refuses; `input.unreadable` if it is silent
 */
export async function readDataByIdentifier(
  requester: DiagnosticRequester,
  address: DiagnosticAddress,
  identifier: number,
): Promise<Uint8Array> {
  const [answer] = await one(requester, address, [0x22, identifier >> 8, identifier & 0xff]);
  return answer.payload.subarray(3);
}

/**
 * Reads the codes of one control unit whose status has one of the bits of `mask` (ISO 14229-1 §12.3, service 19,
 * reportDTCByStatusMask).
 * @param mask 0..0xFF; 0x08: confirmed
 * @throws VigieError as {@link readDataByIdentifier}
 */
export async function readCodesByStatus(
  requester: DiagnosticRequester,
  address: DiagnosticAddress,
  mask = 0x08,
): Promise<UdsTroubleCodes> {
  const [answer] = await one(requester, address, [0x19, 0x02, mask]);
  return readUdsTroubleCodes(answer.payload);
}

/** Returns the single answer of one control unit. */
async function one(
  requester: DiagnosticRequester,
  address: DiagnosticAddress,
  bytes: readonly number[],
): Promise<[DiagnosticAnswer]> {
  const payload = Uint8Array.from(bytes);
  const [answer] = await requester.request({ address, payload });
  if (answer === undefined) throw new VigieError('input.unreadable', `no control unit answered ${hexOf(payload)}`);
  const [first, service = 0, code] = answer.payload;
  if (first === NEGATIVE) throw new VigieError('input.malformed', refusal(service, code ?? 0));
  return [answer];
}

async function positive(
  requester: DiagnosticRequester,
  address: DiagnosticAddress,
  bytes: readonly number[],
): Promise<DiagnosticAnswer[]> {
  const answers = await requester.request({ address, payload: Uint8Array.from(bytes) });
  return answers.filter(({ payload }) => payload[0] === (bytes[0] as number) + 0x40);
}

function byUnit(answers: readonly DiagnosticAnswer[]): Map<number, Uint8Array[]> {
  const units = new Map<number, Uint8Array[]>();
  for (const { id, payload } of answers) units.set(id, [...(units.get(id) ?? []), payload]);
  return units;
}

function sensible<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof VigieError) return undefined;
    throw error;
  }
}
