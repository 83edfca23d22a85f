/** Reads the vehicle identification number from the control units of a car. */
import { VigieError } from '../../../protocol/errors.ts';
import type { DiagnosticAnswer, DiagnosticRequester } from '../requester.ts';
import { vehicleIdentificationNumber, vinOfDataIdentifier } from '../vehicle-information.ts';
import { functionalAddress } from './discovery.ts';

const SERVICE_09 = Uint8Array.of(0x09, 0x02);
const DATA_IDENTIFIER = Uint8Array.of(0x22, 0xf1, 0x90);

/**
 * Reads the vehicle identification number with service 09 of SAE J1979, else with the data identifier F190 of ISO
 * 14229-1. If several control units answer, uses the answer with the lowest identifier, the engine's. Undefined if none
 * returns a VIN.
 * @throws VigieError as the requester does
 */
export async function readVin(requester: DiagnosticRequester, extended = false): Promise<string | undefined> {
  const address = functionalAddress(extended);
  for (const [payload, read] of [
    [SERVICE_09, (answers: readonly Uint8Array[]) => vehicleIdentificationNumber(answers)],
    [DATA_IDENTIFIER, ([answer]: readonly Uint8Array[]) => vinOfDataIdentifier(answer as Uint8Array)],
  ] as const) {
    const vin = firstOf(await requester.request({ address, payload }), payload, read);
    if (vin !== undefined) return vin;
  }
  return undefined;
}

function firstOf(
  answers: readonly DiagnosticAnswer[],
  request: Uint8Array,
  read: (answers: readonly Uint8Array[]) => string,
): string | undefined {
  const positive = answers.filter(({ payload }) => payload[0] === (request[0] as number) + 0x40);
  for (const unit of [...new Set(positive.map(({ id }) => id))].sort((a, b) => a - b)) {
    try {
      return read(positive.filter(({ id }) => id === unit).map(({ payload }) => payload));
    } catch (error) {
      // A control unit that was never programmed with the number returns spaces.
      if (!(error instanceof VigieError)) throw error;
    }
  }
  return undefined;
}
