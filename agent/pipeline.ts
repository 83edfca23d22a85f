import type { Publisher } from './ports.ts';
import type { VehicleProfile } from './profile.ts';
import type { Recorder } from './recorders/recorder.ts';
import { StatusRecorder } from './recorders/status.ts';
import { TelemetryRecorder } from './recorders/telemetry.ts';
import { WaypointRecorder } from './recorders/waypoint.ts';
import type { Status } from './status.ts';

/*
 * One frame:    source → decoder → mapping → Status ─┬─ the recorders below, in this order → outbox → link
 *                                                    └─ confirmations of commands
 * One command:  link → verify → interlocks → actuator → Status confirms → outbox → link
 */

export interface Pipeline {
  readonly status: StatusRecorder;
  readonly recorders: readonly Recorder[];
}

/** Everything that a change of Status reaches, in order. */
export function pipeline(status: Status, publisher: Publisher, profile: VehicleProfile): Pipeline {
  const statusRecorder = new StatusRecorder(status, publisher);
  const recorders: readonly Recorder[] = [
    new TelemetryRecorder(status, publisher, profile.telemetry),
    new WaypointRecorder(status, publisher, profile.waypoints),
    statusRecorder,
  ];
  for (const recorder of recorders) status.observe(recorder);
  return { status: statusRecorder, recorders };
}
