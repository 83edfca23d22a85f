/** Readable columns for random messages. */
import { packFrames } from '../../protocol/captures/capture.ts';
import type { CapturedFrames } from '../../protocol/captures/columns.ts';
import { portableDeflate } from '../../protocol/columns/deflate.ts';
import { type Telemetry, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { slotByPath } from '../../protocol/slots.ts';

export const at: number = Date.UTC(2026, 0, 1);

export const readings: Telemetry = telemetryFromReadings([{ slot: slotByPath.get('kinetic.speed')!, value: 42, at }]);

/** Returns a copy with readable columns instead of random bytes. */
export function withRealColumns(value: unknown): object {
  if (Array.isArray(value)) return value.map(withRealColumns);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value as object;
  if ('columns' in value && 'buses' in value)
    return { ...value, buses: ['body', 'chassis'], ...packFrames(twoFrames, at, portableDeflate) };
  if ('columns' in value) return readings;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withRealColumns(member)]));
}

export const twoFrames: CapturedFrames = {
  count: 2,
  at: Float64Array.of(at + 0.125, at + 1.5),
  id: Uint32Array.of(0xa8, 0xc000_0123),
  bus: Uint8Array.of(1, 0),
  flags: Uint8Array.of(1 | 8, 0),
  length: Uint8Array.of(2, 3),
  offset: Uint32Array.of(0, 8),
  data: Uint8Array.of(0x10, 0x68, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
};
