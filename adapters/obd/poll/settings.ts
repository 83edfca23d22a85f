/** How a profile wants the car to be asked. */

export type PollPriority = 'high' | 'normal' | 'low';

export interface PollRule {
  /** Milliseconds between two requests; absent: what the signal set says, else {@link PollSettings.interval}. */
  readonly interval?: number;
  readonly priority?: PollPriority;
}

export interface PollSettings {
  /** By signal as the profile names it, e.g. `OBD.VehicleSpeed`. */
  readonly rules: Readonly<Record<string, PollRule>>;
  /** For commands to which neither the profile nor the set gives an interval, ms. */
  readonly interval: number;
  /** No command is asked more often, whatever the set says, ms; a rule may. */
  readonly shortest: number;
  /** Requests in a second at most, all commands together. */
  readonly requestsPerSecond: number;
  /** Parameters asked for in one request of service 01, 1..6; 1 for buses other than CAN (SAE J1979 §6.1.2.2). */
  readonly parametersPerRequest: number;
  /** Longest time until something that the car does not answer is tried again, ms. */
  readonly longestBackOff: number;
  /** Model year of the car, for sets that tell years apart. */
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
