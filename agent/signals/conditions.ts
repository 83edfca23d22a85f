import type { Condition } from '../../protocol/profile.ts';
import type { Slot } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import { slotOf } from '../model/target.ts';
import { holds } from '../remotes/interlocks.ts';

/** The conditions of a profile under which signals are recorded: each is looked at when its path changes. */
export class Conditions {
  readonly #status: StatusReader;
  readonly #conditions: readonly Condition[];
  readonly #holds: boolean[];
  /** Values of Status that the conditions use. */
  readonly slots: readonly Slot[];

  constructor(status: StatusReader, conditions: readonly Condition[]) {
    this.#status = status;
    this.#conditions = conditions;
    this.#holds = conditions.map(() => false);
    this.slots = [...new Set(conditions.map(({ path }) => slotOf(path)))];
  }

  /** Whether the condition with this index holds as of the last look. */
  hold(index: number): boolean {
    return this.#holds[index] as boolean;
  }

  /** Sets what a condition was found to be; the indexes of conditions that changed. */
  turn(index: number, does: boolean): readonly number[] {
    if (does === this.#holds[index]) return [];
    this.#holds[index] = does;
    return [index];
  }

  /** Looks again, when a slot changed at those that ask it; the indexes of conditions that hold or do not any more. */
  look(now: number, slot?: Slot): readonly number[] {
    const turned: number[] = [];
    for (const [index, condition] of this.#conditions.entries()) {
      if (slot !== undefined && condition.path !== slot.path) continue;
      turned.push(...this.turn(index, holds(condition, { status: this.#status, now })));
    }
    return turned;
  }
}
