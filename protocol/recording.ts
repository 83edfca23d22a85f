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
