/** Roll-outs of configurations in the database that all hubs share: what each car received, and what it reported. */
import type { RolloutCarState, RolloutStage } from '../../protocol/interface/own/rollouts.ts';
import type { Message } from '../../protocol/schema/message.ts';

export interface NewRollout {
  readonly id: string;
  readonly fleet: string;
  /** Name of the file, for display. */
  readonly name: string;
  /** Digest in the reports of cars (`HelloConfiguration.digest`). */
  readonly digest: string;
  /** Body of the command. */
  readonly body: Uint8Array;
  /** Caller who began the roll-out. */
  readonly caller: string;
  /** UTC ms. */
  readonly created: number;
  /** Number of cars in the first group. */
  readonly first: number;
  /** Number of cars that may return to the previous configuration or refuse this one before the roll-out stops. */
  readonly tolerated: number;
}

export interface Rollout extends Omit<NewRollout, 'body'> {
  readonly stage: RolloutStage;
  /** Reason why the roll-out stopped. */
  readonly reason?: string;
  /** Number of cars by state. */
  readonly cars: Readonly<Record<RolloutCarState, number>>;
}

export interface RolloutCar {
  readonly vin: string;
  readonly isFirst: boolean;
  readonly state: RolloutCarState;
  /** Reason reported by the car. */
  readonly detail?: string;
  /** UTC ms of the hub when the state was reported or the configuration was sent. Omitted if neither happened. */
  readonly at?: number;
}

/** A car that is due to receive the configuration. */
export interface DueCar {
  readonly vin: string;
  readonly attempts: number;
  /** Due time in UTC ms. */
  readonly due: number;
}

/** Last report of a car about its present configuration. */
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
   * Begins a roll-out. The cars of the fleet that sent messages most recently are its first group. Stops a roll-out
   * of the same fleet that is not finished. Rejects with `request.unknown` for a fleet without cars.
   */
  begin(rollout: NewRollout): Promise<void>;
  /** Returns the roll-outs, newest first; if `underWay` is true, without stopped ones. */
  rollouts(only?: { readonly underWay: boolean }): Promise<readonly Rollout[]>;
  rollout(id: string): Promise<Rollout | undefined>;
  /** Body of the command of a roll-out. */
  body(id: string): Promise<Uint8Array | undefined>;
  /** Cars with a VIN after `after`, sorted by VIN; if `state` is set, only cars in that state. */
  cars(id: string, after: string, limit: number, state?: RolloutCarState): Promise<readonly RolloutCar[]>;
  /** Sets the stage. Resolves with false and changes nothing if the stage is no longer `from`. */
  setStage(
    id: string,
    from: RolloutStage,
    to: RolloutStage,
    more: { tolerated?: number; reason?: string },
  ): Promise<boolean>;
  /** Adds cars that have joined the fleet meanwhile to the roll-out. */
  enlist(id: string): Promise<void>;
  /**
   * Returns at most `limit` cars that are due at `now` and have sent messages at `heard` or later. This includes cars that
   * accepted the configuration before `trialSince` and then reported another one, for example with a new folder.
   */
  dueCars(
    id: string,
    now: number,
    since: { readonly heard: number; readonly trialSince: number },
    limit: number,
  ): Promise<readonly DueCar[]>;
  /** Number of cars in state `sent` that are not yet due again, or in trial or accepted since `since`. */
  underWay(id: string, now: number, since: number): Promise<number>;
  /** Claims the car. Resolves with false and changes nothing if another hub has just claimed it. */
  claim(id: string, car: DueCar, next: { command: string; at: number; due: number }): Promise<boolean>;
  /** Records that a claimed command cannot be signed for the car. Changes nothing after a report of the car. */
  refuse(id: string, vin: string, command: string, detail: string, at: number): Promise<void>;
  /** Returns one car that returned to the previous configuration or refused the new one. */
  failure(id: string): Promise<RolloutCar | undefined>;
  /** Present reports of cars with a VIN after `after`, sorted by VIN, at most `limit`. */
  configurations(after: string, limit: number): Promise<readonly ReportedConfiguration[]>;
}

/** Contents of a message about a configuration that was sent. */
interface RolloutReport {
  readonly boot: number;
  readonly seq: number;
  readonly state: RolloutCarState;
  readonly detail: string | null;
  /** Digest of the configuration, or id of the command that contained it. */
  readonly digest?: string;
  readonly command?: string;
}

/** Returns the report about a sent configuration, or undefined if the message contains no such report. */
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
