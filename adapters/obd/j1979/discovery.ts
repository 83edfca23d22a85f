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
 * identifiers first, with 29 bits when nobody answers (ISO 15765-4 §5.2.2).
 * @returns units in the order of their identifiers; none when nobody answers
 * @throws VigieError as the requester does
 */
export async function discoverUnits(requester: DiagnosticRequester, service = 0x01): Promise<ObdUnit[]> {
  for (const extended of [false, true]) {
    const units = await unitsOf(requester, service, functionalAddress(extended));
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

async function unitsOf(
  requester: DiagnosticRequester,
  service: number,
  address: DiagnosticAddress,
): Promise<ObdUnit[]> {
  const found = new Map<number, Set<number>>();
  for (let list = 0; list <= 0xe0; list += LIST) {
    const answers = await requester.request({ address, payload: listRequest(service, list) });
    for (const answer of answers) note(found, answer);
    if (![...found.values()].some((parameters) => parameters.has(list + LIST))) break;
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([id, parameters]) => ({
      id,
      address: unitAddress(id, address.extended),
      parameters: new Set([...parameters].filter((parameter) => parameter % LIST !== 0)),
    }));
}

/** Service 02 asks of a freeze frame, the first of which is 00 (SAE J1979 §6.2.2). */
function listRequest(service: number, list: number): Uint8Array {
  return service === 0x02 ? Uint8Array.of(service, list, 0) : Uint8Array.of(service, list);
}

function note(found: Map<number, Set<number>>, { id, payload }: DiagnosticAnswer): void {
  if (payload[0] === NEGATIVE) return;
  const parameters = found.get(id) ?? new Set();
  found.set(id, parameters);
  try {
    for (const parameter of supportedParameters(listOnly(payload))) parameters.add(parameter);
  } catch (error) {
    // A unit with a list that cannot be read is there; each of its parameters is then found out by asking.
    if (!(error instanceof VigieError)) throw error;
    for (let parameter = 1; parameter < LIST; parameter++) parameters.add(parameter);
  }
}

/** Service 02 repeats the number of the freeze frame behind the parameter. */
function listOnly(payload: Uint8Array): Uint8Array {
  if (payload[0] !== 0x42 || payload.length !== 7) return payload;
  return Uint8Array.of(0x42, payload[1] as number, ...payload.subarray(3));
}
