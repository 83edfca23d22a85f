import { DAY } from '../../protocol/calendar.ts';
import type { CommandBodyKind, OpenedCommand } from '../../protocol/command.ts';
import { encodeBody } from '../../protocol/command.ts';
import { type ErrorCode, VigieError } from '../../protocol/errors.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { DEFAULT_ZONE } from '../../protocol/schema/monitor/schedule.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Channels } from '../channels.ts';
import type { StatusWriter } from '../mapping.ts';
import type { Actuator, Clock, Log, Memory, Publisher, SignatureVerifier } from '../ports.ts';
import type { CommandRule } from '../profile.ts';
import { Schedule } from '../schedule.ts';
import type { Status, StatusReader } from '../status.ts';
import { admit, attempt, fromHex, hex, logUnanswered, open } from './admission.ts';
import { type Affair, failureOf } from './affair.ts';
import { ignoredMember } from './body.ts';
import { carRefuses, hidden, late, powerRefuses, rateRefuses, SKEW } from './checks.ts';
import type { Confirmations } from './confirmation.ts';
import { Errands, type Waker } from './errands.ts';
import { Execution } from './execution.ts';
import type { Parts, RemoteKind } from './kind.ts';
import type { ActionRecord, Ledger } from './ledger.ts';
import { groupsOf, type Plan, type Refusal } from './plan.ts';
import { alwaysAwake, defaultLimits, type Limits, MONTH, type Power } from './power.ts';
import { type Errand, Programs } from './programs.ts';
import { type Progress, Reports } from './reports.ts';
import { type Thefts, type Tracker, Tracking } from './tracking.ts';

export interface RemotesOptions {
  readonly vin: string;
  readonly kinds: readonly RemoteKind[];
  readonly rules: Readonly<Record<string, CommandRule>>;
  readonly actuator: Actuator;
  readonly verifier: SignatureVerifier;
  readonly ledger: Ledger;
  readonly status: StatusReader & Pick<Status, 'observe'>;
  readonly confirmations: Confirmations;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly quality: () => ClockQuality;
  readonly log: Log;
  /** Shows programs in Status. */
  readonly writer: StatusWriter;
  readonly thefts: Thefts;
  /** Follows a stolen car; without it that is refused. */
  readonly tracker?: Tracker | undefined;
  readonly channels?: Channels;
  /** Paths of Status and channels that the profile feeds. */
  readonly fed: ReadonlySet<string>;
  readonly power?: Power;
  readonly limits?: Partial<Limits>;
  /** Time zone of programs, a name of the IANA data base. */
  readonly zone?: string;
  /** Where the copy of the ledger is kept. */
  readonly memory?: Pick<Memory, 'recall' | 'damaged'>;
  /** Puts the copy on disk, with all else that waits. */
  readonly commit?: () => Promise<void>;
  readonly waker?: Waker;
  /** Commands that are the agent's own affair, by kind. */
  readonly affairs?: ReadonlyMap<CommandKind, Affair>;
}

const BEFORE_SENT: ReadonlySet<RemoteStatus> = new Set(['Accepted', 'WakingUpVehicle']);

/** A command, from a sender or from the schedule. */
interface Order {
  readonly id: string;
  readonly type: CommandKind;
  readonly body: Uint8Array;
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
  readonly correlation: Uint8Array | undefined;
  /** It comes from the car itself. */
  readonly own: boolean;
}

/**
 * Carries out signed commands and what they have planned, each at most once. Every state is on disk before it is
 * published, and published before the next step is taken. docs/commands.md has the order of the checks.
 */
export class Remotes {
  /** Messages that were no command of a trusted key. They are never answered. */
  unsigned = 0;
  readonly #o: RemotesOptions;
  readonly #limits: Limits;
  readonly #power: Power;
  readonly #parts: Parts;
  readonly #schedule = new Schedule();
  readonly #reports: Reports;
  readonly #execution: Execution;
  /** Kinds and groups of actions in progress, with the command. */
  readonly #running = new Map<string, string>();
  readonly #errands: Errands;

