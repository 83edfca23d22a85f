import type { Channels } from './channels.ts';
import type { StatusWriter } from './mapping.ts';
import type { Publisher } from './ports.ts';
import type { VehicleProfile } from './profile.ts';
import type { Recorder } from './recorders/recorder.ts';
import { StatusRecorder } from './recorders/status.ts';
import { TelemetryRecorder } from './recorders/telemetry.ts';
import { WaypointRecorder } from './recorders/waypoint.ts';
import type { Records } from './records.ts';
import type { Status } from './status.ts';

/*
 * One frame:    source → decoder → mapping → Status, channels ─┬─ the recorders below, in this order → outbox → link
 *                                                              └─ confirmations of commands
 * One command:  link → verify → interlocks → actuator → Status confirms → outbox → link
 */

export interface Pipeline {
  readonly status: StatusRecorder;
  readonly recorders: readonly Recorder[];
}

export interface PipelineParts {
  readonly status: Status;
  readonly channels: Channels;
  readonly writer: StatusWriter;
  readonly publisher: Publisher;
  readonly records: Records;
  readonly profile: VehicleProfile;
}

/** Everything that a change of Status or of a channel reaches, in order. */
export function pipeline({ status, channels, publisher, records, profile }: PipelineParts): Pipeline {
  const statusRecorder = new StatusRecorder(status, publisher);
  const recorders: readonly Recorder[] = [
    new TelemetryRecorder(status, records, profile.telemetry),
    new WaypointRecorder(status, records, profile.waypoints),
    statusRecorder,
  ];
  for (const recorder of recorders) {
    status.observe(recorder);
    if (recorder.channel !== undefined) channels.observe(recorder as Required<Pick<Recorder, 'channel'>>);
  }
  return { status: statusRecorder, recorders };
}
