import type { ErrorCode } from '../../protocol/errors.ts';
import type { ActionParameters } from '../ports.ts';

/** Why something is not done, or did not succeed. */
export interface Refusal {
  readonly code: ErrorCode;
  /** For people. */
  readonly detail: string;
}

/** A change of the agent's own state. */
export interface Effect {
  /** It is as the command asks already. */
  done(): boolean;
  /** Why it cannot be done now. */
  refusal?(): Refusal | undefined;
  /** `at` is UTC ms. */
  apply(at: number): void;
}

/** Actions and effects of a command. An empty plan is complete as soon as the car is awake. */
export interface Plan {
  /** Actions of the profile, e.g. `doors.lock`, one after the other, each until Status shows it. */
  readonly actions: readonly string[];
  readonly parameters?: ActionParameters;
  /** A member of the body that is accepted without effect. */
  readonly ignored?: string;
  /** Afterwards, in this order. */
  readonly effects: readonly Effect[];
}
