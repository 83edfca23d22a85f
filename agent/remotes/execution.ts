import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { CommandRule } from '../../protocol/profile.ts';
import { BrokenOff } from '../actuators.ts';
import type { Channels } from '../model/channels.ts';
import type { StatusReader } from '../model/status.ts';
import type { ActionParameters, Actuator, Clock } from '../ports.ts';
import type { Confirmations } from './confirmation.ts';
import { diagnose, endsOf } from './diagnosis.ts';
import { refuses } from './interlocks.ts';
import type { Plan, Refusal } from './plan.ts';
import { defaultLimits, type Limits, type Power } from './power.ts';
import type { Progress, Reports } from './reports.ts';

interface ExecutionParts {
  readonly rules: Readonly<Record<string, CommandRule>>;
  readonly actuator: Actuator;
  readonly status: StatusReader;
  readonly channels?: Channels;
  readonly fed: ReadonlySet<string>;
  readonly confirmations: Confirmations;
  readonly clock: Clock;
  readonly power: Power;
  readonly limits?: Partial<Limits>;
  readonly reports: Reports;
}

/** Returns the reason why the next step must not be taken, or undefined. */
type StepCheck = (interlocks: Refusal | undefined) => Refusal | undefined;

/** Interval in ms between checks of the readings while the car wakes up. */
const GLANCE = 100;

const STOPPED: Refusal = { code: 'command.interrupted', detail: 'the agent stops' };

/** Carries out a plan: wakes the car, sends the actions, waits until Status shows the result. */
export class Execution {
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  /** Returns the first action of the plan that this car cannot do, or undefined. */
  missing({ actions }: Plan): string | undefined {
    const { rules, actuator } = this.#parts;
    return actions.find((action) => rules[action] === undefined || !actuator.actions.has(action));
  }

  /** Resolves with true if Status shows all of the plan in time, without any action. */
  async shown({ actions, effects, parameters }: Plan): Promise<boolean> {
    const { rules, confirmations } = this.#parts;
    if (actions.length + effects.length === 0) return this.#parts.power.awake();
    const waits = actions.map((action) => {
      const rule = rules[action];
      const anew = parameters !== undefined;
      return rule === undefined ? 'late' : confirmations.wait(rule.confirm, rule.within, { anew });
    });
    return (await Promise.all(waits)).every((ending) => ending === 'shown') && effects.every((effect) => effect.done());
  }

  /**
   * Runs a command from Accepted to its final state. Two states share a commit if nothing is done to the car between.
   * @param allowed called before each step, with the refusal of the step's own interlocks
   * @param woken called before the car is woken, with UTC ms
   * @throws VigieError `store.failed` if a state is not on disk; nothing was done after the last stored state
   */
  async run(begun: Progress, plan: Plan, allowed: StepCheck, woken: (at: number) => void): Promise<Progress> {
    const { reports, power } = this.#parts;
    let progress = begun;
    let acted = false;
    if (power.awake(plan.actions)) {
      progress = await reports.advance(progress, 'Accepted', 'SentToVehicle');
    } else {
      progress = await reports.advance(progress, 'Accepted');
      if (reports.stopped) return progress;
      woken(this.#parts.clock.now());
      progress = await reports.advance(progress, 'WakingUpVehicle');
      if (reports.stopped) return progress;
      if (!(await power.wake(plan.actions))) {
        return this.#end(progress, { code: 'command.asleep', detail: 'it did not wake up' });
      }
      // WakeUp requests nothing but waking the car.
      acted = plan.actions.length + plan.effects.length === 0;
      if (plan.actions.length > 0) {
        progress = await reports.advance(progress, 'CheckingVehicle');
        await this.#settle(plan.actions);
      }
      progress = await reports.advance(progress, 'SentToVehicle');
    }
    for (const step of [...this.#actuations(plan, allowed), ...this.#effects(plan, allowed)]) {
      if (reports.stopped) return progress;
      const outcome = await step();
      if (typeof outcome === 'object') return this.#end(progress, outcome);
      if (outcome === 'done') acted = true;
    }
    return reports.advance(progress, acted ? 'Success' : 'AlreadyDone');
  }

  #actuations({ actions, parameters }: Plan, allowed: StepCheck) {
    return actions.map(
      (action) => (): Promise<Refusal | 'done' | 'so already'> => this.#actuate(action, parameters, allowed),
    );
  }

  #effects({ effects }: Plan, allowed: StepCheck) {
    return effects.map((effect) => async (): Promise<Refusal | 'done' | 'so already'> => {
      const refusal = allowed(effect.refusal?.());
      if (refusal !== undefined) return refusal;
      if (effect.done()) return 'so already';
      effect.apply(this.#parts.clock.now());
      return 'done';
    });
  }

  async #actuate(
    action: string,
    parameters: ActionParameters | undefined,
    allowed: StepCheck,
  ): Promise<Refusal | 'done' | 'so already'> {
    const { rules, confirmations, actuator, reports, status, clock, fed } = this.#parts;
    const rule = rules[action] as CommandRule;
    // Each destination needs its own confirmation: a previous one proves nothing.
    const anew = parameters !== undefined;
    if (!anew && confirmations.shown(rule.confirm)) return 'so already';
    const forbids = (): Refusal | undefined => allowed(this.#refuses(action));
    const refusal = forbids();
    if (refusal !== undefined) return refusal;
    const ending = confirmations.wait(rule.confirm, rule.within, { ends: endsOf(action), anew });
    let broken: Refusal | undefined;
    try {
      await actuator.actuate(action, parameters, () => {
        // A stopping agent receives no more readings, and would not detect that the car drives off.
        const meanwhile = reports.stopped ? STOPPED : forbids();
        if (meanwhile !== undefined) throw new VigieError(meanwhile.code, meanwhile.detail);
      });
    } catch (error) {
      // Faults of the car have their own failure cause; other errors concern the connection to it.
      const known = error instanceof VigieError && error.fact.cause !== undefined;
      broken = { code: known ? error.code : 'command.actuation', detail: (error as Error).message };
      if (!(error instanceof BrokenOff)) return broken;
    }
    const end = await ending;
    if (reports.stopped || end === 'shown') return 'done';
    if (end !== 'late') return { code: end.code, detail: end.detail };
    if (broken !== undefined) return broken;
    const evidence = { status, channels: this.#parts.channels, fed, now: clock.now() };
    const late = `the car did not show it within ${rule.within} ms`;
    return diagnose(action, evidence) ?? { code: 'command.unconfirmed', detail: late };
  }

  #refuses(action: string): Refusal | undefined {
    const { rules, status, clock, fed } = this.#parts;
    const { requires } = rules[action] as CommandRule;
    return refuses(action, { status, fed, now: clock.now(), ...defined({ requires }) });
  }

  /** Waits until the buses that were asleep have delivered the readings that the interlocks need. */
  async #settle(actions: readonly string[]): Promise<void> {
    const { clock, limits } = this.#parts;
    const until = clock.monotonic() + (limits?.settling ?? defaultLimits.settling);
    while (clock.monotonic() < until && actions.some((action) => this.#refuses(action) !== undefined)) {
      await new Promise<void>((resolve) => clock.after(GLANCE, resolve));
    }
  }

  async #end(progress: Progress, refusal: Refusal): Promise<Progress> {
    await this.#parts.reports.fail(progress, refusal);
    return progress;
  }
}
