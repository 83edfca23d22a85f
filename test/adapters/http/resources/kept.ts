/** Reads the stored records of the car's day without the interface. */
import type { RecordStore } from '../../../../agent/ports.ts';
import type { AlarmRecord } from '../../../../protocol/schema/alarm.ts';
import type { Alert } from '../../../../protocol/schema/alert.ts';
import { type Reading, readingsFromTelemetry, type Telemetry } from '../../../../protocol/schema/telemetry.ts';
import type { Trip } from '../../../../protocol/schema/trip.ts';
import type { Waypoint, WaypointMessage } from '../../../../protocol/schema/waypoint.ts';

export type { Alert, Trip };
export type Alarm = AlarmRecord;

export interface Day {
  readonly trips: readonly Trip[];
  readonly alerts: readonly Alert[];
  readonly alarms: readonly Alarm[];
  readonly points: readonly Waypoint[];
  readonly readings: readonly Reading[];
}

export function keptOf(records: RecordStore): Day {
  const all = <T>(name: string): T[] => Array.from(records.list(name), ({ record }) => record as T);
  return {
    trips: all('trip'),
    alerts: all('alert'),
    alarms: all('alarm'),
    points: all<WaypointMessage>('waypoint').flatMap(({ points }) => points),
    readings: all<Telemetry>('telemetry').flatMap(readingsFromTelemetry),
  };
}
