import { VigieError } from '../../protocol/errors.ts';
import { type Slot, type SlotValue, slotByPath } from '../../protocol/slots.ts';
import type { Clock } from '../ports.ts';
import type { Confirmation } from '../profile.ts';
import type { Status, StatusObserver } from '../status.ts';

/** Watches Status for what the car must show before a command counts as done. */
export class Confirmations implements StatusObserver {
  readonly #status: Status;
  readonly #clock: Clock;
  readonly #waiting = new Set<{ slot: Slot; rule: Confirmation; settle: (shown: boolean) => void }>();

  constructor(status: Status, clock: Clock) {
    this.#status = status;
    this.#clock = clock;
    status.observe(this);
  }

  /** True when Status shows the result now, from a reading that is not stale. */
  shown(rule: Confirmation): boolean {
    const slot = slotOf(rule);
    return this.#status.fresh(slot, this.#clock.now()) && satisfies(rule, this.#status.value(slot));
  }

  /** Resolves true as soon as Status shows the result, false after `within` ms. */
  async wait(rule: Confirmation, within: number): Promise<boolean> {
    if (this.shown(rule)) return true;
    return new Promise<boolean>((resolve) => {
      const waiting = { slot: slotOf(rule), rule, settle: resolve };
      const cancel = this.#clock.after(within, () => {
        this.#waiting.delete(waiting);
        // A value that did not change but became fresh again is shown too.
        resolve(this.shown(rule));
      });
      waiting.settle = (shown) => {
        cancel();
        this.#waiting.delete(waiting);
        resolve(shown);
      };
      this.#waiting.add(waiting);
    });
  }

  changed(slot: Slot, value: SlotValue): void {
    for (const waiting of this.#waiting) {
      if (waiting.slot === slot && satisfies(waiting.rule, value)) waiting.settle(true);
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
