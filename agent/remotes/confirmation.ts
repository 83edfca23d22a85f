import { VigieError } from '../../protocol/errors.ts';
import { type Slot, type SlotValue, slotByPath } from '../../protocol/slots.ts';
import type { Clock } from '../ports.ts';
import type { Confirmation } from '../profile.ts';
import type { Status, StatusObserver } from '../status.ts';
import type { End } from './diagnosis.ts';

/** How waiting for a result ended: it was shown, it was not in time, or something else was shown that ends it. */
export type Ending = 'shown' | 'late' | End;

interface Waiting {
  readonly slot: Slot;
  readonly rule: Confirmation;
  readonly ends: readonly End[];
  /** Somebody at the car acted against it; that counts when the result is not shown all the same. */
  opposed: End | undefined;
  settle: (ending: Ending) => void;
}

/** Watches Status for what the car must show before a command counts as done. */
export class Confirmations implements StatusObserver {
  readonly #status: Status;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();

  constructor(status: Status, clock: Clock) {
    this.#status = status;
    this.#clock = clock;
    status.observe(this);
  }

  /** True when Status shows the result now, from a reading that is not stale. */
  shown(rule: Confirmation): boolean {
    const slot = slotOf(rule);
    return this.#status.current(slot, this.#clock.now()) && satisfies(rule, this.#status.value(slot));
  }

  /**
   * Resolves as soon as Status shows the result or changes to one of `ends`, else after `within` ms. An act of the
   * driver ends nothing by itself: a lock that had its order closes although the engine is started meanwhile.
   */
  async wait(rule: Confirmation, within: number, ends: readonly End[] = []): Promise<Ending> {
    if (this.shown(rule)) return 'shown';
    return new Promise<Ending>((resolve) => {
      const waiting: Waiting = { slot: slotOf(rule), rule, ends, opposed: undefined, settle: resolve };
      const cancel = this.#clock.after(within, () => {
        this.#waiting.delete(waiting);
        // A value that did not change but became fresh again is shown too.
        resolve(this.shown(rule) ? 'shown' : (waiting.opposed ?? 'late'));
      });
      waiting.settle = (ending) => {
        cancel();
        this.#waiting.delete(waiting);
        resolve(ending);
      };
      this.#waiting.add(waiting);
    });
  }

  changed(slot: Slot, value: SlotValue): void {
    for (const waiting of this.#waiting) {
      if (waiting.slot === slot && satisfies(waiting.rule, value)) {
        waiting.settle('shown');
        continue;
      }
      const end = waiting.ends.find((candidate) => candidate.slot === slot && candidate.value === value);
      if (end?.code === 'command.canceled') waiting.opposed ??= end;
      else if (end !== undefined) waiting.settle(end);
    }
  }
}

function satisfies(rule: Confirmation, value: SlotValue | undefined): boolean {
  if (rule.includes !== undefined) return Array.isArray(value) && value.includes(rule.includes);
  return value !== undefined && value === rule.equals;
}

function slotOf(rule: Confirmation): Slot {
  const slot = slotByPath.get(rule.path);
  if (slot === undefined) throw new VigieError('configuration.wrong', `Status has no path ${rule.path}`);
  return slot;
}
