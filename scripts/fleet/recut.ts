/** Regroups the telemetry of a drive into messages of a given number of readings, packed as in a car. */
import { deflate } from '../../assembly/deflate.ts';
import { decodeMessage, encodeMessage } from '../../protocol/cbor/message.ts';
import { type Reading, readingsFromTelemetry, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import type { Departure } from '../scenarios/drive.ts';

/** Returns only the telemetry of the drive. The last message contains the readings that remain. */
export function recutTelemetry(drive: readonly Departure[], size: number): readonly Departure[] {
  const readings: { readonly reading: Reading; readonly after: number }[] = drive.flatMap(({ after, payload }) => {
    const { kind, body } = decodeMessage(payload);
    return kind === 'telemetry' ? readingsFromTelemetry(body).map((reading) => ({ reading, after })) : [];
  });
  readings.sort((a, b) => a.reading.at - b.reading.at);
  const messages: Departure[] = [];
  for (let begin = 0; begin < readings.length; begin += size) {
    const part = readings.slice(begin, begin + size);
    const last = part.at(-1) as (typeof part)[number];
    const body = telemetryFromReadings(
      part.map(({ reading }) => reading),
      { deflate },
    );
    const payload = encodeMessage({
      version: 1,
      kind: 'telemetry',
      seq: messages.length,
      boot: 1,
      at: last.reading.at,
      clock: 'gnss',
      body,
    });
    messages.push({ after: last.after, kind: 'telemetry', payload, retain: false });
  }
  return messages;
}
