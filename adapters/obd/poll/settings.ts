/** Polling settings in a profile. */

export type PollPriority = 'high' | 'normal' | 'low';

export interface PollRule {
  /** Time in ms between two requests. Default: the interval in the signal set, else {@link PollSettings.interval}. */
  readonly interval?: number;
  readonly priority?: PollPriority;
}

export interface PollSettings {
  /** Rules by signal as named in the profile, e.g. `OBD.VehicleSpeed`. */
  readonly rules: Readonly<Record<string, PollRule>>;
  /** Interval in ms of commands for which neither the profile nor the set defines one. */
  readonly interval: number;
  /** Shortest interval in ms that a set can request; a rule may be shorter. */
  readonly shortest: number;
  /** Maximum number of requests per second, all commands together. */
  readonly requestsPerSecond: number;
  /** Maximum number of parameters per request of service 01, 1..6; 1 for buses other than CAN (SAE J1979 §6.1.2.2). */
  readonly parametersPerRequest: number;
  /** Longest time in ms until an unanswered command is tried again. */
  readonly longestBackOff: number;
  /** Model year of the car, for sets with commands for certain years. */
  readonly modelYear: number | undefined;
}

export const defaultPollSettings: PollSettings = {
  rules: {},
  interval: 5000,
  shortest: 250,
  requestsPerSecond: 20,
  parametersPerRequest: 6,
  longestBackOff: 600_000,
  modelYear: undefined,
};
