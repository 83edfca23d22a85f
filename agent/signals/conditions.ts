import type { Condition } from '../../protocol/profile.ts';
import type { Slot } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import { slotOf } from '../model/target.ts';
import { holds } from '../remotes/interlocks.ts';

/** The conditions of a profile under which signals are recorded. Each is evaluated when its path changes. */
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

  /** Returns true if the condition with this index was true at the last evaluation. */
  hold(index: number): boolean {
    return this.#holds[index] as boolean;
  }

  /** Sets the result of a condition. Returns the indexes of conditions that changed. */
  turn(index: number, does: boolean): readonly number[] {
    if (does === this.#holds[index]) return [];
    this.#holds[index] = does;
    return [index];
  }

  /** Evaluates all conditions, or those of a changed slot. Returns the indexes of conditions that changed. */
  look(now: number, slot?: Slot): readonly number[] {
    const turned: number[] = [];
    for (const [index, condition] of this.#conditions.entries()) {
      if (slot !== undefined && condition.path !== slot.path) continue;
      turned.push(...this.turn(index, holds(condition, { status: this.#status, now })));
    }
    return turned;
  }
}
