/** What the core must know of a car: the part of a vehicle profile that it works from, with all checks done. */

import type { FailureCause } from '../protocol/errors.ts';
import type {
  AlertRule,
  CollisionRule,
  TelemetryRule,
  TheftRule,
  TripRule,
  WaypointRule,
} from '../protocol/recording.ts';

/** One source of a Status path or of a channel (protocol/channels.ts). Sources of the same path are listed in order of `priority`, 0 first. */
export interface SourceMapping {
  readonly path: string;
  readonly bus?: string;
  readonly message: string;
  readonly signal: string;
  /** value = physical signal × scale + offset */
  readonly scale: number;
  readonly offset: number;
  /** Raw values that say "not available"; they never become values. */
  readonly invalid: readonly number[];
  /** Raw value to name, flag or set of names; raw values that are not listed never become values. */
  readonly map?: Readonly<Record<string, string | boolean | number | readonly string[]>>;
  /** Milliseconds after which the value is stale. */
  readonly timeout?: number;
  readonly priority: number;
  /** Milliseconds of silence after which the next source takes over. */
  readonly failover?: number;
}

/** How Status or a channel (protocol/channels.ts) shows that a command has taken effect. */
export interface Confirmation {
  readonly path: string;
  readonly equals?: string | number | boolean;
  /** For sets: the name that must be in it. */
  readonly includes?: string;
}

/** What a path of Status must show, from a reading that is not stale: one of the members beside `path` is there. */
export interface Condition {
  readonly path: string;
  readonly equals?: string | number | boolean;
  /** For a set: the name that must be in it. */
  readonly includes?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** A condition of the profile; it takes the place of what the table of interlocks says of the same path. */
export interface Requirement extends Condition {
  /** Failure cause of the interface. */
  readonly cause: FailureCause;
}

export interface CommandRule {
  readonly confirm: Confirmation;
  /** Conditions besides those of the table of interlocks. */
  readonly requires?: readonly Requirement[];
  /** Milliseconds the car may take; silence for longer is a failure. */
  readonly within: number;
}

export interface VehicleProfile {
  readonly name: string;
  readonly sources: readonly SourceMapping[];
  readonly constants: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** By Status path; `default` for the rest. */
  readonly telemetry: Readonly<Record<string, TelemetryRule>>;
  readonly waypoints: WaypointRule;
  /** By type (AlertType); `default` for those that are not listed. */
  readonly alerts?: Readonly<Record<string, AlertRule>>;
  readonly trips?: TripRule;
  readonly collisions?: CollisionRule;
  readonly thefts?: TheftRule;
  /** By action, e.g. `doors.lock`. */
  readonly commands: Readonly<Record<string, CommandRule>>;
}
