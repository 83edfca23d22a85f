import { type Channel, channelByPath } from '../../../protocol/channels.ts';
import { type CollisionSeverity, type CollisionSide, collisionSeverities } from '../../../protocol/schema/collision.ts';
import type { SlotValue } from '../../../protocol/slots.ts';

const channel = (path: string): Channel => channelByPath.get(path) as Channel;
const detected = channel('collision.detected');
const side = channel('collision.side');
const severity = channel('collision.severity');
const tippedOver = channel('collision.tippedOver');
const pedestrian = channel('collision.pedestrian');
const reported: ReadonlySet<Channel> = new Set([detected, side, severity, tippedOver, pedestrian]);

/** Side and severity of an impact, if known. */
export interface Impact {
  readonly side?: CollisionSide;
  readonly severity?: CollisionSeverity;
}

/** Change of the car's report by one frame. */
interface ReportChange {
  /** True if the car reports a crash for the first time. */
  readonly declared: boolean;
  /** True if the car reports a crash in this frame or did so before. */
  readonly standing: boolean;
  /** True if the report has another side or a worse severity than before. */
  readonly named: boolean;
  /** Present side and severity; empty if neither is new. */
  readonly impact: Impact;
  readonly tippedOver: boolean;
  readonly pedestrian: boolean;
}

/**
 * The car's own report of a crash. Signals of one frame belong together, so changes are collected until its end. The
 * report survives a restart: a car that repeats it has not crashed again.
 */
export class CrashReport {
  readonly #said = new Map<Channel, SlotValue>();
  readonly #heard = new Map<Channel, SlotValue | undefined>();

  /** Returns true if the channel is part of the report; `value` is undefined if the car reports none. */
  take(part: Channel, value: SlotValue | undefined): boolean {
    if (!reported.has(part)) return false;
    this.#heard.set(part, value);
    return true;
  }

  /** Call when the frame is complete. Returns its changes, or undefined. */
  settle(): ReportChange | undefined {
    const heard = this.#heard;
    if (heard.size === 0) return undefined;
    const before = new Map(this.#said);
    for (const [part, value] of heard) {
      if (value === undefined) this.#said.delete(part);
      else this.#said.set(part, value);
    }
    heard.clear();
    const rose = (flag: Channel): boolean => this.#said.get(flag) === true && before.get(flag) !== true;
    const [where, hardness] = [this.#said.get(side), this.#said.get(severity)];
    const declared = rose(detected);
    const named =
      (where !== undefined && where !== before.get(side)) ||
      severityRank(hardness) > severityRank(before.get(severity));
    return {
      declared,
      standing: this.#said.get(detected) === true,
      named,
      impact: {
        ...((declared || named) && where !== undefined ? { side: where as CollisionSide } : {}),
        ...((declared || named) && hardness !== undefined ? { severity: hardness as CollisionSeverity } : {}),
      },
      tippedOver: rose(tippedOver),
      pedestrian: rose(pedestrian),
    };
  }

  /** Returns the report by path of the channel. */
  state(): Readonly<Record<string, SlotValue>> {
    return Object.fromEntries([...this.#said].map(([{ path }, value]) => [path, value]));
  }

  restore(said: Readonly<Record<string, SlotValue>>): void {
    for (const [path, value] of Object.entries(said)) {
      const part = channelByPath.get(path);
      if (part !== undefined && reported.has(part)) this.#said.set(part, value);
    }
  }
}

/** Returns the rank of a severity: the schema lists them in ascending order; an unknown one ranks below them. */
export function severityRank(value: SlotValue | undefined): number {
  return collisionSeverities.indexOf(value as CollisionSeverity);
}
