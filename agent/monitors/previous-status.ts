import type { StatusContents } from '../../protocol/schema/status.ts';
import type { Slot, SlotValue } from '../../protocol/slots.ts';
import type { StatusReader } from '../status.ts';

/** Status as monitors see it: what is judged before a change sees the changed slot as it was. */
export class PreviousStatus implements StatusReader {
  readonly #status: StatusReader;
  #slot: Slot | undefined;
  #value: SlotValue | undefined;

  constructor(status: StatusReader) {
    this.#status = status;
  }

  /** Does something while `slot` is as it was. */
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