  constructor(options: RemotesOptions) {
    this.#o = options;
    const { ledger, clock, status, writer, thefts, tracker, channels, zone = DEFAULT_ZONE } = options;
    if (channels !== undefined) options.confirmations.hear(channels);
    const now = (): number => clock.now();
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#power = options.power ?? alwaysAwake;
    this.#parts = {
      programs: new Programs({ schedule: this.#schedule, writer, status, zone, now }),
      thefts,
      tracking: new Tracking(thefts, tracker),
      hidden: () => hidden({ status, thefts }),
      now,
    };
    this.#reports = new Reports({ ...options, copied: options.memory !== undefined });
    this.#execution = new Execution({ ...options, power: this.#power, reports: this.#reports });
    this.#errands = new Errands({
      ...this.#parts,
      schedule: this.#schedule,
      clock,
      log: options.log,
      waker: options.waker,
      timeKnown: () => this.#timeKnown(),
      carryOut: this.#runErrand,
      asleep: () => this.#power.asleep?.() === true,
    });
    if (options.memory !== undefined) ledger.recall(options.memory);
    this.#restore(ledger.kept);
    ledger.keep(() => this.#kept());
  }

  /** State for {@link Memory}. */
  states(): Generator<readonly [key: string, value: unknown]> {
    return this.#o.ledger.states();
  }

  /**
   * Takes no more commands and settles none: what is under way keeps the state that is on disk, and the next start
   * settles it by what the car shows then.
   */
  stop(): void {
    this.#reports.stop();
    this.#o.confirmations.stop();
    this.#errands.stop();
  }

  /** Resolves when nothing is being written any more. */
  async settled(): Promise<void> {
    await this.#reports.settled();
  }

  /** The unit fell asleep or woke: the schedule is looked at accordingly. */
  rested(): void {
    this.#errands.arm();
  }

