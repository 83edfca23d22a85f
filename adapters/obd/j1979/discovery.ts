import { VigieError } from '../../../protocol/errors.ts';
import { FUNCTIONAL, FUNCTIONAL_29, usualRequest } from '../isotp/index.ts';
import { NEGATIVE } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequester } from '../requester.ts';
import { supportedParameters } from '../vehicle-information.ts';

/** A control unit that answers the services of SAE J1979. */
export interface ObdUnit {
  /** CAN identifier of its answers. */
  readonly id: number;
  /** Physical address of the unit. */
  readonly address: DiagnosticAddress;
  /** Supported parameters of the service, without those that request lists. */
  readonly parameters: ReadonlySet<number>;
}

/** Parameters that request lists are multiples of this (SAE J1979 §6.1.2.1). */
const LIST = 0x20;

/**
 * Requests the supported parameters of a service from every control unit: 00, and 20, 40 … while a unit has more.
 * Uses 11-bit identifiers first, and 29 bits if no unit answers (ISO 15765-4 §5.2.2).
 * @param failed receives the reason why a later list cannot be read; if omitted, that error is thrown
 * @returns units in the order of their identifiers; empty if no unit answers
 * @throws VigieError as the requester does
 */
export async function discoverUnits(
  requester: DiagnosticRequester,
  service = 0x01,
  failed?: (list: number, error: unknown) => void,
): Promise<ObdUnit[]> {
  for (const extended of [false, true]) {
    const units = await unitsOf(requester, service, functionalAddress(extended), failed);
    if (units.length > 0) return units;
  }
  return [];
}

/** Returns the address of all control units on 11 or 29 bits. */
export function functionalAddress(extended: boolean): DiagnosticAddress {
  return { request: extended ? FUNCTIONAL_29 : FUNCTIONAL, extended };
}

/** Returns the physical address of the unit that answers with this identifier. */
export function unitAddress(id: number, extended: boolean): DiagnosticAddress {
  return { request: usualRequest(id, extended), extended, response: id };
}

/** Facts about a control unit during discovery. */
interface Draft {
  readonly parameters: Set<number>;
  /** Lists that it has returned or refused. */
  readonly lists: Set<number>;
}

async function unitsOf(
  requester: DiagnosticRequester,
  service: number,
  address: DiagnosticAddress,
  failed: ((list: number, error: unknown) => void) | undefined,
): Promise<ObdUnit[]> {
  const found = new Map<number, Draft>();
  const ask = async (list: number): Promise<void> => {
    try {
      const answers = await requester.request({ address, payload: listRequest(service, list) });
      for (const answer of answers) note(found, answer, list);
    } catch (error) {
      if (failed === undefined || found.size === 0) throw error;
      failed(list, error);
      for (const { lists } of found.values()) lists.add(list);
    }
  };
  for (let list = 0; list <= 0xe0; list += LIST) {
    await ask(list);
    for (let owed = 0; owed <= list; owed += LIST) {
      if (owing(found, owed).length === 0) continue;
      // A late answer is lost. That does not mean that the control unit has none of these parameters.
      await ask(owed);
      for (const unit of owing(found, owed)) assumeAll(unit, owed);
    }
    if (![...found.values()].some(({ parameters }) => parameters.has(list + LIST))) break;
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([id, { parameters }]) => ({
      id,
      address: unitAddress(id, address.extended),
      parameters: new Set([...parameters].sort((a, b) => a - b).filter((parameter) => parameter % LIST !== 0)),
    }));
}

/** Returns the control units that support this list but have not returned it. */
function owing(found: ReadonlyMap<number, Draft>, list: number): Draft[] {
  return [...found.values()].filter(
    ({ parameters, lists }) => !lists.has(list) && (list === 0 || parameters.has(list)),
  );
}

/** Assumes all parameters of a list; a request for each shows later whether the unit supports it. */
function assumeAll({ parameters, lists }: Draft, list: number): void {
  lists.add(list);
  for (let parameter = list + 1; parameter < list + LIST; parameter++) parameters.add(parameter);
}

/** Builds a list request. Service 02 requires the number of a freeze frame; the first is 00 (SAE J1979 §6.2.2). */
function listRequest(service: number, list: number): Uint8Array {
  return service === 0x02 ? Uint8Array.of(service, list, 0) : Uint8Array.of(service, list);
}

function note(found: Map<number, Draft>, { id, payload }: DiagnosticAnswer, list: number): void {
  if (payload[0] === NEGATIVE) {
    found.get(id)?.lists.add(list);
    return;
  }
  const unit = found.get(id) ?? { parameters: new Set(), lists: new Set() };
  found.set(id, unit);
  try {
    for (const parameter of supportedParameters(listOnly(payload))) unit.parameters.add(parameter);
    unit.lists.add(payload[1] as number);
  } catch (error) {
    // A unit whose list cannot be read still exists.
    if (!(error instanceof VigieError)) throw error;
    assumeAll(unit, list);
  }
}

/** Removes the frame number, which service 02 echoes after the parameter. */
function listOnly(payload: Uint8Array): Uint8Array {
  if (payload[0] !== 0x42 || payload.length !== 7) return payload;
  return Uint8Array.of(0x42, payload[1] as number, ...payload.subarray(3));
}
