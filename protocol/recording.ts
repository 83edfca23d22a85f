/** Recording rules of a vehicle profile. The loader writes them, the recorders follow them. */

/** When a slot's changes become telemetry. */
export interface TelemetryRule {
  /** At most one reading in this many ms. */
  readonly interval: number;
  /** A quantity that moved by less is not a change; in the slot's unit, 0 for what is not a quantity. */
  readonly deadBand: number;
  /** A reading is repeated after this many ms without change. */
  readonly heartbeat: number;
  /** Step that the times of readings are rounded to, ms; absent: 1. The coarser, the fewer bytes. */
  readonly resolution?: 1 | 10 | 100;
}

export interface WaypointRule {
  /** Longest time between points while moving, ms. */
  readonly interval: number;
  /** Longest way between points, m. */
  readonly distance: number;
  /** A point is set when the heading turned by more, degrees. */
  readonly heading: number;
  /** The way between two points is nowhere further from the line between them, m. */
  readonly error: number;
}

/** When a lamp or message of the car is an alert. */
export interface AlertRule {
  /** Absent: the interface's member is left out. */
  readonly severity?: 'Information' | 'Warning' | 'Critical';
  /** The signal must stand for this long before the alert begins, ms. */
  readonly onAfter: number;
  /** The signal must be gone for this long before the alert ends, ms: a flickering lamp is one alert. */
  readonly offAfter: number;
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
  /** Acceleration in the plane from which an impact is looked at, m/s². */
  readonly threshold: number;
  /** Change of speed from which it is a collision, km/h. */
  readonly speedChange: number;
  /** Readings are kept from this long before it to this long after, ms. */
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

/** Defaults for a profile without such rules. */
export const recordingDefaults = {
  alert: {
    /** A lamp test at ignition on lasts two to three seconds; shorter than that is not a warning. */
    onAfter: 3_000,
    /** Longer than the blink of a warning lamp and than its absence while the engine is cranked. */
    offAfter: 10_000,
  },
  trip: {
    /** Longer than refuelling or a closed level crossing, shorter than an errand. */
    grace: 300_000,
    /** Wheel-speed sensors are silent below; slower is rolling. */
    moving: 2,
    /** A bus that speaks at all speaks every second. */
    silence: 60_000,
  },
  collision: {
    /** Harder than the hardest braking, below the onset of belt tensioners (about 5 g). */
    threshold: 30,
    /** 8 km/h within 150 ms is the trigger of an event data recorder (49 CFR 563.5). */
    speedChange: 8,
    /** Five seconds before are what an event data recorder keeps (49 CFR 563.7); as long after shows the rest. */
    before: 5_000,
    after: 5_000,
  },
  theft: {
    /** Beyond the drift of a receiver and a push along the kerb. */
    distance: 100,
    /** A tow truck is loaded within that time after the alarm went off. */
    within: 1_800_000,
  },
} as const satisfies {
  readonly alert: AlertRule;
  readonly trip: TripRule;
  readonly collision: CollisionRule;
  readonly theft: TheftRule;
};