  /** A command that says it is signed for this car; undefined, and counted, for any other message. */
  open(payload: Uint8Array): OpenedCommand | undefined {
    const opened = open(payload, this.#o);
    if (!('code' in opened)) return opened;
    this.#leaveUnanswered(opened);
    return undefined;
  }

  /** A message of a down topic. Never rejects. */
  async receive(payload: Uint8Array, correlation?: Uint8Array): Promise<void> {
    const opened = this.open(payload);
    if (opened !== undefined) await this.take(opened, correlation);
  }

  /** A command that {@link open} gave; `crowded`: too many wait, and it is only answered. Never rejects. */
  async take(opened: OpenedCommand, correlation?: Uint8Array, crowded = false): Promise<void> {
    if (this.#reports.stopped) return;
    await this.#guarded(async () => {
      const admitted = admit(opened, this.#o.verifier);
      if ('code' in admitted) {
        this.#leaveUnanswered(admitted);
        return;
      }
      const { command, key, rights } = admitted;
      const { id, kind: type, body, issued, expires } = command;
      const order: Order = { id, type, body, issued, expires, correlation, own: false };
      // From here to the first state on record nothing else is let in: two may come at once under one id.
      if (this.#o.ledger.find(id) === undefined) await this.#makeUp();
      const known = this.#o.ledger.find(id);
      if (known !== undefined) {
        // The same command again gets the same answer, and nothing is done.
        if (!crowded) await this.#reports.tell(this.#progress(known, correlation));
        return;
      }
      if (this.#o.ledger.forgot(issued) || !this.#o.ledger.use(key, command.counter)) {
        // Not answered: the ledger may have forgotten this id, and whoever kept an old message must not be able to
        // make the car contradict what it once said about it.
        this.#leaveUnanswered({ code: 'command.replayed', detail: `${id}: its counter was used, or may have been` });
        return;
      }
      this.#power.spokenTo?.();
      await this.#carryOut(order, rights, crowded);
    });
  }

  /**
   * Settles what an earlier run left open, without doing anything to the car: what had been sent is done if the car
   * shows it in time, everything else failed. From then on the schedule is carried out.
   */
  async resume(): Promise<void> {
    const { ledger } = this.#o;
    // What is begun from now on is not of the earlier run.
    const unfinished = ledger.unfinished();
    const untold = ledger.untold();
    for (const record of unfinished) this.#occupy(record, this.#planOf(record));
    await this.#guarded(async () => {
      await this.#makeUp();
      await ledger.mark(this.#o.commit);
      if (ledger.behind) await ledger.write();
    });
    // A schedule that begins after `stop` would keep the process from ending.
    if (this.#reports.stopped) return;
    this.#errands.start();
    for (const record of untold) await this.#reports.tell(this.#progress(record));
    await Promise.all(unfinished.map((record) => this.#settle(record)));
  }

  async #settle(record: ActionRecord): Promise<void> {
    const progress = this.#progress(record);
    const plan = this.#planOf(record);
    try {
      const sent = record.status === 'SentToVehicle' && plan !== undefined;
      if (sent && (await this.#execution.shown(plan))) await this.#reports.advance(progress, 'Success');
      else {
        const detail = 'the agent was restarted before the car had confirmed';
        await this.#reports.fail(progress, { code: 'command.interrupted', detail });
      }
    } finally {
      this.#release(record);
    }
  }

  /** The same is not begun until this has ended. */
  #occupy({ id, type }: ActionRecord, plan: Plan | undefined): void {
    for (const group of groupsOf(type, plan)) this.#running.set(group, id);
  }

  #release({ id }: ActionRecord): void {
    for (const [group, running] of this.#running) if (running === id) this.#running.delete(group);
  }

  #planOf({ type, body, action }: ActionRecord): Plan | undefined {
    const kind = this.#o.kinds.find((candidate) => candidate.type === type);
    if (kind === undefined || body === undefined) return action === '' ? undefined : { actions: [action], effects: [] };
    const plan = attempt(() => kind.plan(fromHex(body), this.#parts));
    return plan instanceof VigieError ? undefined : plan;
  }

  async #carryOut(order: Order, rights: readonly string[], crowded = false): Promise<void> {
    const { id, type, body } = order;
    const { kinds, ledger, log } = this.#o;
    const kind = kinds.find((candidate) => candidate.type === type);
    const blank: ActionRecord = { id, type, action: '', status: 'Accepted', at: this.#o.clock.now() };
    let progress = this.#progress(blank, order.correlation);
    const fail = (refusal: Refusal): Promise<void> => this.#reports.fail(progress, refusal);
    if (!rights.includes(type)) return fail({ code: 'command.forbidden', detail: `the key has no right to ${type}` });
    if (crowded) return fail({ code: 'command.tooFast', detail: 'too many commands wait already' });
    const affair = this.#o.affairs?.get(type);
    if (kind === undefined && affair === undefined) {
      return fail(unsupported(`this agent does not carry out ${type}`));
    }
    const tooLate = this.#late(order);
    if (tooLate !== undefined) return fail(tooLate);
    if (affair !== undefined) return this.#attend(affair, body, progress);
    if (kind === undefined) return;
    const plan = attempt(() => kind.plan(body, this.#parts));
    if (plan instanceof VigieError) return fail({ code: plan.code, detail: plan.message });
    const missing = this.#execution.missing(plan);
    if (missing !== undefined)
      return fail(unsupported(`the vehicle profile has no ${missing}, or no bus to send it on`));
    const ignored = ignoredMember(type as CommandBodyKind, body);
    if (ignored !== undefined) log.info('a deprecated member has no effect', { id, type, member: ignored });
    progress = this.#progress({ ...blank, action: plan.actions.join(), body: hex(body) }, order.correlation);

    const running = groupsOf(type, plan).map((group) => this.#running.get(group));
    const other = running.find((command) => command !== undefined);
    if (other !== undefined) return fail({ code: 'command.busy', detail: `command ${other} is in progress` });
    const refusal = this.#refusal(order, kind, plan);
    if (refusal !== undefined) return fail(refusal);
    this.#occupy(blank, plan);
    try {
      const now = this.#o.clock.now();
      if (!order.own) ledger.accept({ type, at: now }, now - DAY);
      // What the car as a whole forbids may have changed on the way, a theft declared: it is asked again before each step.
      const stillAllowed = (): Refusal | undefined => this.#late(order) ?? carRefuses(kind, this.#o);
      progress = await this.#execution.run(progress, plan, stillAllowed, (at) => ledger.wake(at, at - MONTH));
    } catch (error) {
      const code: ErrorCode = error instanceof VigieError ? error.code : 'command.interrupted';
      await fail({ code, detail: (error as Error).message });
    } finally {
      this.#release(blank);
      this.#errands.arm();
    }
  }

  /** Carries out what does not concern the car: neither its state nor its battery is asked. */
  async #attend(affair: Affair, body: Uint8Array, progress: Progress): Promise<void> {
    try {
      // A counter that is not marked on disk would let the same happen again after a power cut.
      this.#o.ledger.set(progress.record);
      await this.#o.ledger.write();
      await affair(body, this.#o.clock.now());
    } catch (error) {
      await this.#reports.fail(progress, { code: failureOf(error), detail: (error as Error).message });
      return;
    }
    await this.#reports.advance(progress, 'Success');
  }

  /** Checks of the car as a whole, in their order. */
  #refusal(order: Order, kind: RemoteKind, { actions }: Plan): Refusal | undefined {
    const { ledger, clock } = this.#o;
    const now = clock.now();
    const awake = this.#power.awake(actions);
    return (
      (order.own ? undefined : rateRefuses(kind, ledger, this.#limits, now)) ??
      carRefuses(kind, this.#o) ??
      powerRefuses(kind, { ...this.#o, limits: this.#limits, awake, now })
    );
  }

  #late(order: Order): Refusal | undefined {
    return late(order, this.#limits.validity, this.#o.clock.now(), this.#o.quality());
  }

  /** Carries out what a program has come to, by an id of its own: at most once, as any command. */
  readonly #runErrand = ({ type, body, window }: Errand, id: string, due: number): void => {
    const bytes = encodeBody(type as CommandBodyKind, body);
    const order: Order = {
      id,
      type,
      body: bytes,
      issued: due,
      expires: due + window,
      correlation: undefined,
      own: true,
    };
    void this.#guarded(async () => {
      const { ledger, log } = this.#o;
      await this.#makeUp();
      if (ledger.find(id) !== undefined) return;
      // The clock that it is due by is the same that says from when on nothing is lost.
      if (ledger.forgot(due + SKEW)) {
        log.warn('a program is not carried out: whether it was is not known any more', { id, type });
        return;
      }
      this.#power.spokenTo?.('program');
      await this.#parts.programs.runs.during(type, () => this.#carryOut(order, [type]));
    });
  };

  #progress(record: ActionRecord, correlation?: Uint8Array): Progress {
    const quiet = this.#o.kinds.find(({ type }) => type === record.type)?.quiet === true;
    return { record, correlation, untold: quiet ? BEFORE_SENT : new Set() };
  }

  #kept(): Readonly<Record<string, unknown>> {
    const { programs, tracking } = this.#parts;
    return { programs: programs.state(), schedule: this.#schedule.state(), tracking: tracking.state() };
  }

  #restore({ programs, schedule, tracking }: Readonly<Record<string, unknown>>): void {
    const fault = attempt(() => schedule === undefined || this.#schedule.restore(schedule));
    if (fault instanceof VigieError) {
      this.#o.log.warn('programs cannot be read and are forgotten', { error: fault.message });
      return;
    }
    this.#parts.programs.restore(programs);
    this.#parts.tracking.restore(tracking);
  }

  /** A ledger that has lost something stays so on disk until it is known from when on nothing is lost. */
  async #makeUp(): Promise<void> {
    const { ledger, clock } = this.#o;
    if (!ledger.doubtful) return;
    if (this.#timeKnown()) ledger.settle(clock.now() + SKEW);
    await ledger.write();
  }

  #timeKnown(): boolean {
    return this.#o.quality() !== 'none';
  }

  #leaveUnanswered(refusal: Refusal): void {
    this.unsigned++;
    logUnanswered(this.#o.log, refusal);
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#o.log.error('a command ended in an error', { error: (error as Error).message });
    }
  }
}

const unsupported = (detail: string): Refusal => ({ code: 'command.unsupported', detail });
