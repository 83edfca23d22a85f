/** Roll-outs of configurations at a hub, under `/vigie/v1/rollouts`. */
import type { Scope } from '../operations/scopes.ts';

/** Scope for continuing and stopping a roll-out; the published interface has no such operation. */
export const rolloutScope = 'hub:rollout:write' satisfies Scope;

/** `first`: only the first group receives it; `all`: every car of the fleet; `stopped`: no further car. */
export type RolloutStage = 'first' | 'all' | 'stopped';

/**
 * `waiting`: not sent yet; `sent`: no answer yet; `accepted`: the car has checked it, and will start with it; `trial`:
 * the car runs with it; `applied`: the car works with it and keeps it; `returned`: the car returned to the
 * previous one; `refused`: the car rejected it.
 */
export const rolloutCarStates = ['waiting', 'sent', 'accepted', 'trial', 'applied', 'returned', 'refused'] as const;
export type RolloutCarState = (typeof rolloutCarStates)[number];

/** A roll-out in the list. */
export interface RolloutSummary {
  readonly id: string;
  readonly fleet: string;
  /** Name of the file, for people. */
  readonly name: string;
  /** Digest of the configuration, as in the reports of cars. */
  readonly digest: string;
  /** Number of cars in the first group. */
  readonly first: number;
  /** Number of cars that may return or refuse it before the roll-out stops automatically. */
  readonly tolerated: number;
  readonly stage: RolloutStage;
  /** Reason why it stopped. */
  readonly reason?: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  /** Number of cars by state. */
  readonly states: Readonly<Record<RolloutCarState, number>>;
}

/** `GET /vigie/v1/rollouts`: newest first. */
export interface RolloutList {
  readonly rollouts: readonly RolloutSummary[];
}

/** `GET /vigie/v1/rollouts/{oid}`: 200 cars at a time, by VIN. */
export interface RolloutWithCars extends RolloutSummary {
  readonly _links: { readonly self: { readonly href: string }; readonly next?: { readonly href: string } };
  readonly cars: readonly {
    readonly vin: string;
    readonly isFirst: boolean;
    readonly state: RolloutCarState;
    /** Reason, as the car reported it. */
    readonly detail?: string;
    /** Time at which the state was reported or the configuration was sent. If omitted, neither has happened. */
    readonly at?: string;
  }[];
}
