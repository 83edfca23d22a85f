/**
 * Compares the stored messages of a fleet by their bytes: all cars send the same drive, and each message contains a
 * number.
 */
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { readingsFromTelemetry } from '../../protocol/schema/telemetry.ts';
import type { Departure } from '../scenarios/drive.ts';
import type { StoredPayload } from './engines.ts';

export interface Stored {
  readonly stored: number;
  readonly lost: number;
  readonly duplicated: number;
  /** Number of stored messages whose bytes no car sent. */
  readonly strange: number;
}

export function countStored(payloads: readonly StoredPayload[], drive: readonly Departure[], cars: number): Stored {
  const copies = new Map(payloads.map(({ payload, copies }) => [textOf(payload), copies]));
  const sent = new Set(drive.map(({ payload }) => textOf(payload)));
  if (sent.size !== drive.length) throw new Error('two messages of the drive are the same');
  let [lost, duplicated] = [0, 0];
  for (const text of sent) {
    const found = copies.get(text) ?? 0;
    lost += Math.max(0, cars - found);
    duplicated += Math.max(0, found - cars);
    copies.delete(text);
  }
  return {
    stored: payloads.reduce((sum, { copies }) => sum + copies, 0),
    lost,
    duplicated,
    strange: [...copies.values()].reduce((sum, one) => sum + one, 0),
  };
}

/** Counts the values in the messages: the readings in telemetry, and the numbers and words in the others. */
export function readingsIn(drive: readonly Departure[]): number {
  return drive.reduce((sum, { payload }) => {
    const { kind, body } = decodeMessage(payload);
    return sum + (kind === 'telemetry' ? readingsFromTelemetry(body).length : leavesIn(body));
  }, 0);
}

function leavesIn(value: unknown): number {
  if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + leavesIn(one), 0);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
