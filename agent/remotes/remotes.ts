import { DAY } from '../../protocol/calendar.ts';
import { type CommandBodyKind, encodeBody } from '../../protocol/command.ts';
import { attempt, type ErrorCode, VigieError } from '../../protocol/errors.ts';
import { fromHex, hex } from '../../protocol/hex.ts';
import type { CommandRule } from '../../protocol/profile.ts';
import type { RemoteKind } from '../../protocol/remote/kind.ts';
import { findRemoteKind, type RemoteType } from '../../protocol/remote/table.ts';
import { DEFAULT_ZONE } from '../../protocol/schema/monitor/schedule.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Channels } from '../model/channels.ts';
import type { StatusWriter } from '../model/mapping.ts';
import type { Status, StatusReader } from '../model/status.ts';
import type { Actuator, Clock, Memory } from '../ports.ts';
import { Schedule } from '../power/schedule.ts';
import { firstRefusal, hidden, type Order, SKEW } from './checks.ts';
import { CommandIntake, type CommandIntakeParts } from './command-intake.ts';
import type { Confirmations } from './confirmation.ts';
import { Execution } from './execution.ts';
import type { ActionRecord } from './ledger.ts';
import type { Plan, Refusal } from './plan.ts';
import { type EffectParts, groupsOf, planOf } from './planning.ts';
import { alwaysAwake, defaultLimits, type Limits, MONTH, type Power } from './power.ts';
import { Programs, type ScheduledCommand } from './programs.ts';
import type { Progress } from './reports.ts';
import { ScheduledCommands, type Waker } from './scheduled-commands.ts';
import { type Thefts, type Tracker, Tracking } from './tracking.ts';

/** Returns the reason why an agent without the necessary parts refuses this kind. */
function unsupported(type: CommandKind): string {
  if (type !== 'Configuration') return `this agent does not carry out ${type}`;
  return 'this car has no configuration file that could be replaced, as a car of vigie bench: run its agent with vigie run';
}

export interface RemotesOptions extends Omit<CommandIntakeParts, 'clock' | 'copied' | 'limits' | 'rate' | 'car'> {
  readonly rules: Readonly<Record<string, CommandRule>>;
  readonly actuator: Actuator;
  readonly status: StatusReader & Pick<Status, 'observe'>;
  readonly confirmations: Confirmations;
  readonly clock: Clock;
  /** Shows programs in Status. */
  readonly writer: StatusWriter;
  readonly thefts: Thefts;
  /** Tracks a stolen car. If omitted, tracking is refused. */
  readonly tracker?: Tracker | undefined;
  readonly channels?: Channels;
  /** Paths of Status and channels that the profile feeds. */
  readonly fed: ReadonlySet<string>;
  readonly power?: Power;
  readonly limits?: Partial<Limits>;
  /** Time zone of programs, a name of the IANA database. */
  readonly zone?: string;
  /** Store of the ledger's copy. */
  readonly memory?: Pick<Memory, 'recall' | 'damaged'>;
  /** Commits the copy to disk, with all other waiting changes. */
  readonly commit?: () => Promise<void>;
  readonly waker?: Waker;
}

const BEFORE_SENT: ReadonlySet<RemoteStatus> = new Set(['Accepted', 'WakingUpVehicle']);

/**
 * Carries out signed commands and the commands that they scheduled, each at most once. Every state is on disk before it
 * is published, and published before the next step. checks.ts defines the order of the checks.
 */
