import { VigieError } from '../../protocol/errors.ts';
import { hexByte } from '../../protocol/hex.ts';
import { hexOf } from './hex.ts';
import { joined } from './isotp.ts';
import { asciiText } from './signal-format.ts';

/** Parses answers of SAE J1979 service 09, and the bitmaps of the parameters that an ECU supports. */

/** Characters of a vehicle identification number: no I, O and Q (ISO 3779 §4). */
const VIN = /^[A-HJ-NPR-Z0-9]{17}$/;

/**
 * Returns the vehicle identification number in answers to 09 02, each beginning with 49 02: one answer on CAN, five on
 * the older buses (SAE J1979 §6.9).
 * @throws VigieError `input.malformed` if the answers contain no VIN.
 */
export function vehicleIdentificationNumber(answers: readonly Uint8Array[]): string {
  return checkedVin(joined(items(answers, 0x02, 17)));
}

/**
 * Returns the vehicle identification number in an answer to 22 F190, beginning with 62 F1 90 (ISO 14229-1 Annex C.1).
 * @throws VigieError `input.malformed` if the answer contains no VIN.
 */
export function vinOfDataIdentifier(answer: Uint8Array): string {
  return checkedVin(answer.subarray(3));
}

function checkedVin(bytes: Uint8Array): string {
  const text = asciiText(bytes);
  if (!VIN.test(text)) throw new VigieError('input.malformed', `"${text}" is not a vehicle identification number`);
  return text;
}

/** Returns calibration identifications, 16 characters at most, in answers to 09 04 (49 04 …). @throws VigieError */
export function calibrationIdentifications(answers: readonly Uint8Array[]): string[] {
  return items(answers, 0x04, 16).map(asciiText);
}

/**
 * Returns calibration verification numbers, eight hexadecimal digits each, in answers to 09 06 (49 06 …).
 * @throws VigieError
 */
export function calibrationVerificationNumbers(answers: readonly Uint8Array[]): string[] {
  return items(answers, 0x06, 4).map(hexOf);
}

/** Returns the ECU's name, e.g. `ECM-EngineControl`, in answers to 09 0A (49 0A …). @throws VigieError */
export function ecuName(answers: readonly Uint8Array[]): string {
  const [bytes] = items(answers, 0x0a, 20);
  if (bytes === undefined) throw new VigieError('input.malformed', 'the answer holds no ECU name');
  // Abbreviation and name are separated by zeros or by a hyphen (SAE J1979DA, InfoType 0A).
  return asciiText(bytes);
}

/** Bytes of one item in a message of the buses before CAN. */
const OLD_PART = 4;

/**
 * Returns the items of `size` bytes in answers to one InfoType. On CAN one answer contains their number and all items;
 * before CAN each answer contains its number and four bytes, and the first answers have leading zeros as padding.
 */
function items(answers: readonly Uint8Array[], infoType: number, size: number): Uint8Array[] {
  const bodies = answers.map((answer) => {
    if (answer[0] !== 0x49 || answer[1] !== infoType || answer.length < 3) {
      const bytes = hexOf(answer.subarray(0, 3)) || 'nothing';
      throw new VigieError('input.malformed', `${bytes} is not an answer to service 09 ${hexByte(infoType)}`);
    }
    return answer.subarray(2);
  });
  const [first] = bodies;
  if (first === undefined) throw new VigieError('input.malformed', `no answer to service 09 ${hexByte(infoType)}`);
  if (bodies.length > 1 || first.length === 1 + OLD_PART) return numberedItems(bodies, size);
  const count = first[0] ?? 0;
  const data = first.subarray(1);
  if (data.length < count * size) {
    throw new VigieError('input.malformed', `${data.length} of ${count * size} bytes came for 09 ${hexByte(infoType)}`);
  }
  return Array.from({ length: count }, (_, i) => data.subarray(i * size, (i + 1) * size));
}

function numberedItems(bodies: readonly Uint8Array[], size: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const [i, body] of bodies.entries()) {
    if (body[0] !== i + 1) {
      throw new VigieError('input.malformed', `message ${i + 1} is missing or out of order: ${body[0]} came`);
    }
    parts.push(body.subarray(1));
  }
  const data = joined(parts);
  const messages = Math.ceil(size / OLD_PART) * OLD_PART;
  const found: Uint8Array[] = [];
  for (let begin = 0; begin + messages <= data.length; begin += messages) {
    found.push(data.subarray(begin + messages - size, begin + messages));
  }
  if (found.length === 0)
    throw new VigieError('input.malformed', `messages are missing: ${data.length} of ${size} bytes`);
  return found;
}

/**
 * Returns the parameters (PID, TID, InfoType) that an ECU supports, from an answer to a request for parameters 00, 20,
 * 40 … of a service: `41 00 BE 1F B8 13`; on CAN several such groups may follow each other. The most significant bit
 * of the first byte is the parameter after the requested one (SAE J1979 §6.1).
 * @throws VigieError `input.malformed` if the answer contains something else.
 */
export function supportedParameters(answer: Uint8Array): number[] {
  const groups = answer.subarray(1);
  if (groups.length === 0 || groups.length % 5 !== 0) {
    throw new VigieError(
      'input.malformed',
      `${hexOf(answer.subarray(0, 8)) || 'nothing'} is not a bitmap of parameters`,
    );
  }
  const supported: number[] = [];
  for (let i = 0; i < groups.length; i += 5) {
    const base = groups[i] as number;
    if ((base & 0x1f) !== 0)
      throw new VigieError('input.malformed', `${hexByte(base)} asks for no bitmap of parameters`);
    for (let bit = 0; bit < 32; bit++) {
      const byte = groups[i + 1 + (bit >> 3)] as number;
      if ((byte & (0x80 >> (bit & 7))) !== 0) supported.push(base + bit + 1);
    }
  }
  return supported;
}
