/** Roll-outs of configurations in the database, which all hubs share: what each car was sent, and what it reported. */
import type { RolloutCarState, RolloutStage } from '../../protocol/interface/own/rollouts.ts';
import type { Message } from '../../protocol/schema/message.ts';

export interface NewRollout {
  readonly id: string;
  readonly fleet: string;
  /** Name of the file, for people. */
  readonly name: string;
  /** Digest in the reports of cars (`HelloConfiguration.digest`). */
  readonly digest: string;
  /** Body of the command. */
  readonly body: Uint8Array;
  /** Who began it. */
  readonly caller: string;
  /** UTC ms. */
  readonly created: number;
  /** Cars of the first group. */
  readonly first: number;
  /** Cars that may return or refuse it before the roll-out stops by itself. */
  readonly tolerated: number;
}

export interface Rollout extends Omit<NewRollout, 'body'> {
  readonly stage: RolloutStage;
  /** Why it stopped. */
  readonly reason?: string;
  /** Cars by state. */
  readonly cars: Readonly<Record<RolloutCarState, number>>;
}

export interface RolloutCar {
  readonly vin: string;
  readonly isFirst: boolean;
  readonly state: RolloutCarState;
  /** Why, in words of the car. */
  readonly detail?: string;
  /** UTC ms of the hub: when the state was reported or the configuration was sent; absent: neither. */
  readonly at?: number;
}

/** A car that is to get the configuration now. */
export interface DueCar {
  readonly vin: string;
  readonly attempts: number;
  /** UTC ms since when it is time. */
  readonly due: number;
}

/** Last report of a car on its present configuration. */
export interface ReportedConfiguration {
  readonly vin: string;
  readonly generation: number;
  readonly state: string;
  readonly digest?: string;
  readonly detail?: string;
  /** UTC ms of the hub. */
  readonly at: number;
}

export interface RolloutStore {
  /**
   * Begins a roll-out with the cars of the fleet that were heard last as its first group; one of that fleet that goes on is
   * stopped. Rejects with `request.unknown` for a fleet without cars.
   */
  begin(rollout: NewRollout): Promise<void>;
  /** The newest first; `underWay`: without those that have stopped. */
  rollouts(only?: { readonly underWay: boolean }): Promise<readonly Rollout[]>;
  rollout(id: string): Promise<Rollout | undefined>;
  /** Body of its command. */
  body(id: string): Promise<Uint8Array | undefined>;
  /** By VIN, those after `after`; only those in the state, if one is given. */
  cars(id: string, after: string, limit: number, state?: RolloutCarState): Promise<readonly RolloutCar[]>;
  /** Resolves with false, and changes nothing, when the roll-out is not in the stage `from` any more. */
  setStage(
    id: string,
    from: RolloutStage,
    to: RolloutStage,
    more: { tolerated?: number; reason?: string },
  ): Promise<boolean>;
  /** Has cars take part that came to the fleet meanwhile. */
  enlist(id: string): Promise<void>;
  /** Cars with messages at `heard` or later that are due to get it at `now`, at most `limit`. */
  dueCars(id: string, now: number, heard: number, limit: number): Promise<readonly DueCar[]>;
  /** How many cars have it and have not reported what became of it, of those that were sent it at `since` or later. */
  underWay(id: string, now: number, since: number): Promise<number>;
  /** Resolves with false, and changes nothing, when another hub has just taken the car. */
  claim(id: string, car: DueCar, next: { command: string; at: number; due: number }): Promise<boolean>;
  /** One car that returned or refused it. */
  failure(id: string): Promise<RolloutCar | undefined>;
  /** Present reports of cars, by VIN, from the first VIN after `after` on. */
  configurations(after: string, limit: number): Promise<readonly ReportedConfiguration[]>;
}

/** Content of a message about a configuration that was sent. */
interface RolloutReport {
  readonly boot: number;
  readonly seq: number;
  readonly state: RolloutCarState;
  readonly detail: string | null;
  /** Digest of the configuration, or id of the command that brought it. */
  readonly digest?: string;
  readonly command?: string;
}

/** Undefined for a message that contains nothing about a sent configuration. */
export function rolloutReportIn({ kind, body, boot, seq }: Message): RolloutReport | undefined {
  if (kind === 'hello') {
    const { state, digest, detail = null } = body.configuration ?? {};
    if (digest === undefined || (state !== 'trial' && state !== 'applied' && state !== 'returned')) return undefined;
    return { boot, seq, state, detail, digest };
  }
  if (kind !== 'remote' || body.type !== 'Configuration') return undefined;
  const { status, remoteActionId: command, detail, failureCause } = body;
  if (status === 'Failed') return { boot, seq, state: 'refused', detail: detail ?? failureCause ?? null, command };
  return status === 'Success' ? { boot, seq, state: 'accepted', detail: null, command } : undefined;
}
