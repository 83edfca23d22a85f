import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { encodeMessage } from '../../../protocol/cbor/message.ts';
import { type Reading, readingsFromTelemetry, telemetryFromReadings } from '../../../protocol/schema/telemetry.ts';
import { batchesOf, readDrives, readingsOf } from '../../../scripts/benchmark/drives.ts';
import { folderOfDrives } from '../../drives/folder.ts';
import { describeShared, sharedData } from '../../shared.ts';
import { readingsOf as naiveReadings } from './naive.ts';

/** Bytes per reading, including whole messages. */
function perReading(batches: readonly (readonly Reading[])[]): number {
  let bytes = 0;
  let count = 0;
  for (const readings of batches) {
    const body = telemetryFromReadings(readings, { deflate: (bytes: Uint8Array) => deflateRawSync(bytes) });
    const at = readings.at(-1)!.at + 500;
    bytes += encodeMessage({ version: 1, kind: 'telemetry', seq: 5000, boot: 30, at, clock: 'gnss', body }).length;
    count += readings.length;
  }
  return bytes / count;
}

function areSmall(folder: string): void {
  const drives = readDrives(folder);

  test.each([
    { onChange: false, size: 200, target: 2 },
    { onChange: false, size: 1000, target: 1.15 },
    { onChange: true, size: 200, target: 3.1 },
    { onChange: true, size: 1000, target: 2.45 },
  ])('take at most $target bytes per reading, envelope included ($size a batch, on change: $onChange)', (how) => {
    for (const together of [false, true]) {
      const batches = [...drives.values()].flatMap((rows) => {
        return batchesOf(readingsOf(rows, { onChange: how.onChange, together, jitter: 10 }), how.size);
      });
      expect(batches.length).toBeGreaterThan(10);
      expect(perReading(batches)).toBeLessThanOrEqual(how.target);
    }
  });

  test('are read back by our decoder, and by one written only from docs/wire-format.md', () => {
    for (const rows of drives.values()) {
      const readings = readingsOf(rows, { onChange: true, together: false, jitter: 10 });
      for (const batch of batchesOf(readings, 1000).slice(0, 5)) {
        const telemetry = telemetryFromReadings(batch);
        const sorted = batch.toSorted((a, b) => a.slot.id - b.slot.id);
        const back = readingsFromTelemetry(telemetry);
        expect(back.map(({ slot, at }) => [slot.path, at])).toEqual(sorted.map(({ slot, at }) => [slot.path, at]));
        for (const [index, { value }] of back.entries()) expect(value).toBeCloseTo(sorted[index]!.value as number, 6);
        const naive = naiveReadings(telemetry.start, telemetry.size, telemetry.columns);
        expect(naive.sort(([a], [b]) => a - b).map(([slot, at]) => [slot, at])).toEqual(
          sorted.map(({ slot, at }) => [slot.id, at]),
        );
      }
    }
  });
}

describe('generated drives with random jitter of times', () => areSmall(folderOfDrives()));
describeShared('real drives, times with jitter of their own', () => areSmall(join(sharedData, 'drives')));
