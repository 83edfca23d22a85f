/** Recording rules of a vehicle profile. The loader creates them, the recorders apply them. */

/** Conditions under which changes of a slot become telemetry. */
export interface TelemetryRule {
  /** Shortest time in ms between two readings. */
  readonly interval: number;
  /** Smallest change of a quantity that counts, in the slot's unit; 0 for a slot that is not a quantity. */
  readonly deadBand: number;
  /** Time in ms without a change after which a reading is repeated. */
  readonly heartbeat: number;
  /** Step in ms to which the times of readings are rounded. If omitted, 1. Coarser steps need fewer bytes. */
  readonly resolution?: 1 | 10 | 100;
}

export interface WaypointRule {
  /** Longest time in ms between points of a moving car. */
  readonly interval: number;
  /** Longest distance in m between points. */
  readonly distance: number;
  /** Change of heading in degrees above which a point is set. */
  readonly heading: number;
  /** Largest distance in m of the route between two points from the line between them. */
  readonly error: number;
}

/** Conditions under which a lamp or message of the car is an alert. */
export interface AlertRule {
  /** If omitted, the alert has no severity in the interface. */
  readonly severity?: 'Information' | 'Warning' | 'Critical';
  /** Time in ms for which the signal must be on before the alert begins. */
  readonly onAfter: number;
  /** Time in ms for which the signal must be off before the alert ends: a flickering lamp is one alert. */
  readonly offAfter: number;
}

/** Conditions for the start and end of a trip. */
export interface TripRule {
  /** Duration in ms below which a stop belongs to the trip: stop-start, a level crossing, refuelling. */
  readonly grace: number;
  /** Speed in km/h above which the car moves. */
  readonly moving: number;
  /** Silence in ms of the sources after which an open trip counts as lacking data. */
  readonly silence: number;
}

/** Conditions under which an acceleration is a collision. */
export interface CollisionRule {
  /** Acceleration in m/s² in the plane from which an impact is evaluated. */
  readonly threshold: number;
  /** Change of speed in km/h from which an impact is a collision. */
  readonly speedChange: number;
  /** Times in ms before and after the impact for which readings are kept. */
  readonly before: number;
  readonly after: number;
}

/** Conditions under which the car itself assumes a theft: the alarm went off, and the car moves without a key. */
export interface TheftRule {
  /** Distance in m that counts as movement. */
  readonly distance: number;
  /** Longest time in ms between the alarm and the movement. */
  readonly within: number;
}

/** Defaults for a profile without recording rules. */
export const recordingDefaults = {
  alert: {
    /** A lamp test at ignition on lasts two to three seconds; a shorter signal is not a warning. */
    onAfter: 3_000,
    /** Longer than the blink of a warning lamp, and longer than its absence while the engine is cranked. */
    offAfter: 10_000,
  },
  trip: {
    /** Longer than refuelling or a wait at a level crossing, shorter than an errand. */
    grace: 300_000,
    /** Wheel-speed sensors report nothing below this; a slower car is rolling. */
    moving: 2,
    /** An awake bus sends at least every second. */
    silence: 60_000,
  },
  collision: {
    /** Above the hardest braking, and below the threshold of belt tensioners (about 5 g). */
    threshold: 30,
    /** 8 km/h within 150 ms triggers an event data recorder (49 CFR 563.5). */
    speedChange: 8,
    /** An event data recorder keeps five seconds before the impact (49 CFR 563.7); as long after it shows the rest. */
    before: 5_000,
    after: 5_000,
  },
  theft: {
    /** More than the drift of a receiver and a push along the kerb. */
    distance: 100,
    /** A tow truck has loaded the car within this time after the alarm went off. */
    within: 1_800_000,
  },
} as const satisfies {
  readonly alert: AlertRule;
  readonly trip: TripRule;
  readonly collision: CollisionRule;
  readonly theft: TheftRule;
};