export class Remotes {
  readonly intake: CommandIntake;
  readonly #o: RemotesOptions;
  readonly #limits: Limits;
  readonly #power: Power;
  readonly #parts: EffectParts;
  readonly #schedule = new Schedule();
  readonly #execution: Execution;
  /** Kinds and groups of actions in progress, with the command. */
  readonly #running = new Map<string, string>();
  readonly #scheduled: ScheduledCommands;

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
    this.intake = new CommandIntake({
      ...options,
      copied: options.memory !== undefined,
      limits: this.#limits,
      car: {
        commandArrived: () => this.#power.stayAwake?.(),
        unsupported: (type) => (findRemoteKind(type) === undefined ? unsupported(type) : undefined),
        unreported: (type) => (findRemoteKind(type)?.quiet === true ? BEFORE_SENT : new Set()),
        carryOut: (order, progress) => this.#carryOut(order, progress),
      },
    });
    this.#execution = new Execution({ ...options, power: this.#power, reports: this.intake.reports });
    this.#scheduled = new ScheduledCommands({
      ...this.#parts,
      schedule: this.#schedule,
      clock,
      log: options.log,
      waker: options.waker,
      timeKnown: () => this.#timeKnown(),
      carryOut: this.#runScheduled,
      asleep: () => this.#power.asleep?.() === true,
    });
    if (options.memory !== undefined) ledger.recall(options.memory);
    this.#restore(ledger.kept);
    ledger.keep(() => this.#kept());
  }

  /** Returns the state for {@link Memory}. */
  states(): Iterable<readonly [key: string, value: unknown]> {
    return this.#o.ledger.states();
  }

  /**
   * Accepts no more commands and completes none: commands in progress keep the state that is on disk, and the next
   * start completes them according to the Status of the car.
   */
  stop(): void {
    this.intake.stop();
    this.#o.confirmations.stop();
    this.#scheduled.stop();
  }

  /** Resolves when no write is in progress any more. */
  async settled(): Promise<void> {
    await this.intake.reports.settled();
  }

  /** Called when the unit fell asleep or woke: adapts the schedule's interval. */
  rested(): void {
    this.#scheduled.arm();
  }

  /**
   * Completes the open commands of an earlier run, without doing anything to the car: a sent command is done if the car
   * shows the result in time; all others failed. Then starts the schedule.
   */
  async resume(): Promise<void> {
    const { ledger } = this.#o;
    // Later commands do not belong to the previous run.
    const unfinished = ledger.unfinished();
    const unreported = ledger.unreported();
    for (const record of unfinished) this.#occupy(record, this.#planOf(record));
    await this.intake.guarded(async () => {
      await this.intake.makeUp();
      await ledger.mark(this.#o.commit);
      if (ledger.behind) await ledger.write();
    });
    // A schedule that starts after `stop` would keep the process from ending.
    if (this.intake.reports.stopped) return;
    this.#scheduled.start();
    for (const record of unreported) await this.intake.reports.publish(this.intake.progress(record));
    await Promise.all(unfinished.map((record) => this.#settle(record)));
  }

  async #settle(record: ActionRecord): Promise<void> {
    const progress = this.intake.progress(record);
    const plan = this.#planOf(record);
    try {
      const sent = record.status === 'SentToVehicle' && plan !== undefined;
      if (sent && (await this.#execution.shown(plan))) await this.intake.reports.advance(progress, 'Success');
      else {
        const detail = 'the agent was restarted before the car had confirmed';
        await this.intake.reports.fail(progress, { code: 'command.interrupted', detail });
      }
    } finally {
      this.#release(record);
    }
  }

  /** Blocks the command's groups until it has ended. */
  #occupy({ id, type }: ActionRecord, plan: Plan | undefined): void {
    for (const group of groupsOf(type, plan)) this.#running.set(group, id);
  }

  #release({ id }: ActionRecord): void {
    for (const [group, running] of this.#running) if (running === id) this.#running.delete(group);
  }

  #planOf({ type, body, action }: ActionRecord): Plan | undefined {
    const kind = findRemoteKind(type);
    if (kind === undefined || body === undefined) return action === '' ? undefined : { actions: [action], effects: [] };
    const plan = attempt(() => planOf(kind, fromHex(body), this.#parts));
    return plan instanceof VigieError ? undefined : plan;
  }

  async #carryOut(order: Order, accepted: Progress): Promise<void> {
    const { id, type, body } = order;
    const { ledger, log } = this.#o;
    const kind = findRemoteKind(type);
    if (kind === undefined) return;
    let progress = accepted;
    const fail = (refusal: Refusal): Promise<void> => this.intake.reports.fail(progress, refusal);
    const plan = attempt(() => planOf(kind, body, this.#parts));
    const unsound = firstRefusal('body', { plan });
    if (unsound !== undefined || plan instanceof VigieError) return fail(unsound as Refusal);
    const missing = firstRefusal('profile', { missing: this.#execution.missing(plan) });
    if (missing !== undefined) return fail(missing);
    const { ignored: member } = plan;
    if (member !== undefined) log.info('command.deprecated', { id, type, member });
    const blank = accepted.record;
    progress = { ...accepted, record: { ...blank, action: plan.actions.join(), body: hex(body) } };
    const refusal = this.#refusal(order, kind, plan);
    if (refusal !== undefined) return fail(refusal);
    this.#occupy(blank, plan);
    try {
      const now = this.#o.clock.now();
      if (!order.own) ledger.accept({ type, at: now }, now - DAY);
      const { status, thefts } = this.#o;
      const allowed = (interlocks: Refusal | undefined): Refusal | undefined =>
        firstRefusal('step', { ...this.intake.timeliness(order), interlocks, kind, status, thefts });
      progress = await this.#execution.run(progress, plan, allowed, (at) => ledger.wake(at, at - MONTH));
    } catch (error) {
      const code: ErrorCode = error instanceof VigieError ? error.code : 'command.interrupted';
      await fail({ code, detail: (error as Error).message });
    } finally {
      this.#release(blank);
      this.#scheduled.arm();
    }
  }

  /** Returns the reason why the state of the car forbids the command, or undefined. */
  #refusal(order: Order, kind: RemoteKind<RemoteType>, plan: Plan): Refusal | undefined {
    const { ledger, clock, status, thefts } = this.#o;
    const running = groupsOf(order.type, plan).map((group) => this.#running.get(group));
    return firstRefusal('car', {
      kind,
      order,
      other: running.find((command) => command !== undefined),
      ledger,
      limits: this.#limits,
      awake: this.#power.awake(plan.actions),
      now: clock.now(),
      status,
      thefts,
    });
  }

  /** Carries out a command of a program under its own id, at most once, like any command. */
  readonly #runScheduled = ({ type, body, window }: ScheduledCommand, id: string, due: number): void => {
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
    void this.intake.guarded(async () => {
      const { ledger, log } = this.#o;
      await this.intake.makeUp();
      if (ledger.find(id) !== undefined) return;
      // The due time is from the car's own clock: add the skew that the end of the lost period includes.
      if (ledger.forgot(due + SKEW)) {
        log.warn('program.skipped', { id, type });
        return;
      }
      this.#power.stayAwake?.('program');
      await this.#parts.programs.runs.during(type, () => this.intake.carryOut(order, [type]));
    });
  };

  #kept(): Readonly<Record<string, unknown>> {
    const { programs, tracking } = this.#parts;
    return { programs: programs.state(), schedule: this.#schedule.state(), tracking: tracking.state() };
  }

  #restore({ programs, schedule, tracking }: Readonly<Record<string, unknown>>): void {
    const fault = attempt(() => schedule === undefined || this.#schedule.restore(schedule));
    if (fault instanceof VigieError) {
      this.#o.log.warn('program.unreadable', { error: fault.message });
      return;
    }
    this.#parts.programs.restore(programs);
    this.#parts.tracking.restore(tracking);
  }

  #timeKnown(): boolean {
    return this.#o.quality() !== 'none';
  }
}
