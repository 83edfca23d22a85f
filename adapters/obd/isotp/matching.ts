import { NEGATIVE } from '../negative-response.ts';

/**
 * Number of parameter bytes that answers of a service echo (SAE J1979 §6; ISO 14229-1:2020 §10 to §14): a PID, MID
 * or InfoType, a sub-function, a data or routine identifier. Services that are not listed echo nothing.
 */
const ECHOED: ReadonlyMap<number, number> = new Map([
  [0x01, 1],
  [0x02, 1],
  [0x05, 1],
  [0x06, 1],
  [0x08, 1],
  [0x09, 1],
  [0x10, 1],
  [0x19, 1],
  [0x21, 1],
  [0x22, 2],
  [0x27, 1],
  [0x2f, 2],
  [0x31, 3],
  [0x3e, 1],
]);

/** Services that accept several parameters in one request; any of them may be first in the answer. */
const SEVERAL: ReadonlySet<number> = new Set([0x01, 0x06, 0x09, 0x22]);

/** Bit 7 of a sub-function suppresses positive answers and is not echoed (ISO 14229-1 §8.2.2). */
const SUB_FUNCTIONS: ReadonlySet<number> = new Set([0x10, 0x19]);

/**
 * Returns true if a message may answer a request, judged by its first bytes: a late answer to the previous request must
 * not pass for an answer to this one.
 */
export function answersRequest(request: Uint8Array, answer: Uint8Array): boolean {
  const service = request[0] as number;
  if (answer[0] === NEGATIVE) return answer[1] === service;
  if (answer[0] !== service + 0x40) return false;
  const size = ECHOED.get(service) ?? 0;
  if (size === 0 || request.length <= size) return true;
  const end = SEVERAL.has(service) ? request.length : 1 + size;
  for (let at = 1; at + size <= end; at += size) {
    let same = true;
    for (let i = 0; i < size; i++) {
      const asked = request[at + i] as number;
      same &&= answer[1 + i] === (SUB_FUNCTIONS.has(service) ? asked & 0x7f : asked);
    }
    if (same) return true;
  }
  return false;
}
