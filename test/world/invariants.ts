/** Invariants of every world, one sentence each. */
export const INVARIANTS = {
  kept: 'Every message that was acknowledged to a car is at the hub.',
  committed: 'The hub acknowledges a message, or bytes that are not one, only when they are in its database.',
  once: 'The hub has each message once, with the bytes that the car sent.',
  numbered: 'Every number of every class arrived at the hub or is in a gap message that arrived.',
  oneContent: 'No number has two contents.',
  actsOnce: 'No command acts twice.',
  actsKnown: 'Nothing acts but a command that is on its way.',
  actsInTime: 'No command acts late.',
  actsSigned: 'No command acts that is not signed by a key the car trusts, for this car.',
  actsTrusted: 'No command is accepted or acts that came before its key was added or after it was revoked.',
  actsSafely: 'No command acts against an interlock.',
  accepts: 'No command is accepted with a faulty body or a battery that is low.',
  refused: 'No command is refused for a reason that does not hold.',
  lossLogged: 'No gap message reports a loss that the car has not logged.',
  success: 'A command ends with Success only when the car shows its result.',
  alreadyDone:
    'A command ends with AlreadyDone only if it did not act, and with Success only if it did, unless it was interrupted.',
  oneEnd: 'A command ends in one way, however often it is asked for.',
  answered: 'Every command that comes signed by a trusted key, with a counter that the car remembers, is answered.',
  repeats: 'The end of a command that comes again is reported once, and then once a minute at most.',
  sentOnce: 'What was acknowledged is not sent again after the agent was killed.',
  ends: 'Every command that the car has accepted ends: its end, or a gap message with its number, is told.',
  programs: 'What a command has planned is done when it is due: not early, not late, not unplanned.',
  planned: 'What a command has planned ends, once it was due.',
  delivered: 'Every event of a monitor is delivered to its receiver, or its end is recorded.',
  deliveredOnce: 'What a receiver has taken is not sent to it again in the same run.',
  hubDelivered: 'Every event and state of a command at the hub is delivered to its callback, or its end is recorded.',
  hubDeliveredOnce: 'What a receiver of the hub has taken is not sent to it again by the same hub.',
  exits: 'Once all is quiet, the receiver of an exit has accepted or refused every record of the car.',
  exitOrder: 'An exit sends records in their order, and in a run none again that its receiver has confirmed.',
  exitContents: 'No number of a record has two contents at the receiver of an exit.',
  monitors: 'What somebody has set up in a car stays: monitors are as the car has answered.',
  monitorList: 'The newest list of monitors at the hub is that of the car, once all is quiet.',
  fleet: 'Once all is quiet, a car has the monitors that the hub was given for it, and no other of them.',
  catalogs: 'Every reading of a custom signal that arrived names a catalog that arrived, once all is quiet.',
  values: 'Every value of a custom signal that arrived is one that the car had then, under its name.',
  collections: 'A collection runs from the Success of its command until its end, over power cuts, and no longer.',
  status: 'Status at the hub is Status in the car, once all is quiet.',
  private: 'No value of a private time is in a message, a record, the log or on the disk.',
  bounded: 'What waits in a car is bounded.',
  configuration: 'A car keeps the newest configuration that it has accepted, unless that does not work.',
  rollout: 'A roll-out that too many cars do not keep stops, and the hub knows what each car keeps.',
  stops: 'An orderly stop ends in time, begins no action, and leaves every message on disk.',
  rests: 'Every world comes to rest: nothing waits, and nothing is missing at the hub.',
  untouched: 'A start renames and removes no file because the disk does not return it.',
  sound: 'No part of an agent or of the hub fails by a defect.',
} as const;
export type Invariant = keyof typeof INVARIANTS;

export interface Breach {
  /** World time, ms. */
  readonly at: number;
  readonly invariant: Invariant;
  /** Description of the breach. */
  readonly detail: string;
}

/** Maximum number of recorded breaches. Further ones, mostly of the same cause, add no information. */
const MOST = 20;

export class Breaches {
  readonly all: Breach[] = [];
  readonly #now: () => number;
  readonly #told: (breach: Breach) => void;

  constructor(now: () => number, told: (breach: Breach) => void) {
    this.#now = now;
    this.#told = told;
  }

  add(invariant: Invariant, detail: string): void {
    if (this.all.length >= MOST) return;
    const breach = { at: this.#now(), invariant, detail };
    this.all.push(breach);
    this.#told(breach);
  }
}
