import type { ErrorCode } from '../../protocol/errors.ts';
import type { ActionParameters } from '../ports.ts';

/** Reason why a command is not carried out, or failed. */
export interface Refusal {
  readonly code: ErrorCode;
  /** Explanation for people. */
  readonly detail: string;
}

/** A change of the agent's own state. */
export interface Effect {
  /** Returns true if the present state is already the requested one. */
  done(): boolean;
  /** Returns the reason why it cannot be done now, or undefined. */
  refusal?(): Refusal | undefined;
  /** Applies the change. `at` is UTC ms. */
  apply(at: number): void;
}

/** Actions and effects of a command. An empty plan is complete as soon as the car is awake. */
export interface Plan {
  /** Actions of the profile, e.g. `doors.lock`, carried out in order; each waits until Status shows it. */
  readonly actions: readonly string[];
  readonly parameters?: ActionParameters;
  /** A field of the body that is accepted without effect. */
  readonly ignored?: string;
  /** Effects after the actions, in this order. */
  readonly effects: readonly Effect[];
}
