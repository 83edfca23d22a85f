import { parameterLength } from '../j1979/lengths.ts';
import type { Poll } from './schedule.ts';

/** Service that accepts several parameters in one request (SAE J1979 §6.1.2.2). */
const CURRENT_DATA = 0x01;

/** Returns the parameter of a poll that may share a request; undefined if it must be requested alone. */
export function sharedParameter(poll: Poll): number | undefined {
  const { service, parameter, extendedAddress } = poll.planned.command;
  if (service !== CURRENT_DATA || parameter.length !== 2 || extendedAddress !== undefined || poll.alone)
    return undefined;
  const pid = Number.parseInt(parameter, 16);
  // Only the known length of a parameter determines the start of the next one.
  return parameterLength(pid) === undefined ? undefined : pid;
}

/**
 * Splits an answer with several parameters by parameter; `payload` begins with 41. Control units omit unsupported
 * parameters and may change the order. Undefined if the bytes are not such an answer.
 */
export function splitAnswer(payload: Uint8Array, asked: readonly number[]): Map<number, Uint8Array> | undefined {
  const parts = new Map<number, Uint8Array>();
  if (payload[0] !== CURRENT_DATA + 0x40) return undefined;
  for (let at = 1; at < payload.length; ) {
    const pid = payload[at] as number;
    const length = parameterLength(pid);
    if (length === undefined || !asked.includes(pid) || parts.has(pid)) return undefined;
    if (at + 1 + length > payload.length) return undefined;
    parts.set(pid, payload.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return parts.size === 0 ? undefined : parts;
}
