/** Interface to the power state of the car's buses, and to wake them. */
import { DAY } from '../../protocol/calendar.ts';
import { agentSettings, type CommandSettings, type PowerSettings } from '../../protocol/settings.ts';

export interface Power {
  /** Returns true if the car is awake, and the buses that `actions` need: one may sleep while another is active. */
  awake(actions?: readonly string[]): boolean;
  /**
   * Resolves with true if the car and the buses that `actions` need are awake, with false if they did not wake up in
   * time. Counted against the monthly budget.
   */
  wake(actions?: readonly string[]): Promise<boolean>;
  /** Call when a trusted message arrives or a program of the car is due. Keeps the unit awake. */
  stayAwake?(by?: 'message' | 'program'): void;
  /** Returns true if the unit itself sleeps: due work wakes it, and it polls nothing. */
  asleep?(): boolean;
}

/** A car that never sleeps: the bench, and units that run only with the ignition on. */
export const alwaysAwake: Power = { awake: () => true, wake: async () => true };

/** Limits on commands, to protect the car. */
export interface Limits extends CommandSettings, Pick<PowerSettings, 'battery'> {
  /** Maximum number of wake-ups of the car within {@link MONTH}. */
  readonly wakeUps: number;
  /** Maximum number of commands of one kind within {@link BURST}. */
  readonly burst: number;
  /** Maximum number of commands within a day. */
  readonly daily: number;
  /** Time in ms to wait for readings after the car woke up. */
  readonly settling: number;
}

/** A sliding month in ms. */
export const MONTH = 30 * DAY;
/** Period of the burst limit in ms. */
export const BURST = 10_000;

export const defaultLimits: Limits = {
  ...agentSettings().commands,
  ...agentSettings().power,
  wakeUps: 100,
  burst: 10,
  daily: 500,
  settling: 5_000,
};
