/** What a vehicle profile says about recording; the loader writes it, the recorders follow it. */

/** When a slot's changes become telemetry. */
export interface TelemetryRule {
  /** At most one reading in this many ms. */
  readonly interval: number;
  /** A quantity that moved by less is not a change; in the slot's unit, 0 for what is no quantity. */
  readonly deadBand: number;
  /** A reading is repeated after this many ms without change. */
  readonly heartbeat: number;
}

export interface WaypointRule {
  /** Longest time between points while moving, ms. */
  readonly interval: number;
  /** Longest way between points, m. */
  readonly distance: number;
  /** A point is set when the heading turned by more, degrees. */
  readonly heading: number;
}

/** When a lamp or message of the car is an alert. */
export interface AlertRule {
  /** Absent: the interface's member is left out. */
  readonly severity?: 'Information' | 'Warning' | 'Critical';
  /** The signal must stand for this long before the alert begins, ms. */
  readonly on: number;
  /** The signal must be gone for this long before the alert ends, ms: a flickering lamp is one alert. */
  readonly off: number;
}

/** When a trip begins and ends. */
export interface TripRule {
  /** A stop shorter than this, ms, belongs to the trip: stop-start, a level crossing, refuelling. */
  readonly grace: number;
  /** Above this the car moves, km/h. */
  readonly moving: number;
  /** Sources that are silent for longer while the trip is open make it lack data, ms. */
  readonly silence: number;
}

/** When acceleration is a collision. */
export interface CollisionRule {
  /** Filtered acceleration in the plane above which an impact is looked at, m/s². */
  readonly threshold: number;
  /** Change of speed from which it is a collision, km/h. */
  readonly speedChange: number;
  /** Seconds of readings kept before and after it. */
  readonly before: number;
  readonly after: number;
}

/** When the car itself takes a theft to be going on: the alarm went off, and it moves without key. */
export interface TheftRule {
  /** Way that counts as moving, m. */
  readonly distance: number;
  /** Longest time between the alarm and the movement, ms. */
  readonly within: number;
}
