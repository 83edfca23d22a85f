import type { StatusContents } from '../../protocol/schema/status.ts';
import type { Slot, SlotValue } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';

/** Status for monitors: an evaluation before a change sees the previous value of the changed slot. */
export class PreviousStatus implements StatusReader {
  readonly #status: StatusReader;
  #slot: Slot | undefined;
  #value: SlotValue | undefined;

  constructor(status: StatusReader) {
    this.#status = status;
  }

  /** Runs `work` while `slot` has its previous value. */
  before(slot: Slot, value: SlotValue | undefined, work: () => void): void {
    this.#slot = slot;
    this.#value = value;
    try {
      work();
    } finally {
      this.#slot = undefined;
    }
  }

  value(slot: Slot): SlotValue | undefined {
    return slot === this.#slot ? this.#value : this.#status.value(slot);
  }

  fresh(slot: Slot, now: number): boolean {
    return this.#status.fresh(slot, now);
  }

  current(slot: Slot, now: number): boolean {
    return this.#status.current(slot, now);
  }

  contents(objects?: ReadonlySet<number>): StatusContents {
    return this.#status.contents(objects);
  }
}
