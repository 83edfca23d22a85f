/** Whether the car's buses are awake, and how to wake them. */
import { DAY } from '../../protocol/calendar.ts';
import { agentSettings, type CommandSettings, type PowerSettings } from '../../protocol/settings.ts';

export interface Power {
  /** Also the buses that `actions` need: one may sleep while another talks. */
  awake(actions?: readonly string[]): boolean;
  /**
   * Resolves true when the car is awake, and the buses that `actions` need, false when it did not wake up in time.
   * Counted against the monthly budget.
   */
  wake(actions?: readonly string[]): Promise<boolean>;
  /** A trusted sender sent a message, or a program of the car is due: the unit stays awake. */
  stayAwake?(by?: 'message' | 'program'): void;
  /** The unit itself sleeps: due work wakes it, and it polls nothing. */
  asleep?(): boolean;
}

/** A car that never sleeps: the bench, and units that run with the ignition only. */
export const alwaysAwake: Power = { awake: () => true, wake: async () => true };

/** How much a car puts up with. */
export interface Limits extends CommandSettings, Pick<PowerSettings, 'battery'> {
  /** Times the car is woken within {@link MONTH}. */
  readonly wakeUps: number;
  /** Commands of one kind within {@link BURST}. */
  readonly burst: number;
  /** Commands within a day. */
  readonly daily: number;
  /** Wait for readings after the car woke up, ms. */
  readonly settling: number;
}

/** A sliding month, ms. */
export const MONTH = 30 * DAY;
/** Length of a short time, ms. */
export const BURST = 10_000;

export const defaultLimits: Limits = {
  ...agentSettings().commands,
  ...agentSettings().power,
  wakeUps: 100,
  burst: 10,
  daily: 500,
  settling: 5_000,
};
