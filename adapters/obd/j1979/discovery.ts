import { VigieError } from '../../../protocol/errors.ts';
import { FUNCTIONAL, FUNCTIONAL_29, usualRequest } from '../isotp/index.ts';
import { NEGATIVE } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequester } from '../requester.ts';
import { supportedParameters } from '../vehicle-information.ts';

/** A control unit that answers the services of SAE J1979. */
export interface ObdUnit {
  /** CAN identifier of its answers. */
  readonly id: number;
  /** How it alone is asked. */
  readonly address: DiagnosticAddress;
  /** Parameters of the service that it has, without those that ask for this list. */
  readonly parameters: ReadonlySet<number>;
}

/** Parameters by which lists are asked for are multiples of this (SAE J1979 §6.1.2.1). */
const LIST = 0x20;

/**
 * Asks every control unit which parameters of a service it has: 00, and 20, 40 … as long as one has more. With 11-bit
 * identifiers first, with 29 bits when no unit answers (ISO 15765-4 §5.2.2).
 * @param failed receives why a later list cannot be read; if omitted, that is thrown as well
 * @returns units in the order of their identifiers; empty when no unit answers
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

/** All control units on 11 or 29 bits. */
export function functionalAddress(extended: boolean): DiagnosticAddress {
  return { request: extended ? FUNCTIONAL_29 : FUNCTIONAL, extended };
}

/** The physical address of the unit that answers with this identifier. */
export function unitAddress(id: number, extended: boolean): DiagnosticAddress {
  return { request: usualRequest(id, extended), extended, response: id };
}

/** Facts of a control unit while it is asked. */
interface Draft {
  readonly parameters: Set<number>;
  /** Lists that it has given or refused. */
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
      // An answer that comes late is lost. That a control unit has none of its parameters does not follow.
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

/** Control units that have this list and have not given it. */
function owing(found: ReadonlyMap<number, Draft>, list: number): Draft[] {
  return [...found.values()].filter(
    ({ parameters, lists }) => !lists.has(list) && (list === 0 || parameters.has(list)),
  );
}

/** Each parameter is found out by asking for it. */
function assumeAll({ parameters, lists }: Draft, list: number): void {
  lists.add(list);
  for (let parameter = list + 1; parameter < list + LIST; parameter++) parameters.add(parameter);
}

/** Service 02 asks of a freeze frame, the first of which is 00 (SAE J1979 §6.2.2). */
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
    // A unit with a list that cannot be read is there.
    if (!(error instanceof VigieError)) throw error;
    assumeAll(unit, list);
  }
}

/** Service 02 repeats the number of the freeze frame behind the parameter. */
function listOnly(payload: Uint8Array): Uint8Array {
  if (payload[0] !== 0x42 || payload.length !== 7) return payload;
  return Uint8Array.of(0x42, payload[1] as number, ...payload.subarray(3));
}
