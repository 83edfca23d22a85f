import type { RemoteType } from '../../protocol/schema/remote.ts';
import type { Plan } from './plan.ts';
import type { Programs } from './programs.ts';
import type { Thefts, Tracking } from './tracking.ts';

/** The parts of the agent that kinds plan with. */
export interface Parts {
  readonly programs: Programs;
  readonly thefts: Thefts;
  readonly tracking: Tracking;
  /** What the people in the car keep to themselves, unless the car was declared stolen. */
  readonly hidden: () => 'nothing' | 'position' | 'everything';
  /** UTC ms. */
  readonly now: () => number;
}

/** One kind of remote command: what its body asks for. */
export interface RemoteKind {
  readonly type: RemoteType;
  /** Its states before it is sent to the car are not told (interface: Navigation). */
  readonly quiet?: true;
  /** Carried out although the car counts as stolen. */
  readonly whileStolen?: true;
  /** Carried out although privacy hides the car. */
  readonly whilePrivate?: true;
  /** Carried out with a service battery that is low. */
  readonly withLowBattery?: true;
  /** @throws VigieError `command.malformed` when the body does not follow the kind's schema and rules */
  plan(body: Uint8Array, parts: Parts): Plan;
}
