import type { Deflate } from '../protocol/columns/deflate.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import type { MonitorEvent } from '../protocol/schema/event.ts';
import type { OutboxSettings } from '../protocol/settings.ts';
import type { ChannelObserver, Channels } from './model/channels.ts';
import type { StatusWriter } from './model/mapping.ts';
import type { Status } from './model/status.ts';
import type { MonitorSignals } from './monitors/custom-signals.ts';
import { Monitors } from './monitors/monitors.ts';
import type { Log, Publisher } from './ports.ts';
import { AlarmRecorder } from './recorders/alarm.ts';
import { AlertRecorder } from './recorders/alert.ts';
import { CollisionRecorder } from './recorders/collision/collision.ts';
import { MaintenanceRecorder } from './recorders/maintenance.ts';
import {
  type MakeRecorder,
  type Patience,
  type Recorder,
  type RecorderParts,
  unchanged,
} from './recorders/recorder.ts';
import { StatusRecorder } from './recorders/status.ts';
import { TelemetryRecorder } from './recorders/telemetry.ts';
import { TheftRecorder } from './recorders/theft.ts';
import { TripRecorder } from './recorders/trip.ts';
import { WaypointRecorder } from './recorders/waypoint.ts';
import type { Records } from './records.ts';

/*
 * One frame:    source → decoder → mapping → Status, channels ─┬─ the recorders below, in this order → outbox → link
 *                                                              └─ confirmations of commands
 * One command:  link → verify → interlocks → actuator → Status confirms → outbox → link
 */

export interface Pipeline {
  readonly status: StatusRecorder;
  readonly thefts: TheftRecorder;
  readonly trips: TripRecorder;
  readonly waypoints: WaypointRecorder;
  readonly monitors: Monitors;
  readonly recorders: readonly Recorder[];
}

interface PipelineParts {
  readonly status: Status;
  readonly channels: Channels;
  readonly writer: StatusWriter;
  readonly publisher: Publisher;
  readonly records: Records;
  readonly profile: VehicleProfile;
  readonly log: Log;
  /** Accepts an event of a monitor. */
  readonly tell: (event: MonitorEvent) => void;
  readonly deflate?: Deflate | undefined;
  readonly outbox: OutboxSettings;
  /** The recorders of custom signals and of raw frames. */
  readonly signals?: Recorder | undefined;
  readonly captures?: Recorder | undefined;
  /** Recorders in addition to those below. */
  readonly added?: readonly MakeRecorder[] | undefined;
  /** Custom signals that monitors may watch. */
  readonly watched?: MonitorSignals | undefined;
  /** Shortens the collection of data while a client watches the car. */
  readonly patience?: Patience;
  readonly privacy: RecorderParts['privacy'];
  readonly highestPrivacy: RecorderParts['highestPrivacy'];
}

/** Returns all observers of Status and channels, in order. */
export function pipeline({
  status,
  channels,
  writer,
  publisher,
  records,
  profile,
  log,
  tell,
  deflate,
  outbox,
  signals,
  captures,
  added = [],
  watched,
  patience,
  privacy,
  highestPrivacy,
}: PipelineParts): Pipeline {
  const trips = new TripRecorder({ status, records, rule: profile.trips });
  const thefts = new TheftRecorder({ status, writer, records, rule: profile.thefts });
  const waypoints = new WaypointRecorder(status, records, profile.waypoints, outbox, patience);
  const statusRecorder = new StatusRecorder(status, publisher, patience, trips);
  const monitors = new Monitors({
    status,
    trips,
    emit: tell,
    log,
    ...defined({ signals: watched }),
  });
  const recorders: readonly Recorder[] = [
    // First: alerts and collisions refer to their trip.
    trips,
    // Stores every reading of the last seconds. Omitted for a car that never reports a crash.
    ...(tellsOfCrashes(profile)
      ? [new CollisionRecorder({ status, records, trips, rule: profile.collisions, deflate })]
      : []),
    new AlarmRecorder(status, writer, records),
    thefts,
    new AlertRecorder({ status, records, trips, rules: profile.alerts }),
    new MaintenanceRecorder(status, records),
    new TelemetryRecorder(status, records, profile.telemetry, {
      ...defined({ deflate }),
      ...outbox,
      ...defined({ patience }),
    }),
    ...(signals === undefined ? [] : [signals]),
    ...(captures === undefined ? [] : [captures]),
    ...added.map((make) =>
      make({ status, publisher, records, privacy, highestPrivacy, patience: patience ?? unchanged }),
    ),
    waypoints,
    statusRecorder,
    // Last: an event contains the results of the other recorders for the same reading.
    monitors,
  ];
  for (const { name } of recorders) {
    if (recorders.filter((other) => other.name === name).length > 1) {
      throw new VigieError('usage.wrong', `two recorders have the name ${name}: their states would be mixed up`);
    }
  }
  for (const recorder of recorders) {
    status.observe(recorder);
    if (recorder.channel !== undefined) channels.observe(observing(recorder, recorder.channel));
  }
  records.observe(monitors);
  return { status: statusRecorder, trips, thefts, waypoints, monitors, recorders };
}

function observing(recorder: Recorder, channel: ChannelObserver['channel']): ChannelObserver {
  const { sample, channelAbsent } = recorder;
  return {
    channel: channel.bind(recorder),
    ...(channelAbsent === undefined ? {} : { channelAbsent: channelAbsent.bind(recorder) }),
    ...(sample === undefined ? {} : { sample: sample.bind(recorder) }),
  };
}

function tellsOfCrashes({ sources }: VehicleProfile): boolean {
  return sources.some(({ path }) => /^(collision|acceleration)\.|^safety\.autoECallTriggering$/.test(path));
}
