/** Status of one car, put together from its `status` messages in whatever order they arrive. */
import type { StatusContents } from '../protocol/schema/status.ts';
import type { StatusMessage } from '../protocol/schema/status-message.ts';
import { assemble, type Disassembled, disassemble, type SlotValue, slots, statusObjects } from '../protocol/slots.ts';
import { isAfter, type MessageOrder } from './message.ts';

/** What is kept of it. */
export interface KeptStatus {
  readonly contents: StatusContents;
  /** Ids of slots whose value is stale. */
  readonly stale: readonly number[];
  /** The newest message, and the newest one that had all of Status. */
  readonly newest?: MessageOrder | undefined;
  readonly whole?: MessageOrder | undefined;
}

/**
 * A whole Status replaces everything that older messages said. A message that is not the newest, such as one that a lost
 * connection delayed, adds the objects that are newer than those known, and takes nothing away.
 */
export class VehicleStatus {
  #values: (SlotValue | undefined)[] = [];
  #createdAt: Float64Array = emptyTimes();
  #stale: readonly number[] = [];
  #newest: MessageOrder | undefined;
  #whole: MessageOrder | undefined;

  constructor(kept?: KeptStatus) {
    if (kept === undefined) return;
    this.#write(kept.contents, () => true);
    this.#stale = kept.stale;
    this.#newest = kept.newest;
    this.#whole = kept.whole;
  }

  get kept(): KeptStatus {
    return { contents: this.contents(), stale: this.#stale, newest: this.#newest, whole: this.#whole };
  }

  /** The tree of the interface, of all objects or of those whose index is in `objects`. */
  contents(objects?: ReadonlySet<number>): StatusContents {
    return assemble(this.#values, this.#createdAt, objects);
  }

  apply({ full, status, removed = [], stale = [] }: StatusMessage, order: MessageOrder): void {
    if (this.#whole !== undefined && !isAfter(order, this.#whole)) return;
    const isNewest = this.#newest === undefined || isAfter(order, this.#newest);
    if (full) {
      const [values, createdAt] = [this.#values, this.#createdAt];
      this.#values = [];
      this.#createdAt = emptyTimes();
      this.#write(status, () => true);
      if (!isNewest) this.#write(assemble(values, createdAt), (object, at) => at > this.#timeOf(object));
      this.#whole = order;
    } else {
      if (isNewest) this.#remove(removed);
      this.#write(status, (object, at) => isNewest || at > this.#timeOf(object));
    }
    if (!isNewest) return;
    this.#stale = stale;
    this.#newest = order;
  }

  /** UTC ms; never, for an object that is not known. */
  #timeOf(object: number): number {
    const at = this.#createdAt[object] as number;
    return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
  }

  /** Each object that `wanted` takes replaces what was known of its members. */
  #write(contents: StatusContents, wanted: (object: number, at: number) => boolean): void {
    const objects = new Map<number, Disassembled[]>();
    for (const one of disassemble(contents)) {
      const known = objects.get(one.slot.object);
      if (known === undefined) objects.set(one.slot.object, [one]);
      else known.push(one);
    }
    for (const [object, members] of objects) {
      const at = members[0]?.at ?? Number.NaN;
      if (!wanted(object, at)) continue;
      for (const { index, object: of } of slots) if (of === object) this.#values[index] = undefined;
      for (const { slot, value } of members) this.#values[slot.index] = value;
      this.#createdAt[object] = at;
    }
  }

  /** Paths of slots, or of objects with all that is in them. */
  #remove(paths: readonly string[]): void {
    for (const { index, path } of slots) {
      if (paths.some((gone) => path === gone || path.startsWith(`${gone}.`))) this.#values[index] = undefined;
    }
  }
}

function emptyTimes(): Float64Array {
  return new Float64Array(statusObjects.length).fill(Number.NaN);
}
